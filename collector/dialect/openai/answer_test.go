package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestRepeatedAnswers repeats an answer that pieces have shown. The public gets the text of each repeat, unless it
// is a thought or something else.
func TestRepeatedAnswers(t *testing.T) {
	const (
		start = `{"type":"response.content_part.added","output_index":0,"item_id":"i","content_index":0,"part":{"type":"output_text","text":""}}`
		piece = `{"type":"response.output_text.delta","output_index":0,"item_id":"i","content_index":0,"delta":"secret"}`
		whole = `{"type":"response.output_text.done","output_index":0,"item_id":"i","content_index":0,"text":"secret"}`
		part  = `{"type":"response.content_part.done","output_index":0,"item_id":"i","content_index":0,"part":{"type":"output_text","text":"secret","annotations":[]}}`
		done  = `{"type":"response.output_item.done","output_index":0,"item":{"id":"i","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"secret","annotations":[]}]}}`
		call  = `{"id":"f","type":"function_call","name":"tool","call_id":"c","arguments":"hidden","status":"completed"},{"id":"t","type":"reasoning","summary":[{"type":"summary_text","text":"hidden"}],"content":[{"type":"output_text","text":"hidden"}]},`
	)
	end := strings.Replace(ended, `"output":[`, `"usage":{"x":1},"output":[`+call, 1)
	if out := leaving(t, public, stream(created, added, start, piece, whole, part, done, end)); strings.Count(out, "secret") != 5 || strings.Contains(out, "hidden") || !strings.Contains(out, `"name":"tool"`) {
		t.Errorf("this leaves: %s", out)
	}
	wrapped := []string{created, added, start, piece, whole, part, done, end}
	for i := range wrapped {
		wrapped[i] = `{"type":"raw_response_event","data":` + wrapped[i] + `}`
	}
	if out := leaving(t, public, stream(wrapped...)); strings.Count(out, "secret") != 5 {
		t.Errorf("of the Agents SDK's events this leaves: %s", out)
	}
	for _, first := range []string{
		strings.Replace(added, `"type":"message","role":"assistant"`, `"type":"reasoning"`, 1),
		strings.Replace(added, `"type":"message"`, `"thought":true,"type":"message"`, 1),
		strings.Replace(added, `"assistant"`, `"user"`, 1),
		strings.Replace(added, `"type":"message","role":"assistant"`, `"type":"function_call","name":"f"`, 1),
	} {
		checkStaysIn(t, []filter.Settings{public}, created, first, part, done, end)
	}
	thought := strings.Replace(start, "output_text", "reasoning_text", 1)
	checkStaysIn(t, []filter.Settings{public}, created, added, thought, part, done, end)
	checkStaysIn(t, []filter.Settings{public}, created, added, strings.Replace(thought, `"content_index":0`, `"content_index":0.0`, 1), part, done, end)
	checkStaysIn(t, []filter.Settings{{Policy: event.PolicyPublic, Exclude: []event.Kind{event.KindText}}, {Policy: event.PolicyPublic, Authors: []string{"other"}}}, created, added, start, piece, whole, part, done, end)
}

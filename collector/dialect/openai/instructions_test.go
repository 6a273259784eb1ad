package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestInstructionsAreCut sends messages for models in members besides the answer's. Readers get the frame without them.
func TestInstructionsAreCut(t *testing.T) {
	const (
		system = `{"type":"message","role":"system","content":"secret"}`
		answer = `{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"kept"}EXTRA]}`
	)
	response := func(more string) string {
		return `{"type":"response.completed","response":{"id":"r","status":"completed","output":[` + strings.Replace(answer, "EXTRA", "", 1) + `],` + more + `}}`
	}
	for _, sent := range []string{
		response(`"input":[` + system + `]`),
		response(`"input":` + system),
		response(`"input":[{"type":"message","role":" Developer","content":"secret"},{"role":"user","content":"asked"}]`),
		response(`"input":[{"role":["system"],"content":"secret"}]`),
		response(`"input":[{"role":{"name":"system"},"content":"secret"}]`),
		response(`"input":[{"role":{},"content":"secret"},{"role":7,"content":"secret"},{"role":false,"content":"secret"},{"role":[],"content":"secret"}]`),
		response(`"x":[{"author":{"role":{"x":1}},"content":"secret"}]`),
		strings.Replace(choice(`{"index":0,"delta":{"role":"assistant","content":"kept"}}`), `"content"`, `"context":{"messages":[{"role":{"x":1},"content":"secret"}]},"content"`, 1),
		`{"type":"response.output_item.done","output_index":0,"item":` + strings.Replace(answer, "EXTRA", `],"x":[{"role":{"x":1},"content":"secret"}`, 1) + `}`,
		response(`"conversation":{"id":"x","items":[` + system + `]}`),
		response(`"input_messages":[{"role":"system","content":[{"type":"system_content","text":"secret"}]}]`),
		response(`"input_messages":[{"type":"raw_message_tokens","message":"secret","tokens":[1]}]`),
		response(`"x":[{"author":{"role":"developer"},"content":"secret"}]`),
		`{"type":"raw_response_event","data":` + response(`"input":[`+system+`]`) + `}`,
		`{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"kept","raw_item":{"id":"m","type":"message","role":"assistant","content":[]},"input":[` + system + `]}}`,
		`{"type":"response.output_item.done","output_index":0,"item":` + strings.Replace(answer, "EXTRA", ","+system, 1) + `}`,
		`{"type":"response.output_item.done","output_index":0,"item":` + strings.Replace(answer, "EXTRA", `,{"type":"output_text","role":"system","text":"secret"}`, 1) + `}`,
		strings.Replace(choice(`{"index":0,"delta":{"role":"assistant","content":"kept"}}`), `"choices"`, `"messages":[`+system+`],"choices"`, 1),
	} {
		checkStaysIn(t, []filter.Settings{client, public}, created, sent)
		lines := strings.Split(strings.TrimSpace(leaving(t, client, stream(created, sent))), "\n")
		if got := lines[len(lines)-1]; !strings.Contains(got, "kept") || !json.Valid([]byte(got)) || strings.Contains(sent, "asked") != strings.Contains(got, "asked") {
			t.Errorf("of %s\nthe client gets %s", sent, got)
		}
	}
	part := `{"type":"response.content_part.added","output_index":0,"item_id":"i","content_index":0,"part":{"type":"output_text","role":"system","text":""}}`
	checkStaysIn(t, []filter.Settings{client, public}, created, added, part, delta)
	for _, sent := range []string{
		response(`"instructions":[` + system + `]`),
		response(`"metadata":{"role":"developer","content":"secret"},"prompt":{"id":"p","variables":{"role":"system","content":"secret"}}`),
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"f","type":"file_search_call","results":[{"file_id":"x","attributes":{"role":"developer","content":"secret"}}]}}`,
		`{"type":"run_item_stream_event","name":"tool_output","item":{"type":"tool_call_output_item","output":{"name":"secret","role":"developer"}}}`,
	} {
		if out := leaving(t, client, stream(created, sent)); !strings.HasSuffix(out, sent+"\n") {
			t.Errorf("of %s\nthe client gets %s", sent, out)
		}
	}
}

package openai_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
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
		strings.Replace(added, `"role":"assistant",`, "", 1),
		strings.Replace(added, `"assistant"`, `""`, 1),
		strings.Replace(added, `"type":"message","role":"assistant"`, `"type":"function_call","name":"f"`, 1),
	} {
		checkStaysIn(t, []filter.Settings{public}, created, first, part, done, end)
	}
	for _, role := range []string{``, `"role":"",`, `"role":null,`} {
		named := strings.NewReplacer(`"role":"assistant",`, role)
		checkStaysIn(t, []filter.Settings{public}, created, named.Replace(added), start, piece, whole, part, named.Replace(done), named.Replace(end))
		checkStaysIn(t, []filter.Settings{public}, created, named.Replace(done))
		checkStaysIn(t, []filter.Settings{public}, created, named.Replace(end))
		checkStaysIn(t, []filter.Settings{public}, `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","raw_item":`+named.Replace(strings.SplitN(done, `"item":`, 2)[1])+`}`)
	}
	thought := strings.Replace(start, "output_text", "reasoning_text", 1)
	checkStaysIn(t, []filter.Settings{public}, created, added, thought, part, done, end)
	checkStaysIn(t, []filter.Settings{public}, created, added, strings.Replace(thought, `"content_index":0`, `"content_index":0.0`, 1), part, done, end)
	checkStaysIn(t, []filter.Settings{{Policy: event.PolicyPublic, Exclude: []event.Kind{event.KindText}}, {Policy: event.PolicyPublic, Authors: []string{"other"}}}, created, added, start, piece, whole, part, done, end)
}

// TestWholeBeginnings begins an item with its whole text, as LiteLLM does. The public gets the beginning without the text, because clients
// add the pieces to it.
func TestWholeBeginnings(t *testing.T) {
	const said = `[{"type":"output_text","text":"secret","annotations":[],"logprobs":null}]`
	begun := strings.Replace(added, `[]`, said, 1)
	part := `{"type":"response.content_part.added","output_index":0,"item_id":"i","content_index":0,"part":` + strings.Trim(said, "[]") + `}`
	for _, kind := range []string{"text", "refusal"} {
		named := strings.NewReplacer(`"text"`, `"`+kind+`"`, "output_text", map[string]string{"text": "output_text", "refusal": "refusal"}[kind])
		for _, form := range []string{"%", `{"type":"raw_response_event","data":%}`} {
			wrap := func(frame string) string { return strings.Replace(form, "%", named.Replace(frame), 1) }
			out := leaving(t, public, stream(wrap(created), wrap(begun), wrap(part)))
			if strings.Contains(out, "secret") || strings.Count(out, `"`+kind+`":""`) != 2 {
				t.Errorf("of %s\nthis leaves: %s", wrap(begun), out)
			}
		}
	}
	thought := filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}
	reasoning := strings.Replace(begun, `"type":"message","role":"assistant"`, `"type":"reasoning"`, 1)
	if out := leaving(t, public, stream(created, reasoning)); strings.Contains(out, "reasoning") {
		t.Errorf("without thoughts this leaves: %s", out)
	}
	if out := leaving(t, thought, stream(created, begun, part)); strings.Contains(out, "secret") {
		t.Errorf("with thoughts this leaves: %s", out)
	}
}

// TestAnswersBesideOthers repeats an answer beside items that do not leave. Readers get the end of the response without these items.
func TestAnswersBesideOthers(t *testing.T) {
	const (
		answer = `{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","text":"kept"}]}`
		system = `{"id":"z","type":"message","role":"system","content":[{"type":"input_text","text":"secret"}]}`
		asked  = `{"id":"u","type":"message","role":"user","content":[{"type":"output_text","text":"question"}]}`
		other  = `{"id":"o","type":"compaction","content":[{"type":"output_text","text":"question"}]}`
		hm     = `{"id":"h","type":"reasoning","summary":[{"type":"summary_text","text":"question"}]}`
	)
	first := `{"type":"response.output_item.added","output_index":1,"item":` + system + `}`
	for _, form := range []string{"%", `{"type":"raw_response_event","data":%}`} {
		for _, before := range [][]string{{created, added}, {created, added, first}, {created, strings.Replace(first, ":1", ":7", 1), added}} {
			for _, output := range []string{system + "," + answer, answer + "," + system, system + "," + asked + "," + answer, other + "," + answer + "," + hm} {
				sent := append(slices.Clone(before), `{"type":"response.completed","response":{"id":"r","status":"completed","output":[`+output+`]}}`)
				if strings.Contains(output, `"u"`) || strings.Contains(output, `"o"`) { // these began, too
					for i, item := range []string{asked, other, hm} {
						sent = slices.Insert(sent, 2, `{"type":"response.output_item.added","output_index":`+strconv.Itoa(3+i)+`,"item":`+item+`}`)
					}
				}
				for i := range sent {
					sent[i] = strings.Replace(form, "%", sent[i], 1)
				}
				checkStaysIn(t, []filter.Settings{client, public}, sent...)
				for _, s := range []filter.Settings{client, public} {
					out := leaving(t, s, stream(sent...))
					if strings.Count(out, "kept") != 1 || strings.Contains(out, "question") != (s.Policy == event.PolicyClient && strings.Contains(strings.Join(sent, ""), "question")) {
						t.Errorf("under %s this leaves: %s\nof %s", s.Policy, out, strings.Join(sent, "\n"))
					}
					end := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]
					if at := strings.Index(end, `"output":[`); !json.Valid([]byte(end)) || at < 0 || strings.Count(end[at:], `{"id"`) != strings.Count(end[at:], `,"type":"`) {
						t.Errorf("under %s an item of the end has no type: %s", s.Policy, end)
					}
				}
			}
		}
	}
	for _, next := range []string{strings.NewReplacer(`"i"`, `"z"`, ":0", ":4").Replace(delta), strings.Replace(delta, `"item_id":"i",`, "", 1)} {
		checkStaysIn(t, []filter.Settings{client, public}, `{"type":"response.in_progress","response":{"id":"r","output":[`+system+`]}}`, next)
	}
	checkStaysIn(t, []filter.Settings{client, public}, created, `{"type":"response.completed","response":{"id":"r","output":[`+system+`]}}`, strings.Replace(created, `"r"`, `"s"`, 1), strings.NewReplacer(`"i"`, `"z"`).Replace(added), strings.Replace(delta, `"i"`, `"z"`, 1))
}

// TestAnswerItems checks that the public gets the text of an item of the Agents SDK, even if a response has shown it, and that it is
// reported once.
func TestAnswerItems(t *testing.T) {
	said := func(raw, content string) string {
		return `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","` + raw + `":{"id":"i","type":"message","role":"assistant","status":"completed","content":[` + content + `]},"agent":{"name":"A","instructions":"secret"}}}`
	}
	const part, refusal = `{"type":"output_text","text":"open","annotations":[{"url":"secret"}],"providerData":{"x":"secret"}}`, `{"type":"refusal","refusal":"open"}`
	for _, c := range []struct {
		sent []string
		want int // texts
	}{
		{[]string{said("raw_item", part), "[DONE]"}, 1},
		{[]string{agentA, said("rawItem", part), "[DONE]"}, 1},
		{[]string{agentA, `{"type":"run_item_stream_event","name":"message_output_created","item":{"id":"i","type":"message","role":"assistant","content":[` + part + `]}}`, "[DONE]"}, 1},
		{[]string{agentA, `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"tool_call_output_item","raw_item":{"id":"i","type":"message","role":"assistant","content":[` + part + `]}}}`, "[DONE]"}, 0},
		{[]string{agentA, said("rawItem", part+","+refusal), "[DONE]"}, 2},
		{[]string{agentA, said("rawItem", `{"type":"output_text","text":"secret","thought":true}`), "[DONE]"}, 0},
		{[]string{agentA, strings.Replace(said("rawItem", strings.Replace(part, "open", "secret", 1)), "assistant", "user", 1), "[DONE]"}, 0},
		{[]string{agentA, ofModel(created), ofModel(added), ofModel(`{"type":"response.output_item.done","output_index":0,"item":{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","text":"open"}]}}`), ofModel(strings.Replace(ended, "secret", "open", 1)), said("rawItem", part), "[DONE]"}, 1},
	} {
		checkTruth(t, c.sent[0], stream(c.sent...))
		out := leaving(t, public, stream(c.sent...))
		facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(strings.Split(strings.TrimSpace(out), "\n")...))
		if strings.Count(out, `"text":"open"`) != strings.Count(strings.Join(c.sent, ""), `"text":"open"`) && c.want > 0 {
			t.Errorf("of %s\nonly this leaves: %s", c.sent, out)
		}
		if n := strings.Count(facts, `text "open"`); n != c.want || n > 0 && !strings.Contains(facts, `agent="A"`) || strings.Contains(out, "secret") {
			t.Errorf("of %s\nleaves %s\nwhich states %d texts, want %d:\n%s", c.sent, out, n, c.want, facts)
		}
	}
}

// TestRepeatedItems ends a response that has no answer. The public gets its items again, because clients take calls from there.
func TestRepeatedItems(t *testing.T) {
	const thought = `,{"id":"t","type":"reasoning","summary":[{"type":"summary_text","text":"secret"}]},{"id":"m","type":"message","role":"user","content":[{"type":"output_text","text":"secret"}]}`
	for _, kind := range []string{"function_call", "custom_tool_call", "computer_call", "shell_call", "web_search_call", "mcp_call", "mcp_approval_request", "compaction"} {
		item := `{"id":"i","type":"` + kind + `","call_id":"c","name":"f","arguments":"secret","input":"secret","action":{"x":"secret"},"output":"secret","status":"completed"}`
		done := `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`
		for _, beside := range []string{"", thought} {
			end := `{"type":"response.completed","response":{"id":"r","output":[` + item + beside + `]}}`
			for _, sent := range [][]string{{created, done, end}, {`{"type":"raw_response_event","data":` + created + `}`, `{"type":"raw_response_event","data":` + done + `}`, `{"type":"raw_response_event","data":` + end + `}`}} {
				for _, settings := range []filter.Settings{public, {Policy: event.PolicyPublic, Exclude: []event.Kind{event.KindText}}} {
					out := leaving(t, settings, stream(sent...))
					if strings.Contains(out, "secret") || strings.Count(out, `"type":"`+kind+`"`) != 2 || !strings.Contains(out, `"response.completed"`) {
						t.Errorf("of %s\nthis leaves: %s", strings.Join(sent, "\n"), out)
					}
				}
				checkTruth(t, kind, stream(sent...))
			}
		}
	}
}

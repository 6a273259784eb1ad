package agui_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestWithheldQuestions checks that the end of a run leaves without a question about a withheld call, and without its outcome if that asks
// nothing else.
func TestWithheldQuestions(t *testing.T) {
	finish := func(link string) string {
		return `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"j","reason":"x"},{"id":"i","reason":"tool_call","message":"secret",` + link + `}]}}`
	}
	for name, c := range map[string]struct{ start, link string }{
		"a call":                   {startCases["a call"][0], `"toolCallId":"c"`},
		"a call, in Python's case": {startCases["a call"][0], `"tool_call_id":"c"`},
	} {
		for _, s := range allSettings {
			const start = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
			if got, want := last(filterFrames(t, s, start, evasions["kind"](c.start), finish(c.link))), `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"j","reason":"x"}]}}`; got != want {
				t.Errorf("%s, %s: got %s, want %s", name, s.Policy, got, want)
			}
			alone := strings.Replace(finish(c.link), `{"id":"j","reason":"x"},`, "", 1)
			if got := last(filterFrames(t, s, start, evasions["kind"](c.start), alone)); got != `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}` {
				t.Errorf("%s, alone, %s: got %s, want it without its outcome", name, s.Policy, got)
			}
			if got := last(filterFrames(t, s, start, c.start, finish(c.link))); !strings.Contains(got, `"id":"i"`) {
				t.Errorf("%s that leaves, %s: got %s, want it with its question", name, s.Policy, got)
			}
		}
	}
}

// TestMarkedQuestions checks that a question stays in that calls itself internal at any depth of its metadata, where adapters of LangGraph
// and Strands put what the application asks, and that the name of anything else marks nothing.
//
// Source: ag_ui_langgraph 0.0.47, ag_ui_strands 1.0.2.
func TestMarkedQuestions(t *testing.T) {
	for metadata, leaves := range map[string]bool{
		`{"langgraph":{"raw":{"type":"internal:approval","message":"secret"},"ns":null}}`:                                 false,
		`{"langgraph":{"raw":[{"Kind":"Internal"}]}}`:                                                                     false,
		`{"langgraph":{"raw":{"event":"internal:approval"}}}`:                                                             false,
		`{"langgraph":{"raw":{"event":{"x":{"type":"internal"}}}}}`:                                                       false,
		`{"langgraph":{"raw":"{\"event\":\"internal:approval\"}"}}`:                                                       false,
		`{"reason":{"type":"internal transfer","q":"secret"}}`:                                                            false,
		`{"langgraph":{"raw":{"name":"internal_x","event":{"title":"Internal review"},"reason":"internal"}}}`:             true,
		`{"langgraph":{"raw":{"action_requests":[{"name":"send","args":{"type":"internal","content":"x"}}]}}}`:            true,
		`{"langgraph":{"raw":{"action_request":{"action":"send","arguments":"{\"kind\":\"internal\",\"to\":\"bob\"}"}}}}`: true,
	} {
		for _, s := range allSettings {
			for _, questions := range []string{`"outcome":{"type":"interrupt","interrupts":[QUESTION]}`, `"outcome":"interrupt","interrupt":[QUESTION]`} {
				question := `{"id":"i","reason":"x","message":"secret","metadata":` + metadata + `}`
				end := `{"type":"RUN_FINISHED","threadId":"t","runId":"r",` + strings.Replace(questions, "QUESTION", question, 1) + `}`
				got := last(filterFrames(t, s, run, end))
				if strings.Contains(got, "secret") != leaves || leaves && s.Policy == event.PolicyClient && got != end {
					t.Errorf("%s: the question leaves: %t\n%s\nbecomes %s", s.Policy, !leaves, end, got)
				}
			}
		}
	}
}

// TestArgumentsMarkNothing checks that the arguments in a custom event or an activity mark nothing: the model chooses them.
func TestArgumentsMarkNothing(t *testing.T) {
	const request = `{"action_requests":[{"name":"send","args":{"type":"internal","to":"bob","note":"{\"kind\":\"internal\"}"},"description":"Args: {'type': 'internal'}"}]}`
	for _, name := range []string{"args", "arguments", "tool_args", "toolArgs"} {
		value := strings.Replace(request, "args", name, 1)
		for _, sent := range []string{
			`{"type":"CUSTOM","name":"on_interrupt","value":` + value + `}`,
			`{"type":"CUSTOM","name":"on_interrupt","value":` + strconv.Quote(value) + `}`,
			activity(value),
			`{"type":"CUSTOM","name":"manually_emit_tool_call","value":{"id":"c","name":"internal","` + name + `":{"kind":"internal"}}}`,
			`{"type":"CUSTOM","name":"manually_emit_state","value":{"note":{"kind":"internal","` + name + `":"{\"type\":\"internal\"}"},"log":"{\"type\":\"internal\"}"}}`,
		} {
			if got := last(filterFrames(t, allSettings[0], run, sent)); got != sent {
				t.Errorf("%s\nbecomes %s", sent, got)
			}
			marked := strings.Replace(sent, `"`+name, `"kind":"internal","`+name, 1)
			if got := last(filterFrames(t, allSettings[0], run, marked)); got != withheld && !strings.Contains(sent, "state") && !strings.Contains(sent, `\"`) {
				t.Errorf("%s\nbecomes %s, want it withheld", marked, got)
			}
			if got := last(filterFrames(t, allSettings[0], run, with(`"kind":"internal"`)(sent))); got != withheld {
				t.Errorf("marked, %s\nbecomes %s", sent, got)
			}
		}
	}
}

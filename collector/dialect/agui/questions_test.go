package agui_test

import (
	"strings"
	"testing"
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

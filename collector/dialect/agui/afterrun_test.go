package agui_test

import (
	"testing"
)

// TestAfterWithheldRun checks that nothing leaves after the end of a withheld run until the next run starts, except an error of the
// server without its text.
func TestAfterWithheldRun(t *testing.T) {
	const (
		finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":"CANARY"}`
		failed   = `{"type":"RUN_ERROR","message":"CANARY failed"}`
		unknown  = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":"x"}`
		next     = `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`
		other    = `{"type":"TEXT_MESSAGE_START","messageId":"other","role":"assistant"}`
		public   = `{"type":"RUN_ERROR","message":"the run failed"}`
	)
	late := append([]string{
		finished, failed, `{"type":"RUN_FINISHED","threadId":"t","runId":"lg","result":"CANARY"}`,
		`{"type":"STATE_SNAPSHOT","snapshot":{"x":"CANARY"}}`, `{"type":"CUSTOM","name":"x","value":"CANARY"}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"o","role":"assistant","content":"CANARY"}]}`,
	}, begun...)
	for _, s := range allSettings {
		for _, end := range []string{finished, failed, unknown} {
			for _, frame := range late {
				sent := []string{evasions["kind"](run), end, frame, frame, next, other}
				if got := filterFrames(t, s, sent...); !allWithheld(got[:4]) || got[4] == withheld || got[5] == withheld {
					t.Errorf("%s, %s after %s: %q", s.Policy, frame, end, got)
				}
			}
			if got := last(filterFrames(t, s, evasions["kind"](run), end, `{"error":"CANARY"}`)); got != public {
				t.Errorf("%s: an error of the server after %s leaves as %s", s.Policy, end, got)
			}
		}
	}
	if got := filterFrames(t, allSettings[0], evasions["kind"](run), run, begun[0]); last(got) != withheld {
		t.Errorf("after a second start of a withheld run: %q", got)
	}
}

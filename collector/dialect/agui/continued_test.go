package agui_test

import (
	"slices"
	"testing"
)

// TestWithheldInNextRun checks that continuations of a withheld entity are withheld in the next run of the
// stream too.
func TestWithheldInNextRun(t *testing.T) {
	call := startCases["a call"]
	const end, next = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`
	subagent := []string{evasions["kind"](`{"type":"SUBAGENT_STARTED","subagentRunId":"s1","name":"n"}`), `{"type":"SUBAGENT_FINISHED","subagentRunId":"s1","outcome":{"type":"suspended"}}`}
	for _, sent := range [][]string{
		{evasions["kind"](call[0]), end, next, call[3]},
		append(slices.Clone(subagent), end, next, subagent[1]),
	} {
		if got := filterFrames(t, allSettings[0], sent...); last(got) != withheld {
			t.Errorf("got %q, want the last frame withheld", got)
		}
	}
}

// TestContinuationsWithoutID checks that frames without an id are withheld if they may continue a withheld
// entity.
func TestContinuationsWithoutID(t *testing.T) {
	thought := startCases["a thinking message"]
	got := filterFrames(t, allSettings[0], thought[0], with(`"subagentRunId":"s","kind":"internal"`)(thought[0]), thought[1])
	if got[0] == withheld || last(got) != withheld {
		t.Errorf("got %q, want the first frame but not the last", got)
	}
	for _, id := range []string{``, `,"messageId":""`, `,"messageId":7`} {
		got := filterFrames(t, allSettings[0], `{"type":"TEXT_MESSAGE_START","role":"assistant","kind":"internal"`+id+`}`, `{"type":"TEXT_MESSAGE_CONTENT","delta":"x"`+id+`}`)
		if got[1] != withheld {
			t.Errorf("a message with %q: got %q", id, got)
		}
	}
}

// TestStepsAfterWithheld checks that a step or a thought leaves after the end of a withheld one with the same name or owner.
func TestStepsAfterWithheld(t *testing.T) {
	for _, what := range []string{"a step", "a thinking message", "thinking"} {
		frames := startCases[what]
		sent := append([]string{evasions["kind"](frames[0])}, append(slices.Clone(frames[1:]), frames...)...)
		if got := filterFrames(t, allSettings[0], sent...); !allWithheld(got[:len(frames)]) || !slices.Equal(got[len(frames):], frames) {
			t.Errorf("%s: got %q", what, got)
		}
		again := append(slices.Clone(frames), append([]string{evasions["kind"](frames[0])}, frames[1:]...)...)
		if got := filterFrames(t, allSettings[0], again...); !slices.Equal(got[:len(frames)], frames) || !allWithheld(got[len(frames):]) {
			t.Errorf("%s, before a withheld one: got %q", what, got)
		}
	}
}

package agui_test

import (
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestRestOfWithheldPieces checks that nothing leaves of an entity after one of its pieces was withheld, except its end: a client
// accepts no end of the run before it.
func TestRestOfWithheldPieces(t *testing.T) {
	const listed = `{"type":"MESSAGES_SNAPSHOT","messages":[]}`
	thought := startCases["a thought"]
	for name, c := range map[string]struct {
		start, piece string
		rest         []string // withheld after the piece
		end          string   // leaves
	}{
		"a message": {startCases["a message"][0], startCases["a message"][1], []string{
			startCases["a message"][1], startCases["a message in chunks"][0], `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`,
		}, startCases["a message"][3]},
		"a message in chunks":          {startCases["a message in chunks"][0], startCases["a message in chunks"][0], []string{startCases["a message in chunks"][0], startCases["a message in chunks"][3]}, listed},
		"a message in chunks, unnamed": {startCases["a message in chunks"][0], startCases["a message in chunks"][3], []string{startCases["a message in chunks"][3], startCases["a message in chunks"][0]}, ""},
		"a call":                       {startCases["a call"][0], startCases["a call"][1], startCases["a call"][1:2], startCases["a call"][2]},
		"a call with a result":         {startCases["a call"][0], startCases["a call"][1], startCases["a call"][3:], ""},
		"a call in chunks":             {startCases["a call in chunks"][0], startCases["a call in chunks"][1], startCases["a call in chunks"][1:2], ""},
		"a thought":                    {thought[0], thought[1], thought[1:2], thought[3]},
		"thinking":                     {startCases["a thinking message"][0], startCases["a thinking message"][1], startCases["a thinking message"][1:2], startCases["a thinking message"][2]},
	} {
		for how, evade := range map[string]func(string) string{"kind": evasions["kind"], "event in metadata": evasions["event in metadata"], "role": with(`"role":"system"`)} {
			for _, s := range allSettings {
				sent := append([]string{c.start, evade(c.piece)}, c.rest...)
				got := filterFrames(t, s, sent...)
				if got[0] == withheld || !allWithheld(got[1:]) {
					t.Errorf("%s, %s, %s: got %q, want only the first", name, how, s.Policy, got)
				}
				if c.end == "" || s.Policy != allSettings[0].Policy && c.end == listed {
					continue
				}
				if got := last(filterFrames(t, s, append(sent, c.end)...)); got != c.end {
					t.Errorf("%s, %s, %s: the end becomes %s", name, how, s.Policy, got)
				}
				if got := last(filterFrames(t, s, append(sent, evade(c.end))...)); got != withheld && c.end != listed {
					t.Errorf("%s, %s, %s: a marked end becomes %s", name, how, s.Policy, got)
				}
			}
		}
	}
	step := startCases["a step"]
	if got := last(filterFrames(t, allSettings[0], step[0], evasions["kind"](step[1]), step[0])); got == withheld {
		t.Error("a step with the name of one whose end was withheld is withheld")
	}
}

// TestTextOfCutOffMessage checks that the end of a message does not repeat the pieces that were withheld.
func TestTextOfCutOffMessage(t *testing.T) {
	message := startCases["a message"]
	for want, piece := range map[bool]string{true: message[1], false: evasions["kind"](message[1])} {
		var end *event.Batch
		decodeEach(t, []string{message[0], piece, message[1], message[3]}, func(b *event.Batch) { end = b })
		if got := slices.ContainsFunc(end.Events, func(e event.Event) bool { return e.Kind == event.KindText }); got != want {
			t.Errorf("after %s: the end has the text: %t", piece, got)
		}
	}
}

package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestManyCopies checks that after a patch with more copies than are followed, no change of a message leaves, and that ordinary copies
// hold up nothing.
func TestManyCopies(t *testing.T) {
	state := `{"a":{"id":"msg-00000001","role":"ai","name":"helper","content":"x"}`
	for i := range 1000 {
		state += fmt.Sprintf(`,"m%d":{"role":"ai","content":"x"}`, i)
	}
	for copies, leaves := range map[int]bool{100: true, 1000: false} {
		patch := strings.Repeat(`{"op":"copy","from":"/a","path":"/b"},`, copies) + `{"op":"add","path":"/n","value":1}`
		frames := []string{run, `{"type":"STATE_SNAPSHOT","snapshot":` + state + `}}`, `{"type":"STATE_DELTA","delta":[` + patch + `]}`}
		for next, leaves := range map[string]bool{
			`{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/m1/content","value":"y"}]}`: leaves,
			`{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":2}]}`:            true,
		} {
			if got := last(filterFrames(t, allSettings[0], append(slices.Clone(frames), next)...)); (got == next) != leaves {
				t.Errorf("after %d copies, %s leaves as %s", copies, next, got)
			}
		}
		hidden := `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/m1/kind","value":"internal_audit"}]}`
		text := `{"type":"TEXT_MESSAGE_START","messageId":"msg-00000002","role":"assistant"}`
		if got := last(filterFrames(t, allSettings[0], append(slices.Clone(frames), hidden, text)...)); (got == text) != leaves {
			t.Errorf("after %d copies and an internal name, %s leaves as %s", copies, text, got)
		}
	}
}

// TestIDsOfReplacedDocuments checks that the IDs of a document that a change replaces as a whole are those of the new one.
func TestIDsOfReplacedDocuments(t *testing.T) {
	document := func(id string) string {
		return `{"messages":[{"id":"` + id + `","role":"assistant","content":"x"}]}`
	}
	const name = `{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/messages/0/kind","value":"internal_audit"}]}`
	op := func(op, id string) string {
		return `{"type":"STATE_DELTA","delta":[{"op":"` + op + `","path":"","value":` + document(id) + `}]}`
	}
	snapshot := `{"type":"STATE_SNAPSHOT","snapshot":` + document("msg-00000001") + `}`
	for _, c := range []struct {
		before   []string
		id       string
		isHidden bool
	}{
		{[]string{op("replace", "msg-00000002")}, "msg-00000002", true},
		{[]string{snapshot, op("replace", "msg-00000002")}, "msg-00000002", true},
		{[]string{snapshot, op("add", "msg-00000002")}, "msg-00000002", true},
		{[]string{snapshot, op("replace", "msg-00000002")}, "msg-00000001", false},
		{[]string{snapshot, op("test", "msg-00000002")}, "msg-00000001", true},
	} {
		list := `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"` + c.id + `","role":"assistant","content":"x"},` + hello + `]}`
		got := last(filterFrames(t, allSettings[0], append(append([]string{run}, c.before...), name, list)...))
		if want := strings.Replace(list, `{"id":"`+c.id+`","role":"assistant","content":"x"},`, "", 1); c.isHidden && got != want || !c.isHidden && got != list {
			t.Errorf("after %s the list leaves as %s", c.before, got)
		}
	}
}

package format

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestRepeatAfterThoughts repeats an answer in a piece after two whole thoughts that repeat their pieces. Readers get each text once.
func TestRepeatAfterThoughts(t *testing.T) {
	frame := func(partial bool, kind event.Kind, words ...string) *event.Batch {
		b := &event.Batch{Agent: "a", Partial: partial}
		for _, w := range words {
			b.Add(kind).SetText([]byte(w))
		}
		return b
	}
	var texts texts
	var out []string
	for _, b := range []*event.Batch{
		frame(false, event.KindText, "answer"), frame(true, event.KindThought, "one"), frame(true, event.KindThought, "two"),
		frame(false, event.KindThought, "one", "two"), frame(true, event.KindText, "answer"),
	} {
		for i := range b.Events {
			_, added, _ := texts.add(b, &b.Events[i], func() string { return "m" })
			out = append(out, string(added))
		}
	}
	if got, want := strings.Join(out, "|"), "answer|one|two|||"; got != want {
		t.Errorf("readers get %q, want %q", got, want)
	}
}

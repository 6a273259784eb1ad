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

// TestAgentNamedLate sends two messages in pieces without an agent, then each as a whole, as the OpenAI Agents SDK does. Readers get each once.
func TestAgentNamedLate(t *testing.T) {
	frame := func(agent, message, words string) *event.Batch {
		b := &event.Batch{Agent: agent, Partial: agent == ""}
		e := b.Add(event.KindText)
		e.SetText([]byte(words))
		e.Message = message
		return b
	}
	var texts texts
	var out []string
	for _, b := range []*event.Batch{frame("", "", "one"), frame("", "j", "two"), frame("a", "", "one"), frame("a", "j", "two"), frame("a", "", "one")} {
		_, added, _ := texts.add(b, &b.Events[0], func() string { return "m" })
		out = append(out, string(added))
	}
	if got, want := strings.Join(out, "|"), "one|two|||one"; got != want {
		t.Errorf("readers get %q, want %q", got, want)
	}
}

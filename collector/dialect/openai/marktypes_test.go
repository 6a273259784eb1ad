package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestMarksInTypes marks each event of a stream in its type. The same leaves as with a mark in another
// member: not the event itself, nor what belongs to it.
func TestMarksInTypes(t *testing.T) {
	done := strings.Replace(strings.Replace(added, `[]`, `[{"type":"output_text","text":"secret"}]`, 1), "item.added", "item.done", 1)
	progress := strings.Replace(created, "response.created", "response.in_progress", 1)
	for name, sent := range map[string][]string{
		"a response": {created, progress, added, delta, delta, done, ended, later.Replace(created), later.Replace(added), later.Replace(delta), later.Replace(ended)},
		"the SDK":    append([]string{begins("a"), createdOf("r")}, append(workOf("a", "i", "secret"), begins("b"), callItem("b", "c", "f"), outputItem("b", "c"), saidBy("b", "answer"))...),
		"texts":      {begins("a"), textOf("i", "secret"), textOf("i", "secret"), begins("b"), textOf("j", "answer")},
		"JavaScript": {agentA, started, piece, ofModel(created), ofModel(added), ofModel(delta), ofModel(delta), ofModel(ended), doneJS, message},
	} {
		for i := range sent {
			by := func(mark string) []string {
				marked := append([]string{}, sent...)
				marked[i] = strings.Replace(sent[i], `{"type":"`, mark, 1)
				return marked
			}
			for _, s := range []filter.Settings{client, public} {
				want := leaving(t, s, stream(by(`{"kind":"internal","type":"`)...))
				for _, mark := range []string{"internal.", "internal:", "Internal_", "internal", "internal -"} {
					if got := leaving(t, s, stream(by(`{"type":"`+mark)...)); got != want {
						t.Errorf("%s: under %s this leaves: %s\nof %s\nwant: %s", name, s.Policy, got, strings.Join(by(`{"type":"`+mark), "\n"), want)
					}
				}
			}
		}
	}
	inner := strings.Replace(textOf("i", "secret"), `"data":{"type":"`, `"data":{"type":"internal.`, 1)
	if out := leaving(t, client, stream(begins("a"), inner, textOf("i", "secret"), begins("b"), textOf("j", "answer"))); strings.Contains(out, "secret") || !strings.Contains(out, "answer") {
		t.Errorf("of texts in envelopes this leaves: %s", out)
	}
	if out := leaving(t, client, stream(created, added, `{"type":"internal.note","text":"secret"}`, strings.Replace(delta, "secret", "answer", 1))); strings.Contains(out, "secret") || !strings.Contains(out, "answer") {
		t.Errorf("beside an unknown internal event this leaves: %s", out)
	}
}

package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestThoughtsWithoutStart sends thoughts of an item that has not begun. Its text is a thought, unless the item begins, or the text is in
// another part (Llama Stack).
func TestThoughtsWithoutStart(t *testing.T) {
	part := func(kind, members string) string {
		return `{"type":"response.` + kind + `","output_index":0,"item_id":"i",` + members + `}`
	}
	text := part("output_text.delta", `"content_index":0,"delta":"secret"`)
	for _, thought := range []string{
		part("reasoning_text.delta", `"content_index":0,"delta":"x"`), part("reasoning_text.done", `"content_index":0,"text":"x"`),
		part("reasoning_part.added", `"content_index":0,"part":{"type":"reasoning_text","text":""}`), part("reasoning_part.added", `"content_index":0,"part":{"type":"output_text","text":""}`),
		part("reasoning_summary_part.added", `"summary_index":0,"part":{"type":"summary_text","text":""}`), part("reasoning_summary_text.delta", `"summary_index":0,"delta":"x"`),
	} {
		checkStaysIn(t, []filter.Settings{public, withoutThoughts}, thought, text)
		checkStaysIn(t, []filter.Settings{public, withoutThoughts}, created, thought, text)
		other := strings.Replace(thought, `"content_index":0`, `"content_index":1`, 1)
		for _, sent := range [][]string{{created, added, thought, text}, {created, other, added, text}, {thought, strings.Replace(text, `"i"`, `"j"`, 1)}} {
			if strings.Contains(other, "summary") && sent[1] == other {
				continue // it has no number of a part
			}
			if out := leaving(t, public, stream(sent...)); !strings.Contains(out, "secret") {
				t.Errorf("of %s\nthis leaves: %s", strings.Join(sent, "\n"), out)
			}
		}
	}
}

// TestNumbersUsedAgain passes on parts of responses, each of which counts its items from 0, and neither starts nor ends of responses.
func TestNumbersUsedAgain(t *testing.T) {
	const message = `"type":"message","role":"assistant","content":[{"type":"output_text","text":"answer"}]`
	text := strings.Replace(later.Replace(delta), `"item_id"`, `"content_index":0,"item_id"`, 1)
	whole := `{"type":"response.output_item.done","output_index":0,"item":{"id":"j",` + message + `}}`
	for name, c := range map[string]struct {
		first  string
		leaves bool // also under the policy `public`
	}{
		"a call":              {`{"type":"response.output_item.done","output_index":0,"item":{"id":"i","type":"function_call","call_id":"c","name":"f","arguments":"{}"}}`, true},
		"the start of a call": {`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"function_call","call_id":"c","name":"f","arguments":""}}`, true},
		"a thought":           {`{"type":"response.output_item.done","output_index":0,"item":{"id":"i","type":"reasoning","summary":[]}}`, true},
		"an open thought":     {`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"reasoning","summary":[]}}`, false},
		"a user's message":    {`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"message","role":"user","content":[]}}`, false},
	} {
		if out := leaving(t, client, stream(c.first, text, whole)); strings.Count(out, "\n") != 3 {
			t.Errorf("%s: the client gets: %s", name, out)
		}
		if out := leaving(t, public, stream(c.first, text)); strings.Contains(out, "answer") != c.leaves {
			t.Errorf("%s: the public gets: %s", name, out)
		}
		if facts := factsOf(stream(c.first, text, whole)); c.leaves && strings.Count(facts, `"answer"`) != 2 {
			t.Errorf("%s: the facts are: %s", name, facts)
		}
	}
}

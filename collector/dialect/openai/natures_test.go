package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestThoughtsOfOtherStreams begins a thought on one stream and continues it on another, as a client does that resumes a response on an
// application's own path.
func TestThoughtsOfOtherStreams(t *testing.T) {
	const id = "msg_0123456789abcdef0123456789abcdef"
	named := strings.NewReplacer(`"i"`, `"`+id+`"`)
	part := func(kind, members string) string {
		return `{"type":"response.` + kind + `","output_index":0,"item_id":"` + id + `","content_index":0,` + members + `}`
	}
	reasoning := strings.Replace(added, `"message","role":"assistant"`, `"reasoning"`, 1)
	channel, final := mark(added, `"item":{"id":"i"`, `"channel":"analysis"`), mark(delta, `"output_index":0`, `"channel":"final"`)
	next := []string{
		delta, ended, strings.NewReplacer("delta", "done", `"secret"`, `"","text":"secret"`).Replace(delta), part("content_part.done", `"part":{"type":"output_text","text":"secret"}`),
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","text":"secret"}]}}`,
		`{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","raw_item":{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","text":"secret"}]}}}`,
	}
	for name, c := range map[string]struct {
		first  []string
		leaves bool
	}{
		"an answer":            {[]string{created, added}, true},
		"reasoning":            {[]string{created, reasoning}, false},
		"a phase":              {[]string{created, mark(added, `"item":{"id":"i"`, `"phase":"analysis"`)}, false},
		"a channel":            {[]string{created, channel}, false},
		"another channel next": {[]string{created, channel, final}, true},
		"a mark":               {[]string{created, mark(added, `"item":{"id":"i"`, `"thought":true`)}, false},
		"a marked part":        {[]string{created, added, part("content_part.added", `"part":{"type":"reasoning_text","text":""}`)}, false},
		"without a start":      {[]string{part("reasoning_text.delta", `"delta":"x"`)}, false},
	} {
		for _, s := range []filter.Settings{public, withoutThoughts} {
			for _, then := range next {
				memory := new(event.Withheld)
				leavingOf(t, s, &event.Stream{SingleRun: true, Withheld: memory}, named.Replace(stream(c.first...)))
				out := leavingOf(t, s, &event.Stream{SingleRun: true, Withheld: memory}, named.Replace(stream(then)))
				if strings.Contains(out, "secret") != c.leaves {
					t.Errorf("%s: under %s, of %s\nthis leaves: %s", name, s.Policy, then, out)
				}
			}
		}
	}
	memory := new(event.Withheld)
	for range 2 { // the second stream has the whole response
		if out := leavingOf(t, public, &event.Stream{SingleRun: true, Withheld: memory}, named.Replace(stream(created, channel, final))); !strings.Contains(out, "secret") {
			t.Errorf("of a thought that becomes an answer this leaves: %s", out)
		}
	}
}

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

package aisdk_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestRepeatedContents repeats a source or a file that was withheld or unreadable. Another one leaves.
func TestRepeatedContents(t *testing.T) {
	const (
		url      = `{"type":"source-url","sourceId":"s","url":"https://example.org/s"}`
		document = `{"type":"source-document","sourceId":"s","mediaType":"text/plain","title":"T"}`
		file     = `{"type":"file","url":"https://example.org/f","mediaType":"text/plain"}`
		thought  = `{"type":"reasoning-file","url":"https://example.org/f","mediaType":"text/plain"}`
	)
	internal := func(frame string) string {
		return strings.TrimSuffix(frame, "}") + `,"providerMetadata":{"x":{"kind":"internal"}}}`
	}
	unreadable := func(frame string) string { return strings.TrimSuffix(frame, "}") + `,"x":1,"X":1}` }
	another := strings.NewReplacer(`"s"`, `"r"`, "/f", "/g", "/s", "/r")
	linked := func(frame string) string { return strings.NewReplacer("/f", "/s", `"s"`, `"r"`).Replace(frame) } // the URL of the source
	for _, c := range []struct {
		first, then string
		leaves      bool
	}{
		{internal(url), url, false},
		{internal(url), document, false},
		{internal(document), url, false},
		{internal(file), file, false},
		{internal(file), thought, false},
		{internal(thought), file, false},
		{strings.Replace(internal(url), `"s"`, "7", 1), strings.Replace(url, `"s"`, `"7"`, 1), false},
		{internal(url), linked(url), false},
		{internal(url), linked(file), false},
		{internal(url), linked(thought), false},
		{internal(linked(file)), url, false},
		{strings.Replace(internal(file), `"https://example.org/f"`, `["f"]`, 1), strings.Replace(file, `"https://example.org/f"`, `["f"]`, 1), false},
		{unreadable(url), url, false},
		{unreadable(document), document, false},
		{unreadable(file), file, false},
		{unreadable(url), file, false},
		{unreadable(file), url, false},

		{url, url, true},
		{internal(url), another.Replace(url), true},
		{internal(url), file, true},
		{internal(file), another.Replace(file), true},
		{internal(document), file, true},
		{unreadable(file), document, true},
		{`{"type":"tool-output-available","toolCallId":"c","output":{"a":1,"A":2}}`, url, true},
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			sent := []string{c.first, c.then}
			if got := last(leavesOf(t, newAnswer(), policy, sent...)); (got != withheld) != c.leaves {
				t.Errorf("%s: the last of %s leaves as %s", policy, sent, got)
			}
		}
	}
	if got := last(leavesOf(t, newAnswer(), event.PolicyClient, internal(url), url, "[DONE]", url)); got != unchanged {
		t.Errorf("the source of the next answer leaves as %s", got)
	}
}

// TestCitedContents ends a text that cites a withheld source. The end leaves without its citations.
func TestCitedContents(t *testing.T) {
	const start, piece, source = `{"type":"text-start","id":"t"}`, `{"type":"text-delta","id":"t","delta":"x"}`, `{"type":"source-url","sourceId":"s","url":"https://example.org"}`
	internal, unreadable := strings.TrimSuffix(source, "}")+`,"providerMetadata":{"x":{"kind":"internal"}}}`, strings.TrimSuffix(source, "}")+`,"x":1,"X":1}`
	for _, citation := range []string{`{"source":{"sourceType":"url","id":"s","url":"secret"},"citedText":"secret"}`, `{"sourceId":"s","citedText":"secret"}`, `{"source":{"id":"q","url":"https://example.org"},"citedText":"secret"}`, `{"url":"https://example.org","citedText":"secret"}`, `{"source":{"sourceId":"s","url":"secret"}}`} {
		end := `{"type":"text-end","id":"t","citations":[{"source":{"id":"r"}},` + citation + `]}`
		for _, c := range []struct {
			sent []string
			want string
		}{
			{[]string{start, source, piece, end}, unchanged},
			{[]string{start, internal, piece, end}, `{"type":"text-end","id":"t"}`},
			{[]string{internal, piece, end}, withheld},
			{[]string{unreadable, start, piece, end}, `{"type":"text-end","id":"t"}`},
			{[]string{`{"type":"tool-output-available","toolCallId":"c","output":{"a":1,"A":2}}`, start, piece, end}, unchanged},
		} {
			if got := last(leavesOf(t, newAnswer(), event.PolicyClient, c.sent...)); got != c.want {
				t.Errorf("the last of %s leaves as %s, want %s", c.sent, got, c.want)
			}
		}
		each(t, []string{start, internal, piece, end}, func(b *event.Batch) {
			if strings.HasPrefix(b.Type, "end") {
				for _, e := range b.Events {
					if e.Citation.URI == "secret" {
						t.Errorf("a withheld source is reported beside an end that leaves")
					}
				}
			}
		})
	}
}

// TestCitedAfterUnreadable ends a text that cites a source, after an unreadable frame that may have been a source. The end leaves whole if
// the source left before.
func TestCitedAfterUnreadable(t *testing.T) {
	const start, source, end = `{"type":"text-start","id":"t"}`, `{"type":"source-url","sourceId":"s","url":"https://example.org"}`, `{"type":"text-end","id":"t","citations":[{"source":{"id":"s","url":"https://example.org"}}]}`
	if got := last(leavesOf(t, newAnswer(), event.PolicyClient, source, `{"type":"source-url","sourceId":"r","x":1,"X":1}`, start, end)); got != unchanged {
		t.Errorf("the end leaves as %s", got)
	}
}

// TestSourcesOfWithheldEnds cites a source in the end of an internal text. A source chunk with it is withheld, unless it left before.
func TestSourcesOfWithheldEnds(t *testing.T) {
	const start, source, end = `{"type":"text-start","id":"t"}`, `{"type":"source-url","sourceId":"s","url":"https://example.org"}`, `{"type":"text-end","id":"t","citations":[{"source":{"id":"s"}}]}`
	for _, text := range [][]string{{inKind(start), end}, {start, inKind(end)}, {inKind(beginStep), start, end, endStep}} {
		if got := last(leavesOf(t, newAnswer(), event.PolicyClient, append(text, source)...)); got != withheld {
			t.Errorf("after %s, the source leaves as %s", text, got)
		}
		if got := last(leavesOf(t, newAnswer(), event.PolicyClient, append(append([]string{source}, text...), source)...)); got != unchanged {
			t.Errorf("a source that left before %s leaves as %s", text, got)
		}
	}
	if got := last(leavesOf(t, newAnswer(), event.PolicyClient, start, end, source)); got != unchanged {
		t.Errorf("the source of a text that left leaves as %s", got)
	}
}

// TestUnreadableFiles repeats a file that was in an unreadable frame with another spelling.
func TestUnreadableFiles(t *testing.T) {
	const file = `{"type":"file","url":"https://example.org/f","mediaType":"text/plain"}`
	for sent, want := range map[string]string{
		`"{\"type\":\"file\",\"url\":\"https://example.org/f\",\"kind\":\"internal\"}"`: withheld,
		`{'type':'file','url':'https://example.org/f','kind':'internal'}`:               withheld,
		`{"type":"text-delta","id":"t","delta":"the file","x":1,"X":1}`:                 unchanged,
	} {
		if got := last(leavesOf(t, newAnswer(), event.PolicyClient, sent, file)); got != want {
			t.Errorf("after %s, the file leaves as %s", sent, got)
		}
	}
}

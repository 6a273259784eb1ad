package event

import (
	"regexp"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestClosedSets holds the names that users see: each is there once, and fit for a label.
func TestClosedSets(t *testing.T) {
	var names, reasons []string
	for _, k := range Kinds() {
		names = append(names, k.String())
	}
	for _, r := range Reasons() {
		reasons = append(reasons, string(r))
	}
	label := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, set := range [][]string{names, reasons} {
		for i, name := range set {
			if !label.MatchString(name) || slices.Contains(set[:i], name) {
				t.Errorf("%q, number %d of %q", name, i, set)
			}
		}
	}
	if len(Kinds()) != len(kindNames) || KindOther.String() != "other" || KindReasoning.String() != "reasoning" || KindToolPaused.String() != "tool_paused" {
		t.Errorf("kinds and names do not match: %q", names)
	}
	for _, r := range []strictjson.Reason{strictjson.Syntax, strictjson.DuplicateName, strictjson.FoldedName, strictjson.InvalidUTF8, strictjson.TrailingData, strictjson.Depth} {
		if !slices.Contains(Reasons(), Reason(r)) {
			t.Errorf("%q is no reason", r)
		}
	}
}

// TestCounts makes sure that what nobody knows never becomes 0.
func TestCounts(t *testing.T) {
	unknown, two, three := Count{}, Count{2, true}, Count{3, true}
	for _, c := range []struct{ a, b, want Count }{
		{unknown, unknown, unknown}, {unknown, two, two}, {two, unknown, two}, {two, three, Count{5, true}}, {unknown, Count{0, true}, Count{0, true}},
	} {
		if got := c.a.Add(c.b); got != c.want {
			t.Errorf("%v + %v = %v", c.a, c.b, got)
		}
	}
	sum := Usage{Input: two, Output: three}.Add(Usage{Input: two, CacheRead: two, Reasoning: three})
	if want := (Usage{Input: Count{4, true}, Output: three, CacheRead: two, Reasoning: three}); sum != want {
		t.Errorf("%+v, want %+v", sum, want)
	}
}

func TestAdd(t *testing.T) {
	used := Event{Kind: KindError, Name: "of the frame before", Error: AgentError}
	b := Batch{Events: []Event{used}[:0]}
	b.Add(KindText).Name = "a"
	b.Add(KindFinal)
	if len(b.Events) != 2 || b.Events[0].Name != "a" || b.Events[0].Error != NoFailure || b.Events[1].Kind != KindFinal {
		t.Errorf("%+v", b.Events)
	}
}

func TestSpanContext(t *testing.T) {
	if (SpanContext{}).Valid() || (SpanContext{Trace: [16]byte{1}}).Valid() || (SpanContext{Span: [8]byte{1}, Sampled: true}).Valid() {
		t.Error("half a span context names a span")
	}
	if !(SpanContext{Trace: [16]byte{15: 1}, Span: [8]byte{7: 1}}).Valid() {
		t.Error("a span context names no span")
	}
}

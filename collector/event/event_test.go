package event

import (
	"regexp"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestClosedSets checks that the names that users see are unique and suitable as label values.
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
				t.Errorf("%q, number %d of %q, is a duplicate or not a valid label value", name, i, set)
			}
		}
	}
	if len(Kinds()) != len(kindNames) || KindOther.String() != "other" || KindReasoning.String() != "reasoning" || KindToolPaused.String() != "tool_paused" {
		t.Errorf("kinds and names do not match: %q", names)
	}
	for _, r := range []strictjson.Reason{strictjson.Syntax, strictjson.DuplicateName, strictjson.FoldedName, strictjson.InvalidUTF8, strictjson.TrailingData, strictjson.Depth} {
		if !slices.Contains(Reasons(), Reason(r)) {
			t.Errorf("Reasons() does not contain %q", r)
		}
	}
}

// TestCounts checks that an unknown count does not become 0.
func TestCounts(t *testing.T) {
	unknown, two, three := Count{}, Count{2, true}, Count{3, true}
	for _, c := range []struct{ a, b, want Count }{
		{unknown, unknown, unknown}, {unknown, two, two}, {two, unknown, two}, {two, three, Count{5, true}}, {unknown, Count{0, true}, Count{0, true}},
	} {
		if got := c.a.Add(c.b); got != c.want {
			t.Errorf("%v.Add(%v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
	for _, c := range []struct{ now, earlier, want Count }{
		{unknown, unknown, unknown}, {unknown, two, unknown}, {two, unknown, two}, {Count{0, true}, unknown, Count{0, true}},
		{three, two, Count{1, true}}, {two, two, unknown}, {two, three, unknown},
	} {
		if got := (Usage{Input: c.now, Output: c.now, CacheRead: c.now, Reasoning: c.now}).Since(Usage{Input: c.earlier, Output: c.earlier, CacheRead: c.earlier, Reasoning: c.earlier}); got != (Usage{Input: c.want, Output: c.want, CacheRead: c.want, Reasoning: c.want}) {
			t.Errorf("%v since %v is %v, want %v", c.now, c.earlier, got, c.want)
		}
	}
	sum := Usage{Input: two, Output: three}.Add(Usage{Input: two, CacheRead: two, Reasoning: three})
	if want := (Usage{Input: Count{4, true}, Output: three, CacheRead: two, Reasoning: three}); sum != want {
		t.Errorf("Usage.Add() = %+v, want %+v", sum, want)
	}
}

// TestAdd checks that a new event has nothing of an event of the previous frame.
func TestAdd(t *testing.T) {
	used := Event{Kind: KindError, Name: "of the previous frame", Error: AgentError}
	b := Batch{Events: []Event{used}[:0]}
	b.Add(KindText).Name = "a"
	b.Add(KindFinal)
	if len(b.Events) != 2 || b.Events[0].Name != "a" || b.Events[0].Error != NoFailure || b.Events[1].Kind != KindFinal {
		t.Errorf("the events are %+v, want a text of a and a final", b.Events)
	}
}

// TestSpanContext checks that a valid context has both a trace and a span.
func TestSpanContext(t *testing.T) {
	if (SpanContext{}).IsValid() || (SpanContext{Trace: [16]byte{1}}).IsValid() || (SpanContext{Span: [8]byte{1}, Sampled: true}).IsValid() {
		t.Error("IsValid() = true for half a span context")
	}
	if !(SpanContext{Trace: [16]byte{15: 1}, Span: [8]byte{7: 1}}).IsValid() {
		t.Error("IsValid() = false for a span context")
	}
}

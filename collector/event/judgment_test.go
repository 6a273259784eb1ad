package event_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// TestJudgment applies the judgment of a frame to the same frame in another batch.
func TestJudgment(t *testing.T) {
	begin := func() *event.Batch {
		b := new(event.Batch)
		b.Begin(new(event.Stream), sse.Frame{Data: []byte(`{"a":[1,{"b":"x"}],"c":"{\"d\":1}"}`)}, time.Time{})
		b.Parse(8)
		return b
	}
	describe := func(b *event.Batch) (found []string) {
		for part := range b.Cuts {
			found = append(found, "cut "+string(part.Raw()))
		}
		for part, substitute := range b.Substitutes {
			found = append(found, "substitute "+string(part.Raw())+substitute)
		}
		for part, kind := range b.TextKinds {
			found = append(found, "kind "+string(part.Raw())+kind.String())
		}
		for part, names := range b.Authors {
			found = append(found, append([]string{"authors " + string(part.Raw())}, names...)...)
		}
		return append(found, b.InputAuthors...)
	}
	first, second := begin(), begin()
	inner := first.JSON.Get("c")
	first.Cut(inner)
	first.Substitute(first.JSON.Get("a"), "[]")
	first.SetTextKind(first.JSON, event.KindThought)
	first.AddAuthors(first.JSON, "x", "y")
	first.InputAuthors, first.HasThoughts, first.PublicForm = []string{"z"}, true, true
	j := first.Judgment(6)
	second.Cut(second.JSON)
	second.Judge(&j)
	if diff := cmp.Diff(describe(first), describe(second)); diff != "" || second.Internal || !second.HasThoughts || !second.PublicForm || j.Parts() != 5 {
		t.Errorf("%d parts: -first +second\n%s", j.Parts(), diff)
	}
	if j = first.Judgment(4); j.Parts() != 0 {
		t.Errorf("%d parts are kept", j.Parts())
	}
	if second.Judge(&j); !second.Internal {
		t.Error("a frame with too many parts is not internal")
	}
	first.Cut(first.Embedded(inner).Get("d"))
	j = first.Judgment(6)
	if second.Judge(&j); !second.Internal {
		t.Error("a frame is not internal although a part of another document was cut from it")
	}
}

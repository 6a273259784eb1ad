package wire_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// TestWithTotal derives the output tokens from the total. A negative count is unknown.
func TestWithTotal(t *testing.T) {
	count := func(n int64) event.Count {
		if n < 0 {
			return event.Count{}
		}
		return event.Count{N: n, Known: true}
	}
	for _, c := range []struct{ in, out, reasoning, total, want int64 }{
		{10, 5, -1, 15, 5},
		{10, 105, 100, 115, 105}, // OpenAI: the output includes the reasoning
		{10, 5, 100, 115, 105},   // xAI: it does not
		{10, 5, 0, 15, 5},
		{10, 5, 100, 120, 5},
		{10, 5, 100, -1, 5},
		{-1, 5, 100, 105, 5},
		{10, -1, 100, 115, 105},
		{10, -1, -1, 5, -1},
	} {
		usage := event.Usage{Input: count(c.in), Output: count(c.out), Reasoning: count(c.reasoning)}
		if got := wire.WithTotal(usage, count(c.total)).Output; got != count(c.want) {
			t.Errorf("%+v: the output is %v, want %d", c, got, c.want)
		}
	}
}

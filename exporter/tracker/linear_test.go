package tracker_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// loads are runs with many operations. Each returns the frames of a run with n of them.
var loads = map[string]struct {
	stream func() *event.Stream
	frames func(n int) []*event.Batch
}{
	"tools": {proxied, func(n int) (all []*event.Batch) {
		for i := range n {
			all = append(all, says("a", calls(id("c", i), "tool")))
		}
		for i := range n {
			all = append(all, says("a", returns(id("c", i), "tool")))
		}
		return all
	}},
	"tools without ids": {proxied, func(n int) (all []*event.Batch) {
		for i := range n {
			all = append(all, says("a", calls("", id("tool", i))))
		}
		for i := range n {
			all = append(all, says("a", returns("", id("tool", n-1-i))))
		}
		return all
	}},
	"agents within calls": {tailed, func(n int) (all []*event.Batch) {
		for i := range n {
			all = append(all, says("a", of("r"), calls(id("c", i), "tool")), says("b", of("r"), at(id("b", i), id("c", i), ""), text))
		}
		for i := range n {
			all = append(all, says("a", of("r"), returns(id("c", i), "tool")))
		}
		return all
	}},
	"agents by turns": {tailed, func(n int) (all []*event.Batch) {
		for i := range n {
			all = append(all, says("a", of("r"), calls(id("c", i), "tool")), says("b", of("r"), at(id("b", i), id("c", i), ""), text, begins("m")),
				says("a", of("r"), returns(id("c", i), "tool")))
		}
		return all
	}},
	"nested agents": {tailed, func(n int) (all []*event.Batch) {
		for i := range n {
			all = append(all, says("a", of("r"), at(id("b", i), "", id("b", i-1)), responds("m")))
		}
		return all
	}},
	"transfers": {proxied, func(n int) (all []*event.Batch) {
		for i := range n {
			all = append(all, says(id("a", i), responds("m"), handsOver("", id("a", i+1))))
		}
		return all
	}},
	"agents that there are not": {proxied, func(n int) (all []*event.Batch) {
		for i := range n {
			all = append(all, says("a", handsOver("", id("b", i))))
		}
		for i := range n {
			b := says("a", fails)
			b.Events[0].Name = id("b", i)
			all = append(all, b)
		}
		return all
	}},
	"containers that hand over": {proxied, func(n int) (all []*event.Batch) {
		for i := range n {
			all = append(all, says("x", streamRun(fmt.Sprintf("app@1/w%d@1/x@1", i), ""), responds("m"), final))
		}
		return all
	}},
	"parts of agents that end": {tailed, func(n int) (all []*event.Batch) {
		for i := range n {
			all = append(all, says("a", of("r"), at(id("b", i), "", ""), fresh(event.KindAgentStarted)), says("a", of("r"), at(id("p", i), "", id("b", i)), fresh(event.KindAgentStarted)))
		}
		for i := range n {
			all = append(all, says("a", of("r"), at(id("b", i), "", ""), ends))
		}
		return all
	}},
}

func id(prefix string, i int) string { return fmt.Sprint(prefix, i) }

// BenchmarkOperations reports the cost of an operation in runs of different sizes, which should be
// about the same.
func BenchmarkOperations(b *testing.B) {
	for name, load := range loads {
		for _, n := range []int{1000, 10_000, 50_000} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				for b.Loop() {
					s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 200_000 }), load.stream()
					s.feed(stream, load.frames(n)...).end(stream, event.EndOfStream)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/operation")
			})
		}
	}
}

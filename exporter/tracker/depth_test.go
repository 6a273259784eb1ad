package tracker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// deepest is the greatest number of nested operations that run others, without the root operation.
const deepest = 128

// chains are the ways in which agents can delegate to each other endlessly. Each returns the frames of one more delegation.
var chains = map[string]struct {
	stream *event.Stream
	link   func(n int) []*event.Batch
}{
	"transfers": {proxied(), func(n int) []*event.Batch {
		from, to, call := fmt.Sprint("a", n), fmt.Sprint("a", n+1), fmt.Sprint("c", n)
		return []*event.Batch{says(from, responds("m"), calls(call, "transfer_to_agent")), says(from, returns(call, "transfer_to_agent"), handsOver(call, to))}
	}},
	"transfers by place": {proxied(), func(n int) []*event.Batch {
		from, to := fmt.Sprint("a", n%2), fmt.Sprint("a", (n+1)%2)
		return []*event.Batch{says(from, branch(""), responds("m")), says(from, branch(""), handsOver("", to))}
	}},
	"parts of agents": {tailed(), func(n int) []*event.Batch {
		return []*event.Batch{says("a", of("r"), at(fmt.Sprint("b", n), "", fmt.Sprint("b", n-1)), responds("m"))}
	}},
	"calls within calls": {tailed(), func(n int) []*event.Batch {
		b := says("a", of("r"), at(fmt.Sprint("b", n), fmt.Sprint("c", n-1), fmt.Sprint("b", n-1)), responds("m"), calls(fmt.Sprint("c", n), "tool"))
		return []*event.Batch{b}
	}},
	"adoptions": {tailed(), func(n int) []*event.Batch {
		run, before := fmt.Sprint("t", n), fmt.Sprint("t", n-1)
		return []*event.Batch{says("a", of(run), orphan, responds("m")), says("a", of(run), orphan, adopts(before, "a", ""))}
	}},
}

// TestDeepDelegation checks that operations nested deeper than the limit get a higher parent, and
// that nothing else is lost.
func TestDeepDelegation(t *testing.T) {
	const links = 3 * deepest
	for name, chain := range chains {
		t.Run(name, func(t *testing.T) {
			s := watch(func(s *tracker.Settings) { s.MaxOperations, s.MaxFacts = 10*links, links })
			var frames []*event.Batch
			for n := range links {
				frames = append(frames, chain.link(n)...)
			}
			s.feed(chain.stream, frames...).end(chain.stream, event.EndOfStream)
			responses, height := 0, 0
			for _, r := range s.runs {
				for _, op := range r.Operations {
					if op.Kind == tracker.Chat {
						responses++
					}
				}
				height = max(height, levels(r))
			}
			if responses != links || height != deepest {
				t.Errorf("%d responses of %d in %d runs, %d levels of agents", responses, links, len(s.runs), height)
			}
			if n := count(s.lost, "evicted depth") + count(s.lost, "evicted orphan"); n != len(s.lost) || n == 0 {
				t.Errorf("lost %d, of which %d for their depth", len(s.lost), n)
			}
		})
	}
}

// levels returns the depth of the deepest operation that runs others.
func levels(r *tracker.Run) (most int) {
	parents, invokes := map[tracker.SpanID]tracker.SpanID{}, map[tracker.SpanID]bool{}
	for _, op := range r.Operations {
		parents[op.ID], invokes[op.ID] = op.Parent, op.Kind.Invokes()
	}
	for id := range invokes {
		if !invokes[id] {
			continue
		}
		n := 0
		for up := parents[id]; up != (tracker.SpanID{}); up = parents[up] {
			n++
		}
		most = max(most, n)
	}
	return most
}

// BenchmarkDepth reports the cost of a chain of delegations relative to one of a quarter of its
// length: 4 if a frame costs the same at any depth.
func BenchmarkDepth(b *testing.B) {
	for name, chain := range chains {
		b.Run(name, func(b *testing.B) {
			follow := func(links int) func() {
				return func() {
					s := watch(func(s *tracker.Settings) { s.MaxOperations = 100_000 })
					for n := range links {
						s.feed(chain.stream, chain.link(n)...)
					}
					s.end(chain.stream, event.EndOfStream)
				}
			}
			ratio(b, follow(1000), follow(4000))
		})
	}
}

// ratio reports how many times longer second takes than first, by the fastest round of each.
func ratio(b *testing.B, first, second func()) {
	took := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, do := range []func(){first, second} {
			begun := time.Now()
			do()
			took[i] = min(took[i], time.Since(begun))
		}
	}
	b.ReportMetric(float64(took[1])/float64(took[0]), "x/quarter")
}

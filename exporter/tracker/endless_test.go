package tracker_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// endless has runs that never end and whose names, branches and ids are always new. Each returns the frames of one more step.
var endless = map[string]struct {
	stream func() *event.Stream
	step   func(n int) []*event.Batch
}{
	"hand-overs within calls": {tailed, func(n int) []*event.Batch {
		call, in := id("c", n), at(id("b", n), id("c", n), "")
		return []*event.Batch{
			says("a", of("r"), calls(call, "tool")), says("b", of("r"), in, text, begins("m")), says("b", of("r"), in, calls("", id("t", n)), handsOver("", id("d", n))),
			says("a", of("r"), returns(call, "tool")),
		}
	}},
	"agents that there are not": {proxied, func(n int) []*event.Batch {
		denied := says("a", fails)
		denied.Events[0].Name = id("b", n)
		return []*event.Batch{says("a", handsOver("", id("b", n))), denied}
	}},
	"places": {proxied, func(n int) []*event.Batch {
		return []*event.Batch{
			says("x", streamRun(fmt.Sprintf("app@1/w%d@1/x@1", n), id("l", n)), responds("m"), calls(id("c", n), "tool")),
			says("x", streamRun(fmt.Sprintf("app@1/w%d@1/x@1", n), id("l", n)), returns(id("c", n), "tool"), errorCode, final),
		}
	}},
	"branches": {proxied, func(n int) []*event.Batch {
		return []*event.Batch{says(id("a", n), branch(id("l", n)), responds("m"), asks(id("i", n), event.InputConfirmation)), says(id("a", n), branch(id("l", n)), answers(id("i", n)), errorCode)}
	}},
	"hand-overs by branch": {proxied, func(n int) []*event.Batch {
		return []*event.Batch{says(id("a", n), branch("l"), responds("m"), calls(id("c", n), "transfer_to_agent")), says(id("a", n), branch("l"), returns(id("c", n), "transfer_to_agent"), handsOver(id("c", n), id("a", n+1)))}
	}},
	"agents that begin and end": {tailed, func(n int) []*event.Batch {
		in := at(id("b", n), "", "")
		return []*event.Batch{says("b", of("r"), in, fresh(event.KindAgentStarted)), says("b", of("r"), in, responds("m")), says("b", of("r"), in, ends)}
	}},
	"requests without a response": {tailed, func(n int) []*event.Batch {
		in, asks := at(id("b", n), "", ""), fresh(event.KindIteration)
		return []*event.Batch{says("b", of("r"), in, fresh(event.KindAgentStarted), asks, func(b *event.Batch) { b.Events[len(b.Events)-1].CallsModel = true }, ends)}
	}},
	"branches of the root": {file, func(n int) []*event.Batch {
		return []*event.Batch{says("a", of("r"), mayBeRoot(id("a", n)), responds("m"))}
	}},
	"branches of an agent that gets control back": {tailed, func(n int) []*event.Batch {
		control := says("b", of("r"), lane(id("b", n)), text)
		if n == 0 {
			handsOver("", "c")(control)
		}
		return []*event.Batch{control, says("c", of("r"), lane("c"), handsOver("", "b"))}
	}},
	"adoptions": {tailed, func(n int) []*event.Batch {
		run, in := id("t", n), at(id("t", n), "", "")
		return []*event.Batch{
			says("a", of("r"), calls(id("c", n), "tool")), says("a", of("r"), returns(id("c", n), "tool")),
			says("b", of(run), orphan, responds("m")), says("a", of("r"), adopts(run, "b", "")), says("b", of("r"), in, ends),
		}
	}},
}

// TestEndlessRuns checks that all state of an endless run is bounded.
func TestEndlessRuns(t *testing.T) {
	const most, steps = 64, 1000
	for name, run := range endless {
		t.Run(name, func(t *testing.T) {
			s, stream := watch(func(s *tracker.Settings) { s.MaxOperations, s.MaxFacts, s.MaxOpenRuns = most, most, most }), run.stream()
			for n := range steps {
				s.feed(stream, run.step(n)...)
			}
			for what, n := range s.Sizes() {
				if n > 2*most {
					t.Errorf("%d %s", n, what)
				}
			}
			if len(s.lost) == 0 {
				t.Error("nothing was lost")
			}
		})
	}
}

package tracker_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestAnyTree feeds runs of a few agents that speak in random places, call each other and transfer control. It checks after each frame
// that the indexes of open nodes hold no ended one, and audits the run as TestAnyStream does.
func TestAnyTree(t *testing.T) {
	seeds := []uint64{
		4551,  // a call that turns into an invocation has run an agent before
		24642, // a missing agent was the last use of a call's id
		96002, // an agent in a task's call ends in the frame that ends the task
	}
	for seed := range uint64(600) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { anyTree(t, seed) })
	}
}

func anyTree(t *testing.T, seed uint64) {
	d := &drive{Rand: rand.New(rand.NewPCG(seed, 2))}
	w := &auditor{T: t, runs: map[*tracker.Run]*account{}, ids: map[tracker.SpanID]bool{}}
	s := watch(func(s *tracker.Settings) { w.most = *s })
	s.Tracker = tracker.New(w.most, w, w)
	stream := one(d, proxied, tailed)()
	stream.App = one(d, "", "app", "R")
	for range 5 + d.IntN(30) {
		s.feed(stream, d.frameInTree())
		if err := s.CheckOpen(); err != nil {
			t.Fatal(err)
		}
	}
	s.end(stream, event.EndOfStream)
}

// frameInTree returns a frame of a random speaker with one or two facts.
func (d *drive) frameInTree() *event.Batch {
	agent := one(d, "R", "a", "b", "x", "p1", "p2")
	path := one(d, "", "-", "R@1", "R@1", "R@1/x@c1", "R@1/x@c2", "R@1/a@c1", "R@1/x@1", "R@1/x@2", "R@1/x@c1/a@1", "R@2", "a@1")
	b := says(agent, func(b *event.Batch) {
		b.Branch = one(d, "", "", "", "P.p1", "P.p2", "a@c1", "x@c1", "P.p1.Q.a", "P.p1.Q.b")
		speaker := wire.Speaker{Author: agent, Branch: b.Branch, Scope: one(d, "", "", "c1", "c2"), HasPath: path != "", RunsNext: d.IntN(8) == 0, FinalsUnmarked: d.IntN(8) == 0}
		if path != "-" {
			speaker.Path = path
		}
		b.Place = new(wire.Places).Of(speaker)
		if d.IntN(10) == 0 { // the user
			b.Agent, b.Branch, b.Place = "", "", nil
		}
	})
	call := one(d, "c1", "c2")
	for range 1 + d.IntN(2) {
		one(d, concludes, concludes, responds("m"), responds("m"), begins("m"), text, final, errorCode, fails, fresh(event.KindState),
			calls(call, one(d, "x", "a", "tool")), calls(call, "tool"), returns(call, "tool"), returns(call, "x"),
			handsOver("", one(d, "a", "b", "R")), handsOver("", one(d, "a", "b", "p1")))(b)
	}
	if last := &b.Events[len(b.Events)-1]; last.Kind == event.KindToolEnded {
		last.EndsAgent, last.AgentNotFound = d.IntN(3) == 0, d.IntN(10) == 0
	}
	return b
}

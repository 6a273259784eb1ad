package tracker_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestOthersGoOn ends a call in which an agent works while another agent waits for something: that has nothing to do with the call, and is
// judged by what comes.
func TestOthersGoOn(t *testing.T) {
	in := func(agent, call string, facts ...fact) *event.Batch {
		return says(agent, append([]fact{at(agent, call, "")}, facts...)...)
	}
	for name, waits := range map[string]struct{ before, after *event.Batch }{
		"for its model": {in("b", "c1", calls("c2", "tool"), returns("c2", "tool")), in("b", "c1", responds("m"))},
		"for a person":  {in("b", "c1", asks("i", event.InputConfirmation)), in("b", "c1", answers("i"), responds("m"))},
	} {
		t.Run(name, func(t *testing.T) {
			r := follow(t, proxied(),
				says("app", calls("c1", "b"), calls("c3", "d")), in("b", "c1", text), waits.before, in("d", "c3", text),
				says("app", returns("c3", "d")), waits.after, says("app", returns("c1", "b")), says("app", responds("m"), final))
			if b := named(t, r, tracker.InvokeAgent, "b"); b.Status != tracker.OK || r.Status != tracker.Completed {
				t.Errorf("the agent is %s, the run %s", b.Status, r.Status)
			}
		})
	}
}

// TestUnnamedCalls answers calls without ids that outnumber those that are open at once: each answer finds its own call.
func TestUnnamedCalls(t *testing.T) {
	s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 1000 }), proxied()
	const rounds, tools = 20, 5
	for round := range rounds {
		for i := range tools {
			s.feed(stream, says("a", calls("", fmt.Sprint("tool", i))))
		}
		for i := range tools - 1 { // the last one of each round stays open
			s.feed(stream, says("a", returns("", fmt.Sprint("tool", tools-2-i))))
		}
		if round == rounds/2 {
			s.feed(stream, says("a", returns("", "tool4"), wrong(event.ToolError)))
		}
	}
	r := s.end(stream, event.EndOfStream).only(t)
	statuses := map[tracker.OperationStatus]int{}
	first := 0
	for i, op := range r.Operations {
		if op.Kind == tracker.ExecuteTool {
			statuses[op.Status]++
		}
		if op.Status == tracker.Error {
			first = i
		}
	}
	want := map[tracker.OperationStatus]int{tracker.OK: rounds * (tools - 1), tracker.Error: 1, tracker.Unfinished: rounds - 1}
	for status, n := range want {
		if statuses[status] != n {
			t.Errorf("%d are %s, want %d", statuses[status], status, n)
		}
	}
	if r.Operations[first].Name != "tool4" || r.Operations[first].Started.Frame != tools {
		t.Errorf("the answer went to the call of frame %d", r.Operations[first].Started.Frame)
	}
}

// TestLongCircle hands control over from agent to agent until what is known of the first ones has made room.
func TestLongCircle(t *testing.T) {
	for _, c := range []struct {
		agents int
		loops  bool
	}{{2, true}, {deepest / 2, true}, {2 * deepest, false}} {
		s, stream := watch(func(s *tracker.Settings) { s.MaxOperations, s.MaxFacts = 10*deepest, 10*deepest }), proxied()
		for n := range 2 * c.agents {
			s.feed(stream, says(fmt.Sprint("a", n%c.agents), branch(""), responds("m"), handsOver("", fmt.Sprint("a", (n+1)%c.agents))))
		}
		loops := 0
		for _, transfer := range s.end(stream, event.EndOfStream).only(t).Transfers {
			if transfer.Loop {
				loops++
			}
		}
		deep := max(2*c.agents-deepest+1, 0) // operations that stand too deep
		if lost := count(s.lost, "evicted depth") - deep; (loops > 0) != c.loops || (lost > 0) == c.loops {
			t.Errorf("%d agents: %d loops, lost %d", c.agents, loops, lost)
		}
	}
}

package tracker_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestOthersGoOn ends a call in which one agent works while another agent waits. The other agent is not affected, and its status
// follows from later frames.
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
			if b := findOperation(t, r, tracker.InvokeAgent, "b"); b.Status != tracker.OperationOK || r.Status != tracker.Completed {
				t.Errorf("the agent is %s, the run %s", b.Status, r.Status)
			}
		})
	}
}

// TestUnnamedCalls checks that responses without ids end the right calls, also if there are more
// calls than the limit on open ones.
func TestUnnamedCalls(t *testing.T) {
	s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 1000 }), proxied()
	const rounds, tools = 20, 5
	for round := range rounds {
		for i := range tools {
			s.feed(stream, says("a", calls("", fmt.Sprint("tool", i))))
		}
		for i := range tools - 1 { // the last call of each round stays open
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
		if op.Status == tracker.OperationError {
			first = i
		}
	}
	want := map[tracker.OperationStatus]int{tracker.OperationOK: rounds * (tools - 1), tracker.OperationError: 1, tracker.OperationUnfinished: rounds - 1}
	for status, n := range want {
		if statuses[status] != n {
			t.Errorf("%d are %s, want %d", statuses[status], status, n)
		}
	}
	if r.Operations[first].Name != "tool4" || r.Operations[first].Started.Frame != tools {
		t.Errorf("the answer went to the call of frame %d", r.Operations[first].Started.Frame)
	}
}

// TestLongCircle checks transfers in a circle that is longer than the remembered chain.
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
		deep := max(2*c.agents-deepest+1, 0) // operations beyond the depth limit
		if lost := count(s.lost, "evicted depth") - deep; (loops > 0) != c.loops || (lost > 0) == c.loops {
			t.Errorf("%d agents: %d loops, lost %d", c.agents, loops, lost)
		}
	}
}

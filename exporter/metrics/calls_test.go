package metrics

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// invocations sends a run of agent a. Agent a makes three model calls, one of which fails, and calls two tools. One of
// the tools is agent b, which makes one model call. Control is then transferred to c, which only shows a tool call, and
// to d, which shows nothing.
func invocations(m *Metrics) {
	r := run()
	agent := func(id byte, name string) *tracker.Operation {
		return &tracker.Operation{ID: tracker.SpanID{id}, Kind: tracker.InvokeAgent, Name: name, Agent: name}
	}
	below := func(parent *tracker.Operation, op *tracker.Operation) { op.Parent = parent.ID; m.OperationEnded(r, op) }
	a, b, c, d := r.Root, agent(2, "b"), agent(3, "c"), agent(4, "d")
	a.ID = tracker.SpanID{1}
	called := tool("b", "")
	called.ID = tracker.SpanID{5}
	below(a, chat("m", ""))
	below(b, chat("m", ""))
	below(called, b)
	below(a, called)
	below(a, chat("m", event.ModelError))
	below(a, tool("transfer_to_agent", ""))
	below(c, tool("t", event.ToolError))
	below(a, c)
	below(c, d)
	below(a, chat("m", ""))
	m.OperationEnded(r, a)
	m.RunEnded(r)
}

// TestInvocations checks that the calls of two invocations of an agent are counted separately.
func TestInvocations(t *testing.T) {
	m, reg := newTest(10, 100)
	invocations(m)
	invocations(m)
	want := []string{`gen_ai_agent_name="a",source="s" 2 of 6`, `gen_ai_agent_name="b",source="s" 2 of 2`}
	if diff := cmp.Diff(want, series(t, reg, released.inferenceCalls.name)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCallsInSteps checks that the calls of a step, and of a step within it, count for the agent that works in them, once.
func TestCallsInSteps(t *testing.T) {
	m, reg := newTest(10, 100)
	r := run()
	r.Root.ID = tracker.SpanID{1}
	outer := &tracker.Operation{ID: tracker.SpanID{2}, Parent: r.Root.ID, Kind: tracker.InvokeNode, Name: "think"}
	inner := &tracker.Operation{ID: tracker.SpanID{3}, Parent: outer.ID, Kind: tracker.InvokeNode, Name: "deeper"}
	empty := &tracker.Operation{ID: tracker.SpanID{4}, Parent: r.Root.ID, Kind: tracker.InvokeNode, Name: "idle"}
	for step, calls := range map[*tracker.Operation]int{r.Root: 1, outer: 2, inner: 4} {
		for range calls {
			op := chat("m", "")
			op.Parent = step.ID
			m.OperationEnded(r, op)
		}
	}
	for _, op := range []*tracker.Operation{empty, inner, outer, r.Root} {
		m.OperationEnded(r, op)
	}
	m.RunEnded(r)
	for name, want := range map[string]string{
		released.inferenceCalls.name: `gen_ai_agent_name="a",source="s" 1 of 7`, runModelCalls.name: `agent="a",source="s" 1 of 7`,
	} {
		if got := series(t, reg, name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s has the series %q, want %s", name, got, want)
		}
	}
}

// TestReportedCallsOfLongRun checks that operations that the tracker removed from a long run count among the calls seen.
func TestReportedCallsOfLongRun(t *testing.T) {
	m, reg := newTest(10, 100)
	tr := tracker.New(tracker.Settings{MaxOpenRuns: 3, MaxOperations: 20, MaxFacts: 10, IdleTimeout: time.Minute}, m, m)
	s := &event.Stream{Source: "s", Dialect: "adk", Live: true, SingleRun: true, OpenedAt: start, Identity: event.Identity{App: "app"}}
	tr.Open(s)
	for i := range 100 {
		b := &event.Batch{Stream: s, Agent: "a", Received: start}
		for _, kind := range []event.Kind{event.KindToolStarted, event.KindToolEnded} {
			e := b.Add(kind)
			e.Name, e.CallID = "t", fmt.Sprint(i)
		}
		tr.Consume(b)
	}
	b := &event.Batch{Stream: s, Agent: "a", Received: start}
	b.Add(event.KindRunEnded).ToolCalls = event.Count{N: 100, Known: true}
	tr.Consume(b)
	tr.Close(s, event.EndOfStream, start)
	if got := series(t, reg, runToolCalls.name); !slices.Equal(got, []string{`agent="a",source="s" 1 of 100`}) {
		t.Errorf("the runs have the calls %q", got)
	}
	if got := series(t, reg, toolCallsDiffer.name); len(got) > 0 {
		t.Errorf("the calls differ: %q", got)
	}
}

// TestCallsAreForgotten ends runs in every way, with agents and calls still open, and checks that no call counters are left.
// While the runs are open, at most one counter exists for each open operation.
func TestCallsAreForgotten(t *testing.T) {
	m, _ := newTest(10, 100)
	const most = 20
	tr := tracker.New(tracker.Settings{MaxOpenRuns: 3, MaxOperations: most, MaxFacts: 10, IdleTimeout: time.Minute}, m, m)
	now := start
	ends := []event.End{event.EndOfStream, event.EndClientLeft, event.EndBroken, event.EndShutdown, event.EndUnobserved}
	for i, end := range ends {
		s := &event.Stream{Source: "s", Dialect: "adk", Nonce: fmt.Sprint(i), Live: true, SingleRun: true, OpenedAt: now, Identity: event.Identity{App: "app"}}
		tr.Open(s)
		for n := range 50 {
			b := &event.Batch{Stream: s, Received: now, Agent: []string{"a", "b"}[n%2], Branch: []string{"", "b"}[n%2]}
			b.Add(event.KindModelEnded).Model = "m"
			started := b.Add(event.KindToolStarted)
			started.Name, started.CallID = "t", string(rune('a'+n))
			if n%3 > 0 {
				ended := b.Add(event.KindToolEnded)
				ended.Name, ended.CallID = started.Name, started.CallID
			}
			tr.Consume(b)
			for _, run := range m.calls.runs {
				if len(run.open) > most {
					t.Fatalf("%d operations have call counters, want at most %d", len(run.open), most)
				}
			}
		}
		if i < len(ends)-1 {
			tr.Close(s, end, now)
		}
	}
	if len(m.calls.runs) != 1 {
		t.Errorf("%d runs have calls, while one is open", len(m.calls.runs))
	}
	tr.Expire(now.Add(time.Hour))
	if len(m.calls.runs) != 0 {
		t.Errorf("call counters are left: %v", m.calls.runs)
	}
}

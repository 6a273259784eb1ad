package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// invocations is a run of the agent a, which makes three model calls, one of which fails, and calls two tools, one of which is the
// agent b. That makes one model call. Of c, which control is handed to, only a tool call is seen, and of d nothing.
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

// TestInvocations tells two invocations of an agent apart, and the runs of one.
func TestInvocations(t *testing.T) {
	m, reg := newTest(10, 100)
	invocations(m)
	invocations(m)
	want := []string{`gen_ai_agent_name="a",source="s" 2 of 6`, `gen_ai_agent_name="b",source="s" 2 of 2`}
	if diff := cmp.Diff(want, series(t, reg, released.inferenceCalls.name)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCallsAreForgotten has runs that end in every way, with agents and calls that nothing ended: what counts their calls is empty after
// them, and while they are open it has no more than the operations that are.
func TestCallsAreForgotten(t *testing.T) {
	m, _ := newTest(10, 100)
	const most = 20
	tr := tracker.New(tracker.Settings{MaxOpen: 3, MaxOperations: most, MaxFacts: 10, Idle: time.Minute}, m, m)
	now := start
	ends := []event.End{event.EndOfStream, event.EndClientLeft, event.EndBroken, event.EndShutdown, event.EndUnobserved}
	for i, end := range ends {
		s := &event.Stream{Source: "s", Dialect: "adk", Nonce: fmt.Sprint(i), Live: true, Answer: true, Opened: now, Identity: event.Identity{App: "app"}}
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
					t.Fatalf("%d operations have calls, of %d", len(run.open), most)
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
		t.Errorf("%v is left", m.calls.runs)
	}
}

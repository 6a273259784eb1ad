package langgraph

import (
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestSameStep checks which frames show that the run's own graph begins a step. The nodes of a step begin together.
func TestSameStep(t *testing.T) {
	state, inner := sent{"values", `{"messages":[]}`}, sent{"values|x:1", `{"messages":[]}`}
	returns, nothing := sent{"updates", `{"x":{"messages":[{"type":"ai","id":"1","content":"x"}]}}`}, sent{"updates", `{"x":null}`}
	starts, ends := sent{"tasks", `{"id":"1","name":"x","input":{},"triggers":[]}`}, sent{"tasks", `{"id":"1","name":"x","result":{},"interrupts":[]}`}
	debug := func(kind string, task sent) sent {
		return sent{"debug", `{"type":"` + kind + `","payload":` + task.data + `}`}
	}
	event1 := func(kind, parents string) sent {
		return sent{"events", `{"event":"` + kind + `","name":"x","run_id":"1","parent_ids":[` + parents + `],"data":{},"metadata":{"langgraph_node":"x"}}`}
	}
	for _, c := range []struct {
		name   string
		frames []sent
		isSame bool
	}{
		{"a state", []sent{state}, false},
		{"a state of a subgraph", []sent{state, inner}, true},
		{"an update of a subgraph, alone", []sent{{"updates|x:1", `{"a":null}`}}, true},
		{"an update, alone", []sent{returns}, false},
		{"an update after a state", []sent{state, returns}, true},
		{"the state after it", []sent{state, returns, state}, false},
		{"an update that writes nothing", []sent{state, nothing}, false},
		{"an update that writes nothing, with tasks", []sent{starts, nothing}, true},
		{"a message", []sent{state, inTuple(said(""), "")}, true},
		{"custom data", []sent{state, {"custom", `{}`}}, true},
		{"the start of a task", []sent{starts}, false},
		{"the end of a task", []sent{starts, ends}, true},
		{"the start of a task in debug", []sent{debug("task", starts)}, false},
		{"the end of a task in debug", []sent{debug("task_result", ends)}, true},
		{"a checkpoint", []sent{{"checkpoints", `{"values":{},"next":["x"]}`}}, false},
		{"the start of a node in events", []sent{event1("on_chain_start", `"0"`)}, false},
		{"what starts within a node", []sent{event1("on_chain_start", `"0","1"`)}, true},
		{"the end of a node in events", []sent{event1("on_chain_end", `"0"`)}, true},
		{"a chunk of the graph", []sent{event1("on_chain_stream", "")}, true},
	} {
		d, b := (Dialect{}).New(&event.Stream{}), new(event.Batch)
		for _, one := range append([]sent{{"metadata", started}}, c.frames...) {
			b.Begin(new(event.Stream), frameOf(one.name, one.data).Frame, time.Time{})
			b.Parse(200)
			d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
		}
		if b.SameStep != c.isSame {
			t.Errorf("%s: the same step is %t", c.name, b.SameStep)
		}
	}
}

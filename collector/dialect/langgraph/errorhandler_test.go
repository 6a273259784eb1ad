package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestErrorHandlers has a node handle the error of an internal one. What the handler returns is in its update or task, and in later states.
func TestErrorHandlers(t *testing.T) {
	const (
		returned = `{"messages":[{"type":"ai","id":null,"content":"secret"},{"role":"assistant","content":"secret2"}],"note":"secret"}`
		state    = `{"messages":[{"type":"human","id":"u1","content":"hi"},{"type":"ai","id":"m1","content":"secret"},{"type":"ai","id":"m2","content":"secret2"},` +
			`{"type":"ai","id":"lc_run--2","content":"answer"}]}`
	)
	first := sent{"values", `{"messages":[{"type":"human","id":"u1","content":"hi"}]}`}
	failed := []sent{
		{"tasks", `{"id":"t1","name":"internal_plan","input":{},"triggers":["branch:to:internal_plan"]}`},
		{"tasks", `{"id":"t1","name":"internal_plan","error":{"error":"ValueError","message":"secret"},"result":{},"interrupts":[]}`},
	}
	working := []sent{{"messages", `[{"type":"AIMessageChunk","id":"lc_run--1","content":"secret"},{"langgraph_step":2,"langgraph_node":"internal_plan","langgraph_checkpoint_ns":"internal_plan:t1"}]`}}
	taskOf := func(node string) sent {
		return sent{"tasks", `{"id":"t2","name":"` + node + `","error":null,"result":` + returned + `,"interrupts":[]}`}
	}
	updateOf := func(node string) sent { return sent{"updates", `{"` + node + `":` + returned + `}`} }
	answered := inTuple(`{"type":"ai","id":"lc_run--2","content":"answer"}`, "")
	const own = handlerPrefix + "internal_plan"
	for name, stream := range map[string][]sent{
		"an update":                         {updateOf(own)},
		"a task":                            append(failed, taskOf(own)),
		"a task alone":                      {taskOf(own)},
		"a saved task":                      {{"checkpoints", `{"values":{},"tasks":[{"id":"1","name":"` + own + `","state":"secret"}]}`}},
		"what is written to a saved state":  {{"debug", `{"type":"checkpoint","payload":{"metadata":{"writes":{"` + own + `":"secret"}}}}`}},
		"metadata":                          {inTuple(said(""), `,"langgraph_checkpoint_ns":"`+own+`:t1"`)},
		"a question":                        {{"tasks", `{"id":"t2","name":"` + own + `","error":null,"result":{},"interrupts":[{"id":"q1","value":"secret"}]}`}},
		"what is sent to it":                {{"values", `{"messages":[],"x":{"node":"` + own + `","arg":"secret"}}`}},
		"the task of the handler of all":    append(failed, taskOf(defaultHandler)),
		"the update of the handler of all":  append(working, updateOf(defaultHandler)),
		"the update after an internal task": append(failed, updateOf(defaultHandler)),
	} {
		t.Run(name, func(t *testing.T) {
			stream = append([]sent{first}, append(stream, answered, sent{"values", state})...)
			readers := []filter.Settings{client, public}
			if name == "an update" || strings.Contains(name, "handler") {
				checkStaysIn(t, readers, stream...)
				for _, reader := range readers {
					if out := leaving(reader, stream...); !strings.Contains(out, "answer") {
						t.Errorf("%s: the answer does not leave:\n%s", reader.Policy, out)
					}
				}
				return
			}
			checkStaysIn(t, readers, stream[:len(stream)-1]...)
		})
	}
	for _, node := range []string{handlerPrefix + "plan", defaultHandler} {
		for _, handled := range []sent{{"updates", `{"` + node + `":{"messages":[{"type":"ai","id":"lc_run--2","content":"answer"}]}}`}, taskOf(node)} {
			if out := leaving(client, first, handled); !strings.Contains(out, node) {
				t.Errorf("what handles the error of an ordinary node does not leave: %v", handled)
			}
		}
	}
}

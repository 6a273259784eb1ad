package langgraph

import (
	"fmt"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestWaitingAgent checks that the end of a task that waits for a person does not end its agent, as a server of 0.16.7 sends it.
func TestWaitingAgent(t *testing.T) {
	for interrupts, want := range map[string]bool{`[{"value":"ok?","id":"i"}]`: false, `[]`: true} {
		d := Dialect{}.New(&event.Stream{}).(*decoder)
		ended := false
		for _, one := range []sent{
			{modeMetadata, `{"run_id":"r"}`},
			{modeTasks, `{"id":"t1","name":"asker","input":{},"triggers":["x"]}`},
			{modeTasks, `{"id":"t2","name":"worker","input":{},"triggers":["x"]}`},
			{modeMessages + "|asker:t1", `[{"type":"ai","id":"m","content":"hi","name":"asker"},{"langgraph_checkpoint_ns":"asker:t1|model:1","langgraph_node":"model","lc_agent_name":"asker"}]`},
			{modeTasks + "|asker:t1", fmt.Sprintf(`{"id":"t3","name":"tools","error":null,"result":{},"interrupts":%s}`, interrupts)},
			{modeTasks, fmt.Sprintf(`{"id":"t1","name":"asker","error":null,"result":{},"interrupts":%s}`, interrupts)},
		} {
			ended = slices.ContainsFunc(decodeFrame(d, one).Events, func(e event.Event) bool { return e.Kind == event.KindAgentEnded })
		}
		if ended != want {
			t.Errorf("the agent of a task with interrupts %s ended: %v", interrupts, ended)
		}
	}
}

package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestNamesOfUnreadable sends frames with data that cannot be read. Their names still say that an internal node works, and that a task runs a graph.
func TestNamesOfUnreadable(t *testing.T) {
	state := sent{"values", messagesState(askedBefore)}
	for _, mode := range []string{modeValues, modeUpdates, modeTasks, modeMessages, modeCustom, modeCheckpoints} {
		broken := sent{mode + "|n:1|internal_x:U", `{"messages":[{"a":1,"A":2}]}`}
		checkStaysIn(t, []filter.Settings{client, public}, state, broken, sent{"updates", `{"n":` + messagesState(wholeX) + `}`})
		checkStaysIn(t, []filter.Settings{client, public}, state, broken, sent{"updates", `{"__interrupt__":[{"id":"q","value":"secret"}]}`})
		checkStaysIn(t, []filter.Settings{client, public}, state, broken, sent{"values", `{"__interrupt__":[{"id":"q","value":"secret"}]}`})
		for _, rest := range []sent{{"updates", `{"n":{"notes":"secret"}}`}, {"custom", `{"x":"secret"}`}, {"error", `{"error":"ValueError","message":"secret"}`}} {
			checkStaysIn(t, []filter.Settings{client, public}, state, broken, rest)
		}
		ended := []sent{{"updates", `{"n":{"notes":"shown"}}`}, {"custom", `{"x":"shown"}`}}
		other := sent{mode + "|n:1|x:U", broken.data}
		if out := leaving(client, append([]sent{state, other}, ended...)...); strings.Count(out, "shown") != 2 {
			t.Errorf("beside an unreadable frame of the mode %s, this leaves:\n%s", mode, out)
		}
		if mode == modeValues { // the next state has the same messages, with their names
			continue
		}
		graph := sent{mode + "|n:1", broken.data}
		checkStaysIn(t, []filter.Settings{client, public}, state, graph, sent{"messages", `[` + wholeX + `,{"langgraph_node":"n","langgraph_checkpoint_ns":"n:1"}]`})
	}
}

// TestUnreadableStates sends unreadable states between what the run's own graph had before internal work and what it has after.
func TestUnreadableStates(t *testing.T) {
	before, after := sent{"values", messagesState(askedBefore)}, sent{"values", messagesState(askedBefore, ai(`"m9"`, "secret"))}
	broken := sent{"values", `{"messages":[{"a":1,"A":2}]}`}
	checkStaysIn(t, []filter.Settings{client, public}, before, inNode, broken, after)
	checkStaysIn(t, []filter.Settings{client, public}, before, broken, inNode, after)
	checkStaysIn(t, []filter.Settings{client, public}, before, sent{"values|internal_x:U", broken.data}, before, after)
	for _, graph := range []string{"", "|n:1"} {
		if out := leaving(client, before, sent{"values" + graph, broken.data}, after); !strings.Contains(out, "secret") {
			t.Errorf("after an unreadable state of %q without internal work, this leaves:\n%s", graph, out)
		}
	}
	called := sent{"updates", `{"model":{"messages":[{"type":"ai","id":"m3","content":"","tool_calls":[{"id":"cX","name":"internal_s","args":{}}]}]}}`}
	returned := sent{"messages", `[` + resultX + `,{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:T"}]`}
	checkStaysIn(t, []filter.Settings{client, public}, before, called, sent{"values|tools:T", broken.data}, returned, sent{"custom|tools:T", `"secret"`})
}

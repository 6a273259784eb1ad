package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestCallsWithinTools withholds a call that an ordinary agent in a tool makes. What the call runs, in the same tool, stays in. What runs in
// another tool leaves.
func TestCallsWithinTools(t *testing.T) {
	asked := func(name string) []sent {
		called := `{"type":"ai","id":"mX","content":"","tool_calls":[{"name":"` + name + `","args":{},"id":"cX","type":"tool_call"}]}`
		return []sent{{"values|tools:U1", `{}`}, {"updates|tools:U1", `{"model":{"messages":[` + called + `]}}`}}
	}
	works := func(outer string) map[string]sent {
		ns := outer + "|tools:U2"
		return map[string]sent{
			"its graph's state":  {"values|" + ns, `{"messages":[` + wholeX + `]}`},
			"its graph's custom": {"custom|" + ns, `{"a":"secret"}`},
			"its model":          {"messages|" + outer, `[` + wholeX + `,{"langgraph_node":"tools","langgraph_checkpoint_ns":"` + ns + `"}]`},
			"an event of its model": {"events", `{"event":"on_chat_model_stream","name":"m","run_id":"r5","parent_ids":[],"data":{"chunk":` + wholeX +
				`},"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"` + ns + `"}}`},
		}
	}
	for name, work := range works("tools:U1") {
		if out := leaving(client, append(asked("search"), work)...); !strings.Contains(out, "secret") {
			t.Errorf("%s does not leave, although no call was withheld", name)
		}
		checkStaysIn(t, []filter.Settings{client, public}, append(asked("internal_search"), work)...)
	}
	for name, work := range works("tools:U3") {
		if out := leaving(client, append(asked("internal_search"), work)...); !strings.Contains(out, "secret") {
			t.Errorf("%s does not leave in another tool", name)
		}
	}
}

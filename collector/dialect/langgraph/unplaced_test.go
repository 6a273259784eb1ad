package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestCallsOfUnplacedMessages calls an internal tool in a graph within the run's own one, in a frame that does not state its graph. Metadata,
// or another mode, states the graph.
func TestCallsOfUnplacedMessages(t *testing.T) {
	const message = `[{"type":"ai","id":"lc_run--1","content":"","response_metadata":{"finish_reason":"stop"},"tool_calls":[{"name":"internal_x","args":{},"id":"c1","type":"tool_call"}]}]`
	const question = `{"__interrupt__":[{"value":{"question":"secret"},"id":"i1"}]}`
	announced := sent{"messages/metadata", `{"lc_run--1":{"metadata":{"langgraph_node":"model","langgraph_checkpoint_ns":"asker:1|model:2"}}}`}
	update, state := sent{"updates|asker:1", `{"model":{"messages":` + message + `}}`}, sent{"values|asker:1", `{"messages":` + message + `}`}
	for _, mode := range []string{"messages/partial", "messages/complete"} {
		asked := sent{mode, message}
		for _, before := range [][]sent{{announced, asked}, {asked}, {announced, asked, update}, {asked, update}, {announced, asked, state}, {asked, state}} {
			for _, then := range [][]sent{
				{{"updates|asker:1", question}, {"updates", question}}, {{"values|asker:1", question}, {"values", question}}, {{"updates", question}},
			} {
				checkStaysIn(t, []filter.Settings{client, public}, append(before[:len(before):len(before)], then...)...)
			}
			checkStaysIn(t, []filter.Settings{client}, append(before[:len(before):len(before)], sent{"custom|asker:1", `{"p":"secret"}`}, sent{"custom", `{"p":"secret"}`})...)
			if len(before) == 1 { // no frame has shown the graph
				continue
			}
			for _, other := range []sent{{"custom|other:3", `{"p":"shown"}`}, {"updates|other:3", strings.Replace(question, "secret", "shown", 1)}, {"updates|other:3", `{"n":{"messages":[{"type":"ai","id":"m2","content":"shown"}]}}`}} {
				if out := leaving(client, append(before[:len(before):len(before)], other)...); !strings.Contains(out, "shown") {
					t.Errorf("after %v, this does not leave: %v", before, other)
				}
			}
		}
		answered := sent{"messages/complete", `[{"type":"tool","id":"t1","tool_call_id":"c1","name":"internal_x","content":"secret"}]`}
		if out := leaving(client, asked, answered, sent{"custom|other:3", `{"p":"shown"}`}); !strings.Contains(out, "shown") {
			t.Errorf("after the result of the call, this leaves:\n%s", out)
		}
		ordinary := sent{mode, strings.ReplaceAll(message, "internal_x", "lookup")}
		if out := leaving(client, announced, ordinary, sent{"updates|asker:1", question}, sent{"updates", question}, sent{"custom|asker:1", `"secret"`}); strings.Count(out, "secret") != 3 {
			t.Errorf("beside an ordinary call, this leaves:\n%s", out)
		}
	}
}

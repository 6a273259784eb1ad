package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestInternalQuestions has questions whose value says that it is internal, itself or in a nested object.
func TestInternalQuestions(t *testing.T) {
	readers := []filter.Settings{client, public}
	raised := func(exception string) sent {
		return sent{"events", `{"event":"on_tool_error","name":"ask","run_id":"r1","data":{"tool_call_id":"c1","error":` + exception + `},"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:1"}}`}
	}
	in := func(mode, question string) sent {
		data := `{"__interrupt__":[` + question + `]}`
		switch mode {
		case "values":
			data = `{"messages":[],"__interrupt__":[` + question + `]}`
		case "tasks":
			data = `{"id":"1","name":"ask","result":{},"interrupts":[` + question + `]}`
		case "checkpoints":
			data = `{"values":{},"next":[],"tasks":[{"id":"1","name":"ask","interrupts":[` + question + `]}]}`
		case "debug":
			data = `{"type":"task_result","payload":{"id":"1","name":"ask","result":{},"interrupts":[` + question + `]}}`
		case "events":
			data = `{"event":"on_chain_stream","name":"a","run_id":"r","data":{"chunk":` + data + `},"metadata":{}}`
		}
		return sent{mode, data}
	}
	for _, value := range []string{`{"type":"internal","q":"secret"}`, `{"q":"secret","Kind":"Internal.x"}`, `[{"event":"internal","q":"secret"}]`, `{"a":{"b":[{"type":"internal:x"}]},"q":"secret"}`} {
		for _, mode := range []string{"values", "updates", "tasks", "checkpoints", "debug", "events"} {
			for _, question := range []string{`{"id":"i1","value":` + value + `}`, `{"value":` + value + `}`} {
				checkStaysIn(t, readers, in(mode, question))
				checkStaysIn(t, readers, in(mode+"|a:1", question))
			}
		}
	}
	for _, printed := range []string{
		`(Interrupt(value={'type': 'internal', 'q': 'secret'}, id='1'),)`, `(Interrupt(value={'q': \"secret\", \"Kind\": \"Internal.x\"}, id='1'),)`,
		`(Interrupt(value=[{'a': {'event':'internal'}}, 'secret'], id='1'),)`, `(Interrupt(value=Ask(type='internal', q='secret'), id='1'),)`,
	} {
		checkStaysIn(t, readers, raised(`{"error":"GraphInterrupt","message":"`+printed+`"}`))
		checkStaysIn(t, readers, raised(`"GraphInterrupt(`+printed+`)"`))
	}
	for _, other := range []sent{
		in("updates", `{"id":"i1","value":{"type":"question","q":"shown"}}`),
		in("values", `{"id":"i1","value":{"q":"shown","about":"internal"}}`),
		in("tasks", `{"id":"i1","value":{"action_requests":[{"name":"shown","args":{"type":"internal"}}],"review_configs":[{"action_name":"shown","args_schema":{"properties":{"type":{"enum":["internal"]}}}}]}}`),
		in("updates", `{"id":"i1","value":"shown","response_schema":{"properties":{"kind":{"const":"internal"}}}}`),
		{"values", `{"messages":[],"data":{"value":{"type":"internal"},"q":"shown"}}`},
		raised(`{"error":"GraphInterrupt","message":"(Interrupt(value={'type': 'question', 'q': 'shown'}, id='1'),)"}`),
		raised(`{"error":"ValueError","message":"shown: 'type': 'internal'"}`),
	} {
		if out := leaving(client, other); !strings.Contains(out, "shown") {
			t.Errorf("%v does not leave", other)
		}
	}
}

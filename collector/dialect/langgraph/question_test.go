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

// TestQuestionsBesideInternalCalls asks about a call in a response that also has an internal call, before any tool runs. Without a task,
// only the question shows which call it is about.
func TestQuestionsBesideInternalCalls(t *testing.T) {
	call := func(id, tool, args string) string {
		return `{"name":"` + tool + `","args":` + args + `,"id":"` + id + `","type":"tool_call"}`
	}
	response := func(calls string) string {
		return `{"type":"ai","id":"lc_run--1","content":"","response_metadata":{"finish_reason":"stop"},"tool_calls":[` + calls + `]}`
	}
	asks := func(requests, more string) string {
		return `"__interrupt__":[{"value":{"action_requests":[` + requests + `],"review_configs":[{"action_name":"lookup","allowed_decisions":["approve"]}]` + more + `},"id":"i1"}]`
	}
	about := func(tool, args string) string {
		return `{"name":"` + tool + `","args":` + args + `,"description":"secret"}`
	}
	const q = `{"q":"x"}`
	internal, shown := call("c1", "internal_x", q), call("c2", "lookup", q)
	both := response(internal + "," + shown)
	streams := func(graph, m, question string) [][]sent {
		asked := []sent{{"updates" + graph, `{` + question + `}`}, {"updates", `{` + question + `}`}}
		piece := `[{"type":"AIMessageChunk","id":"lc_run--1","content":"","response_metadata":{"finish_reason":"stop"},"tool_call_chunks":[` +
			`{"name":"internal_x","args":"{}","id":"c1","index":0},{"name":"lookup","args":"{\"q\": \"x\"}","id":"c2","index":1}],"chunk_position":"last"},{"langgraph_node":"model"}]`
		return [][]sent{
			append([]sent{{"updates" + graph, `{"model":{"messages":[` + m + `]}}`}}, asked...),
			{{"values" + graph, `{"messages":[]}`}, {"values" + graph, `{"messages":[` + m + `]}`}, {"values" + graph, `{"messages":[` + m + `],` + question + `}`}},
			append([]sent{{"messages/partial", `[` + m + `]`}, {"updates" + graph, `{"model":{"messages":[` + m + `]}}`}}, asked...),
			append([]sent{{"messages" + graph, piece}}, asked...),
		}
	}
	for _, graph := range []string{"", "|asker:1"} {
		for _, stream := range streams(graph, both, asks(about("lookup", q), "")) {
			for _, reader := range []filter.Settings{client, public} {
				if out := leaving(reader, stream...); !strings.Contains(out, `"action_requests":[{"name":"lookup"`) {
					t.Errorf("%s, of %v the question about an ordinary call does not leave:\n%s", reader.Policy, stream, out)
				}
			}
		}
		for _, question := range []string{
			asks(about("lookup", `{"q":"y"}`), ""), asks(about("internal_x", q), ""), asks(about("lookup", q)+","+about("internal_x", q), ""),
			asks(about("lookup", q)+","+about("lookup", q), ""), asks(about("lookup", q), `,"note":"secret"`), asks(about("other", q), ""), asks("", ""),
		} {
			for _, stream := range streams(graph, both, question)[:3] {
				checkStaysIn(t, []filter.Settings{client}, stream...)
			}
		}
	}
	question := sent{"updates", `{` + asks(about("lookup", q), "") + `}`}
	begun, _ := tasksOf("t1", "internal_y", `"error":null,"result":{},"interrupts":[]`)
	asked := sent{"updates", `{"model":{"messages":[` + both + `]}}`}
	checkStaysIn(t, []filter.Settings{client}, asked, begun[0], question)
	checkStaysIn(t, []filter.Settings{client}, asked, sent{"updates", `{"tools":{"messages":[{"type":"tool","id":"t1","tool_call_id":"c2","name":"lookup","content":"done"}]}}`}, question)
	unseen := sent{"updates", `{"model":{"messages":[` + response(internal) + `]}}`}
	checkStaysIn(t, []filter.Settings{client}, unseen, question)
}

// TestQuestionsOfAgentsBeside has two agents ask beside each other, each about its call of the same tool. One of the agents is internal.
func TestQuestionsOfAgentsBeside(t *testing.T) {
	response := func(graph, agent, call, args string) sent {
		return sent{"updates|" + graph, `{"model":{"messages":[{"type":"ai","id":"m` + call + `","name":"` + agent + `","content":"","tool_calls":[{"name":"lookup","args":` + args + `,"id":"` + call + `"}]}]}}`}
	}
	asks := func(mode, id, args, text string) sent {
		return sent{mode, `{"__interrupt__":[{"value":{"action_requests":[{"name":"lookup","args":` + args + `,"description":"` + text + `"}]},"id":"` + id + `"}]}`}
	}
	const q, other = `{"q":"x"}`, `{"q":"y"}`
	for _, beside := range []string{q, other} {
		for _, mode := range []string{"updates", "values"} {
			stream := []sent{
				response("one:U", "critic", "c1", q), response("two:V", "internal_x", "c2", beside),
				asks(mode+"|one:U", "i1", q, "shown"), asks(mode+"|two:V", "i2", beside, "secret"), asks(mode, "i1", q, "shown"), asks(mode, "i2", beside, "secret"),
			}
			checkStaysIn(t, []filter.Settings{client, public}, stream...)
			if out := leaving(client, stream...); strings.Count(out, "shown") != 2 {
				t.Errorf("the question of the ordinary agent does not leave:\n%s", out)
			}
			checkStaysIn(t, []filter.Settings{client, public}, stream[0], stream[1], stream[5], asks(mode, "i3", other, "secret"))
		}
	}
}

package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// ofEvents is a frame of the mode events.
func ofEvents(kind, name, data, more string) sent {
	return sent{"events", `{"event":"` + kind + `","name":"` + name + `","data":` + data + `,"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:1"}` + more + `}`}
}

// TestInternalMarks has frames say that they are internal, and frames of no known kind.
func TestInternalMarks(t *testing.T) {
	for _, one := range []sent{
		{"internal:x", `{"text":"secret"}`}, {"Internal|a:1", `{"text":"secret"}`}, {"internal", `[` + said("") + `,{}]`},
		{"custom", `{"type":"internal:x","x":"secret"}`}, {"custom", `[{"kind":"internal:x","x":"secret"}]`}, {"custom|a:1", `{"data":{"type":"internal:x","text":"secret"}}`},
		{"custom", `{"event":"a","value":[{"kind":"Internal.x","text":"secret"}]}`}, {"custom", `{"message":{"kind":"\u0069nternal:x","text":"secret"}}`},
		{"custom", `{"a":[[{"b":{"Type":"internal.x","c":[{"text":"secret"}]}}]]}`}, {"custom", `{"event":"in\u200bternal","text":"secret"}`},
		ofEvents("on_custom_event", "a", `{"type":"internal:x","text":"secret"}`, ""), ofEvents("on_custom_event", "a", `{"item":{"a":{"event":"internal:x"}},"text":"secret"}`, ""),
		ofEvents("on_custom_event", "Internal_x", `{"text":"secret"}`, ""), {"events", `{"event":"on_custom_event","NAME":"internal:x","data":"secret","metadata":{}}`},
		{"events", `{"event":"internal_x","name":"a","data":"secret"}`}, {"events", `{"event":"on_internal_x_start","name":"a","data":"secret"}`}, {"events", `{"name":"a","data":"secret"}`},
		{"events", `{"event":"on_chain_starts","name":"a","data":"secret"}`},
		{"error", `{"error":"ValueError","message":"secret","kind":"internal"}`}, {"error", `{"error":"ValueError","message":"secret","Type":"Internal:x"}`},
		{"values", `{"messages":[{"type":"internal:note","content":"secret"}]}`}, {"updates", `{"a":{"messages":{"role":"internal","content":"secret"}}}`},
		inTuple(`{"type":"chat","role":"Internal.x","id":"m1","content":"secret"}`, ""), {"messages/partial", `[{"type":"internal:note","id":"m1","content":"secret"}]`},
		{"values", `{"messages":[` + said(`,"kind":"internal:x"`) + `]}`}, {"updates", `{"a":{"messages":[` + said(`,"Event":"Internal"`) + `]}}`}, {"messages/complete", `[` + said(`,"kind":["internal"]`) + `]`},
		{"debug", `{"type":"internal:task","step":1,"payload":{"id":"1","name":"a","input":"secret"}}`}, {"debug", `{"type":"task","payload":{"id":"1","metadata":{"kind":"internal:x"},"input":"secret"}}`},
		{"tasks", `{"kind":"internal","id":"1","name":"a","input":"secret"}`}, {"tasks", `{"id":"1","name":"a","input":"secret","metadata":{"Type":"\u0069nternal:x"}}`}, {"metadata", `{"run_id":"secret","kind":"internal"}`},
		{"checkpoints", `{"type":"internal","values":"secret"}`}, {"checkpoints", `{"values":"secret","metadata":{"kind":"internal.x"}}`}, {"error", `{"error":"ValueError","message":"secret","event":"internal"}`},
		ofEvents("on_chat_model_stream", "a", `"secret"`, `,"kind":"internal:x"`), {"events", `{"event":"on_chat_model_start","data":"secret","metadata":{"type":"internal"}}`},
		inTuple(said(""), `,"kind":"internal:x"`), inTuple(said(`,"event":"internal:x"`), ""), {"messages/metadata", `{"m1":{"metadata":{"langgraph_node":"secret","kind":"internal:x"}}}`},
		{"another", `[` + said("") + `,{}]`}, {"messages", `{"m":` + said("") + `}`},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, one)
	}
	for _, shown := range []sent{
		{"values", `{"type":"internal","kind":"internal-ticket","event":"internal","x":"shown"}`}, {"updates", `{"kind":"internal","a":{"type":"internal","x":"shown"}}`},
		{"tasks", `{"id":"1","name":"a","input":{"kind":"internal","x":"shown"},"metadata":{"tags":["internal"],"name":"internal"}}`},
		{"custom", `{"event":{"text":"internal revenue","note":"shown"}}`}, {"custom", `{"a":{"name":"internal","note":"shown"}}`}, ofEvents("on_chain_start", "a", `"shown"`, ""),
		ofEvents("on_parser_end", "a", `"shown"`, ""), ofEvents("on_tool_error", "a", `"shown"`, ""), ofEvents("on_chat_model_stream", "a", `"shown"`, ""), ofEvents("on_custom_event", "a", `"shown"`, ""),
	} {
		if out := leaving(client, shown); !strings.Contains(out, "shown") {
			t.Errorf("%v does not leave", shown)
		}
	}
}

// TestInternalNames has agents, nodes, tools and subagents with internal names. All their frames leave unchanged, also after a frame that is
// internal or unreadable.
func TestInternalNames(t *testing.T) {
	const (
		place  = `"langgraph_node":"internal_x","langgraph_checkpoint_ns":"internal_x:1","lc_agent_name":"internal_agent"`
		asks   = `{"type":"ai","id":"lc_run--1","name":"internal_agent","content":"","tool_calls":[{"name":"internal_search","args":{},"id":"c1","type":"tool_call"},{"name":"task","args":{"subagent_type":"internal_critic"},"id":"c2","type":"tool_call"}]}`
		result = `{"type":"tool","id":"t1","name":"internal_search","tool_call_id":"c1","content":"found"}`
		answer = `{"type":"ai","id":"lc_run--2","name":"internal_agent","content":"Hi"}`
		failed = `{"error":"ValueError","message":"internal_search failed"}`
	)
	stream := []sent{
		{"values", `{"messages":[` + userAsks + `]}`}, {"messages", `[{"type":"AIMessageChunk","id":"lc_run--1","content":"","tool_call_chunks":[{"name":"internal_search","args":"{}","id":"c1","index":0}]},{` + place + `}]`},
		{"messages", `[{"type":"AIMessageChunk","id":"lc_run--1","content":"","tool_call_chunks":[{"name":null,"args":"","id":null,"index":0}]},{` + place + `}]`},
		{"messages/metadata", `{"lc_run--2":{"metadata":{` + place + `}}}`}, {"messages/partial", `[` + answer + `]`}, {"messages/complete", `[` + answer + `]`},
		{"tasks", `{"id":"1","name":"internal_x","input":{"messages":[` + userAsks + `]},"triggers":[]}`}, {"updates", `{"internal_x":{"messages":[` + asks + `]}}`},
		{"values|internal_x:1", `{"messages":[` + answer + `]}`}, {"updates|tools:1|Internal_y:2", `{"model":{"messages":[` + answer + `]}}`}, {"custom|internal_x:1", `{"progress":0}`},
		ofEvents("on_tool_start", "internal_search", `{"input":{}}`, `,"run_id":"r1","parent_ids":["r0"]`), {"custom", `{"progress":1}`}, {"updates", `{"tools":{"messages":[` + result + `]}}`},
		ofEvents("on_tool_error", "internal_search", `{"error":`+failed+`,"tool_call_id":"c2"}`, ""), {"updates", `{"internal_x":{"messages":[` + answer + `],"active_agent":"internal_agent"}}`},
		{"tasks", `{"id":"1","name":"internal_x","error":` + failed + `,"result":{},"interrupts":[{"id":"i1","value":"Sure?"}]}`}, {"updates", `{"__interrupt__":[{"id":"i1","value":"Sure?","ns":["internal_x:1"]}]}`},
		{"checkpoints", `{"values":{"messages":[` + asks + `,` + result + `,` + answer + `]},"next":["internal_x"],"tasks":[{"id":"1","name":"internal_x","interrupts":[]}]}`},
		{"debug", `{"type":"task","step":1,"payload":{"id":"2","name":"internal_x","input":[]}}`}, {"state_update", `{"internal:x":1}`},
		{"values", `{"messages":[` + userAsks + `,` + asks + `,` + result + `,` + answer + `],"ui":[{"type":"ui","id":"u1","name":"card","props":{},"metadata":{"name":"internal_x"}}]}`}, {"error", failed},
	}
	var want strings.Builder
	for _, one := range stream {
		want.WriteString(one.name + " " + one.data + "\n")
	}
	for _, first := range []sent{{"custom", `{"type":"internal:x","id":"lc_run--1"}`}, {"messages", `[{"type":"AIMessageChunk","id":"lc_run--1","content":"","name":"internal_agent"`}, {"updates", `{`}} {
		out := leaving(client, append([]sent{first}, stream...)...)
		if _, out, _ = strings.Cut(out, "\n"); out != want.String() {
			t.Errorf("after %v this leaves:\n%s\nand not:\n%s", first, out, want.String())
		}
	}
}

// TestInternalQuestions has questions with a value that says that it is internal, itself or in a nested object.
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
				disguised := in(mode, question)
				disguised.data = strings.Replace(disguised.data, "terrupt", "\u200bterRupt", 1)
				checkStaysIn(t, readers, disguised)
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

package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// asked is an internal message with the call cX of the tool w.
var asked = fromServer(`{"id":"m1","type":"ai","content":"","name":"internal_x","tool_calls":[{"id":"cX","name":"w","args":{"q":"secret"},"type":"tool_call"}]}`, "agent")

// ofEvents is a frame of the mode events.
func ofEvents(kind, name, data, more string) sent {
	return sent{"events", `{"event":"` + kind + `","name":"` + name + `","data":` + data + `,"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:1"}` + more + `}`}
}

// TestRepeatedArguments repeats the arguments of a withheld call without its message.
func TestRepeatedArguments(t *testing.T) {
	const (
		bare    = `{"name":"w","args":{"q":"secret"},"id":"cX","type":"tool_call"}`
		request = `{"action_requests":[{"name":"w","args":{"q":"secret"},"description":"secret"}],"review_configs":[]}`
		older   = `[{"action_request":{"action":"w","args":{"q":"secret"}},"config":{}}]`
	)
	var streams []sent
	for _, input := range []string{`{"__type":"tool_call_with_context","tool_call":` + bare + `,"state":{}}`, `[` + bare + `]`, bare} {
		streams = append(streams,
			sent{"tasks", `{"id":"1","name":"tools","input":` + input + `,"triggers":[]}`},
			sent{"debug", `{"type":"task","step":1,"payload":{"id":"1","name":"tools","input":` + input + `}}`},
			sent{"tasks", `{"id":"1","name":"a","result":[["__pregel_tasks",{"node":"tools","arg":` + input + `}]],"interrupts":[]}`},
			ofEvents("on_chain_start", "tools", `{"input":`+input+`}`, ""), sent{"custom", `{"call":` + input + `}`}, sent{"values", `{"messages":[],"pending":` + input + `}`})
	}
	for _, value := range []string{request, older} {
		interrupts := `[{"id":"i1","value":` + value + `}]`
		streams = append(streams, sent{"updates", `{"__interrupt__":` + interrupts + `}`}, sent{"values", `{"__interrupt__":` + interrupts + `}`},
			sent{"tasks", `{"id":"1","name":"hitl","result":{},"interrupts":` + interrupts + `}`})
	}
	streams = append(streams, ofEvents("on_tool_start", "w", `{"input":{"q":"secret"}}`, ""), ofEvents("on_tool_end", "w", `{"input":{},"output":"secret"}`, ""),
		ofEvents("on_tool_error", "w", `{"input":{"q":"secret"},"error":"x"}`, ""))
	broken := unreadable("messages")[0]
	for _, stream := range streams {
		for _, start := range []sent{asked, broken} {
			checkStaysIn(t, []filter.Settings{client, public}, start, stream)
		}
		shown := strings.Replace(asked.data, `"name":"internal_x",`, "", 1)
		if out := leaving(client, broken, noQuestion, sent{"messages", shown}, stream); strings.Count(out, "secret") < 2 {
			t.Errorf("%v of a call that was shown does not leave", stream)
		}
	}
}

// TestSameTool asks for a decision about the call of a tool that an internal agent calls too.
func TestSameTool(t *testing.T) {
	const question = `{"__interrupt__":[{"id":"i1","value":{"action_requests":[{"name":"w","args":{"q":"shown"}}]}}]}`
	result := fromServer(strings.Replace(resultX, "secret", "", 1), "tools")
	visible := fromServer(`{"id":"m2","type":"ai","content":"","tool_calls":[{"id":"c2","name":"w","args":{}}]}`, "agent")
	if out := leaving(client, asked, result, visible, sent{"updates", question}); !strings.Contains(out, "shown") {
		t.Errorf("the question does not leave after the internal call has ended: %s", out)
	}
	if out := leaving(client, asked, visible, sent{"updates", question}); strings.Contains(out, "shown") {
		t.Errorf("the question leaves while the internal call is open: %s", out)
	}
}

// TestRepeatedInterrupts repeats the question of an internal node, or of one within a withheld call, in a frame that does not
// name the node.
func TestRepeatedInterrupts(t *testing.T) {
	hidden := bothAsked[0]
	within := sent{"values|tools:U8", `{}`}
	for _, question := range []string{`{"value":"secret","id":"i1"}`, `{"value":"secret","interrupt_id":"i1"}`, `{"value":"secret"}`, `{"value":{"a":"secret","b":["x"]}}`} {
		list := `[` + question + `]`
		update := `{"__interrupt__":` + list + `}`
		asks := func(more string) string { return `{"id":"U8",` + more + `"interrupts":` + list + `}` }
		first := [][]sent{
			{{"tasks", asks(`"name":"internal_x","result":{},`)}},
			{{"debug", `{"type":"task_result","step":1,"payload":` + asks(`"name":"internal_x",`) + `}`}},
			{{"checkpoints", `{"values":{},"tasks":[` + asks(`"name":"internal_x",`) + `]}`}},
			{{"updates|internal_x:1", update}}, {{"updates|a:1|internal_x:1", update}}, {{"values|internal_x:1", `{"messages":[],"__interrupt__":` + list + `}`}},
			{{"updates", `{"internal_x":{"a":` + update + `}}`}},
			{ofEvents("on_chain_stream", "internal_x", `{"chunk":`+update+`}`, `,"run_id":"r1"`)},
			{hidden, {"updates|tools:U8", update}}, {hidden, {"updates|tools:U8|model:9", update}}, {hidden, {"values|tools:U8", update}},
			{hidden, {"tasks|tools:U8", asks(`"name":"ask","result":{},`)}}, {hidden, within, {"tasks", asks(`"name":"tools","result":{},`)}},
			{hidden, {"tasks", asks(`"name":"tools","result":{},`)}}, {hidden, {"checkpoints", `{"values":{},"tasks":[` + asks(`"name":"tools",`) + `]}`}},
			{hidden, {"updates", strings.Replace(update, `"value"`, `"ns":["tools:U8","model:9"],"value"`, 1)}},
		}
		other := strings.Replace(update, `["x"]}}`, `["x"]}, "when": "during"}`, 1)
		other = strings.Replace(other, `{"a":"secret","b":["x"]}`, `{"b":["x"],"a":"secret"}`, 1)
		for _, start := range first {
			for _, later := range []sent{{"updates", other}, {"values", other}, {"values", `{"messages":[],"__interrupt__":` + list + `}`}, {"checkpoints", `{"values":{},"tasks":[` + asks(`"name":"a",`) + `]}`}} {
				checkStaysIn(t, []filter.Settings{client, public}, append(start[:len(start):len(start)], later, later)...)
				memory := new(event.Withheld)
				leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, append([]sent{{"metadata", begin}}, start...)...)
				if out := leavingOf(client, &event.Stream{Identity: inThread(threadID, joinedID), Withheld: memory}, later, later); strings.Contains(out, "secret") {
					t.Errorf("after %v on another stream this leaves: %s", start, out)
				}
			}
		}
		for _, shown := range [][]sent{
			{{"updates|a:1", update}}, {hidden, bothAsked[1], task("U8", "tools", callV), {"updates|tools:U8", update}},
			{{"checkpoints", `{"values":{},"tasks":[{"id":"1","name":"internal_x","interrupts":[]}` + `,` + asks(`"name":"a",`) + `]}`}},
		} {
			if out := leaving(client, append(shown, sent{"updates", update})...); !strings.Contains(out, "secret") {
				t.Errorf("after %v the question of another node does not leave", shown)
			}
		}
	}
}

// TestInternalEvents sends what belongs to something internal without its name.
func TestInternalEvents(t *testing.T) {
	for _, stream := range [][]sent{
		{ofEvents("on_chain_start", "internal_x", `{}`, `,"run_id":"r1","parent_ids":[]`), ofEvents("on_chat_model_stream", "m", `{"chunk":`+pieceX+`}`, `,"run_id":"r2","parent_ids":["r0","r1"]`)},
		{
			ofEvents("on_chain_start", "internal_x", `{}`, `,"run_id":"r1","parent_ids":[]`), ofEvents("on_chain_start", "a", `{}`, `,"run_id":"r2","parent_ids":["r1"]`),
			ofEvents("on_chain_end", "b", `{"output":"secret"}`, `,"run_id":"r3","parent_ids":["r1","r2"]`),
		},
		{ofEvents("on_custom_event", "a", `{"type":"internal:x","text":"secret"}`, "")},
		{{"custom", `{"data":{"type":"internal:x","text":"secret"}}`}}, {{"custom", `{"event":"a","value":[{"kind":"Internal.x","text":"secret"}]}`}},
		{{"custom", `{"message":{"kind":"internal:x","text":"secret"}}`}}, {{"custom", `{"a":[[{"b":{"Type":"internal.x","c":[{"text":"secret"}]}}]]}`}},
		{ofEvents("on_custom_event", "a", `{"item":{"a":{"event":"internal:x"}},"text":"secret"}`, "")},
		{{"tasks", `{"id":"x","name":"internal_n","input":{},"triggers":[]}`}, {"tasks", `{"id":"x","name":"n","result":{"a":"secret"},"interrupts":[]}`}},
		{{"tasks", `{"id":"x","name":"internal_n","input":{},"triggers":[]}`}, {"debug", `{"type":"task_result","step":1,"payload":{"id":"x","result":{"a":"secret"}}}`}},
		{{"debug", `{"type":"task","step":1,"payload":{"id":"x","name":"internal_n"}}`}, {"checkpoints", `{"values":{},"tasks":[{"id":"x","state":"secret"}]}`}},
		{{"tasks", `{"id":"1","name":"a","result":[["__pregel_tasks",{"node":"internal_x","arg":"secret"}]],"interrupts":[]}`}},
		{ofEvents("on_chain_end", "a", `{"output":{"goto":[{"node":"internal_x","arg":{"a":"secret"}}]}}`, "")},
		{ofEvents("on_chain_end", "a", `{"output":{"goto":[{"node":"internal_x","args":{"a":"secret"}}]}}`, "")},
		{ofEvents("on_chain_stream", "a", `{"chunk":{"goto":{"Node":"Internal_x","args":["secret"]}}}`, "")},
		{{"checkpoints", `{"values":{"__pregel_tasks":[{"node":"internal_x","args":"secret"}]},"tasks":[]}`}},
		{fromServer(`{"id":"m1","type":"ai","name":"internal_x","content":[{"type":"tool_use","id":"cX","name":"w"}]}`, "a"), fromServer(resultX, "tools")},
		{fromServer(`{"id":"m1","type":"ai","name":"internal_x","content":"","additional_kwargs":{"tool_calls":[{"id":"cX"}]}}`, "a"), fromServer(resultX, "tools")},
		{{"custom", `{"type":"system","data":{"id":"m1","content":"x"}}`}, {"values", `{"messages":[` + wholeX + `]}`}},
		{{"values|internal_x:1", `{"messages":[` + wholeX + `]}`}, {"values", `{"messages":[` + wholeX + `]}`}},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
	}
	for _, harmless := range []string{`{"event":{"text":"internal revenue","note":"shown"}}`, `{"a":{"name":"internal","note":"shown"}}`} {
		if out := leaving(client, sent{"custom", harmless}); !strings.Contains(out, "shown") {
			t.Errorf("%s stays in", harmless)
		}
	}
	// A message that left in pieces stays visible although an internal node gets it.
	first, again := inTuple(`{"id":"m1","type":"AIMessageChunk","content":""}`, ""), inTuple(`{"id":"m1","type":"AIMessageChunk","content":"shown"}`, "")
	if out := leaving(client, first, sent{"tasks", `{"id":"1","name":"internal_x","input":{"messages":[` + wholeX + `]},"triggers":[]}`}, again); !strings.Contains(out, "shown") {
		t.Errorf("a message that an internal node gets stays in: %s", out)
	}
}

// TestGraphsOfWithheldCalls runs a subagent within a withheld call: the call's arguments are its first message.
func TestGraphsOfWithheldCalls(t *testing.T) {
	const call = `{"id":"m2","type":"ai","content":"","name":"AGENT","tool_calls":[{"id":"c2","name":"task","args":{"subagent_type":"expert"}}]}`
	first, below := `{"messages":[{"type":"human","id":"h","content":"secret"}]}`, `"langgraph_checkpoint_ns":"tools:1|model:2"`
	for _, stream := range []sent{
		{"values|tools:1", first}, {"values|tools:1|a:2", first}, {"updates|tools:1", `{"model":{"messages":[` + wholeX + `]}}`}, {"custom|tools:1", `{"a":"secret"}`},
		{"messages", `[` + wholeX + `,{"langgraph_node":"model",` + below + `}]`}, {"messages|tools:1", `[` + wholeX + `,{"langgraph_node":"model",` + below + `}]`},
		{"events", `{"event":"on_chain_start","name":"a","data":{"input":` + first + `},"metadata":{` + below + `}}`},
	} {
		internal, visible := sent{"updates", `{"agent":{"messages":[` + strings.Replace(call, "AGENT", "internal_x", 1) + `]}}`}, sent{"updates", `{"agent":{"messages":[` + call + `]}}`}
		checkStaysIn(t, []filter.Settings{client, public}, internal, stream)
		if out := leaving(client, visible, stream); !strings.Contains(out, "secret") {
			t.Errorf("%v does not leave within a call that was shown", stream)
		}
	}
}

// TestInterfaces sends elements of a user interface that an internal node has pushed, in the frames that repeat them.
//
// Source: langgraph/graph/ui.py, push_ui_message and ui_message_reducer.
func TestInterfaces(t *testing.T) {
	hidden := inTuple(said(""), `,"lc_agent_name":"internal_x"`)
	ui := func(id, text, metadata string) string {
		return `{"type":"ui","id":"` + id + `","name":"card","props":{"t":"` + text + `"},"metadata":{` + metadata + `}}`
	}
	ofNode, ofMessage, unmarked := ui("u1", "secret", `"name":"internal_x"`), ui("u1", "secret", `"message_id":"m1"`), ui("u1", "secret", `"name":"a","merge":true`)
	const answer = `{"type":"ai","id":"m2","content":"answer"}`
	shown := ui("u2", "shown", `"name":"a","message_id":"m2"`)
	state := func(one string) sent { return sent{"values", `{"messages":[],"ui":[` + one + `,` + shown + `]}`} }
	for _, first := range [][]sent{
		{{"custom", ofNode}}, {hidden, {"custom", ofMessage}}, {{"custom|internal_x:1", unmarked}}, {{"custom", `{"elements":[` + ofNode + `]}`}},
		{{"updates", `{"internal_x":{"ui":[` + unmarked + `]}}`}}, {{"updates", `{"a":{"ui":` + ofNode + `}}`}}, {hidden, {"updates", `{"a":{"ui":[` + ofMessage + `]}}`}},
		{state(ofNode)}, {hidden, state(ofMessage)}, {{"tasks", `{"id":"1","name":"a","result":{"ui":[` + ofNode + `]},"interrupts":[]}`}},
		{{"checkpoints", `{"values":{"ui":[` + ofNode + `]},"tasks":[]}`}}, {hidden, {"custom", `{"progress":"secret","messageId":"m1"}`}, {"custom", ofMessage}},
	} {
		stream := append(first[:len(first):len(first)], state(unmarked), sent{"custom", unmarked}, sent{"updates", `{"a":{"ui":[` + unmarked + `]}}`}, inTuple(answer, ""), sent{"custom", shown})
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
		if out := leaving(client, stream...); !strings.Contains(out, `"ui":[`+shown+`]`) || !strings.Contains(out, `custom `+shown) {
			t.Errorf("after %v what another node pushed does not leave:\n%s", first, out)
		}
	}
	begun, _ := tasksOf("t1", "internal_x", "")
	checkStaysIn(t, []filter.Settings{client, public}, sent{"custom", ofMessage}, hidden, state(ofMessage))
	checkStaysIn(t, []filter.Settings{client, public}, begun[0], sent{"custom", ui("u1", "secret", `"name":null`)})
	for _, ofHidden := range []sent{
		{"updates", `{"a":{"notes":[{"text":"secret","message_id":"m1"}]}}`}, {"custom|b:1", `{"progress":"secret","messageId":"m1"}`},
		inTuple(`{"type":"ai","id":"m9","content":"secret","parentMessageId":"m1"}`, ""),
	} {
		checkStaysIn(t, []filter.Settings{client, public}, hidden, ofHidden)
	}
	returned := sent{"updates", `{"a":{"ui":` + shown + `,"messages":[` + answer + `]}}`}
	if out := leaving(client, sent{"custom", shown}, returned, sent{"custom", shown}); strings.Count(out, "shown") != 2 {
		t.Errorf("an element that came before its message does not leave with it and after it: %s", out)
	}
}

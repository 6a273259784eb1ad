package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// sentTo is the start of a task that was sent data.
func sentTo(id, node, input string) sent {
	return sent{"tasks", strings.Replace(task(id, node, input).data, `"triggers":[]`, `"triggers":["__pregel_push"]`, 1)}
}

// debugOf returns the frames of a stream in the mode debug, for those of the modes tasks and checkpoints.
func debugOf(stream []sent) (all []sent) {
	for _, one := range stream {
		switch one.name {
		case "tasks":
			one = inDebug(one)
		case "checkpoints":
			one = sent{"debug", `{"type":"checkpoint","step":1,"payload":` + one.data + `}`}
		}
		all = append(all, one)
	}
	return all
}

// TestCachedInternalNode has the result of an internal node be from LangGraph's cache: no frame shows that it returns.
func TestCachedInternalNode(t *testing.T) {
	draft, secret, final := ai(`"m1"`, "draft"), ai(`"m9"`, "secret"), ai(`"m2"`, "final")
	before := []sent{startsWith("1", "a", askedBefore), returns("", "1", "a", messagesState(draft))}
	cached, ended := startsWith("2", "internal_x", askedBefore, draft), returns("", "3", "b", messagesState(final))
	for _, written := range []string{secret, `{"type":"human","id":"h9","content":"secret"}`} {
		for _, stream := range [][]sent{
			{cached, startsWith("3", "b", askedBefore, draft, written), ended, {"values", messagesState(askedBefore, draft, written, final)}},
			{{"values", messagesState(askedBefore, draft)}, cached, {"values", messagesState(askedBefore, draft, written)}},
			{cached, {"values", messagesState(askedBefore, draft, written)}},
			{cached, saved("", `"b"`, messagesState(askedBefore, draft, written))},
			{cached, startsWith("4", "c", askedBefore, draft), returns("", "4", "c", "{}"), startsWith("3", "b", askedBefore, draft, written)},
			{{"values", messagesState(askedBefore, draft)}, cached, startsWith("3", "b", askedBefore, ai(`"m1"`, "secret"))},
		} {
			stream = append(before[:2:2], stream...)
			checkStaysIn(t, []filter.Settings{client, public}, stream...)
			checkStaysIn(t, []filter.Settings{client, public}, debugOf(stream)...)
			checkStaysIn(t, []filter.Settings{client, public}, append(stream[:4:4], stream[3:]...)...)
			if out := leaving(client, append(stream, ended)...); !strings.Contains(out, "final") {
				t.Errorf("of %v, what the other node returns does not leave:\n%s", stream, out)
			}
		}
	}
	const within = "|team:1"
	inner := sent{"tasks" + within, cached.data}
	for _, state := range []sent{{"tasks" + within, startsWith("3", "b", askedBefore, draft, secret).data}, {"values" + within, messagesState(askedBefore, draft, secret)}} {
		checkStaysIn(t, []filter.Settings{client, public}, inner, state)
	}
}

// TestOrdinaryInputs has an ordinary node get messages that no frame has shown before, and that are not of internal work.
func TestOrdinaryInputs(t *testing.T) {
	draft, more := ai(`"m1"`, "draft"), ai(`"m3"`, "more")
	internal := []sent{startsWith("2", "internal_x", askedBefore, draft), returns("", "2", "internal_x", messagesState(ai(`"m9"`, "secret")))}
	beside := startsWith("4", "b", askedBefore, draft)
	for name, stream := range map[string][]sent{
		"a node whose result an earlier run has shown": {internal[0], beside, internal[1], {"values", messagesState(askedBefore, draft, more)}},
		"a subgraph":             append(internal[:2:2], sent{"tasks|team:5", startsWith("6", "c", `{"type":"human","id":"h5","content":"more"}`).data}),
		"a function":             append(internal[:2:2], sent{"tasks", `{"id":"7","name":"f","input":[[` + more + `],{}],"triggers":["__pregel_push"]}`}),
		"history":                {task("2", "internal_x", `{"query":"x"}`), internal[1], startsWith("8", "d", askedBefore, draft, more)},
		"a node that sends data": append(internal[:2:2], beside, returns("", "4", "b", `{}`), sentTo("7", "c", messagesState(`{"type":"human","id":null,"content":"more"}`))),
		"a node sent to beside":  {startsWith("1", "a", askedBefore), returns("", "1", "a", `{}`), sentTo("2", "internal_x", `{}`), sentTo("7", "c", messagesState(more))},
	} {
		for _, frames := range [][]sent{stream, debugOf(stream)} {
			if out := leaving(client, frames...); !strings.Contains(out, "more") {
				t.Errorf("what is of %s does not leave:\n%s", name, out)
			}
		}
	}
}

// TestSentByInternal has an internal node send data to others, or the node around it after a command of the node.
func TestSentByInternal(t *testing.T) {
	begun := startsWith("2", "internal_x", askedBefore)
	input := messagesState(`{"type":"human","id":null,"content":"secret"}`)
	inTeam := []sent{startsWith("1", "team", askedBefore), {"tasks|team:1", startsWith("2", "internal_x", askedBefore).data}, returns("", "1", "team", `{}`)}
	for _, stream := range [][]sent{
		{begun, returns("", "2", "internal_x", `{}`), sentTo("3", "b", input), sentTo("4", "b", input)},
		{begun, returns("", "2", "internal_x", `{}`), sentTo("3", "b", `{"x":1}`), sentTo("4", "b", strings.Replace(input, "null", `"h9"`, 1))},
		append(inTeam, sentTo("3", "b", input)),
	} {
		checkStaysIn(t, []filter.Settings{client}, stream...)
		checkStaysIn(t, []filter.Settings{client}, debugOf(stream)...)
	}
}

// TestManyInputs has tasks begin in more graphs, and more of them in a graph, than are remembered.
func TestManyInputs(t *testing.T) {
	d := &decoder{}
	input := func(id string) sent { return startsWith(id, "a", askedBefore) }
	for i := range 2 * maxScopes {
		d.trackInput([]byte("g:"+string(rune('a'+i))), frameOf("tasks", input("1").data).JSON, false)
		d.trackInput(nil, frameOf("tasks", input("t"+string(rune('a'+i))).data).JSON, false)
	}
	d.trackInput(nil, frameOf("tasks", input("x").data).JSON, true)
	d.trackInput([]byte("h:1"), frameOf("tasks", input("y").data).JSON, true)
	for _, graph := range []string{"", "h:1"} {
		if g := d.inputs[d.inputsKey([]byte(graph))]; !g.isAfterInternal() || len(g.open) > maxAround+1 || len(d.inputs) > maxScopes+1 {
			t.Errorf("of graph %q this is known: %v", graph, g)
		}
	}
}

// TestMemoryInEvents has an event of a node of an internal agent with checkpointer=True come before the agent's first state.
func TestMemoryInEvents(t *testing.T) {
	in := func(task, agent, content string) sent {
		return sent{"events", `{"event":"on_chat_model_stream","name":"M","run_id":"r1` + task + `","data":{"chunk":{"type":"AIMessageChunk","id":"m` + task + `","content":"` + content + `"}},"parent_ids":["r","r` + task + `"],"metadata":{"langgraph_node":"model","langgraph_checkpoint_ns":"tools|model:U` + task + `","checkpoint_ns":"tools:` + task + `","lc_agent_name":"` + agent + `"}}`}
	}
	of := func(agent string) sent { return in("T", agent, "x") }
	state := sent{"values|tools", messagesState(`{"type":"human","id":"h9","content":"secret"}`)}
	checkStaysIn(t, []filter.Settings{client, public}, of("internal_memo"), state)
	if out := leaving(client, of("memo"), state); !strings.Contains(out, "secret") {
		t.Errorf("the state of an ordinary agent does not leave:\n%s", out)
	}
	if out := leaving(client, of("internal_memo"), in("V", "memo", "shown")); !strings.Contains(out, "shown") {
		t.Errorf("an event that names another agent and its task does not leave:\n%s", out)
	}
}

// TestQuestionSentTwice has the modes tasks and debug both send the end of a task in which an internal agent asks.
func TestQuestionSentTwice(t *testing.T) {
	asks := sent{"tasks", `{"id":"T","name":"tools","result":{},"error":null,"interrupts":[{"id":"i1","value":"secret"}]}`}
	began := sent{"events", `{"event":"on_chain_start","name":"internal_x","run_id":"r1","data":{},"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:T","lc_agent_name":"internal_x"}}`}
	for _, start := range []sent{began, {"tasks|tools:T", begins("", "V", "internal_x").data}} {
		checkStaysIn(t, []filter.Settings{client}, start, asks, inDebug(asks))
		checkStaysIn(t, []filter.Settings{client}, start, inDebug(asks), asks)
	}
	if out := leaving(client, asks, inDebug(asks)); strings.Count(out, "secret") != 2 {
		t.Errorf("the question of an ordinary task does not leave:\n%s", out)
	}
}

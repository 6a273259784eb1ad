package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// at is a piece of a message from a task, with more metadata.
func at(namespace, place, more string) sent {
	name := "messages"
	if namespace != "" {
		name += "|" + namespace
	}
	segment := place[strings.LastIndexByte(place, '|')+1:]
	node, _, _ := strings.Cut(segment, ":")
	return sent{name, `[{"type":"AIMessageChunk","id":"m` + place + `","content":"x"},{"langgraph_node":"` + node + `","langgraph_checkpoint_ns":"` + place + `"` + more + `}]`}
}

const ofCritic = `,"lc_agent_name":"internal_critic"`

var (
	inNode     = at("", "internal_x:U", "")
	inAgent    = at("critic:U", "critic:U|model:V", ofCritic)
	inCall     = at("", "ask:T|internal_q:V", `,"langgraph_path":["__pregel_push",["__pregel_pull","ask"],0,true]`)
	asks       = sent{"updates", `{"__interrupt__":[{"value":"secret","id":"i1"}]}`}
	asksState  = sent{"values", `{"messages":[],"__interrupt__":[{"value":"secret","id":"i1"}]}`}
	fails      = sent{"error", `{"error":"ValueError","message":"secret"}`}
	writes     = sent{"custom", `{"a":"secret"}`}
	noQuestion = sent{"values", `{"messages":[]}`}
)

// TestWorkInMetadata shows internal work only in the metadata of messages. Until a frame shows its end, what may be of it stays in.
func TestWorkInMetadata(t *testing.T) {
	begun := map[string]sent{
		"node": inNode, "agent": inAgent, "call": inCall, "path": at("", "x:U", `,"langgraph_path":["__pregel_pull","internal_x"]`),
		"metadata": {"messages/metadata", `{"m1":{"metadata":{"langgraph_node":"internal_x","langgraph_checkpoint_ns":"internal_x:U"}}}`},
		"graph":    {"updates|internal_x:U", `{"a":null}`}, "tagged": at("", "a:U", ofCritic), "nested": at("a:T", "a:T|internal_x:U", ""),
		"without a namespace": inTuple(said(""), ofCritic), "second": at("critic:U|1", "critic:U|1|model:V", ofCritic), "own": at("", "model:V", ofCritic),
	}
	for name, first := range begun {
		for _, then := range []sent{asks, asksState, fails, writes} {
			checkStaysIn(t, []filter.Settings{client, public}, first, then)
			checkStaysIn(t, []filter.Settings{client, public}, first, at("", "b:W", ""), sent{"updates", `{"b":null}`}, then)
			checkStaysIn(t, []filter.Settings{client, public}, first, asksState, then)
			if name != "own" && strings.Count(leaving(client, first, noQuestion, then), "secret") != 1 {
				t.Errorf("%s: after a state, %v does not leave", name, then)
			}
		}
	}
	for _, c := range []struct {
		first []sent
		ended []sent
	}{
		{[]sent{inNode}, []sent{{"updates", `{"internal_x":null}`}}},
		{[]sent{inCall}, []sent{{"updates", `{"internal_q":null}`}}},
		{[]sent{inAgent}, []sent{{"updates", `{"critic":null}`}}},
		{[]sent{at("a:T", "a:T|internal_x:U", "")}, []sent{{"updates|a:T", `{"internal_x":null}`}}},
		{[]sent{at("a:T", "a:T|internal_x:U", "")}, []sent{{"updates", `{"a":null}`}}},
		{[]sent{inNode, at("", "internal_x:W", "")}, []sent{{"updates", `{"internal_x":null}`}, {"updates", `{"internal_x":null}`}}},
		{[]sent{at("tools:U", "tools:U|model:V", ofCritic), at("", "tools:W", "")}, []sent{{"updates", `{"tools":null}`}, {"updates", `{"tools":null}`}}},
		{[]sent{inNode}, []sent{{"checkpoints", `{"values":{},"next":[],"tasks":[]}`}}},
	} {
		for _, then := range []sent{asks, fails, writes} {
			stream := append(c.first[:len(c.first):len(c.first)], c.ended[:len(c.ended)-1]...)
			checkStaysIn(t, []filter.Settings{client, public}, append(stream[:len(stream):len(stream)], then)...)
			if out := leaving(client, append(stream[:len(stream):len(stream)], c.ended[len(c.ended)-1], then)...); !strings.Contains(out, "secret") {
				t.Errorf("after the end of %v this does not leave: %v", c.first, then)
			}
		}
	}
	elsewhere := sent{"updates|b:W", asks.data}
	for _, stream := range [][]sent{{inNode, elsewhere, asks}, {inNode, {"custom|b:W", writes.data}}, {inAgent, elsewhere}} {
		if out := leaving(client, stream...); strings.Count(out, "secret") < len(stream)-1 {
			t.Errorf("of %v this leaves: %s", stream, out)
		}
	}
}

// TestUnseenTasks ends one of several tasks of a node. The others work on, even if no frame has shown them.
func TestUnseenTasks(t *testing.T) {
	sentTo := at("", "internal_x:U", `,"langgraph_path":["__pregel_push",0,false],"langgraph_step":2`)
	nextStep, sameStep := at("", "b:W", `,"langgraph_path":["__pregel_pull","b"],"langgraph_step":3`), at("", "b:W", `,"langgraph_step":2`)
	within := at("b:W", "b:W|c:Z", `,"langgraph_step":3`)
	calls := fromServer(`{"type":"ai","id":"m1","content":"","tool_calls":[{"name":"ask","args":{},"id":"c1","type":"tool_call"},{"name":"f","args":{},"id":"c2","type":"tool_call"}]}`, "model")
	result := func(call string) sent {
		return sent{"updates", `{"tools":{"messages":[{"type":"tool","id":"t` + call + `","tool_call_id":"` + call + `","content":"done"}]}}`}
	}
	ended := sent{"updates", `{"internal_x":null}`}
	for _, c := range []struct {
		open []sent
		end  sent
	}{
		{[]sent{sentTo, ended}, nextStep}, {[]sent{sentTo, ended, sameStep}, noQuestion}, {[]sent{sentTo, ended, ended, within}, noQuestion},
		{[]sent{calls, at("tools:U", "tools:U|model:V", ofCritic), result("c2")}, result("c1")},
	} {
		for _, then := range []sent{asks, fails, writes} {
			checkStaysIn(t, []filter.Settings{client, public}, append(c.open[:len(c.open):len(c.open)], then)...)
			if out := leaving(client, append(c.open[:len(c.open):len(c.open)], c.end, then)...); !strings.Contains(out, "secret") {
				t.Errorf("after %v and %v this does not leave: %v", c.open, c.end, then)
			}
		}
	}
}

// TestGraphsOfInternalAgents sends what the graph of an internal agent sends without the agent's name.
func TestGraphsOfInternalAgents(t *testing.T) {
	const start = `{"id":"V","name":"model","input":{"messages":[]},"triggers":["x"],"metadata":{"lc_agent_name":"internal_critic"}}`
	graphRun := sent{"events", `{"event":"on_chain_start","name":"internal_critic","run_id":"r2","parent_ids":["r1"],"data":{},"metadata":{"langgraph_node":"critic","langgraph_checkpoint_ns":"critic:U","lc_agent_name":"internal_critic"}}`}
	debug := func(ns, kind, payload string) sent {
		return sent{"debug" + ns, `{"type":"` + kind + `","step":1,"payload":` + payload + `}`}
	}
	ends := []string{
		`"error":{"error":"E","message":"secret"},"result":{},"interrupts":[]`, `"error":null,"result":{"plan":"secret"},"interrupts":[]`,
		`"error":null,"result":{},"interrupts":[{"value":"secret","id":"i1"}]`,
	}
	for _, first := range []sent{inAgent, {"tasks|critic:U", start}, debug("|critic:U", "task", start), graphRun} {
		var streams [][]sent
		for i, end := range ends {
			own, around := `{"id":"V","name":"model",`+end+`}`, `{"id":"U","name":"critic",`+end+`}`
			streams = append(streams, []sent{{"tasks|critic:U", own}}, []sent{debug("|critic:U", "task_result", own)})
			if i != 1 { // the task around it has its own result
				streams = append(streams, []sent{{"tasks", around}}, []sent{debug("", "task_result", around)}, []sent{{"tasks|critic:U", own}, {"tasks", around}})
			}
		}
		for _, one := range []sent{
			{"custom|critic:U", writes.data}, {"updates|critic:U", `{"model":{"plan":"secret"}}`}, {"values|critic:U", `{"plan":"secret"}`}, {"custom|critic:U|tools:W", writes.data},
			{"messages|critic:U", at("critic:U", "critic:U|tools:W", "").data}, {"tasks|critic:U", `{"id":"W","name":"tools","input":"secret","triggers":[]}`},
			{"checkpoints|critic:U", `{"values":{"plan":"secret"},"tasks":[]}`}, {"checkpoints", `{"values":{},"tasks":[{"id":"U","name":"critic","interrupts":[{"value":"secret","id":"i1"}]}]}`},
		} {
			streams = append(streams, []sent{{one.name, strings.Replace(one.data, `"content":"x"`, `"content":"secret"`, 1)}})
		}
		for _, then := range streams {
			checkStaysIn(t, []filter.Settings{client, public}, append([]sent{first}, then...)...)
			checkStaysIn(t, []filter.Settings{client, public}, append([]sent{first, at("critic:U", "critic:U|tools:W", "")}, then...)...)
			if strings.Contains(then[0].name, "|") {
				checkStaysIn(t, []filter.Settings{client, public}, append([]sent{first, noQuestion}, then[0])...)
			}
		}
		for _, other := range []sent{
			{"custom|critic:W", writes.data}, {"custom|critic:U|1", writes.data}, {"values", `{"plan":"secret"}`}, {"tasks", `{"id":"W","name":"b",` + ends[2] + `}`},
		} {
			if out := leaving(client, first, other); !strings.Contains(out, "secret") && !(first.name == "events" || strings.HasPrefix(first.name, "messages")) {
				t.Errorf("after %v this does not leave: %v", first, other)
			}
		}
	}
	result := sent{"updates", `{"tools":{"messages":[{"type":"tool","id":"t1","tool_call_id":"c1","name":"ask","content":"secret"}]}}`}
	if out := leaving(client, at("tools:U", "tools:U|model:V", ofCritic), result); !strings.Contains(out, "secret") {
		t.Errorf("the result of a tool that asked an internal agent does not leave: %s", out)
	}
	if out := leaving(client, at("", "model:V", ofCritic), sent{"metadata", nextRun}, sent{"values", `{"plan":"secret"}`}); !strings.Contains(out, "secret") {
		t.Errorf("after a run of an internal agent, the next one does not leave: %s", out)
	}
}

// TestNamedByResponse names an internal agent only in the first response of its model, as create_react_agent and LangChain's createAgent in
// JavaScript do. Then its graph is known.
func TestNamedByResponse(t *testing.T) {
	const within = "critic:U"
	response := func(name string) string {
		return messagesState(askedBefore, `{"type":"ai","id":"m1","name":"`+name+`","content":""}`)
	}
	for _, node := range modelNodes {
		first, piece := at(within, within+"|"+node+":V", ""), at(within, within+"|"+node+":W", "")
		piece.data = strings.Replace(piece.data, `"content":"x"`, `"content":"secret"`, 1)
		for _, name := range []string{"internal_critic", "critic"} {
			for _, named := range []sent{
				{"updates|" + within, `{"` + node + `":` + response(name) + `}`}, {"values|" + within, response(name)}, returns("|"+within, "V", node, response(name)),
				{"debug|" + within, `{"type":"task_result","step":1,"payload":` + returns("", "V", node, response(name)).data + `}`},
			} {
				for _, then := range []sent{piece, {"custom|" + within, writes.data}} {
					if out := leaving(client, first, named, then); strings.Contains(out, "secret") != (name == "critic") {
						t.Errorf("after %v, this leaves: %s", named, out)
					}
				}
			}
		}
	}
	history, other := sent{"values|" + within, response("internal_critic")}, at("writer:T", "writer:T|agent:S", "")
	other.data = strings.Replace(other.data, `"content":"x"`, `"content":"shown"`, 1)
	for _, stream := range [][]sent{
		{{"values", history.data}, {"values|writer:T", history.data}, at("writer:T", "writer:T|agent:S", ""), {"values|writer:T", history.data}, other},
		{{"updates|writer:T", `{"ask":` + history.data + `}`}, other}, {{"updates", `{"agent":` + history.data + `}`}, other},
	} {
		if out := leaving(client, stream...); !strings.Contains(out, "shown") {
			t.Errorf("of %v, what another agent says does not leave", stream)
		}
	}
}

// TestQuestionsOfFunctions has an internal function ask, and the task that called it repeat the question.
func TestQuestionsOfFunctions(t *testing.T) {
	called := sent{"tasks", `{"id":"V","name":"internal_q","input":[["q"],{}],"triggers":["__pregel_push"]}`}
	asked := sent{"tasks", `{"id":"T","name":"ask","error":null,"result":{},"interrupts":[{"value":"secret","id":"i1"}]}`}
	failed := sent{"tasks", `{"id":"T","name":"ask","error":{"error":"E","message":"secret"},"result":{},"interrupts":[]}`}
	debugged := func(one sent, kind string) sent {
		return sent{"debug", `{"type":"` + kind + `","step":1,"payload":` + one.data + `}`}
	}
	for _, then := range [][]sent{{asked}, {asks, asked}, {asked, asks}, {failed, fails}, {debugged(asked, "task_result")}} {
		checkStaysIn(t, []filter.Settings{client, public}, append([]sent{called}, then...)...)
		checkStaysIn(t, []filter.Settings{client, public}, append([]sent{debugged(called, "task")}, then...)...)
		checkStaysIn(t, []filter.Settings{client, public}, append([]sent{inCall}, then...)...)
	}
	sentTo := sent{"tasks", `{"id":"V","name":"internal_x","input":{"messages":[]},"triggers":["__pregel_push"]}`}
	if out := leaving(client, sentTo, asks, asked, asks); strings.Count(out, "secret") != 2 {
		t.Errorf("beside an internal task, the question of another one does not leave after its task: %s", out)
	}
}

// TestCalledByCalled has a called function call an internal one, which sends data in the namespace of its callers.
func TestCalledByCalled(t *testing.T) {
	called := func(id, name, more string) sent {
		return sent{"tasks", `{"id":"` + id + `","name":"` + name + `","input":[["q"],{}],"triggers":["__pregel_push"]` + more + `}`}
	}
	branch, leaf, ended := called("T", "branch", ""), called("V", "internal_q", ""), returns("", "V", "internal_q", `{}`)
	custom := func(namespace string) sent { return sent{"custom|" + namespace, writes.data} }
	for _, namespace := range []string{"wf:U", "wf:U|branch:T", "wf:U|branch:T|again:W"} {
		again := called("W", "again", "")
		checkStaysIn(t, []filter.Settings{client}, branch, again, leaf, custom(namespace))
		if out := leaving(client, branch, again, leaf, ended, custom(namespace)); !strings.Contains(out, "secret") {
			t.Errorf("after the internal function, the data of %s does not leave", namespace)
		}
	}
	if out := leaving(client, branch, leaf, custom("wf:U|team:X|a:Y")); !strings.Contains(out, "secret") {
		t.Error("the data of a graph that calls no function does not leave")
	}
}

// TestSends has a node send data to an internal node and to another one. Only the data of the other one leaves, now and as its input.
func TestSends(t *testing.T) {
	const other = `{"node":"b","args":{"messages":[{"type":"human","id":null,"content":"shown"}]}}`
	for _, data := range []string{`{"chunk":{"goto":[SENT,` + other + `]}}`, `{"output":[` + other + `,SENT]}`} {
		sends := ofEvents("on_chain_stream", "a", strings.Replace(data, "SENT", `{"node":"internal_x","args":{"messages":[{"type":"human","content":"secret"}]}}`, 1), "")
		begins := ofEvents("on_chain_start", "b", `{"input":{"messages":[{"type":"human","id":null,"content":"shown"}]}}`, `,"run_id":"r7"`)
		if out := leaving(client, sends, begins); strings.Contains(out, "secret") || strings.Count(out, "shown") != 2 {
			t.Errorf("of %v this leaves: %s", sends, out)
		}
	}
}

package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// messagesState returns a state with messages.
func messagesState(messages ...string) string {
	return `{"messages":[` + strings.Join(messages, ",") + `]}`
}

// ai returns a message of a model.
func ai(id, content string) string {
	return `{"type":"ai","id":` + id + `,"content":"` + content + `"}`
}

const (
	askedBefore = `{"type":"human","id":"h1","content":"?"}`
	uuidOfTeam  = "7a9700de-5c39-ce4b-bf68-b1040c4307c7"
)

func begins(graph, id, node string) sent {
	return sent{"tasks" + graph, `{"id":"` + id + `","name":"` + node + `","input":{},"triggers":[]}`}
}

func returns(graph, id, node, result string) sent {
	return sent{"tasks" + graph, `{"id":"` + id + `","name":"` + node + `","error":null,"result":` + result + `,"interrupts":[]}`}
}

// saved returns a checkpoint.
func saved(graph, next, messages string) sent {
	return sent{"checkpoints" + graph, `{"config":{"configurable":{"thread_id":"t"}},"values":` + messages + `,"next":[` + next + `],"tasks":[]}`}
}

// ofNode returns an event of a node of the run's own graph.
func ofNode(kind, run, node, data string) sent {
	return sent{"events", `{"event":"on_chain_` + kind + `","name":"` + node + `","run_id":"` + run + `","data":` + data + `,"parent_ids":["r"],"metadata":{"langgraph_node":"` + node + `","langgraph_checkpoint_ns":"` + node + `:` + run + `"}}`}
}

// TestReplacedMessages has an internal node replace a message that has left, and return another one unchanged.
func TestReplacedMessages(t *testing.T) {
	draft, state := sent{"updates", `{"a":` + messagesState(ai(`"m1"`, "draft")) + `}`}, sent{"values", messagesState(askedBefore, ai(`"m1"`, "draft"))}
	replaced := messagesState(askedBefore, ai(`"m1"`, "secret"))
	for _, internal := range []sent{
		{"updates", `{"internal_x":` + messagesState(ai(`"m1"`, "secret")) + `}`},
		{"updates", `{"internal_x":` + replaced + `}`},
		{"tasks", `{"id":"1","name":"internal_x","result":` + replaced + `,"interrupts":[]}`},
		{"debug", `{"type":"task_result","payload":{"id":"1","name":"internal_x","result":` + replaced + `,"interrupts":[]}}`},
		ofNode("end", "1", "internal_x", `{"output":`+replaced+`}`),
		{"messages", `[{"type":"AIMessageChunk","id":"m2","content":"sec"},{"langgraph_node":"internal_x"}]`},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, draft, state, internal, sent{"values", replaced}, sent{"values", replaced})
		checkStaysIn(t, []filter.Settings{client, public}, state, internal, sent{"values", replaced})
		if internal.name != "messages" {
			checkStaysIn(t, []filter.Settings{client, public}, state, internal, sent{"tasks", `{"id":"2","name":"a","input":` + replaced + `,"triggers":[]}`})
			checkStaysIn(t, []filter.Settings{client, public}, state, internal, state, sent{"values", replaced})
		}
	}
	stream := []sent{saved("", `"a"`, state.data), {"custom", `{"type":"internal:x"}`}, saved("", `"a"`, state.data), saved("", `"a"`, strings.Replace(state.data, "draft", "edited", 1))}
	if out := leaving(client, stream...); !strings.Contains(out, "edited") {
		t.Errorf("a message that changes a step after an internal frame does not leave:\n%s", out)
	}
	for _, repeated := range []string{messagesState(ai(`"m1"`, "draft")), `{}`} {
		stream := []sent{draft, state, {"updates", `{"internal_x":` + repeated + `}`}, {"values", messagesState(askedBefore, ai(`"m1"`, "draft"), ai(`"m2"`, "more"))}}
		if out := leaving(client, stream...); strings.Count(out, "draft") != 3 || !strings.Contains(out, "more") {
			t.Errorf("a message that an internal node did not change does not leave:\n%s", out)
		}
	}
	checkStaysIn(t, []filter.Settings{client, public}, state, at("", "a:T", ""), inNode, sent{"values", replaced})
	piece := func(node, id, text string) sent {
		return sent{"messages", `[{"type":"AIMessageChunk","id":"` + id + `","content":"` + text + `"},{"langgraph_node":"` + node + `"}]`}
	}
	stream = []sent{piece("internal_x", "m2", "x"), piece("a", "m1", "dr"), piece("a", "m1", "aft"), state}
	if out := leaving(client, stream...); !strings.Contains(out, `"draft"`) {
		t.Errorf("a message that came in pieces does not leave:\n%s", out)
	}
}

// TestReturnedByCommand has an internal node in a subgraph end with a command to the graph above. So the task around it returns the
// node's message.
func TestReturnedByCommand(t *testing.T) {
	const within = "|team:" + uuidOfTeam
	result, state := messagesState(ai("null", "secret")), sent{"values", messagesState(askedBefore, ai(`"m1"`, "secret"))}
	input := begins("", "2", "agent")
	input.data = strings.Replace(input.data, "{}", state.data, 1)
	internal := []sent{begins("", uuidOfTeam, "team"), begins(within, "1", "internal_x")}
	updated, ended := sent{"updates", `{"team":` + result + `}`}, returns("", uuidOfTeam, "team", result)
	for _, rest := range [][]sent{{updated, ended, state, input}, {ended, state, input}, {updated, state}, {updated, state, ended}} {
		checkStaysIn(t, []filter.Settings{client, public}, append(internal, rest...)...)
	}
	named := sent{"updates", `{"team":` + messagesState(ai(`"m1"`, "secret")) + `}`}
	checkStaysIn(t, []filter.Settings{client, public}, append(internal, named, returns("", uuidOfTeam, "team", messagesState(ai(`"m1"`, "secret"))), input, state)...)
	const metadata = `"metadata":{"langgraph_node":"internal_x","langgraph_checkpoint_ns":"team:` + uuidOfTeam + `|internal_x:1"}`
	event := sent{"events", `{"event":"on_chain_start","name":"internal_x","run_id":"1","data":{},"parent_ids":["r","2"],` + metadata + `}`}
	for _, rest := range [][]sent{{updated, ended, state}, {ofNode("start", "3", "agent", `{"input":`+state.data+`}`), state}} {
		checkStaysIn(t, []filter.Settings{client, public}, append([]sent{event}, rest...)...)
	}
	checkStaysIn(t, []filter.Settings{client, public}, saved("", `"team"`, messagesState(askedBefore)), saved(within, `"internal_x"`, messagesState(askedBefore)), state, saved("", `"agent"`, state.data))

	// Another task of the node returns what its own nodes have shown, and the next tasks are not internal work.
	shown := messagesState(ai(`"m2"`, "shown"))
	stream := append(internal, sent{"updates|team:2", `{"a":` + shown + `}`}, sent{"updates", `{"team":` + shown + `}`}, ended, sent{"updates", `{"team":` + messagesState(ai(`"m3"`, "later")) + `}`})
	if out := leaving(client, stream...); strings.Count(out, "shown") != 2 || !strings.Contains(out, "later") {
		t.Errorf("what other tasks return does not leave:\n%s", out)
	}
	stream = append(internal, returns(within, "1", "internal_x", `{}`), sent{"updates", `{"team":` + shown + `}`}, returns("", uuidOfTeam, "team", shown))
	if out := leaving(client, stream...); strings.Count(out, "shown") != 2 {
		t.Errorf("what a graph returns after its internal node has ended does not leave:\n%s", out)
	}
}

// TestToolsBesideInternal has two calls in the node tools. An internal task works within one of them.
func TestToolsBesideInternal(t *testing.T) {
	called := sent{"updates", `{"model":{"messages":[{"type":"ai","id":"m1","content":"","tool_calls":[{"id":"c1","name":"f","args":{}},{"id":"c2","name":"g","args":{}}]}]}}`}
	internal := []sent{called, begins("", uuidOfTeam, toolNode), begins("|tools:"+uuidOfTeam, "1", "internal_x")}
	update := func(message string) sent { return sent{"updates", `{"tools":` + messagesState(message) + `}`} }
	checkStaysIn(t, []filter.Settings{client, public}, append(internal, update(ai(`"m2"`, "secret")))...)
	checkStaysIn(t, []filter.Settings{client, public}, append(internal, update(`{"type":"tool","id":"secret","tool_call_id":"c3","content":"secret"}`))...)
	if out := leaving(client, append(internal, update(`{"type":"tool","id":"m3","tool_call_id":"c2","content":"result"}`))...); !strings.Contains(out, "result") {
		t.Errorf("the result of the other call does not leave:\n%s", out)
	}
}

// TestReturnedByTool has the tool of an internal agent end with a command to the graph above. Only the agent's open call shows that.
func TestReturnedByTool(t *testing.T) {
	call := at("team:U", "team:U|model:V", ofCritic)
	answer := messagesState(`{"type":"ai","id":"m1","content":"","tool_calls":[{"id":"c1","name":"hand","args":{}}]}`)
	asked := sent{"updates|team:U", `{"model":` + answer + `}`}
	result := `{"type":"tool","id":"m3","tool_call_id":"c1","content":"x"}`
	updated, state := sent{"updates", `{"team":` + messagesState(ai("null", "secret"), result) + `}`}, sent{"values", messagesState(askedBefore, ai(`"m2"`, "secret"), result)}
	before := sent{"values", messagesState(askedBefore)}
	alone := sent{"updates", `{"team":` + messagesState(ai("null", "secret")) + `}`} // a command to the graph above needs no result of its call
	stateAlone := sent{"values", messagesState(askedBefore, ai(`"m2"`, "secret"))}
	for _, rest := range [][]sent{{asked, updated, state}, {asked, state, state}, {{"values|team:U", answer}, state}, {asked, alone}, {asked, alone, stateAlone}, {asked, stateAlone}, {{"values|team:U", answer}, stateAlone}} {
		checkStaysIn(t, []filter.Settings{client, public}, append([]sent{before, call}, rest...)...)
	}
	inTool := []sent{before, at("tools:U", "tools:U|model:V", ofCritic), {"updates|tools:U", asked.data}, {"updates", `{"a":` + messagesState(ai(`"m2"`, "shown")) + `}`}, {"values", messagesState(askedBefore, ai(`"m4"`, "more"))}}
	ended := []sent{before, call, asked, {"updates|team:U", `{"tools":` + messagesState(result) + `}`}, {"updates", `{"team":` + messagesState(ai(`"m2"`, "shown")) + `}`}, {"values", messagesState(askedBefore, ai(`"m4"`, "more"))}}
	for _, stream := range [][]sent{inTool, ended} {
		if out := leaving(client, stream...); !strings.Contains(out, "shown") || !strings.Contains(out, "more") {
			t.Errorf("of %v, what is not of the agent does not leave:\n%s", stream, out)
		}
	}
}

// TestWrittenWithoutModel has an internal node write a message that no model sent, so only the next state shows it.
func TestWrittenWithoutModel(t *testing.T) {
	before, after := sent{"values", messagesState(askedBefore)}, sent{"values", messagesState(askedBefore, ai(`"m9"`, "secret"))}
	if out := leaving(client, inNode, after); !strings.Contains(out, "secret") {
		t.Errorf("a stream that joins the run does not show its history:\n%s", out)
	}
	announced := sent{"messages/metadata", `{"m1":{"metadata":{"langgraph_node":"internal_x","langgraph_checkpoint_ns":"internal_x:U"}}}`}
	for _, internal := range []sent{inNode, announced, at("internal_x:U", "internal_x:U|model:V", "")} {
		checkStaysIn(t, []filter.Settings{client, public}, before, internal, after, after)
		beside := at("", "a:T", "")
		for _, others := range [][]sent{{beside, internal}, {internal, beside}} {
			checkStaysIn(t, []filter.Settings{client, public}, append(append([]sent{before}, others...), after)...)
			shown := sent{"values", messagesState(askedBefore, ai(`"ma:T"`, "more"), ai(`"m9"`, "secret"))}
			if out := leaving(client, append(append([]sent{before}, others...), shown)...); !strings.Contains(out, "more") {
				t.Errorf("after %v, what a node beside the internal one has sent does not leave:\n%s", others, out)
			}
		}
		if out := leaving(client, before, internal, before, after); !strings.Contains(out, "secret") {
			t.Errorf("after %v and a state, what another node has written does not leave:\n%s", internal, out)
		}
	}
}

// TestReturnedWithoutObject has an internal node of a graph return a message that is no object of LangChain, so that only states and the
// nodes around the graph show it with an ID.
func TestReturnedWithoutObject(t *testing.T) {
	const graph = "|team:" + uuidOfTeam
	within := at(graph[1:], graph[1:]+"|internal_x:U", "")
	before, after := messagesState(askedBefore), messagesState(askedBefore, ai(`"m9"`, "secret"))
	sent9 := sent{"messages", `[` + ai(`"m9"`, "secret") + `,{"langgraph_node":"team","langgraph_checkpoint_ns":"` + graph[1:] + `"}]`}
	named := sent{"updates" + graph, `{"internal_x":{"messages":[{"role":"assistant","content":"secret"}]}}`}
	for _, stream := range [][]sent{
		{{"values" + graph, before}, within, {"values" + graph, after}, sent9, {"values", after}},
		{within, {"values", after}, sent9},
		{named, sent9, {"updates", `{"team":` + after + `}`}},
		{returns(graph, "1", "internal_x", `{"messages":[["ai","secret"]]}`), sent9, returns("", uuidOfTeam, "team", after)},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, append([]sent{{"values", before}}, stream...)...)
	}
	alone := sent{"updates", `{"team":` + messagesState(ai(`"m9"`, "secret")) + `}`}
	checkStaysIn(t, []filter.Settings{client, public}, named, alone)
	for _, own := range []string{ai(`"lc_run--7"`, "secret"), `{"type":"AIMessageChunk","id":"m7","content":"secret"}`} {
		if out := leaving(client, named, sent{"messages", `[` + own + `,{"langgraph_node":"team","langgraph_checkpoint_ns":"` + graph[1:] + `"}]`}); !strings.Contains(out, "secret") {
			t.Errorf("a model's message with the same text does not leave: %s", own)
		}
	}
}

// TestNextInternal names an internal node only as the next node of a checkpoint.
func TestNextInternal(t *testing.T) {
	before, after := messagesState(askedBefore, ai(`"m0"`, "old")), messagesState(askedBefore, ai(`"m0"`, "old"), ai(`"m1"`, "secret"))
	next := []sent{saved("", `"__start__"`, before), saved("", `"internal_x"`, before)}
	for _, rest := range [][]sent{
		{saved("", `"a"`, after), saved("", ``, after)},
		{{"values", after}, saved("", `"a"`, after), {"values", after}},
		{saved("", `"a"`, messagesState(askedBefore, ai(`"m0"`, "secret")))},
		{saved("", `"a"`, messagesState(askedBefore, ai("null", "secret"))), {"values", after}},
		{{"error", `{"error":"ValueError","message":"secret"}`}},
		{{"custom", `{"text":"secret"}`}},
		{{"values", `{"__interrupt__":[{"value":"secret","id":"i1"}]}`}},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, append(next, rest...)...)
	}
	more := messagesState(askedBefore, ai(`"m0"`, "old"), ai(`"m2"`, "more"))
	for _, rest := range [][]sent{
		{saved("", `"a"`, before), saved("", ``, more)},
		{{"values", before}, saved("", `"a"`, before), {"values", more}},
		{saved("", `"a"`, before), {"error", `{"error":"ValueError","message":"more"}`}},
		{saved("", `"a"`, before), {"custom", `{"text":"more"}`}},
	} {
		if out := leaving(client, append(next, rest...)...); !strings.Contains(out, "more") {
			t.Errorf("of %v, what comes after the internal node does not leave:\n%s", rest, out)
		}
	}
}

// TestCustomOfInternal has an internal task write an event without a mark.
func TestCustomOfInternal(t *testing.T) {
	custom := sent{"custom", `{"text":"secret"}`}
	checkStaysIn(t, []filter.Settings{client}, begins("", "1", "internal_x"), custom)
	stream := []sent{begins("", "1", "internal_x"), returns("", "1", "internal_x", `{}`), begins("", "2", "a"), custom}
	if out := leaving(client, stream...); !strings.Contains(out, "secret") {
		t.Errorf("an event of a later task does not leave:\n%s", out)
	}
}

// TestPushedMessages has an internal node push a message, so that events show it first in the input of the next node.
func TestPushedMessages(t *testing.T) {
	asked := `{"input":` + messagesState(askedBefore) + `}`
	internal := []sent{ofNode("start", "1", "internal_x", asked), ofNode("end", "1", "internal_x", `{"output":{}}`)}
	for _, m := range []string{ai(`"m1"`, "secret"), `{"type":"human","id":"h2","content":"secret"}`} {
		pushed := messagesState(askedBefore, m)
		checkStaysIn(t, []filter.Settings{client}, append(internal, ofNode("start", "2", "a", `{"input":`+pushed+`}`), ofNode("end", "2", "a", `{"input":`+pushed+`,"output":{}}`))...)
	}
	for _, given := range []string{`{"role":"user","content":"task"}`, `["user","task"]`, `"task"`} {
		stream := append(internal, ofNode("start", "2", "a", `{"input":{"messages":[`+given+`]}}`), ofNode("start", "3", "b", `{"input":`+messagesState(`{"type":"human","id":"h2","content":"task"}`)+`}`))
		if out := leaving(client, stream...); strings.Count(out, "task") != 2 {
			t.Errorf("what another graph is given does not leave:\n%s", out)
		}
	}
	for _, id := range []string{`"m2"`, "null"} {
		stream := append(internal, ofNode("start", "2", "a", asked), ofNode("end", "2", "a", `{"output":`+messagesState(ai(id, "more"))+`}`),
			ofNode("start", "3", "b", `{"input":`+messagesState(askedBefore, ai(`"m2"`, "more"))+`}`))
		if out := leaving(client, stream...); strings.Count(out, "more") != 2 {
			t.Errorf("the message of another node does not leave:\n%s", out)
		}
	}
}

// TestUsersOfInternal has an internal node return the message of a user, which only events show.
func TestUsersOfInternal(t *testing.T) {
	before, human := messagesState(askedBefore), `{"type":"human","id":"h2","content":"secret"}`
	input := func(kind, run, node, more string) sent {
		return ofNode(kind, run, node, `{"input":`+messagesState(askedBefore, human)+more+`}`)
	}
	returned := `{"%":` + messagesState(askedBefore, human) + `}`
	stream := []sent{
		ofNode("start", "1", "internal_x", `{"input":`+before+`}`), ofNode("stream", "1", "internal_x", strings.ReplaceAll(returned, "%", "chunk")),
		ofNode("end", "1", "internal_x", strings.ReplaceAll(returned, "%", "output")), input("start", "2", "a", ""), input("end", "2", "a", `,"output":{}`),
	}
	checkStaysIn(t, []filter.Settings{client}, stream...)
	checkStaysIn(t, []filter.Settings{client}, stream[0], stream[2], stream[3])
	if out := leaving(client, append(stream, ofNode("start", "3", "b", `{"input":`+before+`}`))...); strings.Count(out, `"h1"`) != 1 {
		t.Errorf("the user's own message, which an internal node has returned too, does not leave:\n%s", out)
	}
}

// TestAnswersOfThisRun has an internal node return a model's answer before the message of a user. Only the answer's ID says that it is of
// this run.
func TestAnswersOfThisRun(t *testing.T) {
	const run = "019a0000-0000-7000-8000-000000000002"
	for id, leaves := range map[string]bool{
		"lc_run--019a0000-0000-7000-8000-000000000003": false, "run-019a0000-0000-7000-8000-000000000003": false, "run--019a0000-0000-7000-8000-000000000003-0": false,
		"lc_run--019a0000-0000-7000-8000-000000000001": true, "lc_run--fa9a0000-0000-4000-8000-000000000003": true, "m1": true,
	} {
		memory, answer := new(event.Withheld), ai(`"`+id+`"`, "secret")
		returned := sent{"updates", `{"internal_x":` + messagesState(answer, `{"type":"human","id":"h2","content":"x"}`) + `}`}
		leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, sent{"metadata", `{"run_id":"` + run + `","attempt":1}`}, returned)
		out := leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, sent{"metadata", nextRun}, sent{"updates", `{"a":` + messagesState(askedBefore, answer) + `}`})
		if strings.Contains(out, "secret") != leaves {
			t.Errorf("%s: in the next run, this leaves:\n%s", id, out)
		}
	}
}

// TestCaughtFailures has an ordinary node catch the failure of an internal node or agent that it runs, and go on.
func TestCaughtFailures(t *testing.T) {
	const graph = "|outer:U"
	own := at("", "outer:U", "")
	text := messagesState(ai(`"mouter:U"`, "shown"))
	updated, ended := sent{"updates", `{"outer":` + text + `}`}, returns("", "U", "outer", text)
	fails := func(node string) sent {
		return sent{"tasks" + graph, `{"id":"V","name":"` + node + `","error":{"error":"ValueError","message":"secret"},"result":{},"interrupts":[]}`}
	}
	failsToo := sent{"tasks", `{"id":"U","name":"outer","error":{"error":"ValueError","message":"secret"},"result":{},"interrupts":[]}`}
	wrapped := sent{failsToo.name, strings.Replace(failsToo.data, `"secret"`, `"because: secret"`, 1)}
	ofAgent := sent{"tasks" + graph, `{"id":"V","name":"model","input":{},"triggers":[],"metadata":{"lc_agent_name":"internal_critic"}}`}
	custom := sent{"custom", `{"x":"shown"}`}
	for _, internal := range [][]sent{
		{begins(graph, "V", "internal_x"), fails("internal_x")}, {ofAgent, fails("model")},
		{saved(graph, `"internal_x"`, messagesState(askedBefore)), begins(graph, "V", "internal_x"), fails("internal_x")},
	} {
		stream := append([]sent{begins("", "U", "outer")}, internal...)
		if out := leaving(client, append(stream, custom, own, updated, ended)...); strings.Count(out, "shown") != 3 {
			t.Errorf("after %v, the node around it says only:\n%s", internal, out)
		}
		checkStaysIn(t, []filter.Settings{client, public}, append(stream, failsToo)...)
		if internal[0] == ofAgent {
			checkStaysIn(t, []filter.Settings{client, public}, append(stream, wrapped)...)
		}
		checkStaysIn(t, []filter.Settings{client}, append(stream[:len(stream)-1:len(stream)-1], writes)...)
	}
	within := at(graph[1:], "outer:U|internal_x:V", "")
	if out := leaving(client, within, own, updated); !strings.Contains(out, "shown") {
		t.Errorf("the message whose pieces have left does not leave whole:\n%s", out)
	}
	checkStaysIn(t, []filter.Settings{client, public}, within, own, sent{"updates", `{"outer":` + messagesState(ai(`"mouter:U"`, "shown"), ai(`"m9"`, "secret")) + `}`})
}

// TestUnseenSiblings has a node run several tasks. Of the one without internal work, only the update is seen.
func TestUnseenSiblings(t *testing.T) {
	inner := sent{"messages", `[{"type":"AIMessageChunk","id":"m1","content":"x"},{"langgraph_node":"internal_x","langgraph_step":1,"langgraph_path":["__pregel_pull","internal_x"],"langgraph_checkpoint_ns":"n:2|internal_x:3"}]`}
	own := sent{"messages", `[{"type":"AIMessageChunk","id":"m2","content":"x"},{"langgraph_node":"n","langgraph_step":1,"langgraph_path":["__pregel_pull","n"],"langgraph_checkpoint_ns":"n:2"}]`}
	other, returned := sent{"updates", `{"n":{"done":1}}`}, sent{"updates", `{"n":{"messages":[{"type":"ai","id":"n1","content":"secret"}]}}`}
	checkStaysIn(t, []filter.Settings{client, public}, inner, other, returned)
	checkStaysIn(t, []filter.Settings{client, public}, inner, other, sent{"updates", `{"n":{"done":2}}`}, returned)
	for _, between := range [][]sent{
		{inner, own, other}, {inner, {"values", `{"messages":[]}`}}, {inner, {"updates|n:2", `{"internal_x":{"done":1}}`}, other}, {inner, other, {"values", `{"messages":[]}`}},
	} {
		if out := leaving(client, append(between, returned)...); !strings.Contains(out, "secret") {
			t.Errorf("after %v, the update does not leave: %s", between, out)
		}
	}
	if out := leaving(client, inner, other, writes, asks); strings.Count(out, "secret") != 2 {
		t.Errorf("after an update of the node, this leaves: %s", out)
	}
}

// TestNamedOnlyByGraphs has an internal node write to the state of the graph above, in the mode values alone. Only the name of the node's graph
// shows it.
func TestNamedOnlyByGraphs(t *testing.T) {
	before, after := messagesState(askedBefore), messagesState(askedBefore, ai(`"m9"`, "secret"))
	state, own := sent{"values", before}, sent{"values|n:1", before}
	for _, stream := range [][]sent{
		{state, own, {"values|n:1|internal_x:U", before}, {"values", after}},
		{state, {"values|internal_x:U", before}, {"values", after}, {"values", after}},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
	}
	checkStaysIn(t, []filter.Settings{client, public}, state, own, sent{"values|n:1|internal_x:U", before}, sent{"values|n:1", after})
	if out := leaving(client, state, own, sent{"values|n:1|internal_x:U", before}, state, sent{"values", after}); !strings.Contains(out, "secret") {
		t.Errorf("after the next state, this leaves:\n%s", out)
	}
}

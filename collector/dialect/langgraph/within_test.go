package langgraph

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// Calls of subagents: cX was withheld, cV was shown.
const (
	callX = `{"name":"task","args":{"subagent_type":"expert"},"id":"cX","type":"tool_call"}`
	callV = `{"name":"task","args":{"subagent_type":"writer"},"id":"cV","type":"tool_call"}`
)

// asking is a message of a node with a call.
func asking(node, id, call string) sent {
	return fromServer(`{"type":"ai","id":"`+id+`","content":"","tool_calls":[`+call+`]}`, node)
}

var bothAsked = []sent{asking("internal_x", "mX", callX), asking("model", "mV", callV)}

// task is the start of a task.
func task(id, node, input string) sent {
	return sent{"tasks", `{"id":"` + id + `","name":"` + node + `","input":` + input + `,"triggers":[]}`}
}

// workOf are the frames of a graph in a task of the node tools, with a secret each.
func workOf(task string) []sent {
	ns := `"langgraph_checkpoint_ns":"tools:` + task + `|model:9"`
	answer := strings.Replace(wholeX, "m1", "m5", 1)
	return []sent{
		{"values|tools:" + task, `{"messages":[` + answer + `]}`}, {"updates|tools:" + task, `{"model":{"messages":[` + answer + `]}}`},
		{"custom|tools:" + task + "|a:2", `{"a":"secret"}`}, {"messages|tools:" + task, `[` + answer + `,{"langgraph_node":"model",` + ns + `}]`},
		{"messages", `[` + answer + `,{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:` + task + `"}]`},
		{"events", `{"event":"on_chat_model_stream","name":"m","run_id":"r5","parent_ids":[],"data":{"chunk":` + answer + `},"metadata":{"langgraph_node":"model",` + ns + `}}`},
	}
}

// formsOf are the inputs of a task that executes a call.
func formsOf(call string) []string {
	message := `{"type":"ai","id":"m7","content":"","tool_calls":[` + call + `]}`
	return []string{
		call, `[` + call + `]`, `{"__type":"tool_call_with_context","tool_call":` + call + `,"state":{"messages":[` + bothInState + `]}}`,
		`{"messages":[` + userAsks + `,` + message + `]}`, `[` + message + `]`,
		`{"messages":[` + bothInOne + `],"lg_tool_call":` + call + `}`, // of LangGraph.js
	}
}

const bothInState = `{"type":"ai","id":"mX","content":"","tool_calls":[` + callX + `]},{"type":"ai","id":"mV","content":"","tool_calls":[` + callV + `]}`

const bothInOne = `{"type":"ai","id":"m7","content":"","tool_calls":[` + callX + `,` + callV + `]}`

// TestTasksOfCalls runs graphs within a withheld call while another call is open. A task says which call it executes.
func TestTasksOfCalls(t *testing.T) {
	for _, work := range workOf("U8") {
		for i, form := range formsOf(callX) {
			for _, start := range []sent{task("U8", "tools", form), {"debug", `{"type":"task","step":1,"payload":` + task("U8", "tools", form).data + `}`}} {
				checkStaysIn(t, []filter.Settings{client, public}, append(bothAsked[:2:2], start, work)...)
				ended := fromServer(strings.Replace(resultX, "secret", "", 1), "tools")
				checkStaysIn(t, []filter.Settings{client, public}, append(bothAsked[:2:2], start, ended, work)...)
			}
			shown := task("U8", "tools", formsOf(callV)[i])
			if out := leaving(client, append(bothAsked[:2:2], shown, work)...); !strings.Contains(out, "secret") {
				t.Errorf("%v does not leave within a call that was shown, executed as %s", work, shown.data)
			}
		}
	}
}

// TestTaskWithState checks that a task is not known to execute the shown calls of the state that it gets, unless its node executes tools.
func TestTaskWithState(t *testing.T) {
	got, work := formsOf(callV)[3], sent{"values|a:U8", `{"messages":[` + wholeX + `]}`}
	checkStaysIn(t, []filter.Settings{client, public}, bothAsked[0], bothAsked[1], task("U8", "a", got), work)
}

// TestUndecidedGraphs runs graphs while a withheld call and another are open. No frame says which call a task executes.
func TestUndecidedGraphs(t *testing.T) {
	ended := fromServer(strings.Replace(resultX, "secret", "", 1), "tools")
	named := func(agent string) sent {
		return sent{"messages|tools:U8", `[{"type":"ai","id":"m6","content":""},{"langgraph_node":"model","langgraph_checkpoint_ns":"tools:U8|model:9","lc_agent_name":"` + agent + `"}]`}
	}
	chunk := fromServer(`{"type":"AIMessageChunk","id":"mX","content":"","tool_calls":[`+callX+`],"tool_call_chunks":[]}`, "internal_x")
	block := fromServer(`{"type":"ai","id":"mX","content":[{"type":"tool_use","id":"cX","name":"task","input":{}}]}`, "internal_x")
	for _, work := range workOf("U8") {
		for _, stream := range [][]sent{
			{bothAsked[0], bothAsked[1], work}, {bothAsked[1], bothAsked[0], work}, {bothAsked[0], work}, {chunk, work}, {chunk, bothAsked[1], work}, {block, work},
			{bothAsked[0], bothAsked[1], {"values|tools:U8", `{}`}, ended, work}, {bothAsked[0], bothAsked[1], named("expert"), work}, {bothAsked[0], named("expert"), ended, work},
			{bothAsked[0], bothAsked[1], named("other"), work}, {chunk, bothAsked[1], named("writer"), work},
		} {
			checkStaysIn(t, []filter.Settings{client, public}, stream...)
		}
		for _, stream := range [][]sent{
			{bothAsked[0], bothAsked[1], named("writer"), work}, {bothAsked[0], bothAsked[1], {"values|tools:U8", `{}`}, named("writer"), work},
			{bothAsked[1], {"values|tools:U8", `{}`}, bothAsked[0], work}, {bothAsked[0], ended, bothAsked[1], work}, {bothAsked[0], ended, bothAsked[0], bothAsked[1], work},
			{fromServer(`{"type":"ai","id":"mX","content":[{"type":"server_tool_use","id":"cX","name":"w","input":{}}]}`, "internal_x"), bothAsked[1], work},
		} {
			if work.name != "messages" && !strings.Contains(leaving(client, stream...), "secret") {
				t.Errorf("%v does not leave", stream)
			}
		}
	}
	result := fromServer(`{"type":"tool","id":"m8","tool_call_id":"cV","content":"shown"}`, "tools")
	if out := leaving(client, bothAsked[0], bothAsked[1], result); !strings.Contains(out, "shown") {
		t.Errorf("the result of a call that was shown does not leave: %s", out)
	}
}

// TestWorkBesideInternalAgent runs two agents in tools side by side. What the internal one calls can only run in its own tool, so the
// other's work leaves.
func TestWorkBesideInternalAgent(t *testing.T) {
	const internal = `{"langgraph_node":"model","langgraph_checkpoint_ns":"tools:U1|model:9","lc_agent_name":"internal_auditor"}`
	called := `{"type":"ai","id":"mX","content":"","tool_calls":[` + callX + `]}`
	tuple := sent{"messages|tools:U1", `[` + called + `,` + internal + `]`}
	older := []sent{{"messages/metadata", `{"mX":{"metadata":` + internal + `}}`}, {"messages/partial", `[` + called + `]`}}
	for _, asked := range [][]sent{{tuple}, older} {
		for _, work := range workOf("U2") {
			if out := leaving(client, append(asked[:len(asked):len(asked)], work)...); !strings.Contains(out, "secret") {
				t.Errorf("%v does not leave after %v", work, asked)
			}
		}
		checkStaysIn(t, []filter.Settings{client, public}, append(asked[:len(asked):len(asked)], sent{"values|tools:U1|tools:U2", `{"messages":[` + wholeX + `]}`})...)
	}
	labeled := `{"type":"ai","id":"mX","name":"internal:x","content":"","tool_calls":[` + callX + `]}` // only the call's own work is internal
	checkStaysIn(t, []filter.Settings{client, public}, sent{"updates|tools:U1", `{"model":{"messages":[` + labeled + `]}}`}, sent{"values|tools:U1|tools:U2", `{"messages":[` + wholeX + `]}`})
	for _, asked := range [][]sent{
		{tuple, {"values", `{"messages":[` + called + `]}`}},                                    // the run's own graph has the call too
		{{"messages|internal_x:1", strings.ReplaceAll(tuple.data, "tools:U1", "internal_x:1")}}, // the graph around it may execute the call
		{{"messages", `[` + called + `,{"langgraph_node":"internal_x"}]`}},
	} {
		for _, work := range workOf("U2") {
			checkStaysIn(t, []filter.Settings{client, public}, append(asked[:len(asked):len(asked)], work)...)
		}
	}
}

// decodeFrame decodes a frame.
func decodeFrame(d dialect.Decoder, one sent) *event.Batch {
	b, s := new(event.Batch), new(event.Stream)
	b.Begin(s, frameOf(one.name, one.data).Frame, time.Time{})
	b.Parse(200)
	d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
	return b
}

// TestTaskOfCall links the graph of a task with the only call that the task executes.
func TestTaskOfCall(t *testing.T) {
	other := asking("model", "mX", callX)
	for _, form := range formsOf(callV) {
		d := (Dialect{}).New(&event.Stream{}).(*decoder)
		for _, one := range []sent{{"metadata", started}, other, bothAsked[1], task("U8", "tools", form)} {
			decodeFrame(d, one)
		}
		if sc := d.scopeOf([]byte("tools:U8")); sc.call != "cV" {
			t.Errorf("a graph in a task with the input %s works in the call %q", form, sc.call)
		}
	}
	d := (Dialect{}).New(&event.Stream{}).(*decoder)
	decodeFrame(d, bothAsked[1])
	if decodeFrame(d, task("U8", "model.after_model", formsOf(callV)[3])); len(d.taskCall) > 0 {
		t.Errorf("a hook executes the call of the message that it gets")
	}
}

// TestRunsWithinTools sends what runs within the tool of a withheld call, and of one that may be.
func TestRunsWithinTools(t *testing.T) {
	tool := func(kind, data string) sent {
		return ofEvents(kind, "task", data, `,"run_id":"T","parent_ids":["root"]`)
	}
	answer := sent{"events", `{"event":"on_chat_model_stream","name":"m","data":{"chunk":` + wholeX + `},"metadata":{},"run_id":"r5","parent_ids":["root","T"]}`}
	for _, start := range []sent{
		tool("on_tool_start", `{"input":{}}`), tool("on_tool_start", `{"input":{"tool_call_id":"cX"}}`), tool("on_tool_start", `{"input":{},"tool_call_id":"cX"}`),
		tool("on_tool_start", `{"input":{"tool_call_id":"cV"}}`),
	} {
		checkStaysIn(t, []filter.Settings{client, public}, append(bothAsked[:2:2], start, answer)...)
	}
	if out := leaving(client, bothAsked[0], bothAsked[1], tool("on_tool_start", `{"input":{},"tool_call_id":"cV"}`), fromServer(strings.Replace(resultX, "secret", "", 1), "tools"), answer); !strings.Contains(out, "secret") {
		t.Errorf("what runs within a call that was shown does not leave: %s", out)
	}
}

// TestRunsWithinRuns sends events of runs within internal ones that say so once only, on the same stream or another.
func TestRunsWithinRuns(t *testing.T) {
	const id = "77777777-2222-2222-2222-22222222222"
	run := func(kind, name, own, parents, data, metadata string) sent {
		return sent{"events", `{"event":"` + kind + `","name":"` + name + `","run_id":"` + id + own + `","parent_ids":[` + parents + `],"data":` + data + `,"metadata":{` + metadata + `}}`}
	}
	secret := `{"output":"secret"}`
	for _, first := range []sent{
		run("on_chain_start", "internal_x", "2", "", `{}`, ""), run("on_chain_start", "a", "2", "", `{}`, `"langgraph_node":"internal_x"`),
		run("on_chain_start", "a", "2", "", `{}`, `"checkpoint_ns":"a:1|internal_x:2"`),
	} {
		child := run("on_chain_start", "b", "5", `"`+id+`2"`, `{}`, "")
		for _, then := range []sent{
			run("on_chain_end", "b", "5", "", secret, ""), run("on_chain_end", "c", "6", `"`+id+`5"`, secret, ""), run("on_chain_end", "a", "2", "", secret, ""),
		} {
			checkStaysIn(t, []filter.Settings{client, public}, first, child, then)
			memory := new(event.Withheld)
			leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, sent{"metadata", begin}, first, child)
			if out := leavingOf(client, &event.Stream{Identity: inThread(threadID, joinedID), Withheld: memory}, then); strings.Contains(out, "secret") {
				t.Errorf("after %v on another stream this leaves: %s", first, out)
			}
		}
	}
	for _, harmless := range []sent{
		run("on_chat_model_start", "m", "2", "", `{"input":{"messages":[[{"type":"system","id":"s","content":"x"}]]}}`, ""), run("on_custom_event", "internal_x", "2", "", `{}`, ""),
	} {
		if out := leaving(client, harmless, run("on_chain_end", "a", "2", "", secret, "")); !strings.Contains(out, "secret") {
			t.Errorf("after %v the run's other events do not leave", harmless)
		}
	}
}

// TestCallsOfOtherStreams works within a call that another stream of the thread withheld, and asks about it.
func TestCallsOfOtherStreams(t *testing.T) {
	const thread, run = "thread", "run" // no UUIDs
	named := sent{"messages|tools:U8", `[{"type":"ai","id":"m6","content":"secret"},{"langgraph_node":"model","langgraph_checkpoint_ns":"tools:U8|model:9","lc_agent_name":"expert"}]`}
	about := sent{"updates", `{"__interrupt__":[{"id":"i1","value":{"action_requests":[{"name":"task","args":{"q":"secret"}}]}}]}`}
	elsewhere := sent{"updates|experts:U8", `{"model":{"messages":[` + wholeX + `]}}`}
	ended := fromServer(strings.Replace(resultX, "secret", "", 1), "tools")
	resumed := event.Identity{Session: thread, Answers: []string{resumes}}
	piece := fromServer(`{"type":"AIMessageChunk","id":"mX","content":"","tool_call_chunks":[{"name":"task","args":"","id":"cX","index":0}]}`, "internal_x")
	for _, work := range append(workOf("U8"), named, about, elsewhere, sent{"updates|tools:U8", `{"__interrupt__":[{"value":"secret"}]}`}) {
		for _, later := range []event.Identity{inThread(thread, run), {Session: thread, JoinedSession: thread}, resumed} {
			try := func(first, then []sent) string {
				memory := new(event.Withheld)
				leavingOf(client, &event.Stream{Identity: inThread(thread, ""), Withheld: memory}, append([]sent{{"metadata", `{"run_id":"run","attempt":1}`}}, first...)...)
				leavingOf(client, &event.Stream{Identity: later, Withheld: memory}) // nothing ends a call but its result
				return leavingOf(client, &event.Stream{Identity: later, Withheld: memory}, then...)
			}
			for _, first := range [][]sent{{bothAsked[0]}, {piece}, {ended, bothAsked[0]}} {
				for _, then := range [][]sent{{work}, {{"metadata", nextRun}, work}, {bothAsked[1], work}} {
					if out := try(first, then); strings.Contains(out, "secret") {
						t.Errorf("after %v on another stream this leaves of %v: %s", first, then, out)
					}
				}
			}
			if work == about { // the tool of a call that has ended stays in doubt
				continue
			}
			var begun []sent
			if work == workOf("U8")[4] { // on a stream that joins a run, the tool may be of a call that no stream has shown
				begun = []sent{{"metadata", begin}}
			}
			for _, harmless := range [][2][]sent{{{bothAsked[0], ended}, append(begun, work)}, {{bothAsked[0]}, append(begun, ended, work)}, {{bothAsked[1]}, append(begun, work)}} {
				if out := try(harmless[0], harmless[1]); !strings.Contains(out, "secret") {
					t.Errorf("after %v on another stream this does not leave: %v", harmless[0], harmless[1])
				}
			}
		}
		memory := new(event.Withheld)
		leavingOf(client, &event.Stream{Identity: inThread(thread, ""), Withheld: memory}, bothAsked[0])
		if out := leavingOf(client, &event.Stream{Identity: inThread(thread, ""), Withheld: memory}, sent{"metadata", nextRun}, work); !strings.Contains(out, "secret") {
			t.Errorf("in a run with new input this does not leave: %v", work)
		}
	}
}

// TestManyCalls withholds more calls of a thread at once than are remembered: then any graph may work within one of them.
func TestManyCalls(t *testing.T) {
	var asked, ended []sent
	for i := range event.MaxWithheldCalls + 1 {
		id := fmt.Sprint("c", i)
		asked = append(asked, asking("internal_x", "m"+id, strings.Replace(callX, "cX", id, 1)))
		ended = append(ended, fromServer(strings.Replace(strings.Replace(resultX, "cX", id, 1), "secret", "", 1), "tools"))
	}
	memory := new(event.Withheld)
	leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, append(asked, ended...)...)
	if out := leavingOf(client, &event.Stream{Identity: inThread(threadID, joinedID), Withheld: memory}, workOf("U8")[1]); strings.Contains(out, "secret") {
		t.Errorf("this leaves: %s", out)
	}
}

package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// inTask is a message of a task of the node that executes tools.
func inTask(task, message string) sent {
	return sent{"messages", `[` + message + `,{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:` + task + `"}]`}
}

// ofTools is an update of the node that executes tools.
func ofTools(update string) sent { return sent{"updates", `{"tools":` + update + `}`} }

// stateOf is a state with the calls and more messages, and with more members.
func stateOf(more, members string) sent {
	return sent{"values", `{"messages":[` + userAsks + `,` + askedX + more + `]` + members + `}`}
}

// TestWritingsOfInternalTools has internal and other tools return Commands: messages in each form, other members of the state, and lists. The
// result was shown in a frame before, or was not. In a state, messages have IDs.
func TestWritingsOfInternalTools(t *testing.T) {
	const (
		first      = `{"messages":[` + userAsks + `]}`
		dict       = `{"role":"assistant","content":"secret"}`
		tuple      = `["assistant","secret"]`
		calls      = `{"role":"assistant","content":"","additional_kwargs":{"note":"secret"}}`
		saved      = `{"type":"ai","data":{"content":"secret"}}`
		user       = `{"type":"human","id":"h9","content":"secret"}`
		state      = `,"history":[{"type":"ai","id":"w8","content":"secret"},{"role":"assistant","content":"secret"}]`
		single     = `,"last":{"type":"ai","id":null,"content":"secret"}`
		shownD     = `{"role":"assistant","content":"shown too"}`
		byModel    = `{"type":"ai","id":"lc_run--9","content":"secret"}`
		madeByNode = `{"type":"ai","id":"m7","content":"shown","tool_calls":[{"name":"internal_read","args":{},"id":"cX","type":"tool_call"}]}`
	)
	unnamedX, unnamedV := strings.Replace(readX, `"name":"internal_read",`, "", 1), strings.Replace(lookedX, `"name":"look",`, "", 1)
	messages := func(list ...string) string { return `{"messages":[` + strings.Join(list, ",") + `]}` }
	list := func(updates ...string) sent { return ofTools(`[` + strings.Join(updates, ",") + `]`) }
	for _, c := range []struct {
		stream []sent
		shown  int // how often "shown" leaves under client
	}{
		{[]sent{ofTools(messages(readX, dict)), stateOf(`,`+readX+`,`+writtenX, "")}, 0},
		{[]sent{ofTools(messages(readX, tuple)), stateOf(`,`+readX+`,`+writtenX, "")}, 0},
		{[]sent{ofTools(messages(calls, readX)), stateOf(`,`+strings.Replace(calls, `"role":"assistant"`, `"type":"ai","id":"w7"`, 1)+`,`+readX, "")}, 0},
		{[]sent{ofTools(messages(readX, saved, user)), stateOf(`,`+readX+`,`+writtenX+`,`+user, "")}, 0},
		{[]sent{ofTools(messages(dict, readX)), ofTools(messages(lookedX, shownD)), stateOf(`,`+writtenX+`,`+readX+`,`+lookedX, "")}, 3},
		{[]sent{stateOf(`,`+readX+`,`+writtenX+`,`+user+`,`+lookedX, "")}, 1},
		{[]sent{ofTools(`{"messages":[` + readX + `]` + state + `}`), stateOf(`,`+readX, state)}, 0},
		{[]sent{ofTools(`{"messages":[` + readX + `]` + single + `}`), ofTools(`{"messages":[` + lookedX + `],"last":` + shownD + `}`)}, 2},
		{[]sent{stateOf(`,`+readX, state)}, 0},
		{[]sent{list(messages(unnamedX), messages(writtenX)), list(messages(unnamedV), messages(shownD)), stateOf(`,`+unnamedX+`,`+writtenX+`,`+unnamedV, "")}, 3},
		{[]sent{list(messages(lookedX), `{"last":`+shownD+`}`), list(messages(dict), messages(readX), `{"last":`+dict+`}`, messages(lookedX), messages(shownD))}, 4},
		{[]sent{list(messages(dict), messages(readX))}, 0},
		{[]sent{list(messages(lookedX, shownD), messages(readX), `{"history":[`+byModel+`]}`)}, 2},
		{[]sent{ofTools(`[` + readX + `,` + byModel + `]`)}, 0},
		{[]sent{ofTools(`{"history":[` + dict + `]}`)}, 0}, // of an open call
		{[]sent{{"updates", `{"act":[` + messages(readX) + `,` + messages(dict) + `]}`}, {"updates", `{"act":` + messages(lookedX, shownD) + `}`}}, 2},
		{[]sent{{"updates", `{"flow":` + messages(userAsks, askedX, readX, dict, lookedX, shownD) + `}`}}, 2},
		{[]sent{{"updates", `{"flow":` + messages(askedX, dict, readX, strings.Replace(byModel, "secret", "shown", 1), shownD) + `}`}}, 2},
		{[]sent{{"updates", `{"flow":` + messages(strings.Replace(strings.Replace(askedX, "lc_run--1", "m7", 1), `"content":""`, `"content":"shown"`, 1), readX) + `}`}}, 1},
		{[]sent{ofTools(messages(readX, tuple)), {"updates", `{"flow":` + messages(tuple, shownD) + `}`}}, 1},
		{[]sent{{"updates", `{"flow":` + messages(madeByNode, readX) + `}`}}, 1},
		{[]sent{inTask("U1", writtenX), inTask("U1", readX), ofTools(messages(dict, readX)), inTask("U2", lookedX), inTask("U2", strings.Replace(user, "secret", "shown", 1))}, 2},
	} {
		for _, before := range [][]sent{{{"values", first}, fromServer(askedX, "model")}, {{"values", first}, fromServer(askedX, "model"), inTask("U1", readX)}, {{"values", first}, stateOf("", "")}} {
			if c.stream[0].data == `{"tools":{"history":[`+dict+`]}}` && len(before) == 3 {
				continue
			}
			for _, reader := range []filter.Settings{client, public} {
				checkStaysIn(t, []filter.Settings{reader}, append(before, c.stream...)...)
				if out := leaving(reader, append(before, c.stream...)...); reader.Policy == event.PolicyClient && strings.Count(out, "shown") != c.shown {
					t.Errorf("of %v this leaves, not %d public texts:\n%s", c.stream, c.shown, out)
				}
			}
		}
	}
}

// TestJoinedTools joins a run while an internal tool works. The stream begins with what the tool returns.
func TestJoinedTools(t *testing.T) {
	unnamed := func(result string) string {
		return strings.ReplaceAll(strings.ReplaceAll(result, `"name":"internal_read",`, ""), `"name":"look",`, "")
	}
	subagent := `{"type":"tool","id":"t5","tool_call_id":"c5","name":"task","content":"secret","status":"success"}`
	answer := fromServer(askedX, "model")
	looks := fromServer(`{"type":"ai","id":"lc_run--5","content":"","tool_calls":[{"name":"look","args":{},"id":"cV","type":"tool_call"}]}`, "model")
	for _, c := range []struct {
		stream []sent
		shown  int
	}{
		{[]sent{ofTools(`{"messages":[` + readX + `,` + writtenX + `]}`), ofTools(`{"messages":[` + lookedX + `]}`)}, 1},
		{[]sent{ofTools(`[{"messages":[` + unnamed(readX) + `]},{"messages":[` + writtenX + `]}]`)}, 0},
		{[]sent{ofTools(`{"messages":[` + strings.Replace(unnamed(readX), `"content":""`, `"content":"secret"`, 1) + `]}`)}, 0},
		{[]sent{inTask("U1", strings.Replace(unnamed(readX), `"content":""`, `"content":"secret"`, 1))}, 0},
		{[]sent{ofTools(`{"messages":[` + subagent + `]}`), answer, ofTools(`{"messages":[` + unnamed(lookedX) + `]}`)}, 1},
		{[]sent{inTask("U1", readX), inTask("U1", writtenX), inTask("U2", lookedX)}, 1},
		{[]sent{inTask("U1", writtenX), inTask("U1", readX), looks, inTask("U2", lookedX), inTask("U2", `{"type":"ai","id":"w2","content":"shown"}`)}, 2},
		{[]sent{stateOf(`,`+readX+`,`+writtenX+`,`+lookedX, "")}, 1},
		{[]sent{stateOf(`,`+unnamed(readX)+`,`+writtenX+`,`+unnamed(lookedX), `,"history":[`+writtenX+`]`), stateOf(`,`+readX+`,`+writtenX+`,`+lookedX, "")}, 2},
	} {
		for _, joins := range []event.Identity{inThread(threadID, joinedID), {Session: threadID, JoinedSession: threadID}, {}} {
			for _, reader := range []filter.Settings{client, public} {
				out := leavingOf(reader, &event.Stream{Identity: joins}, c.stream...)
				if strings.Contains(out, "secret") || reader.Policy == event.PolicyClient && strings.Count(out, "shown") != c.shown {
					t.Errorf("%s: of %v this leaves, not %d public texts:\n%s", reader.Policy, c.stream, c.shown, out)
				}
			}
		}
	}
}

// TestErrorOfReturn ends the run with an error that quotes what an internal tool returns. In events, the tool has ended, but not its node.
func TestErrorOfReturn(t *testing.T) {
	tool := func(kind, name, data string) sent {
		return sent{"events", `{"event":"on_` + kind + `","name":"` + name + `","run_id":"` + name + `","parent_ids":["root","tools"],"data":` + data + `,"metadata":{}}`}
	}
	failed := sent{"error", `{"error":"ValueError","message":"got: secret"}`}
	ended := []sent{tool("tool_start", "internal_read", `{}`), tool("tool_end", "internal_read", `{"output":"secret"}`)}
	checkStaysIn(t, []filter.Settings{client, public}, append(ended, failed)...)
	for _, stream := range [][]sent{{tool("tool_start", "look", `{}`), tool("tool_end", "look", `{}`), failed}, append(ended, tool("chain_end", "tools", `{}`), failed)} {
		if out := leaving(client, stream...); !strings.Contains(out, "got: secret") {
			t.Errorf("of %v this leaves:\n%s", stream, out)
		}
	}
}

// TestTextsOfReturn has an internal agent and another one return control to their supervisor with the same texts.
func TestTextsOfReturn(t *testing.T) {
	back := func(agent string) string {
		const flag = `"response_metadata":{"__is_handoff_back":true}`
		return `{"messages":[{"type":"ai","id":null,"content":"Back to boss","name":"` + agent + `",` + flag + `},{"type":"tool","id":null,"tool_call_id":"c` + agent + `","content":"Back at boss","name":"transfer_back_to_boss",` + flag + `}]}`
	}
	internal := sent{"updates", `{"internal_x":` + back("x") + `}`}
	if out := leaving(client, internal, sent{"updates", `{"math":` + back("math") + `}`}); strings.Count(out, "Back") != 2 {
		t.Errorf("this leaves:\n%s", out)
	}
	if out := leaving(client, internal, sent{"values", strings.Replace(back("x"), "null", `"w1"`, 1)}); strings.Contains(out, "Back") {
		t.Errorf("of the internal agent this leaves:\n%s", out)
	}
}

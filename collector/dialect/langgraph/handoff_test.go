package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const handoffCall = `{"model":{"messages":[{"type":"ai","id":"lc_run--1","content":"","name":"boss","tool_calls":[{"name":"go","id":"c1","args":{}}]}]}}`

// handoffResult is an update of the node boss with a result of the call, and more members.
func handoffResult(content, metadata, more string) string {
	return frame("updates", `{"boss":{"messages":[{"type":"tool","tool_call_id":"c1","content":"`+content+`","response_metadata":{`+metadata+`}}]`+more+`}}`)
}

func TestHandoff(t *testing.T) {
	begun := frame("updates|boss:t1", handoffCall)
	called := []string{`2 updates|boss:t1 agent="boss" branch="boss:t1" may be root`, "model_ended", `tool_started name="go" call="c1" {}`}
	for _, c := range []struct {
		name   string
		frames []string
		want   []string
	}{
		{"a supervisor's metadata", []string{handoffResult("anything", `"__handoff_destination":"expert"`, "")}, []string{`transfer name="expert" call="c1"`}},
		{"a swarm's text and state", []string{handoffResult("Successfully transferred to expert", "", `,"active_agent":"expert"`)}, []string{`transfer name="expert" call="c1"`}},
		{"a swarm's text alone", []string{handoffResult("Successfully transferred to expert", "", "")}, nil},
		{"a swarm's state alone", []string{handoffResult("Hi", "", `,"active_agent":"expert"`)}, nil},
		{"a result without a text", []string{handoffResult("", "", `,"active_agent":"expert"`)}, []string{`transfer name="expert" call="c1"`}}, // of a public stream
		{"a tool without a text", []string{frame("updates", `{"boss":{"messages":[{"type":"tool","tool_call_id":"c1","content":"","additional_kwargs":{}}],"active_agent":"expert"}}`)}, nil},
		{"another agent in the state", []string{handoffResult("Successfully transferred to expert", "", `,"active_agent":"boss"`)}, nil},
		{"to itself", []string{handoffResult("Successfully transferred to boss", "", `,"active_agent":"boss"`)}, nil},
		{"a tool that failed", []string{frame("updates", `{"boss":{"messages":[{"type":"tool","status":"error","tool_call_id":"c1","content":"","response_metadata":{"__handoff_destination":"expert"}}]}}`)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := facts(&event.Stream{}, append([]string{begun}, c.frames...)...)
			if len(lines) < len(called)+2 {
				t.Fatal(lines)
			}
			if diff := cmp.Diff(c.want, lines[len(called)+2:], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("after the result (-want +got):\n%s\nof %q", diff, lines)
			}
		})
	}
}

// TestHandoffBack checks that the messages with which a supervisor's node gives control back are a transfer, and neither a call nor a
// text.
func TestHandoffBack(t *testing.T) {
	back := func(name string) string {
		return frame("updates", `{"expert":{"messages":[`+
			`{"type":"ai","id":"u1","name":"expert","content":"Transferring back to `+name+`","tool_calls":[{"name":"transfer_back_to_`+name+`","id":"c2","args":{}}],"response_metadata":{"__is_handoff_back":true}},`+
			`{"type":"tool","name":"transfer_back_to_`+name+`","tool_call_id":"c2","content":"Successfully transferred back to `+name+`","response_metadata":{"__is_handoff_back":true}}]}}`)
	}
	spoken := frame("updates|expert:t2", `{"model":{"messages":[{"type":"ai","id":"lc_run--2","content":"Hi","name":"expert"}]}}`)
	for name, want := range map[string]string{"boss": `transfer name="boss" call="c2"`, "nobody": "agent_ended"} {
		stream := []string{frame("updates|boss:t1", handoffCall), handoffResult("", `"__handoff_destination":"expert"`, ""), spoken, back(name), back(name)}
		lines := facts(&event.Stream{}, stream...)
		at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "5 ") })
		if at < 0 || at+1 >= len(lines) || lines[at+1] != want || strings.Contains(strings.Join(lines[at:], " "), "tool_") {
			t.Errorf("back to %s: want %s in %q", name, want, lines)
		}
		isOther := func(line string) bool { return !strings.HasPrefix(line, "t") } // neither a tool, a transfer nor a text
		shown := facts(&event.Stream{}, dialecttest.Filtered(Dialect{}, strings.Join(stream, ""), through(event.PolicyPublic)))
		if diff := cmp.Diff(slices.DeleteFunc(lines, isOther), slices.DeleteFunc(shown, isOther)); diff != "" {
			t.Errorf("back to %s: the public stream states something else (-want +got):\n%s", name, diff)
		}
	}
}

// TestPublicSwarm checks that the public reads the transfers of a swarm, and of its state nothing else.
func TestPublicSwarm(t *testing.T) {
	result := func(id, content string) string {
		return `{"type":"tool","id":"t` + id + `","name":"go","tool_call_id":"c` + id + `","content":"` + content + `","additional_kwargs":{}}`
	}
	called := `{"type":"ai","id":"lc_run--1","content":"","name":"boss","tool_calls":[{"name":"f","id":"c0","args":{}},{"name":"go","id":"c1","args":{}}]}`
	begun := sent{"updates|boss:t1", `{"model":{"messages":[` + called + `]}}`}
	first, moved := sent{"values", `{"messages":[]}`}, called+`,`+result("0", "")+`,`+result("1", "Successfully transferred to expert")
	for name, stream := range map[string][]sent{
		"updates":            {begun, {"updates", `{"boss":{"messages":[` + moved + `],"active_agent":"expert"}}`}},
		"a list of updates":  {begun, {"updates", `{"boss":[{"messages":[` + moved + `],"active_agent":"expert"}]}`}},
		"values":             {first, begun, {"values", `{"messages":[` + moved + `],"active_agent":"expert"}`}},
		"values after those": {begun, {"updates", `{"boss":{"messages":[` + moved + `],"active_agent":"expert"}}`}, {"values", `{"messages":[` + moved + `],"active_agent":"expert"}`}},
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			var all string
			for _, one := range stream {
				all += frame(one.name, one.data)
			}
			got := slices.DeleteFunc(facts(nil, dialecttest.Filtered(Dialect{}, all, through(policy))), func(line string) bool { return !strings.HasPrefix(line, "transfer") })
			if diff := cmp.Diff([]string{`transfer name="expert" call="c1"`}, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, policy, diff)
			}
		}
	}
	for _, stream := range [][]sent{
		{begun, {"updates", `{"boss":{"messages":[` + called + `,` + result("1", "Hi") + `],"active_agent":"secret"}}`}},
		{begun, {"updates", `{"boss":{"messages":[` + moved + `],"active_agent":"secret"}}`}},
		{{"values", `{"messages":[],"active_agent":"secret"}`}, {"values", `{"messages":[` + moved + `],"active_agent":"secret"}`}},
	} {
		checkStaysIn(t, []filter.Settings{public}, stream...)
	}
}

// TestUnansweredHandoff checks that the turn of an agent may end with a call that hands control over: in messages, nothing answers it.
func TestUnansweredHandoff(t *testing.T) {
	for tool, want := range map[string]bool{"transfer_to_expert": true, "weather": false} {
		call := `{"model":{"messages":[{"type":"ai","id":"lc_run--1","content":"","name":"boss","tool_calls":[{"name":"` + tool + `","id":"c1","args":{}}]}]}}`
		lines := facts(&event.Stream{}, frame("updates|boss:t1", call))
		started := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "tool_started") })
		if started < 0 || strings.Contains(lines[started], " settled") != want {
			t.Errorf("a call of %s: %q", tool, lines)
		}
	}
}

// TestLateHandoffBack checks that a return of control to an agent that is not known yet is no transfer once a later state repeats it.
func TestLateHandoffBack(t *testing.T) {
	back := `{"type":"ai","id":"u1","name":"expert","content":"","tool_calls":[{"name":"transfer_back_to_boss","id":"c2","args":{}}],"response_metadata":{"__is_handoff_back":true}},` +
		`{"type":"tool","name":"transfer_back_to_boss","tool_call_id":"c2","content":"","response_metadata":{"__is_handoff_back":true}}`
	lines := facts(&event.Stream{},
		frame("updates|expert:t1", `{"model":{"messages":[{"type":"ai","id":"lc_run--1","content":"Four","name":"expert"}]}}`),
		frame("updates", `{"expert":{"messages":[`+back+`]}}`),
		frame("updates|boss:t2", `{"model":{"messages":[{"type":"ai","id":"lc_run--2","content":"Done","name":"boss"}]}}`),
		frame("updates", `{"boss":{"messages":[`+back+`]}}`))
	if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "transfer") }) {
		t.Errorf("a transfer: %q", lines)
	}
}

// TestReturnOfUnknownAgent checks that an agent whose graph has no name is not the run's own agent because it returns control.
func TestReturnOfUnknownAgent(t *testing.T) {
	var frames []string
	for i, m := range strings.Split(strings.ReplaceAll(returnsTo("expert", "boss", 1), `,{"type"`, "\n"+`{"type"`), "\n") {
		if i == 0 {
			frames = append(frames, frame("messages", `[{"type":"AIMessageChunk","id":"lc_run--1","content":"Four","chunk_position":"last"},{"langgraph_checkpoint_ns":"expert:1|agent:2"}]`))
		}
		frames = append(frames, frame("messages", `[`+m+`,{"langgraph_checkpoint_ns":"expert:1"}]`))
	}
	for _, line := range facts(nil, frames...) {
		if strings.Contains(line, `agent="expert"`) {
			t.Errorf("%s", line)
		}
	}
}

// TestParallelHandoffs checks two calls that hand control over at the same time. Only one of them is a transfer: the one to the agent that starts.
func TestParallelHandoffs(t *testing.T) {
	call := func(to string) string {
		return `{"name":"transfer_to_` + to + `","id":"` + to + `1","args":{}}`
	}
	result := func(to string) string {
		return `{"type":"tool","tool_call_id":"` + to + `1","content":"Successfully transferred to ` + to + `","response_metadata":{"__handoff_destination":"` + to + `"}}`
	}
	ends := func(to string) string {
		return frame("events", `{"event":"on_tool_end","name":"transfer_to_`+to+`","metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"boss:1|tools:`+to+`"},`+
			`"data":{"output":{"graph":"__parent__","update":null,"goto":[{"node":"`+to+`","args":{"messages":[`+result(to)+`]}}]}}}`)
	}
	starts := func(to string) string { return node("start", to, "r1", "2", "") }
	both := frame("updates|boss:1", `{"model":{"messages":[{"type":"ai","id":"lc_run--1","content":"","name":"boss","tool_calls":[`+call("a")+`,`+call("b")+`]}]}}`)
	one := frame("updates|boss:1", `{"model":{"messages":[{"type":"ai","id":"lc_run--1","content":"","name":"boss","tool_calls":[`+call("a")+`]}]}}`)
	for name, c := range map[string]struct {
		frames []string
		want   []string
	}{
		"the first agent starts":      {[]string{both, ends("a"), ends("b"), starts("a")}, []string{`transfer name="a" call="a1"`}},
		"the second agent starts":     {[]string{both, ends("a"), ends("b"), starts("b")}, []string{`transfer name="b" call="b1"`}},
		"both agents start":           {[]string{both, ends("a"), ends("b"), starts("b"), starts("a"), starts("a")}, []string{`transfer name="b" call="b1"`, `transfer name="a" call="a1"`}},
		"no agent starts":             {[]string{both, ends("a"), ends("b")}, nil},
		"a single call":               {[]string{one, ends("a"), starts("a")}, []string{`transfer name="a" call="a1"`}},
		"the task of an agent":        {[]string{both, startOf("", "2", "b", `{"messages":[`+result("b")+`]}`, "")}, []string{`transfer name="b" call="b1"`}},
		"the task of another call":    {[]string{both, startOf("boss:1", "2", "tools", `{"state":{"messages":[]}}`, "")}, nil},
		"the first state of an agent": {[]string{both, frame("values|b:2", `{"messages":[`+result("b")+`]}`)}, []string{`transfer name="b" call="b1"`}},
	} {
		lines := facts(&event.Stream{}, c.frames...)
		lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "transfer") })
		if diff := cmp.Diff(c.want, lines, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCommandWithoutResult has a tool return a command to the graph above with an answer and without a result.
func TestCommandWithoutResult(t *testing.T) {
	const answer = `{"type":"ai","id":"x1","name":"boss","content":"Hi"}`
	within := func(task, update string) string { return frame("updates|boss:"+task, update) }
	update := func(message string) string { return frame("updates", `{"boss":{"messages":[`+message+`]}}`) }
	checkpoint := func(next, messages string) string {
		return frame("checkpoints", `{"config":{"configurable":{"thread_id":"t"}},"values":{"messages":[`+messages+`]},"next":[`+next+`]}`)
	}
	state := func(messages string) string { return frame("values", `{"messages":[`+messages+`]}`) }
	const to = `{"type":"tool","tool_call_id":"c0","id":"r0","content":"","response_metadata":{"__handoff_destination":"boss"}}`
	onTool := func(graph string) string {
		return frame("events", `{"event":"on_tool_end","name":"go","data":{"output":{"graph":`+graph+`,"update":{"messages":[`+answer+`]}}},"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"boss:t1|tools:2"}}`)
	}
	begun, nameless := within("t1", handoffCall), within("t1", strings.Replace(handoffCall, `"name":"boss",`, "", 1))
	second := within("t2", strings.NewReplacer("c1", "c2", "run--1", "run--2").Replace(handoffCall))
	returned := update(`{"type":"tool","tool_call_id":"c2","id":"r2","content":""}`)
	const own = `agent="boss" branch="boss:t1"`
	for _, c := range []struct {
		name   string
		frames []string
		ends   bool
		by     string
	}{
		{"an update", []string{begun, update(answer)}, true, own},
		{"an update of an agent without a name", []string{nameless, update(answer)}, true, `step="boss" branch="boss:t1"`},
		{"a task", []string{begun, frame("tasks", `{"id":"t1","name":"boss","result":{"messages":[`+answer+`]},"interrupts":[]}`)}, true, own},
		{"a checkpoint", []string{checkpoint(`"boss"`, ""), begun, checkpoint("", answer)}, true, own},
		{"a state after a transfer", []string{state(""), state(to), begun, state(answer)}, true, own},
		{"an event", []string{begun, onTool(`"__parent__"`)}, true, own},
		{"a node that has returned before", []string{second, returned, begun, update(answer)}, true, own},
		{"a command to the same graph", []string{begun, onTool("null")}, false, own},
		{"two tasks", []string{begun, second, update(answer)}, false, `agent="boss" branch="boss"`},
		{"two calls", []string{within("t1", strings.Replace(handoffCall, `{"name":"go"`, `{"name":"go","id":"c3"},{"name":"go"`, 1)), update(answer)}, false, own},
		{"two calls, one of which forwards a message", []string{within("t1", strings.Replace(handoffCall, `{"name":"go"`, `{"name":"f","id":"c3"},{"name":"forward_message"`, 1)), update(answer)}, true, own},
		{"an answer in the graph itself", []string{begun, within("t1", `{"limit.before_model":{"messages":[`+answer+`]}}`)}, false, own},
		{"an answer of a model", []string{begun, update(strings.Replace(answer, "x1", "lc_run--9", 1))}, false, own},
		{"another agent", []string{begun, update(strings.Replace(answer, "boss", "other", 1))}, false, `agent="other" branch="boss"`},
		{"another attempt", []string{begun, frame("metadata", strings.Replace(started, `"attempt":1`, `"attempt":2`, 1)), update(answer)}, false, own},
	} {
		lines := facts(nil, c.frames...)
		isEnd := func(line string) bool {
			return strings.HasPrefix(line, "tool_ended") && strings.Contains(line, `call="c1" settled`)
		}
		if ends := slices.ContainsFunc(lines, isEnd); ends != c.ends {
			t.Errorf("%s: the call ends %t, want %t: %q", c.name, ends, c.ends, lines)
		}
		at := slices.Index(lines, `text "Hi"`)
		for at > 0 && !strings.Contains(lines[at], "branch=") {
			at--
		}
		if at < 0 || !strings.Contains(lines[at]+" ", " "+c.by+" ") {
			t.Errorf("%s: the answer is not of %s: %q", c.name, c.by, lines)
		}
	}
}

// TestEndAfterTransfer checks that an agent whose transfer its own graph has shown does not end again with its node.
func TestEndAfterTransfer(t *testing.T) {
	const back = `"response_metadata":{"__is_handoff_back":true}`
	begun := frame("debug|a:t1", `{"type":"task_result","payload":{"id":"x","name":"model","result":{"messages":[`+by("a", "lc_run--1", "Hi")+`]},"interrupts":[]}}`)
	shown := frame("debug|a:t1", `{"type":"checkpoint","payload":{"values":{"messages":[{"type":"ai","id":"b1","name":"a","content":"",`+back+`},{"type":"tool","id":"b2","name":"transfer_back_to_boss","tool_call_id":"c9","content":"",`+back+`}]}}}`)
	first := frame("debug|a:t1", `{"type":"checkpoint","payload":{"values":{}}}`)
	ended := frame("debug", `{"type":"task_result","payload":{"id":"t1","name":"a","result":{},"interrupts":[]}}`)
	boss := frame("debug|boss:t0", `{"type":"task_result","payload":{"id":"y","name":"model","result":{"messages":[`+by("boss", "lc_run--0", "Go")+`]},"interrupts":[]}}`)
	for name, c := range map[string]struct {
		frames []string
		want   []string
	}{
		"a transfer":    {[]string{boss, first, begun, shown, ended}, []string{`transfer name="boss" call="c9"`}},
		"no transfer":   {[]string{boss, first, begun, ended}, []string{"agent_ended"}},
		"a second task": {[]string{boss, first, begun, shown, ended, strings.NewReplacer("a:t1", "a:t2", "run--1", "run--2").Replace(begun), strings.Replace(ended, "t1", "t2", 1)}, []string{`transfer name="boss" call="c9"`, "agent_ended"}},
	} {
		if diff := cmp.Diff(c.want, lastFacts(c.frames, "transfer", "agent_ended")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

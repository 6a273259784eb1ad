package langgraph

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestParallelAgents has one agent work twice, at the same time or one after the other.
func TestParallelAgents(t *testing.T) {
	within := func(n string) string {
		return frame("updates|w:"+n, `{"model":{"messages":[`+by("w", "run-"+n, "x")+`]}}`)
	}
	task := func(n, more string) string {
		return frame("tasks", `{"id":"`+n+`","name":"w",`+more+`,"interrupts":[]}`)
	}
	returns, attempt := frame("updates", `{"w":{"r":1}}`), frame("metadata", `{"run_id":`+runID+`,"attempt":2}`)
	starts, ends := `"input":{},"triggers":[]`, `"result":{"r":1}`
	metadata := func(n string) string {
		return `{"langgraph_step":1,"langgraph_checkpoint_ns":"w:` + n + `|model:` + n + `","lc_agent_name":"w"}`
	}
	piece := func(n, more string) string {
		return frame("messages|w:"+n, `[{"type":"AIMessageChunk","id":"lc_run--`+n+`","content":"x"`+more+`},`+metadata(n)+`]`)
	}
	announced := func(n string) string {
		return frame("messages/metadata|w:"+n, `{"lc_run--`+n+`":{"metadata":`+metadata(n)+`}}`)
	}
	calls := func(n, tool string) string {
		return frame("messages|w:"+n, `[{"type":"ai","id":"run-`+n+`","content":"","name":"w","tool_calls":[{"name":"`+tool+`","id":"c`+n+`","args":{}}]},`+metadata(n)+`]`)
	}
	other := frame("messages|x:3", `[`+by("x", "run-3", "x")+`,{"langgraph_step":1,"langgraph_checkpoint_ns":"x:3|model:3","lc_agent_name":"x"}]`)
	node := func(n, kind string) string {
		return frame("events", `{"event":"on_chain_`+kind+`","name":"w","run_id":"`+n+`","parent_ids":["0"],"data":{},"metadata":{"langgraph_step":1,"langgraph_node":"w","langgraph_checkpoint_ns":"w:`+n+`"}}`)
	}
	asks := func(n string) string {
		return frame("events", `{"event":"on_chat_model_start","name":"M","run_id":"m`+n+`","data":{},"metadata":`+metadata(n)+`}`) +
			frame("events", `{"event":"on_chat_model_end","name":"M","run_id":"m`+n+`","data":{"output":{"type":"ai","id":"lc_run--m`+n+`","content":"x"}},"metadata":`+metadata(n)+`}`)
	}
	const last = `,"chunk_position":"last"`
	attempt1 := frame("metadata", `{"run_id":`+runID+`,"attempt":1}`)
	for _, c := range []struct {
		name       string
		frames     []string
		isParallel bool
	}{
		{"at the same time", []string{within("1"), within("2"), returns, returns}, true},
		{"tasks at the same time", []string{task("1", starts), task("2", starts), within("1"), within("2"), task("1", ends), task("2", ends)}, true},
		{"one after the other", []string{within("1"), returns, within("2"), returns}, false},
		{"one task after the other", []string{task("1", starts), within("1"), task("1", ends), task("2", starts), within("2"), task("2", ends)}, false},
		{"states at the same time", []string{frame("values|w:1", `{"messages":[]}`), frame("values|w:2", `{"messages":[]}`), frame("values|w:1", `{"messages":[`+by("w", "run-1", "x")+`]}`)}, true},
		{"states one after the other", []string{frame("values|w:1", `{"messages":[]}`), within("1"), returns, frame("values|w:2", `{"messages":[]}`), within("2")}, false},
		{"in another attempt", []string{within("1"), attempt, within("2")}, false},
		{"responses at the same time", []string{piece("1", ""), piece("2", "")}, true},
		{"one response after the other", []string{piece("1", last), piece("2", "")}, false},
		{"after a response of another attempt", []string{attempt1, piece("1", ""), attempt, piece("2", "")}, false},
		{"announced at the same time", []string{announced("1"), announced("2"), frame("messages/partial|w:2", `[{"type":"ai","id":"lc_run--2","content":"x"}]`)}, true},
		{"while a tool runs", []string{calls("1", "add"), piece("2", "")}, true},
		{"after control was handed over", []string{calls("1", "transfer_to_x"), piece("2", "")}, false},
		{"after another node, which a tool called", []string{calls("1", "hand_over"), other, piece("2", "")}, false},
		{"nodes at the same time", []string{node("1", "start"), node("2", "start"), asks("1"), asks("2")}, true},
		{"one node after the other", []string{node("1", "start"), asks("1"), node("1", "end"), node("2", "start"), asks("2")}, false},
		{"after an unreadable update", []string{within("1"), "event: updates\ndata: {\n\n", within("2")}, false},
	} {
		if got := strings.Contains(strings.Join(facts(nil, c.frames...), "\n"), " parallel"); got != c.isParallel {
			t.Errorf("%s: parallel is %v", c.name, got)
		}
	}
}

// TestParallelResponses has two nodes of a graph answer, piece by piece.
func TestParallelResponses(t *testing.T) {
	piece := func(id, step, task, more string) string {
		return frame("messages", `[{"type":"AIMessageChunk","id":"lc_run--`+id+`","content":"x"`+more+`},{"langgraph_step":`+step+`,"langgraph_checkpoint_ns":"`+task+`"}]`)
	}
	announced := func(id, task string) string {
		return frame("messages/metadata", `{"lc_run--`+id+`":{"metadata":{"langgraph_step":1,"langgraph_checkpoint_ns":"`+task+`"}}}`)
	}
	partial := func(id string) string {
		return frame("messages/partial", `[{"type":"ai","id":"lc_run--`+id+`","content":"x"}]`)
	}
	const last = `,"chunk_position":"last"`
	for _, c := range []struct {
		name       string
		frames     []string
		isParallel bool
	}{
		{"two nodes", []string{piece("1", "1", "a:1", ""), piece("2", "1", "b:2", "")}, true},
		{"one node twice", []string{piece("1", "1", "a:1", ""), piece("2", "1", "a:2", "")}, true},
		{"two nodes, announced", []string{announced("1", "a:1"), partial("1"), announced("2", "b:2"), partial("2")}, true},
		{"one after the other", []string{piece("1", "1", "a:1", last), piece("2", "1", "b:2", "")}, false},
		{"after one that broke off in an earlier step", []string{piece("1", "1", "a:1", ""), piece("2", "2", "b:2", "")}, true},
		{"after one that broke off in the same task", []string{piece("1", "1", "a:1", ""), piece("2", "1", "a:1", "")}, true},
		{"after one that broke off in an earlier attempt", []string{piece("1", "1", "a:1", ""), frame("metadata", `{"run_id":`+runID+`,"attempt":1}`), frame("metadata", `{"run_id":`+runID+`,"attempt":2}`), piece("2", "1", "a:1", "")}, false},
	} {
		if got := strings.Contains(strings.Join(facts(nil, c.frames...), "\n"), " response="); got != c.isParallel {
			t.Errorf("%s: parallel is %v", c.name, got)
		}
	}
}

// TestOrderOfNodes checks which modes show whether an agent begins after another one or beside it.
func TestOrderOfNodes(t *testing.T) {
	own := sent{"updates", `{"x":{"messages":[` + by("x", "run-1", "x") + `]}}`}
	within := sent{"updates|x:1", `{"model":{"messages":[` + by("x", "run-1", "x") + `]}}`}
	nested := sent{"updates|team:1|x:1", `{"model":{"messages":[` + by("x", "run-1", "x") + `]}}`}
	tool := sent{"updates|tools:1", `{"model":{"messages":[` + by("x", "run-1", "x") + `]}}`}
	call := sent{"updates", `{"model":{"messages":[{"type":"ai","id":"run-0","content":"","name":"boss","tool_calls":[{"name":"ask","id":"c1","args":{}}]}]}}`}
	for _, c := range []struct {
		name      string
		frames    []sent
		isUnknown bool
	}{
		{"updates", []sent{own}, true},
		{"updates of a subgraph", []sent{within}, true},
		{"with values", []sent{{"values", `{"messages":[]}`}, within}, false},
		{"with tasks", []sent{{"tasks", `{"id":"1","name":"x","input":{},"triggers":[]}`}, within}, false},
		{"in a subgraph, with values", []sent{{"values", `{"messages":[]}`}, nested}, true},
		{"in a call", []sent{call, tool}, false},
	} {
		d, b := (Dialect{}).New(&event.Stream{}), new(event.Batch)
		for _, one := range append([]sent{{"metadata", started}}, c.frames...) {
			b.Begin(new(event.Stream), frameOf(one.name, one.data).Frame, time.Time{})
			b.Parse(200)
			d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
		}
		if b.Agent != "x" || b.OrderUnknown != c.isUnknown {
			t.Errorf("%s: the order of %q is unknown: %v", c.name, b.Agent, b.OrderUnknown)
		}
	}
}

// TestOneOfSeveralTools ends a tool while a subagent works in another one. The subagent goes on.
func TestOneOfSeveralTools(t *testing.T) {
	result := func(id string) string {
		return frame("updates", `{"tools":{"messages":[{"type":"tool","id":"m-`+id+`","tool_call_id":"`+id+`","content":"4"}]}}`)
	}
	calls := frame("updates", `{"model":{"messages":[{"type":"ai","id":"run-0","content":"","name":"boss","tool_calls":[{"name":"ask","id":"c1","args":{}},{"name":"add","id":"c2","args":{}}]}]}}`)
	inner := frame("updates|tools:1", `{"model":{"messages":[`+by("x", "run-1", "x")+`]}}`)
	if got := strings.Join(facts(nil, calls, inner, result("c2")), "\n"); strings.Contains(got, "agent_ended") {
		t.Errorf("another tool ended the subagent:\n%s", got)
	}
}

// TestResultBeforeName reads the result of a call of an earlier run before a message names the agent. That agent does not get the
// configured name.
func TestResultBeforeName(t *testing.T) {
	s := &event.Stream{Identity: event.Identity{NewRun: true}, ConfiguredAgent: "source"}
	got := strings.Join(facts(s, frame("updates", `{"tools":{"messages":[{"type":"tool","id":"m1","tool_call_id":"c1","content":"4"}]}}`),
		frame("updates", `{"model":{"messages":[`+by("boss", "run-1", "x")+`]}}`)), "\n")
	if strings.Contains(got, `agent="source"`) || !strings.Contains(got, "boss") {
		t.Errorf("the configured name is of another agent:\n%s", got)
	}
}

// TestQuestionBeforeName has the run's own graph ask before a frame names its agent. Then the question was that agent's.
func TestQuestionBeforeName(t *testing.T) {
	question := frame("updates", `{"__interrupt__":[{"id":"i1","value":"Which?"}]}`)
	for name, c := range map[string]struct{ next, want string }{
		"a model of the run's own agent": {frame("updates", `{"model":{"messages":[`+by("boss", "run-1", "x")+`]}}`), `agent="boss" renames="source"`},
		"an author in a state":           {frame("values", `{}`) + frame("values", `{"messages":[`+by("boss", "run-1", "x")+`]}`), `agent="boss" renames="source" may be root`},
		"another author in a state":      {frame("values", `{}`) + frame("values", `{"messages":[`+by("boss", "run-1", "x")+`,`+by("clerk", "run-2", "x")+`]}`), `agent="clerk" may be root`},
		"an agent in a node":             {frame("updates|b:1", `{"model":{"messages":[`+by("boss", "run-1", "x")+`]}}`), `agent="boss" branch="b:1" may be root`},
		"an agent in a call":             {asksTwice + frame("updates|tools:1", `{"model":{"messages":[`+by("boss", "run-2", "x")+`]}}`), `agent="boss" branch="tools:1"`},
		"the configured agent":           {frame("updates", `{"model":{"messages":[`+by("source", "run-1", "x")+`]}}`), `updates agent="source"`},
	} {
		s := &event.Stream{Identity: event.Identity{NewRun: true}, ConfiguredAgent: "source"}
		if got := strings.Join(facts(s, question, c.next), "\n"); !strings.HasPrefix(got, `2 updates agent="source"`+"\n") || !strings.Contains(got, c.want) {
			t.Errorf("%s: there is no %s in\n%s", name, c.want, got)
		}
	}
}

// TestBesideOthers checks whether a task of a node may have begun with tasks that have returned before its first frame.
func TestBesideOthers(t *testing.T) {
	returns := func(node string) string { return frame("updates", `{"`+node+`":{"r":1}}`) }
	for _, c := range []struct {
		name     string
		frames   []string
		isBeside bool
	}{
		{"after another task", []string{speaks("w:1", "w", "1"), returns("w"), speaks("w:2", "w", "2")}, true},
		{"after another node", []string{speaks("w:1", "w", "1"), returns("w"), returns("v"), speaks("w:2", "w", "2")}, true},
		{"another node", []string{returns("w"), speaks("v:2", "v", "2")}, true},
		{"another node, in a state", []string{frame("values", `{"messages":[]}`), returns("w"), speaks("v:2", "v", "2")}, false},
		{"a target", []string{frame("updates", `{"w":{"messages":[{"type":"tool","id":"m1","tool_call_id":"c1","content":"Successfully transferred to v"}],"active_agent":"v"}}`), speaks("v:2", "v", "2")}, false},
		{"a tool", []string{asksTwice, returns("model"), speaks("tools:2", "v", "2")}, false},
		{"after another tool", []string{asksTwice, speaks("tools:1", "w", "1"), returns("tools"), speaks("tools:2", "v", "2")}, true},
		{"before the other returns", []string{speaks("w:1", "w", "1"), speaks("w:2", "w", "2"), returns("w")}, false},
		{"after a state", []string{frame("values", `{"messages":[]}`), speaks("w:1", "w", "1"), returns("w"), speaks("w:2", "w", "2")}, false},
	} {
		if got := strings.Join(facts(nil, c.frames...), "\n"); strings.Contains(got, " may be beside") != c.isBeside {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
}

// TestCalledFunctions checks whether the stream shows after what a function asks its model that another one has called.
func TestCalledFunctions(t *testing.T) {
	piece := func(n string) string {
		return frame("messages", `[`+by("", "lc_run--"+n, "x")+`,{"langgraph_step":0,"langgraph_path":["__pregel_push",["__pregel_pull","flow"],`+n+`,true],"langgraph_checkpoint_ns":"flow:1|ask:`+n+`"}]`)
	}
	begins := func(n string) string {
		return frame("tasks", `{"id":"`+n+`","name":"ask","input":[[],{}],"triggers":["__pregel_push"]}`)
	}
	for _, c := range []struct {
		name      string
		frames    []string
		isUnknown bool // for the last response
	}{
		{"the first", []string{piece("0")}, false},
		{"a further one", []string{piece("0"), piece("1")}, true},
		{"its task is shown", []string{begins("0"), piece("0"), begins("1"), piece("1")}, false},
	} {
		var at event.Task
		d, b := (Dialect{}).New(&event.Stream{}), new(event.Batch)
		for _, one := range append([]string{frame("metadata", started)}, c.frames...) {
			name, data, _ := strings.Cut(strings.TrimPrefix(one, "event: "), "\ndata: ")
			b.Begin(new(event.Stream), frameOf(name, strings.TrimSpace(data)).Frame, time.Time{})
			b.Parse(200)
			d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
			for _, e := range b.Events {
				if e.Kind == event.KindModelEnded {
					at = e.Task
				}
			}
		}
		if at.ID == "" || at.Unknown != c.isUnknown {
			t.Errorf("%s: %+v", c.name, at)
		}
	}
}

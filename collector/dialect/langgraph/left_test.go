package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/delegraph/delegraph/collector/event"
)

// node is an event of a node of the run's own graph. more are more members of the event.
func node(kind, name, run, step, more string) string {
	return frame("events", `{"event":"on_chain_`+kind+`","name":"`+name+`","run_id":"`+run+`","parent_ids":["0"],`+more+
		`"metadata":{"langgraph_node":"`+name+`","langgraph_step":`+step+`,"langgraph_checkpoint_ns":"`+name+`:1"}}`)
}

// TestWorkLeft checks when a stream shows that the run's graph has work left.
func TestWorkLeft(t *testing.T) {
	checkpoint := func(namespace, next string) string {
		return frame("checkpoints"+namespace, `{"config":{"configurable":{"thread_id":"t"}},"values":{},"next":[`+next+`]}`)
	}
	task := func(namespace, id, more string) string {
		return frame("tasks"+namespace, `{"id":"`+id+`","name":"a",`+more+`}`)
	}
	const starts, returns = `"triggers":[],"input":{}`, `"error":null,"result":{},"interrupts":[]`
	state := func(namespace string) string { return frame("values"+namespace, `{"x":1}`) }
	began, ended := node("start", "a", "r1", "1", ""), node("end", "a", "r1", "1", "")
	inner := strings.NewReplacer(`["0"]`, `["0","r1"]`, `"r1"`, `"r2"`)
	command := `"data":{"output":{"graph":"__parent__","goto":[]}},`
	within := func(s string) string { return strings.ReplaceAll(s, `"a:1"`, `"a:1|b:2"`) }
	handler := strings.ReplaceAll(node("start", "h", "r3", "1", ""), `"langgraph_step"`, `"langgraph_path":["__pregel_pull","a","node_error_handler",false],"langgraph_step"`)
	for _, c := range []struct {
		name   string
		frames []string
		left   bool
	}{
		{"a checkpoint with a next node", []string{checkpoint("", `"a"`)}, true},
		{"a last checkpoint", []string{checkpoint("", `"a"`), checkpoint("", "")}, false},
		{"a last checkpoint of a subgraph", []string{checkpoint("", `"a"`), checkpoint("|a:1", "")}, true},
		{"a checkpoint of a subgraph with a next node", []string{checkpoint("|a:1", `"a"`)}, false},
		{"a checkpoint in debug", []string{frame("debug", `{"type":"checkpoint","payload":{"values":{},"next":["a"]}}`)}, true},
		{"a frame that cannot be read", []string{checkpoint("", `"a"`), frame("updates", `{`)}, true},
		{"another run", []string{checkpoint("", `"a"`), frame("metadata", `{"run_id":"019f0000-0000-7000-8000-000000000000","attempt":1}`)}, false},
		{"a node without an end", []string{began}, true},
		{"a node with an end", []string{began, ended}, false},
		{"a node beside it", []string{began, node("start", "b", "r2", "1", ""), ended}, true},
		{"a node of the next step", []string{began, node("start", "b", "r2", "2", ""), node("end", "b", "r2", "2", "")}, false},
		{"a retry", []string{began, node("start", "a", "r2", "1", ""), node("end", "a", "r2", "1", "")}, false},
		{"what works in a node", []string{began, inner.Replace(began), inner.Replace(ended)}, true},
		{"what works in a node, without an end", []string{began, ended, inner.Replace(began)}, false},
		{"a command to the graph", []string{began, within(node("end", "a", "r2", "1", command))}, false},
		{"a command to a graph in the node", []string{began, strings.ReplaceAll(node("end", "a", "r2", "1", command), `"a:1"`, `"a:1|b:2|c:3"`)}, true},
		{"a task without a result", []string{task("", "1", starts)}, true},
		{"a task with a result", []string{task("", "1", starts), task("", "1", returns)}, false},
		{"a task with an exception", []string{task("", "1", starts), task("", "1", `"error":`+raised+`,"interrupts":[]`)}, false},
		{"a task in debug", []string{frame("debug", `{"type":"task","payload":{"id":"1","name":"a",`+starts+`}}`)}, true},
		{"a task in debug before the last checkpoint", []string{frame("debug", `{"type":"task","payload":{"id":"1","name":"a",`+starts+`}}`), checkpoint("", "")}, false},
		{"a task of a subgraph", []string{task("", "1", starts), task("|a:1", "2", starts), task("", "1", returns)}, false},
		{"a task that another one has called", []string{task("", "1", starts), task("", "2", `"triggers":["__pregel_push"],"input":[["x"],{}]`), task("", "1", returns)}, false},
		{"the result of a called task", []string{task("", "1", starts), task("", "2", `"triggers":["__pregel_push"],"input":[["x"],{}]`), task("", "2", returns)}, true},
		{"a task beside it", []string{task("", "1", starts), task("", "2", starts), task("", "2", returns)}, true},
		{"a task beside it that may have an earlier result", []string{frame("metadata", `{"run_id":"r","attempt":2}`), task("", "1", starts), task("", "2", starts), task("", "2", returns)}, false},
		{"a task before one with another input, with a result from the cache", []string{task("", "1", starts), task("", "2", `"triggers":[],"input":{"x":1}`), task("", "2", returns)}, false},
		{"a task with a result from the cache in an earlier step", []string{task("", "1", starts), task("", "2", `"triggers":[],"input":{"x":1}`), task("", "2", returns), task("", "3", starts), task("", "4", starts), task("", "3", returns)}, true},
		{"a worker beside another one", []string{task("", "1", `"triggers":["__pregel_push"],"input":1`), task("", "2", `"triggers":["__pregel_push"],"input":2`), task("", "2", returns)}, true},
		{"a task beside it in a later step of an attempt", []string{frame("metadata", `{"run_id":"r","attempt":2}`), task("", "1", starts), task("", "1", returns), task("", "2", starts), task("", "3", starts), task("", "2", returns)}, true},
		{"the only task of an attempt", []string{frame("metadata", `{"run_id":"r","attempt":2}`), task("", "1", starts)}, true},
		{"a task beside it in the first step of an attempt", []string{frame("metadata", `{"run_id":"r","attempt":1}`), task("", "1", starts), task("", "1", returns), frame("metadata", `{"run_id":"r","attempt":2}`), task("", "2", starts), task("", "3", starts), task("", "2", returns)}, false},
		{"a task beside it in which a graph runs", []string{task("", "1", starts), task("", "2", starts), task("|a:1", "3", starts), task("", "2", returns)}, true},
		{"a task beside it that runs a second graph", []string{task("", "1", starts), task("", "2", starts), task("|a:1|1", "3", starts), task("", "2", returns)}, true},
		{"a task before one of the next step", []string{task("", "1", starts), task("|a:1", "3", starts), task("", "2", starts), task("", "2", returns), task("", "4", starts), task("", "4", returns)}, false},
		{"a task with a result from the cache", []string{task("", "1", starts), frame("updates", `{"a":null,"__metadata__":{"cached":true}}`)}, false},
		{"one of two tasks from the cache", []string{task("", "1", starts), task("", "2", starts), frame("updates", `{"a":null,"__metadata__":{"cached":true}}`)}, true},
		{"a task before a state", []string{state(""), task("", "1", starts), state("")}, false},
		{"a task before a state with a question", []string{state(""), task("", "1", starts), frame("values", `{"x":1,"__interrupt__":[]}`)}, true},
		{"a task of an earlier attempt", []string{frame("metadata", `{"run_id":"r","attempt":1}`), task("", "1", starts), frame("metadata", `{"run_id":"r","attempt":2}`)}, false},
		{"the first state of the run", []string{state("")}, false},
		{"the first state of a subgraph", []string{state(""), state("|a:1")}, true},
		{"two states of a subgraph", []string{state(""), state("|a:1"), state("|a:1")}, false},
		{"a state after that of a subgraph", []string{state(""), state("|a:1"), state("")}, false},
		{"an update after the first state of a subgraph", []string{state("|a:1"), frame("updates", `{"a":null}`)}, false},
		{"an update after the first state of a second graph", []string{state("|a:1|1"), frame("updates", `{"a":null}`)}, false},
		{"the result of a task with a second graph", []string{state("|a:1|1"), task("", "1", starts), task("", "1", returns)}, false},
		{"an update of another node", []string{state("|a:1"), frame("updates", `{"b":null}`)}, true},
		{"the result of another task", []string{state("|a:1"), task("", "2", starts), task("", "2", returns)}, true},
		{"a subgraph that speaks", []string{state("|a:1"), frame("messages", `[{"type":"ai","id":"lc_run--1","content":"Hi"},{"langgraph_node":"model","langgraph_checkpoint_ns":"a:1|model:2"}]`)}, false},
		{"the first state of a graph in a subgraph", []string{state("|a:1"), state("|a:1"), state("|a:1|b:2")}, false},
		{"a node that handles the error of another", []string{began, handler, node("end", "h", "r3", "1", "")}, false},
	} {
		lines := facts(&event.Stream{Identity: event.Identity{NewRun: true}}, append(c.frames, frame("custom", `{}`))...)
		if got := slices.ContainsFunc(lines[max(len(lines)-1, 0):], func(line string) bool { return strings.HasSuffix(line, " work left") }); got != c.left {
			t.Errorf("%s: work left %t, want %t: %q", c.name, got, c.left, lines)
		}
	}
}

// TestResumedStep checks that a task of the first step has no work left if it may have returned in the run that this one continues.
func TestResumedStep(t *testing.T) {
	task := func(id, more string) string { return frame("tasks", `{"id":"`+id+`","name":"a",`+more+`}`) }
	const starts, returns = `"triggers":[],"input":{}`, `"error":null,"result":{},"interrupts":[]`
	for name, c := range map[string]struct {
		request event.Identity
		left    bool
	}{
		"a new run":    {event.Identity{Session: threadID}, true},
		"an answer":    {event.Identity{Session: threadID, Answers: []string{resumes}}, false},
		"a joined run": {inThread(threadID, joinedID), false},
		"unknown":      {event.Identity{}, false},
		"a thread":     {event.Identity{Session: threadID, JoinedSession: threadID}, false},
	} {
		lines := facts(&event.Stream{Identity: c.request}, task("1", starts), task("2", starts), task("2", returns), frame("custom", `{}`))
		if got := strings.HasSuffix(lines[len(lines)-1], " work left"); got != c.left {
			t.Errorf("%s: work left %t, want %t: %q", name, got, c.left, lines)
		}
	}
}

// TestInterruptedTool checks that the exception with which a question leaves a tool is no failure.
func TestInterruptedTool(t *testing.T) {
	const id = "7f5c1990bccd19e6b1913af03f467743"
	failed := func(err string) string {
		return frame("events", `{"event":"on_tool_error","name":"ask","data":{"tool_call_id":"c1","error":`+err+`},"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:1"}}`)
	}
	called := frame("updates", `{"model":{"messages":[{"type":"ai","id":"lc_run--1","content":"","name":"boss","tool_calls":[{"name":"ask","id":"c1","args":{}}]}]}}`)
	question := frame("updates", `{"__interrupt__":[{"id":"`+id+`","value":"Sure?"}]}`)
	paused := []string{`tool_paused call="c1"`, `input_requested call="` + id + `" clarification`}
	for name, c := range map[string]struct {
		frames []string
		want   []string
	}{
		"an object":           {[]string{failed(`{"error":"GraphInterrupt","message":"(Interrupt(value='x, id=\\'0\\'', id='` + id + `', response_schema=None),)"}`)}, paused},
		"a text":              {[]string{failed(`"GraphInterrupt((Interrupt(value='x', id='` + id + `'),))"`)}, paused},
		"a question that was": {[]string{question, failed(`{"error":"GraphInterrupt","message":"(Interrupt(value='x', id='` + id + `'),)"}`)}, []string{`tool_paused call="c1"`, `input_requested call="` + id + `" clarification prompt="Sure?"`}},
		"an old server":       {[]string{failed(`{"error":"GraphInterrupt","message":"x"}`)}, []string{`tool_paused call="c1"`, `input_requested call="c1" clarification`}},
		"a call of the run before": {[]string{strings.NewReplacer(`"c1"`, `"c0"`, `"ask"`, `"other"`).Replace(failed(`{"error":"GraphInterrupt","message":"(Interrupt(value='x', id='` + id + `'),)"}`))},
			[]string{`input_requested call="` + id + `" clarification`}},
		"a failure": {[]string{failed(`"ValueError('x')"`), toolEvent("on_chain_end", "tools", "tools:1", "{}")}, []string{`tool_ended name="ask" call="c1" tool_error code="ValueError" settled`}},
	} {
		lines := facts(&event.Stream{}, append([]string{called}, c.frames...)...)
		lines = slices.DeleteFunc(lines, func(line string) bool {
			return !strings.Contains(line, "call=") || strings.HasPrefix(line, "tool_started")
		})
		if diff := cmp.Diff(c.want, lines, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestLoadedQuestion checks that the question in the first checkpoint, which an earlier run has asked, is not asked again.
func TestLoadedQuestion(t *testing.T) {
	checkpoint := func(id string) string {
		return `{"config":{"configurable":{"thread_id":"t","checkpoint_id":"` + id + `"}},"values":{},"next":["a"],"tasks":[{"id":"1","name":"a","interrupts":[{"id":"i1","value":"Sure?"}]}]}`
	}
	in := func(mode, id string) string {
		if mode == "debug" {
			return frame(mode, `{"type":"checkpoint","payload":`+checkpoint(id)+`}`)
		}
		return frame(mode, checkpoint(id))
	}
	for name, c := range map[string]struct {
		frames []string
		asks   bool
	}{
		"the first checkpoint":               {[]string{in("checkpoints", "1")}, false},
		"the first checkpoint in both modes": {[]string{in("checkpoints", "1"), in("debug", "1")}, false},
		"a later checkpoint":                 {[]string{in("checkpoints", "1"), in("checkpoints", "2")}, true},
		"checkpoints without an ID":          {[]string{in("checkpoints", ""), in("checkpoints", "")}, true},
	} {
		lines := facts(&event.Stream{}, c.frames...)
		if asks := slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "input_requested") }); asks != c.asks {
			t.Errorf("%s: it asks %t, want %t: %q", name, asks, c.asks, lines)
		}
	}
}

// TestNodeOfCheckpoint checks that the new messages of a checkpoint are of the only node that the checkpoint before names.
func TestNodeOfCheckpoint(t *testing.T) {
	checkpoint := func(next, messages string) string {
		return frame("checkpoints", `{"config":{"configurable":{"thread_id":"t"}},"values":{"messages":[`+messages+`]},"next":[`+next+`]}`)
	}
	const a, b = `{"type":"ai","id":"lc_run--1","name":"x","content":"1"}`, `{"type":"ai","id":"lc_run--2","content":"2"}`
	for next, want := range map[string][]string{
		`"one"`:         {`3 checkpoints agent="x" branch="one" may be root work left`, `4 checkpoints`},
		`"model"`:       {`3 checkpoints agent="x" work left`, `4 checkpoints agent="x"`},
		`"one","other"`: {`3 checkpoints agent="x" may be root work left`, `4 checkpoints agent="x" may be root`},
	} {
		lines := facts(&event.Stream{}, checkpoint(next, ""), checkpoint(`"two"`, a), checkpoint("", a+","+b))
		lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, "checkpoints") })
		if diff := cmp.Diff(want, lines[1:]); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", next, diff)
		}
	}
}

// TestCaughtException checks that a run is complete if a node has caught a model's exception.
func TestCaughtException(t *testing.T) {
	graph := func(kind string) string {
		return frame("events", `{"event":"on_chain_`+kind+`","name":"g","run_id":"0","parent_ids":[],"metadata":{}}`)
	}
	started, ended := node("start", "ok", "1", "1", ""), node("end", "ok", "1", "1", "")
	piece := frame("events", `{"event":"on_chat_model_stream","data":{"chunk":{"type":"AIMessageChunk","id":"lc_run--2","content":"Hi"}},"metadata":{"langgraph_node":"ok","langgraph_step":1,"langgraph_checkpoint_ns":"ok:1"}}`)
	last := strings.Replace(piece, `"content":"Hi"`, `"content":"","chunk_position":"last"`, 1)
	for _, c := range []struct {
		name   string
		frames []string
		finals int
	}{
		{"a response that was cut off", []string{started, piece, ended, graph("end")}, 1},
		{"a run that waits", []string{started, piece, graph("end")}, 0},
		{"a graph within", []string{started, piece, ended, strings.Replace(graph("end"), "[]", `["0"]`, 1)}, 0},
		{"a stream without the nodes", []string{piece, graph("end")}, 0},
		{"a whole response", []string{started, piece, last, ended, graph("end")}, 1}, // of the response
	} {
		if got := lastFacts(c.frames, "final"); len(got) != c.finals {
			t.Errorf("%s: %d final events, want %d", c.name, len(got), c.finals)
		}
	}
}

package langgraph

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/delegraph/delegraph/collector/event"
)

// callOf is a call of a tool as the input of a task.
func callOf(id, tool, args string) string {
	return `[{"name":"` + tool + `","args":` + args + `,"id":"` + id + `","type":"tool_call"}]`
}

// startOf is the start of a task of an agent.
func startOf(namespace, id, node, input, agent string) string {
	return frame("tasks"+namespace, `{"id":"`+id+`","name":"`+node+`","input":`+input+`,"triggers":[],"metadata":{"lc_agent_name":"`+agent+`"}}`)
}

// TestResumedCalls checks that a run that resumes shows the call in which a subagent works. A call within which nothing runs may have
// ended in the earlier run.
func TestResumedCalls(t *testing.T) {
	const asker = `{"subagent_type":"asker"}`
	old := `{"type":"ai","id":"run-0","name":"boss","content":"","tool_calls":[{"name":"task","id":"c1","args":` + asker + `}]}`
	within := startOf("|tools:1", "2", "model", "{}", "asker")
	for name, c := range map[string]struct {
		frames []string
		want   []string
	}{
		"a subagent works":          {[]string{startOf("", "1", "tools", callOf("c1", "task", asker), "boss"), within}, []string{`2 tasks agent="boss"`, `3 tasks agent="boss"`, `tool_started name="task" call="c1"`, `tasks agent="asker" branch="tools:1" within="c1"`}},
		"an agent in a tool":        {[]string{startOf("", "1", "tools", callOf("c1", "ask", "{}"), "boss"), within}, []string{`2 tasks agent="boss"`, `3 tasks agent="boss"`, `tool_started name="ask" call="c1"`, `tasks agent="asker" branch="tools:1" within="c1"`}},
		"the call is in the input":  {[]string{startOf("", "0", "x.after_model", `{"messages":[`+old+`]}`, "boss"), startOf("", "1", "tools", callOf("c1", "task", asker), "boss"), within}, []string{`2 tasks agent="boss"`, `4 tasks agent="boss"`, `tool_started name="task" call="c1"`, `tasks agent="asker" branch="tools:1" within="c1"`}},
		"nothing works":             {[]string{startOf("", "1", "tools", callOf("c1", "add", "{}"), "boss")}, []string{`2 tasks agent="boss"`}},
		"another object as input":   {[]string{startOf("", "1", "tools", `[{"id":"c1","name":"ask","args":{}}]`, "boss"), within}, []string{`2 tasks agent="boss"`, `3 tasks agent="asker" branch="tools:1" unknown call`}},
		"a graph that is no agent":  {[]string{startOf("", "1", "tools", callOf("c1", "ask", "{}"), "boss"), startOf("|tools:1", "2", "tools", "{}", "boss")}, []string{`2 tasks agent="boss"`, `3 tasks agent="boss"`, `tool_started name="ask" call="c1"`}},
		"a call of the current run": {[]string{frame("updates", delegation), startOf("", "1", "tools", callOf("c1", "task", `{"subagent_type":"expert"}`), "boss"), startOf("|tools:1", "2", "model", "{}", "expert")}, []string{`2 updates agent="boss"`, `tool_started name="task" call="c1" {"subagent_type":"expert"}`, `4 tasks agent="expert" branch="tools:1" within="c1"`}},
	} {
		lines := slices.DeleteFunc(facts(nil, c.frames...), func(line string) bool {
			return !strings.Contains(line, "agent=") && !strings.HasPrefix(line, "tool_started")
		})
		for i, line := range lines {
			lines[i] = strings.TrimSuffix(line, " work left")
		}
		if diff := cmp.Diff(c.want, lines, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTooManyResumedCalls has more tasks of earlier calls than are remembered.
func TestTooManyResumedCalls(t *testing.T) {
	d := (Dialect{}).New(&event.Stream{}).(*decoder)
	decodeFrame(d, sent{"metadata", started})
	for i := range 2 * maxOpenCalls {
		id := strconv.Itoa(i)
		decodeFrame(d, task(id, "tools", callOf("c"+id, "ask", "{}")))
	}
	if n := len(d.resumedCalls); n != maxOpenCalls {
		t.Errorf("%d calls are remembered, want %d", n, maxOpenCalls)
	}
}

// TestResumedRoot checks that an agent in the node that executes tools is not the root of a run that resumes.
func TestResumedRoot(t *testing.T) {
	for node, want := range map[string]bool{"tools": false, "writer": true} {
		lines := strings.Join(facts(nil, frame("updates|"+node+":1", `{"model":{"messages":[`+by("x", "run-1", "x")+`]}}`)), "\n")
		if got := strings.Contains(lines, "may be root"); got != want {
			t.Errorf("in the node %s, the agent may be the root: %v", node, got)
		}
	}
}

// TestPausedCalls checks which calls a question interrupts.
func TestPausedCalls(t *testing.T) {
	calls := func(id string, ofCalls ...string) string {
		return `{"model":{"messages":[{"type":"ai","id":"run-` + id + `","name":"x","content":"","tool_calls":[` + strings.Join(ofCalls, ",") + `]}]}}`
	}
	call := func(id, tool string) string { return `{"name":"` + tool + `","id":"` + id + `","args":{}}` }
	asks := func(id, value string) string { return `{"id":"` + id + `","value":` + value + `}` }
	ended := func(namespace, id, questions string) string {
		return frame("tasks"+namespace, `{"id":"`+id+`","name":"tools","error":null,"result":{},"interrupts":[`+questions+`]}`)
	}
	const approval = `{"action_requests":[{"name":"add","args":{}}],"review_configs":[]}`
	two := []string{frame("updates", calls("0", call("t1", "task"), call("t2", "task"))), frame("updates|tools:1", calls("1", call("a1", "add"))), frame("updates|tools:2", calls("2", call("a2", "add")))}
	for name, c := range map[string]struct {
		frames []string
		want   []string
	}{
		"the task of the call asks": {[]string{frame("updates", calls("0", call("c1", "confirm"), call("c2", "add"))), startOf("", "1", "tools", callOf("c1", "confirm", "{}"), "x"), ended("", "1", asks("i1", `{"q":"x"}`))}, []string{`tool_paused call="c1"`}},
		"the only call":             {[]string{frame("updates", calls("0", call("c1", "confirm"))), frame("updates", `{"__interrupt__":[`+asks("i1", `"Sure?"`)+`]}`)}, []string{`tool_paused call="c1"`}},
		"one of two calls":          {[]string{frame("updates", calls("0", call("c1", "confirm"), call("c2", "add"))), frame("updates", `{"__interrupt__":[`+asks("i1", `"Sure?"`)+`]}`)}, nil},
		"two subagents":             {append(two[:3:3], ended("|tools:1", "8", asks("i1", approval)), ended("|tools:2", "9", asks("i2", approval))), []string{`tool_paused call="a1"`, `tool_paused call="a2"`}},
		"two subagents at once":     {append(two[:3:3], frame("updates", `{"__interrupt__":[`+asks("i1", approval)+`,`+asks("i2", approval)+`]}`)), []string{`tool_paused call="a1"`, `tool_paused call="a2"`}},
		"one of two subagents":      {append(two[:3:3], frame("updates", `{"__interrupt__":[`+asks("i1", approval)+`]}`)), nil},
	} {
		if diff := cmp.Diff(c.want, lastFacts(c.frames, "tool_paused"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

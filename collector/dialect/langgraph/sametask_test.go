package langgraph

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// speaks is an update of a graph in which a model speaks.
func speaks(namespace, agent, id string) string {
	return frame("updates|"+namespace, `{"model":{"messages":[`+by(agent, "run-"+id, "x")+`]}}`)
}

// TestGraphsOfOneTask has one task run several graphs. None of them is within another.
func TestGraphsOfOneTask(t *testing.T) {
	calls := func(id string) string {
		return `{"type":"ai","id":"run-0","content":"","name":"boss","tool_calls":[{"name":"ask","id":"` + id + `","args":{}}]}`
	}
	call := frame("updates", `{"model":{"messages":[`+calls("c1")+`]}}`)
	executes := frame("tasks", `{"id":"U","name":"tools","input":{"messages":[`+calls("c1")+`]},"triggers":[]}`)
	inMetadata := frame("messages", `[`+by("b", "run-2", "x")+`,{"langgraph_node":"model","langgraph_checkpoint_ns":"two:U|1|model:V","lc_agent_name":"b"}]`)
	for _, c := range []struct {
		name   string
		frames []string
		want   string
	}{
		{"in turn", []string{speaks("two:U", "a", "1"), speaks("two:U|1", "b", "2")}, `updates agent="b" branch="two:U|1" follows="two:U" may be root`},
		{"the first sends nothing", []string{speaks("two:U|1", "b", "2")}, `updates agent="b" branch="two:U|1" may be root`},
		{"the same agent", []string{speaks("two:U", "a", "1"), speaks("two:U|2", "a", "2")}, `updates agent="a" branch="two:U|2" follows="two:U" may be root parallel`},
		{"the third", []string{speaks("two:U", "a", "1"), speaks("two:U|10", "b", "2"), speaks("two:U|9", "b", "3"), speaks("two:U|11", "a", "4")}, `updates agent="a" branch="two:U|11" follows="two:U|10" may be root parallel`},
		{"in another task", []string{speaks("two:U", "a", "1"), speaks("two:V|1", "b", "2")}, `updates agent="b" branch="two:V|1" may be root parallel`},
		{"only in metadata", []string{inMetadata}, `messages agent="b" branch="two:U|1" may be root`},
		{"in a call", []string{call, speaks("tools:U", "a", "1"), speaks("tools:U|1", "b", "2")}, `updates agent="b" branch="tools:U|1" within="c1" follows="tools:U"`},
		{"in a call, the first sends nothing", []string{call, speaks("tools:U|1", "b", "2")}, `updates agent="b" branch="tools:U|1" within="c1"`},
		{"in a call that a task names", []string{call, executes, speaks("tools:U|1", "b", "2")}, `updates agent="b" branch="tools:U|1" within="c1" work left`},
		{"a graph within", []string{speaks("two:U|1", "b", "1"), speaks("two:U|1|x:V", "c", "2")}, `updates agent="c" branch="x:V" parent="two:U|1" around="two:U|1" may be beside`},
		{"within a graph", []string{speaks("two:U", "b", "1"), speaks("two:U|x:V|1", "c", "2")}, `updates agent="c" branch="x:V|1" parent="two:U" around="two:U" may be beside`},
	} {
		lines := facts(nil, c.frames...)
		if got := strings.Join(lines, "\n"); !strings.Contains(got, c.want+"\n") {
			t.Errorf("%s: there is no %s in\n%s", c.name, c.want, got)
		}
	}
}

// TestOrderInOneTask checks that it is unknown when a task runs its second graph, even if the start of the task is known.
func TestOrderInOneTask(t *testing.T) {
	d, b := (Dialect{}).New(&event.Stream{}), new(event.Batch)
	model := `{"model":{"messages":[` + by("x", "run-1", "x") + `]}}`
	for i, one := range []sent{{"metadata", started}, {"values", `{"messages":[]}`}, {"updates|two:U", model}, {"updates|two:U|1", strings.Replace(model, "run-1", "run-2", 1)}} {
		b.Begin(new(event.Stream), frameOf(one.name, one.data).Frame, time.Time{})
		b.Parse(200)
		d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
		if b.OrderUnknown != (i == 3) {
			t.Errorf("after %v, the order is unknown: %v", one, b.OrderUnknown)
		}
	}
}

// TestEndOfOneTask ends a task that has run two graphs. It is unknown when each ended, but not when that of the next task did.
func TestEndOfOneTask(t *testing.T) {
	returns := frame("updates", `{"two":{"r":1}}`)
	both := []string{speaks("two:U", "a", "1"), speaks("two:U|1", "b", "2"), returns}
	if got := strings.Join(facts(nil, both...), "\n"); strings.Contains(got, "agent_ended") {
		t.Errorf("the end of a task is that of an agent:\n%s", got)
	}
	if got := strings.Join(facts(nil, append(both, speaks("two:V", "a", "3"), returns)...), "\n"); strings.Count(got, "agent_ended") != 1 {
		t.Errorf("the end of the next task is not that of its agent:\n%s", got)
	}
}

// TestMessageAfterGraphs has a node write a message in the name of one of the agents that it has run.
func TestMessageAfterGraphs(t *testing.T) {
	own := frame("updates", `{"two":{"messages":[`+by("b", "own", "x")+`]}}`)
	got := strings.Join(facts(nil, speaks("two:U|1", "b", "1"), speaks("two:U", "a", "2"), own), "\n")
	if strings.Count(got, `agent="b" branch="two:U|1"`) != 2 {
		t.Errorf("the message is not of the agent:\n%s", got)
	}
}

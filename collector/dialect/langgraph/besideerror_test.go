package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/delegraph/delegraph/collector/event"
)

// TestErrorBesideAgent checks whether the error of a run may be that of the agent that spoke last.
func TestErrorBesideAgent(t *testing.T) {
	taskFailed := func(graph, name, id string) string {
		return frame("tasks"+graph, `{"id":"`+id+`","name":"`+name+`","error":`+raised+`,"result":{},"interrupts":[]}`)
	}
	calls := strings.NewReplacer("event: updates", "event: updates|good:1", `,{"name":"g","id":"c2","args":{}}`, "").Replace(asksTwice)
	answers := frame("updates|good:1", `{"model":{"messages":[{"type":"ai","id":"lc_run--1","content":"Hi"}]}}`)
	toolFailed := toolEvent("on_tool_error", "f", "good:1|tools:2", `{"tool_call_id":"c1","error":`+raised+`}`)
	good, bad := node("start", "good", "r1", "1", ""), node("start", "bad", "r2", "1", "")
	const ends = `error agent_error code="ValueError"`
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"the task of another node":               {[]string{calls, taskFailed("", "bad", "9")}, ends + " beside"},
		"another task of its node":               {[]string{calls, taskFailed("", "good", "9")}, ends + " beside"},
		"its own task":                           {[]string{calls, taskFailed("", "good", "1")}, ends},
		"the task around a graph in its node":    {[]string{strings.Replace(calls, "good:1", "good:1|inner:2", 1), taskFailed("", "good", "1")}, ends},
		"a task of its graph":                    {[]string{answers, taskFailed("|good:1", "after", "9")}, ends + " elsewhere"},
		"an unknown task":                        {[]string{calls}, ends},
		"one of two nodes that run":              {[]string{good, bad, calls}, ends + " beside"},
		"one of two nodes, of which one has run": {[]string{good, bad, calls, node("end", "bad", "r2", "1", "")}, ends},
		"a node that runs after it":              {[]string{good, answers, node("end", "good", "r1", "1", ""), strings.Replace(bad, `"langgraph_step":1`, `"langgraph_step":2`, 1)}, ends + " beside"},
		"its tool, beside another node":          {[]string{good, bad, calls, toolFailed}, ends},
		"the run's own agent":                    {[]string{asksTwice, taskFailed("", "bad", "9")}, ends},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, lastFacts(append(slices.Clip(c.frames), frame("error", raised)), "error")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestAgentInFailedTask checks which agent the exception of the task around it ends.
func TestAgentInFailedTask(t *testing.T) {
	in := func(graph, message, more string) string {
		return frame("updates|work:1"+graph, `{"model":{"messages":[{"type":"ai","id":"lc_run--`+message+`","name":"a`+message+`","content":"Hi"`+more+`}]}}`)
	}
	const calls = `,"tool_calls":[{"name":"f","id":"c1","args":{}}]`
	failed := frame("tasks", `{"id":"1","name":"work","error":`+raised+`,"result":{},"interrupts":[]}`)
	const ended = `agent_ended agent_error code="ValueError"`
	for name, c := range map[string]struct {
		frames []string
		want   []string
	}{
		"it has not answered":               {[]string{in("", "1", calls)}, []string{ended}},
		"it has answered":                   {[]string{in("", "1", "")}, []string{"agent_ended"}},
		"it has answered, and called again": {[]string{in("", "1", ""), in("", "2", calls)}, []string{ended}},
		"one of two has answered":           {[]string{in("", "1", ""), in("|1", "2", calls)}, []string{ended}},
		"neither of two has answered":       {[]string{in("", "1", calls), in("|1", "2", strings.Replace(calls, "c1", "c2", 1))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lastFacts(append(slices.Clip(c.frames), failed), "agent_ended"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestAskedModel checks that an event of a model's request says that its agent owes an answer.
func TestAskedModel(t *testing.T) {
	modelEvent := func(kind, namespace, data string) string {
		return frame("events", `{"event":"on_chat_model_`+kind+`","name":"M","run_id":"9","parent_ids":["0","1","2"],"data":`+data+`,"metadata":{"langgraph_node":"model","lc_agent_name":"good","langgraph_checkpoint_ns":"`+namespace+`model:2"}}`)
	}
	asks := modelEvent("start", "good:1|", `{"input":{"messages":[]}}`)
	answers := modelEvent("end", "good:1|", `{"output":{"type":"ai","id":"lc_run--9","content":"Hi"}}`)
	calls := strings.Replace(asksTwice, "event: updates", "event: updates|good:1", 1)
	ended := node("end", "good", "r1", "1", `"data":{"output":{}},`)
	began := node("start", "good", "r1", "1", "")
	for name, c := range map[string]struct {
		frames []string
		want   []string
	}{
		"it answers":              {[]string{began, calls, asks, answers, ended}, []string{"iteration asks_model", "agent_ended"}},
		"it does not answer":      {[]string{began, calls, asks, ended}, []string{"iteration asks_model"}},
		"its first request":       {[]string{began, asks, answers, ended}, []string{"iteration asks_model", "agent_ended"}},
		"that of the run's agent": {[]string{asksTwice, modelEvent("start", "", `{"input":{"messages":[]}}`)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lastFacts(c.frames, "iteration", "agent_ended"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestAgentInUnknownCall checks of which agents it is said that they work in one of several calls.
func TestAgentInUnknownCall(t *testing.T) {
	in := func(graph string) string {
		return frame("updates|"+graph, `{"model":{"messages":[{"type":"ai","id":"lc_run--2","name":"x","content":"Hi"}]}}`)
	}
	one := strings.Replace(asksTwice, `,{"name":"g","id":"c2","args":{}}`, "", 1)
	for name, c := range map[string]struct {
		frames []string
		want   bool
	}{
		"in the tools of a graph with two calls": {[]string{asksTwice, in("tools:9")}, true},
		"in the tools of a graph with one call":  {[]string{one, in("tools:9")}, false},
		"in another node":                        {[]string{asksTwice, in("work:9")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := slices.ContainsFunc(facts(&event.Stream{}, c.frames...), func(line string) bool { return strings.Contains(line, "unknown call") }); got != c.want {
				t.Error(facts(&event.Stream{}, c.frames...))
			}
		})
	}
}

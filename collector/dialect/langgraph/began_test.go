package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/delegraph/delegraph/collector/event"
)

// nodeEvent is an event of a node of an agent.
func nodeEvent(kind, name, node, namespace, agent, parents, data string) string {
	return frame("events", `{"event":"`+kind+`","name":"`+name+`","run_id":"r","parent_ids":`+parents+`,"data":`+data+`,"metadata":{"langgraph_node":"`+node+`","langgraph_checkpoint_ns":"`+namespace+`","lc_agent_name":"`+agent+`"}}`)
}

// TestBeginningOfAgents checks which frame shows first that an agent works, and its end if no model of it speaks.
func TestBeginningOfAgents(t *testing.T) {
	const within, one, two, three = "a:1|model:2", `["0"]`, `["0","1"]`, `["0","1","2"]`
	ended := frame("tasks", `{"id":"1","name":"a","error":null,"result":{},"interrupts":[]}`)
	const a = `agent="a" branch="a:1" may be root`
	for name, c := range map[string]struct {
		frames []string
		want   []string
	}{
		"a task of its model":              {[]string{startOf("|a:1", "2", "model", "{}", "a")}, []string{"2 tasks " + a, "iteration"}},
		"a task of its hook":               {[]string{startOf("|a:1", "2", "G.before_agent", "{}", "a"), ended}, []string{"2 tasks " + a, "iteration", "3 tasks " + a, "agent_ended"}},
		"a task of a hook after its model": {[]string{startOf("|a:1", "2", "G.after_model", "{}", "a")}, []string{"2 tasks " + a}},
		"a task of its tools":              {[]string{startOf("|a:1", "2", "tools", "{}", "a")}, []string{"2 tasks " + a}},
		"a task of another node":           {[]string{startOf("|a:1", "2", "load", "{}", "a")}, nil},
		"a task of the run's own agent":    {[]string{startOf("", "1", "model", "{}", "a"), startOf("", "1", "tools", "{}", "a")}, []string{`2 tasks agent="a"`}},
		"an event of its node":             {[]string{nodeEvent("on_chain_start", "model", "model", within, "a", three, "{}")}, []string{"2 events " + a, "iteration"}},
		"an event of its model":            {[]string{nodeEvent("on_chat_model_start", "M", "model", within, "a", three, "{}")}, []string{"2 events " + a + " partial", "iteration asks_model"}},
		"an event of its graph":            {[]string{nodeEvent("on_chain_start", "model", "model", "model:1", "a", two, "{}")}, nil},
		"an event of the run's own node":   {[]string{nodeEvent("on_chain_start", "model", "model", "model:1", "a", one, "{}")}, []string{`2 events agent="a"`}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := slices.DeleteFunc(facts(nil, c.frames...), func(line string) bool {
				return !strings.Contains(line, "agent=") && line != "agent_ended" && !strings.HasPrefix(line, "iteration")
			})
			for i, line := range lines {
				lines[i] = strings.TrimSuffix(line, " work left")
			}
			if diff := cmp.Diff(c.want, lines, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestAnswersForAgents lets the code of a node answer in the name of an agent that the node has run, and checks which agent speaks.
func TestAnswersForAgents(t *testing.T) {
	written := by("a", "m1", "sorry")
	update, state := frame("updates", `{"a":{"messages":[`+written+`]}}`), frame("values", `{"messages":[`+written+`]}`)
	began := startOf("|a:1", "2", "model", "{}", "a")
	failed := frame("tasks|a:1", `{"id":"2","name":"model","error":`+raised+`,"result":{},"interrupts":[]}`)
	asked := nodeEvent("on_chat_model_start", "M", "model", "a:1|model:2", "a", `["0","1","2"]`, "{}")
	returned := nodeEvent("on_chain_end", "a", "a", "a:1", "", `["0"]`, `{"input":{"messages":[]},"output":{"messages":[`+written+`]}}`)
	checkpoint := func(messages string) string {
		return frame("checkpoints", `{"values":{"messages":[`+messages+`]},"next":[]}`)
	}
	first, inner := frame("values", `{"messages":[]}`), frame("values|a:1", `{"messages":[]}`)
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"the agent has failed":              {[]string{began, failed, update}, "own"},
		"the agent has failed, in a state":  {[]string{checkpoint(""), began, failed, checkpoint(written)}, "own"},
		"its model has not answered":        {[]string{asked, returned}, "own"},
		"the agent works":                   {[]string{began, update}, "a"},
		"the agent has said nothing":        {[]string{first, inner, state}, "own"},
		"no agent is known":                 {[]string{first, state}, "a"},
		"a node writes in an agent's name":  {[]string{update}, "a"},
		"a model writes in the same manner": {[]string{began, failed, strings.Replace(update, "m1", "lc_run--1", 1)}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := facts(&event.Stream{ConfiguredAgent: "own"}, c.frames...)
			at := slices.Index(lines, `text "sorry"`)
			for ; at >= 0 && !strings.Contains(lines[at], "agent="); at-- {
			}
			if at < 0 || !strings.Contains(lines[at], `agent="`+c.want+`"`) {
				t.Errorf("the text is not of %s:\n%s", c.want, strings.Join(lines, "\n"))
			}
		})
	}
}

// TestWrittenNames checks which messages name an agent that may be none, because the code of a node has written them.
func TestWrittenNames(t *testing.T) {
	write := func(node, id string) string {
		return frame("updates", `{"`+node+`":{"messages":[`+by("x", id, "Hi")+`]}}`)
	}
	returns := frame("updates", `{"n":{"messages":[]}}`)
	for name, c := range map[string]struct {
		frames          []string
		isWritten, ends bool
	}{
		"a node":              {[]string{write("n", "own")}, true, false},
		"a model":             {[]string{write("n", "lc_run--1")}, false, true},
		"an agent's own node": {[]string{write("agent", "own")}, false, false},
		"its graph is shown":  {[]string{speaks("n:1", "x", "1"), write("n", "own")}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(facts(nil, append(c.frames, returns)...), "\n")
			if isWritten, ends := strings.Contains(got, " written\n"), strings.Contains(got, "agent_ended"); isWritten != c.isWritten || ends != c.ends {
				t.Errorf("written: %t, ends: %t\n%s", isWritten, ends, got)
			}
		})
	}
}

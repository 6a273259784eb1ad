package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAgentsOfNodes has nodes of a graph invoke agents whose graphs have no frames, as without stream_subgraphs.
func TestAgentsOfNodes(t *testing.T) {
	announced := func(id, task string) string {
		one := announcedIn(id, task)
		return frame(one.name, one.data)
	}
	inTask := func(message, task, agent string) string {
		return frame("messages", `[`+message+`,{"langgraph_checkpoint_ns":"`+task+`","lc_agent_name":"`+agent+`"}]`)
	}
	task := func(node, id, message string) string {
		return frame("tasks", `{"id":"`+id+`","name":"`+node+`","result":{"messages":[`+message+`]},"interrupts":[]}`)
	}
	a, b, nameless := by("a", "run-1", "x"), by("b", "run-2", "y"), by("", "run-3", "z")
	for name, c := range map[string]struct{ frames, want []string }{
		"updates": {
			[]string{frame("updates", `{"plan":{"messages":[`+a+`]}}`), frame("updates", `{"write":{"messages":[`+b+`]}}`), frame("updates", `{"end":{"messages":[`+nameless+`]}}`)},
			[]string{`2 updates agent="a" branch="plan" may be root`, `3 updates agent="b" branch="write" may be root may be beside`, "4 updates"},
		},
		"tasks": {
			[]string{task("plan", "1", a), task("plan", "2", b), task("end", "3", nameless)},
			[]string{`2 tasks agent="a" branch="plan:1" may be root`, `3 tasks agent="b" branch="plan:2" may be root`, "4 tasks"},
		},
		"messages": {
			[]string{announced("run-1", "plan:1"), frame("messages/complete", `[`+a+`]`), announced("run-3", "end:3"), frame("messages/complete", `[`+nameless+`]`)},
			[]string{"2 messages/metadata partial", `3 messages/complete agent="a" branch="plan:1" may be root`, "4 messages/metadata partial", "5 messages/complete"},
		},
		"messages-tuple": {
			[]string{inTask(a, "plan:1", ""), inTask(b, "write:2", "b"), inTask(nameless, "end:3", "")},
			[]string{`2 messages agent="a" branch="plan:1" may be root`, `3 messages agent="b" branch="write:2" may be root`, "4 messages"},
		},
		"updates, then messages-tuple": {
			[]string{frame("updates", `{"plan":{"messages":[`+a+`]}}`), inTask(by("a", "run-2", ""), "plan:1", "")},
			[]string{`2 updates agent="a" branch="plan" may be root`, `3 messages agent="a" branch="plan" may be root`},
		},
		"an agent": {
			[]string{frame("updates", `{"model":{"messages":[`+a+`]}}`), frame("updates", `{"X.after_model":{"messages":[`+by("a", "run-2", "")+`]}}`), inTask(by("", "run-4", "x"), "model:3", "a")},
			[]string{`2 updates agent="a"`, `3 updates agent="a"`, `4 messages agent="a"`},
		},
		"an older agent":   {[]string{inTask(a, "agent:1", "")}, []string{`2 messages agent="a"`}},
		"the run's answer": {[]string{frame("updates", `{"model":{"messages":[`+a+`]}}`), frame("updates", `{"end":{"messages":[`+by("a", "run-2", "")+`]}}`)}, []string{`2 updates agent="a"`, `3 updates agent="a"`}},
	} {
		isOther := func(line string) bool { return line[0] < '0' || line[0] > '9' }
		if diff := cmp.Diff(c.want, slices.DeleteFunc(facts(nil, c.frames...), isOther)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, strings.TrimSpace(diff))
		}
	}
}

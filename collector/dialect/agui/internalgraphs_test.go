package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// TestWorkWithinInternalGraphs checks that nothing leaves of an agent with another name that an internal agent calls. LangChain's events name
// the graphs around it.
func TestWorkWithinInternalGraphs(t *testing.T) {
	of := func(agent, namespace string) string {
		return `"rawEvent":{"event":"on_x","metadata":{"lc_agent_name":"` + agent + `","langgraph_checkpoint_ns":"` + namespace + `"}}`
	}
	raw := func(agent, namespace string) string {
		return `{"type":"RAW",` + strings.Replace(of(agent, namespace), "rawEvent", "event", 1) + `}`
	}
	const open = `{"type":"TEXT_MESSAGE_START","messageId":"o","role":"assistant"}`
	work := []string{
		begun[0], begun[1], begun[2], begun[3], `{"type":"TEXT_MESSAGE_CONTENT","messageId":"o","delta":"x"}`, `{"type":"STATE_SNAPSHOT","snapshot":{"x":1}}`,
		`{"type":"CUSTOM","name":"n","value":{"x":1}}`,
	}
	internal := raw("internal_x", "tools:1|model:2")
	for name, c := range map[string]struct {
		before, namespace string
		leaves            bool
	}{
		"within":                           {internal, "tools:1|tools:3|model:4", false},
		"the graph itself":                 {internal, "tools:1|tools:3", false},
		"deep within":                      {internal, "tools:1|tools:3|1|model:4|x:5", false},
		"within a second graph":            {raw("internal_x", "tools:1|1|model:2"), "tools:1|1|tools:3|model:4", false},
		"too deep":                         {internal, strings.Repeat("n:1|", 100) + "model:4", false},
		"the tool around":                  {internal, "tools:1", true},
		"beside":                           {internal, "tools:2|model:4", true},
		"beside, of the same tool":         {internal, "tools:1|1|model:4", true},
		"beside a second of the same tool": {raw("internal_x", "tools:1|1|model:2"), "tools:1|model:4", true},
		"of an ordinary agent":             {raw("writer", "tools:1|model:2"), "tools:1|tools:3|model:4", true},
		"in no graph":                      {internal, "", true},
	} {
		for _, frame := range work {
			frame := with(of("helper", c.namespace))(frame)
			if got := last(filterFrames(t, allSettings[0], run, open, c.before, frame)); (got == withheld) == c.leaves {
				t.Errorf("%s: %s leaves as %s", name, frame, got)
			}
		}
	}
}

// TestWorkWithinWithheldCalls checks that nothing leaves of an agent that a withheld call makes work.
func TestWorkWithinWithheldCalls(t *testing.T) {
	const named = `"rawEvent":{"metadata":{"lc_agent_name":"helper"}}`
	call := toolCall("c", "task", `{"subagent_type":"helper"}`, "x")
	marked := append([]string{evasions["kind"](call[0])}, call[1:]...)
	for name, c := range map[string]struct {
		before []string
		leaves bool
	}{
		"a call":                  {call[:3], true},
		"a withheld call":         {marked[:3], false},
		"an ended withheld call":  {marked, true},
		"another's withheld call": {append(slices.Clone(marked[:1]), strings.Replace(call[1], "helper", "writer", 1), call[2]), true},
	} {
		before := append([]string{run}, c.before...)
		for _, frame := range begun[1:7] {
			for _, frame := range []string{frame, with(named)(frame)} {
				isOther := name == "another's withheld call" && !strings.Contains(frame, "helper") // it is as good as the writer's
				if got := last(filterFrames(t, allSettings[0], append(slices.Clone(before), frame)...)); (got == withheld) == (c.leaves && !isOther) {
					t.Errorf("%s: %s leaves as %s", name, frame, got)
				}
			}
		}
	}
}

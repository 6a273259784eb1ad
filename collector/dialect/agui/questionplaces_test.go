package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// TestQuestionsOfInternalWork checks that the question of an internal agent or node does not leave. Only an event of LangChain says where it
// was asked.
func TestQuestionsOfInternalWork(t *testing.T) {
	works := func(agent, namespace string) string {
		return `{"type":"RAW","event":{"event":"on_chain_start","metadata":{"lc_agent_name":"` + agent + `","langgraph_checkpoint_ns":"` + namespace + `"}}}`
	}
	begins := func(agent, namespace string) string { // an event of the agent's graph itself
		return strings.Replace(works(agent, namespace), `"on_chain_start"`, `"on_chain_start","name":"`+agent+`"`, 1)
	}
	hidden := toolCall("c", "task", `{"subagent_type":"internal_x"}`, "")[:2:2]
	asks := func(graph string) string {
		return `{"type":"RAW","event":{"event":"on_chain_stream","metadata":{"lc_agent_name":"boss"},"data":{"chunk":[[` + graph + `],{"__interrupt__":[{"value":{"question":"CANARY?"},"id":"i1"}]}]}}}`
	}
	step := func(kind, name string) string { return `{"type":"STEP_` + kind + `","stepName":"` + name + `"}` }
	custom := `{"type":"CUSTOM","rawEvent":{"value":{"question":"CANARY?"},"id":"i1"},"name":"on_interrupt","value":"{\"question\": \"CANARY?\"}"}`
	end := `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"x","message":"CANARY?"}]}}`
	for name, c := range map[string]struct {
		sent   []string
		leaves bool
	}{
		"of an internal agent":                  {[]string{works("internal_x", "tools:1|model:2"), asks(`"tools:1"`)}, false},
		"of an internal agent, repeated":        {[]string{works("internal_x", "tools:1|model:2"), asks(`"tools:1"`), asks("")}, false},
		"within an internal agent":              {[]string{works("internal_x", "tools:1|model:2"), asks(`"tools:1","tools:3"`)}, false},
		"of an internal node's graph":           {[]string{asks(`"node:1","internal_node:2"`)}, false},
		"of an internal node":                   {[]string{step("STARTED", "internal_node"), asks(""), step("FINISHED", "internal_node")}, false},
		"in too many graphs":                    {[]string{asks(strings.Repeat(`"node:1",`, 100) + `"node:1"`)}, false},
		"beside an internal agent":              {[]string{works("internal_x", "tools:1|model:2"), asks(`"tools:2"`)}, true},
		"around an internal agent":              {[]string{works("internal_x", "tools:1|tools:2|model:3"), asks(`"tools:1"`)}, true},
		"around an internal agent's graph":      {[]string{begins("internal_x", "tools:1|tools:2"), asks(`"tools:1"`)}, true},
		"around an ordinary agent's graph":      {append(hidden, begins("writer", "tools:1|tools:2"), asks(`"tools:1"`)), false},
		"of a graph without an agent":           {append(hidden, works("", "tools:1|model:2"), asks(`"tools:1"`)), false},
		"in an internal agent's event":          {[]string{strings.Replace(asks(""), "boss", "internal_x", 1)}, false},
		"of an ordinary node":                   {[]string{step("STARTED", "node"), asks("")}, true},
		"beside an internal node":               {[]string{step("STARTED", "internal_node"), asks(`"node:1"`), asks("")}, true},
		"of an ordinary node after an internal": {[]string{step("STARTED", "internal_node"), step("FINISHED", "internal_node"), asks("")}, true},
	} {
		got := filterFrames(t, allSettings[0], append(append([]string{run}, c.sent...), custom, end)...)
		if text := strings.Join(got[len(got)-2:], ""); strings.Count(text, "CANARY") > 0 != c.leaves || c.leaves && slices.Contains(got[len(got)-2:], withheld) {
			t.Errorf("a question %s: %q", name, got[len(got)-2:])
		}
	}
}

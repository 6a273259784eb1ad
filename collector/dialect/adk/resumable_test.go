package adk

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestWorkflowRecords checks that what a resumable workflow stores is no work of an agent or of a step, and that no checkpoint is an
// answer. The place and the facts are those of the last frame.
func TestWorkflowRecords(t *testing.T) {
	const (
		states = `"nodeInfo":{"path":""},"actions":{"agentState":{"nodes":{"s":{"status":2,"interrupts":[]}}}}`
		over   = `"nodeInfo":{"path":""},"actions":{"endOfAgent":true}`
		stored = `"output":"x","nodeInfo":{"path":"a@1/s@1"}`
		step   = ` place="/a@1:workflow/s@1:function"`
		agent  = ` place="-/a?"`
	)
	for _, c := range []struct {
		name   string
		frames []string
		place  string
		facts  string
	}{
		{"the states of the nodes", []string{states}, "", "other"},
		{"the states in snake case", []string{`"node_info":{"path":""},"actions":{"agent_state":{"nodes":{}}}`}, "", "other"},
		{"the end after the states", []string{states, over}, "", "other"},
		{"the end in snake case", []string{states, `"node_info":{"path":""},"actions":{"end_of_agent":true}`}, "", "other"},
		{"a stored output", []string{stored}, "", "other"},
		{"the end after a stored output", []string{stored, over}, "", "other"},
		{"the states with a changed state", []string{strings.Replace(states, `"agentState"`, `"stateDelta":{"k":1},"agentState"`, 1)}, "", "state; other"},
		{"the output of a step that ran", []string{`"output":"x","nodeInfo":{"path":"a@1/s@1","outputFor":["a@1/s@1"]}`}, step, "final"},
		{"the output of a step in JavaScript", []string{`"output":"x","nodeInfo":{"path":"a.s"}`}, ` place="/a:workflow/s:function"`, "final"},
		{"an output with content", []string{stored + "," + parts(hi)}, step, `text "hi"; final`},
		{"an output with an error", []string{stored + "," + raised}, step, agentRaised},
		{"the end of an agent", []string{over}, agent, "other"},
		{"the end of a node", []string{states, `"nodeInfo":{"path":"a@1"},"actions":{"endOfAgent":true}`}, ` place="/a@1"`, "other"},
		{"the state of an agent", []string{`"nodeInfo":{"path":""},"actions":{"agentState":{"current_sub_agent":"b"}}`}, ` place="-/a:container"`, "other"},
		{"a state with other members", []string{`"nodeInfo":{"path":""},"actions":{"agentState":{"nodes":{},"x":1}}`}, ` place="-/a:container"`, "other"},
		{"a text with the end", []string{over + "," + parts(hi)}, agent, `text "hi"; final`},
		{"an error after the states", []string{states, `"nodeInfo":{"path":""},` + raised}, agent, modelRaised},
	} {
		t.Run(c.name, func(t *testing.T) {
			var frames []string
			for _, members := range c.frames {
				frames = append(frames, by(members+`,"id":"x"`))
			}
			headers, facts := headersOf(&event.Stream{}, frames...), strings.Split(factsOf(&event.Stream{}, frames...), "\n")
			_, place, _ := strings.Cut(headers[len(headers)-1], `agent="a"`)
			if place != c.place || facts[len(facts)-1] != c.facts {
				t.Errorf("%s %s, want %s %s", place, facts[len(facts)-1], c.place, c.facts)
			}
		})
	}
}

// TestWorkflowsOfOtherRuns checks that a workflow's name may be an agent's in another run of a recording.
func TestWorkflowsOfOtherRuns(t *testing.T) {
	event1 := `{"invocationId":"e-1","author":"a","nodeInfo":{"path":""},"actions":{"agentState":{"nodes":{}}}}`
	event2 := `{"invocationId":"e-2","author":"a","nodeInfo":{"path":""},"actions":{"endOfAgent":true}}`
	if got := headersOf(&event.Stream{}, event1, event2)[1]; !strings.Contains(got, `place="-/a?"`) {
		t.Error(got)
	}
}

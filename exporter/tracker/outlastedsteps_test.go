package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestOutlastedSteps checks that a call that outlasts its step does not extend the step.
func TestOutlastedSteps(t *testing.T) {
	step := func(facts ...fact) *event.Batch {
		return says("", append([]fact{lane("s:1"), func(b *event.Batch) { b.Step = "s" }}, facts...)...)
	}
	outer := func(facts ...fact) *event.Batch {
		return says("", append([]fact{lane("u:1"), func(b *event.Batch) { b.Step = "u" }}, facts...)...)
	}
	fails := func(b *event.Batch) { b.Add(event.KindAgentEnded).Error = event.AgentError }
	begun := []*event.Batch{says("", text), step(starts), step(calls("c", "tool")), says("sub", at("s:2", "c", "s:1"), text)}
	unknown := func(b *event.Batch) { b.AgentUnknown = true }
	tell(t, []story{
		{"a call goes on", proxied(), append(begun[:4:4], step(ends), says("sub", at("s:2", "c", "s:1"), text), step(returns("c", "tool")), says("", text, final, runEnds)), `
completed
invoke_workflow app ok 0-9
  invoke_node s ok 2-5
  execute_tool tool ok 3-7
    invoke_agent sub ok 4-6`},
		{"a call is interrupted with its step", proxied(), append(begun[:4:4], step(fails), says("", text, final, runEnds)), `
completed
invoke_workflow app ok 0-7
  invoke_node s error agent_error 2-5
    execute_tool tool unfinished 3-5
      invoke_agent sub unfinished 4-4`},
		{"a step around has ended before", proxied(), []*event.Batch{says("", text), outer(starts), step(around("u:1"), starts), step(calls("c", "tool")), outer(ends), step(ends), step(returns("c", "tool")), says("", text, final, runEnds)}, `
completed
invoke_workflow app ok 0-9
  invoke_node u ok 2-6
    invoke_node s ok 3-6
  execute_tool tool ok 4-7`},
		{"an unknown agent calls then", proxied(), append(begun[:4:4], step(ends), says("", at("", "", "s:1"), unknown, calls("d", "other")), says("", returns("d", "other")), step(returns("c", "tool")), says("", text, final, runEnds)), `
completed
invoke_workflow app ok 0-10
  invoke_node s ok 2-5
  execute_tool tool ok 3-8
    invoke_agent sub ok 4-4
  execute_tool other ok 6-7`},
	})
}

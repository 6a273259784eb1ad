package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestBesideFirstAgent takes the first agent for the root, and checks which frames show that something runs beside it.
func TestBesideFirstAgent(t *testing.T) {
	unnamed := proxied()
	unnamed.App = ""
	a := func(facts ...fact) *event.Batch { return says("a", append([]fact{mayBeRoot("a:1")}, facts...)...) }
	step := func(b *event.Batch) { b.Branch, b.Step = "s:1", "s" }
	tell(t, []story{
		{"a step", unnamed, []*event.Batch{a(responds("m"), final), says("own", step, text, final)}, `
completed
invoke_workflow  ok 0-3
  invoke_agent a ok 0-1
    chat m ok 0-1
  invoke_node s ok 2-2`},
		{"an agent after the run itself", unnamed, []*event.Batch{a(responds("m"), final), says("own", text), says("b", lane("b:1"), responds("n"), final)}, `
completed
invoke_workflow  ok 0-4
  invoke_agent a ok 0-1
    chat m ok 0-1
  invoke_agent b ok 2-3
    chat n ok 2-3`},
		{"a step of the agent", unnamed, []*event.Batch{a(responds("m")), says("a", at("s:1", "", "a:1"), step, text, final)}, `
completed
invoke_agent a ok 0-3
  chat m ok 0-1
  invoke_node s ok 2-2`},
		{"the agent in another branch", unnamed, []*event.Batch{a(responds("m"), final), says("a", lane("a:2"), responds("n"), final)}, `
completed
invoke_agent a ok 0-3
  chat m ok 0-1
  invoke_agent a ok 1-2
    chat n ok 1-2`},
		{"an answer in its place", unnamed, []*event.Batch{a(partial, asksModel), says("own", text, final)}, `
completed
invoke_agent own ok 0-3
  invoke_agent a unfinished 0-1`},
		{"a text while it works", unnamed, []*event.Batch{a(partial, asksModel), a(responds("m")), says("own", text, final)}, `
completed
invoke_agent a ok 0-4
  chat m ok 0-2`},
		{"something after its end fails", unnamed, []*event.Batch{a(responds("m"), final), a(ends), says("", fails)}, `
failed, error_frame
invoke_workflow  error agent_error 0-4
  invoke_agent a ok 0-2
    chat m ok 0-1`},
		{"something after its end with a call fails", unnamed, []*event.Batch{a(responds("m"), calls("c", "tool")), a(returns("c", "tool"), settles), a(ends), says("", fails)}, `
failed, error_frame
invoke_workflow  error agent_error 0-5
  invoke_agent a ok 0-3
    chat m ok 0-1
    execute_tool tool ok 1-2`},
		{"it goes on after its end, and fails", unnamed, []*event.Batch{a(responds("m"), final), a(ends), a(text), says("", fails)}, `
failed, error_frame
invoke_agent a error agent_error 0-5
  chat m ok 0-1`},
		{"its model fails", unnamed, []*event.Batch{a(responds("m"), final), says("b", mayBeRoot("b:1"), partial, asksModel), says("", fails)}, `
failed, error_frame
invoke_workflow  error agent_error 0-4
  invoke_agent a ok 0-1
    chat m ok 0-1
  invoke_agent b error agent_error 2-3`},
	})
}

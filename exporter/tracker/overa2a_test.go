package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// overA2A returns a frame of ADK over A2A, which has a branch, but no path and no mark of a final answer.
func overA2A(agent, branch string, facts ...fact) *event.Batch {
	b := says(agent)
	b.Branch, b.Place = branch, new(wire.Places).Of(wire.Speaker{Author: agent, Branch: branch, FinalsUnmarked: true})
	for _, add := range facts {
		add(b)
	}
	return b
}

// replies adds a whole model response that the protocol does not mark as final.
func replies(b *event.Batch) { responds("m")(b); text(b) }

// TestInvocationsOverA2A checks that each invocation is an operation where frames have no path and no mark of a final answer.
func TestInvocationsOverA2A(t *testing.T) {
	unnamed := proxied()
	unnamed.App = ""
	tell(t, []story{
		{"rounds of one agent", proxied(), []*event.Batch{overA2A("w", "", replies), overA2A("w", "", replies), overA2A("w", "", replies, final)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent w ok 0-1
    chat m ok 0-1
  invoke_agent w ok 1-2
    chat m ok 1-2
  invoke_agent w ok 2-3
    chat m ok 2-3`},
		{"rounds in pieces, of which only the last has usage", proxied(), []*event.Batch{
			overA2A("w", "", text), overA2A("w", "", replies), overA2A("c", "", text), overA2A("c", "", replies),
			overA2A("w", "", text), overA2A("w", "", replies), overA2A("c", "", text), overA2A("c", "", replies, final)}, `
completed
invoke_workflow app ok 0-9
  invoke_agent w ok 0-2
    chat m ok 1-2
  invoke_agent c ok 2-4
    chat m ok 3-4
  invoke_agent w ok 4-6
    chat m ok 4-6
  invoke_agent c ok 6-8
    chat m ok 6-8`},
		{"a text of a callback between the rounds of one agent", proxied(), []*event.Batch{
			overA2A("w", "", replies), overA2A("w", "", text), overA2A("w", "", replies), overA2A("w", "", text, final)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent w ok 0-1
    chat m ok 0-1
  invoke_agent w ok 1-4
    chat m ok 1-3`},
		{"a response that asks is not final", proxied(), []*event.Batch{overA2A("w", "", replies, asks("q", event.InputData)), overA2A("w", "", answers("q"), concludes)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent w ok 0-2
    chat m ok 0-1
    chat m ok 1-2`},
		{"rounds of a parallel agent that the run began with", unnamed, []*event.Batch{
			overA2A("a", "p.a", replies), overA2A("a", "p.a", replies), overA2A("a", "p.a", replies, final)}, `
completed
invoke_workflow  ok 0-4
  invoke_agent p ok 0-1
    invoke_agent a ok 0-1
      chat m ok 0-1
  invoke_agent p ok 1-2
    invoke_agent a ok 1-2
      chat m ok 1-2
  invoke_agent p ok 2-3
    invoke_agent a ok 2-3
      chat m ok 2-3`},
		{"rounds of a parallel agent and another", unnamed, []*event.Batch{
			overA2A("a", "p.a", replies), overA2A("w", "", replies), overA2A("a", "p.a", replies), overA2A("w", "", replies, final)}, `
completed
invoke_workflow  ok 0-5
  invoke_agent p ok 0-1
    invoke_agent a ok 0-1
      chat m ok 0-1
  invoke_agent w ok 1-2
    chat m ok 1-2
  invoke_agent p ok 2-3
    invoke_agent a ok 2-3
      chat m ok 2-3
  invoke_agent w ok 3-4
    chat m ok 3-4`},
		{"rounds of a parallel agent of which a child is a container", unnamed, []*event.Batch{
			overA2A("a", "p.s", replies), overA2A("b", "p.s", replies), overA2A("w", "", replies), overA2A("a", "p.s", replies), overA2A("b", "p.s", replies, final)}, `
completed
invoke_workflow  ok 0-6
  invoke_agent p ok 0-2
    invoke_agent s ok 0-2
      invoke_agent a ok 0-1
        chat m ok 0-1
      invoke_agent b ok 1-2
        chat m ok 1-2
  invoke_agent w ok 2-3
    chat m ok 2-3
  invoke_agent p ok 3-5
    invoke_agent s ok 3-5
      invoke_agent a ok 3-4
        chat m ok 3-4
      invoke_agent b ok 4-5
        chat m ok 4-5`},
		{"rounds of a loop in a parallel agent", unnamed, []*event.Batch{
			overA2A("w", "", replies), overA2A("a", "p.s", replies), overA2A("a", "p.s", replies, final)}, `
completed
invoke_workflow  ok 0-4
  invoke_agent w ok 0-1
    chat m ok 0-1
  invoke_agent p ok 1-3
    invoke_agent s ok 1-3
      invoke_agent a ok 1-2
        chat m ok 1-2
      invoke_agent a ok 2-3
        chat m ok 2-3`},
		{"by calls", unnamed, []*event.Batch{
			overA2A("boss", "", responds("m"), calls("c1", "kid"), calls("c2", "kid")), overA2A("kid", "kid@c1", replies), overA2A("kid", "kid@c2", replies),
			overA2A("boss", "", returns("c1", "kid"), returns("c2", "kid")), overA2A("boss", "", concludes)}, `
completed
invoke_agent boss ok 0-6
  chat m ok 0-1
  execute_tool kid ok 1-2
    invoke_agent kid ok 1-2
      chat m ok 1-2
  execute_tool kid ok 1-3
    invoke_agent kid ok 1-3
      chat m ok 1-3
  chat m ok 4-5`},
	})
}

// TestFailuresOverA2A checks which operation an error without an agent hits.
func TestFailuresOverA2A(t *testing.T) {
	unnamed, named := proxied(), proxied()
	unnamed.App, named.App = "", "a"
	first := `
  invoke_agent a ok 0-1
    chat m ok 0-1`
	beside := func(b *event.Batch) { fails(b); b.Events[len(b.Events)-1].Beside = true }
	inArtifact := func(b *event.Batch) { b.Place = new(wire.Places).Of(wire.Speaker{Author: "a"}) }
	parallel := func() *event.Batch { return overA2A("a", "p.a", replies) }
	tell(t, []story{
		{"another agent than the first, which has answered", unnamed, []*event.Batch{overA2A("a", "", replies), says("", fails)}, `
failed, error_frame
invoke_workflow  error agent_error 0-3` + first},
		{"the same, by the error of a workflow", unnamed, []*event.Batch{overA2A("a", "", replies), says("", errorCode), says("", fails)}, `
failed, error_frame
invoke_workflow  error agent_error 0-4` + first},
		{"the same in a round of a loop", unnamed, []*event.Batch{overA2A("a", "", replies), overA2A("a", "", replies), says("", fails)}, `
failed, error_frame
invoke_workflow  error agent_error 0-4` + first + `
  invoke_agent a ok 1-2
    chat m ok 1-2`},
		{"another agent than the first was canceled", unnamed, []*event.Batch{overA2A("a", "", replies), says("", gaveUp)}, `
canceled, agent_canceled
invoke_workflow  unfinished canceled 0-3` + first},
		{"the same, if only the error shows it", unnamed, []*event.Batch{says("a", inArtifact, replies), says("", beside)}, `
failed, error_frame
invoke_workflow  error agent_error 0-3` + first},
		{"the agent that the request names", named, []*event.Batch{overA2A("a", "", replies), says("", fails)}, `
failed, error_frame
invoke_agent a error agent_error 0-3
  chat m ok 0-1`},
		{"an agent that has not answered", unnamed, []*event.Batch{overA2A("a", "", responds("m"), calls("c", "tool")), says("", fails)}, `
failed, error_frame
invoke_agent a error agent_error 0-3
  chat m ok 0-1
  execute_tool tool unfinished 1-3`},
		{"the target of a transfer, after the root's answer", unnamed, []*event.Batch{overA2A("a", "", replies, handsOver("", "b")), says("", fails)}, `
failed, error_frame
invoke_agent a error agent_error 0-3
  invoke_agent b error agent_error 1-?
  chat m ok 0-1`},
		{"the target of a transfer fails, and the task completes", named, []*event.Batch{overA2A("a", "", replies, handsOver("", "b")), overA2A("b", "", errorCode), says("", runEnds)}, `
completed
invoke_agent a ok 0-4
  invoke_agent b error agent_error 1-2
  chat m ok 0-1`},
		{"a parallel agent of which one agent has spoken", proxied(), []*event.Batch{parallel(), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-3
  invoke_agent p error agent_error 0-1
    invoke_agent a ok 0-1
      chat m ok 0-1`},
		{"a parallel agent of which another agent has not answered", proxied(), []*event.Batch{overA2A("b", "p.b", responds("m"), calls("c", "tool")), parallel(), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-4
  invoke_agent p error agent_error 0-4
    invoke_agent b unfinished 0-4
      chat m ok 0-1
      execute_tool tool unfinished 1-4
    invoke_agent a ok 0-2
      chat m ok 0-2`},
		{"not a parallel agent that may have ended", proxied(), []*event.Batch{overA2A("b", "p.b", replies), parallel(), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-4
  invoke_agent p ok 0-2
    invoke_agent b ok 0-1
      chat m ok 0-1
    invoke_agent a ok 0-2
      chat m ok 0-2`},
	})
}

// TestWorkersOverA2A checks that the parallel workers of a node begin together.
func TestWorkersOverA2A(t *testing.T) {
	unnamed := proxied()
	unnamed.App = ""
	tell(t, []story{{"workers", unnamed, []*event.Batch{
		overA2A("w", "w@1", replies), overA2A("w", "w@2", replies), overA2A("w", "w@3", replies), overA2A("next", "", replies, final)}, `
completed
invoke_workflow  ok 0-5
  invoke_agent w ok 0-1
    chat m ok 0-1
  invoke_agent w ok 0-2
    chat m ok 0-2
  invoke_agent w ok 0-3
    chat m ok 0-3
  invoke_agent next ok 3-4
    chat m ok 3-4`}})
}

// TestCallerWaits checks that an agent waits if an agent that it called waits.
func TestCallerWaits(t *testing.T) {
	asksIn := func(more ...fact) *event.Batch {
		return at2("sub", "app@1/boss@1/sub@1", "sub@t1", append(more, responds("m"), asks("q", event.InputConfirmation))...)
	}
	calls := func() *event.Batch { return at2("boss", "app@1/boss@1", "", responds("m"), calls("t1", "sub")) }
	inTask := task("sub", "app@1/boss@1/sub@t1", "sub@t1", "t1", responds("m"), asks("q", event.InputConfirmation))
	tell(t, []story{
		{"by a tool", proxied(), []*event.Batch{calls(), asksIn()}, `
interrupted, awaiting_input
invoke_workflow app interrupted 0-3
  invoke_agent boss interrupted 0-2
    chat m ok 0-1
    execute_tool sub interrupted 1-2
      invoke_agent sub interrupted 1-2
        chat m ok 1-2`},
		{"as a task", proxied(), []*event.Batch{calls(), inTask}, `
interrupted, awaiting_input
invoke_workflow app interrupted 0-3
  invoke_agent boss interrupted 0-2
    invoke_agent sub interrupted 1-2
      chat m ok 1-2
    chat m ok 0-1`},
	})
}

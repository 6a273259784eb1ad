package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// concludes adds a whole, final model response.
func concludes(b *event.Batch) { responds("m")(b); text(b); final(b) }

// gives marks a frame as the output of its agent.
func gives(b *event.Batch) { b.Output = true }

// at2 returns a frame of ADK 2, whose path names the containers of the agent.
func at2(agent, path, branch string, facts ...fact) *event.Batch {
	return says(agent, append([]fact{streamRun(path, branch)}, facts...)...)
}

// atRoot returns a frame of ADK 1 without a branch.
func atRoot(agent string, facts ...fact) *event.Batch { return at2(agent, "", "", facts...) }

// TestRoots checks the kind and name of the root operation.
func TestRoots(t *testing.T) {
	unnamed := proxied()
	unnamed.App = ""
	tell(t, []story{
		{"the agent that has the application's name", proxied(), []*event.Batch{at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-2
  chat m ok 0-1`},
		{"the application above an agent of another name", proxied(), []*event.Batch{at2("boss", "boss@1", "", concludes)}, `
completed
invoke_workflow app ok 0-2
  invoke_agent boss ok 0-1
    chat m ok 0-1`},
		{"a parallel agent with the application's name that others follow", proxied(), []*event.Batch{at2("a", "", "app.a", concludes), at2("b", "", "app.b", concludes), atRoot("merge", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent app ok 0-2
    invoke_agent a ok 0-1
      chat m ok 0-1
    invoke_agent b ok 0-2
      chat m ok 0-2
  invoke_agent merge ok 2-3
    chat m ok 2-3`},
		{"a parallel agent with the application's name that speaks itself", proxied(), []*event.Batch{at2("a", "", "app.a", concludes), atRoot("app", text, final)}, `
completed
invoke_agent app ok 0-3
  invoke_agent a ok 0-1
    chat m ok 0-1`},
		{"the agent where there is no application", unnamed, []*event.Batch{atRoot("boss", concludes)}, `
completed
invoke_agent boss ok 0-2
  chat m ok 0-1`},
		{"the application where a plugin answers for it", proxied(), []*event.Batch{says("", text, final, func(b *event.Batch) { b.Place = &event.Place{Root: event.RootSilent} })}, `
completed
invoke_workflow app ok 0-2`},
		{"the application where the root never speaks", proxied(), []*event.Batch{at2("planner", "-", "", concludes)}, `
completed
invoke_workflow app ok 0-2
  invoke_agent planner ok 0-1
    chat m ok 0-1`},
		{"a workflow where agents follow one another", unnamed, []*event.Batch{atRoot("planner", concludes), atRoot("writer", concludes)}, `
completed
invoke_workflow  ok 0-3
  invoke_agent planner ok 0-1
    chat m ok 0-1
  invoke_agent writer ok 1-2
    chat m ok 1-2`},
		{"a workflow where an agent follows parallel ones", unnamed, []*event.Batch{at2("p1", "-", "fan.p1", concludes), at2("p2", "-", "fan.p2", concludes), at2("merge", "-", "", concludes)}, `
completed
invoke_workflow  ok 0-4
  invoke_agent fan ok 0-2
    invoke_agent p1 ok 0-1
      chat m ok 0-1
    invoke_agent p2 ok 0-2
      chat m ok 0-2
  invoke_agent merge ok 2-3
    chat m ok 2-3`},
		{"the agent that speaks by the application's name", proxied(), []*event.Batch{at2("a", "-", "", concludes), at2("app", "-", "", text, final)}, `
completed
invoke_agent app ok 0-3
  invoke_agent a ok 0-1
    chat m ok 0-1`},
	})
}

// TestInvocations checks that each invocation is an operation.
func TestInvocations(t *testing.T) {
	tell(t, []story{
		{"rounds of a loop", proxied(), []*event.Batch{
			at2("w", "-", "", concludes), at2("c", "-", "", concludes), at2("w", "-", "", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent w ok 0-1
    chat m ok 0-1
  invoke_agent c ok 1-2
    chat m ok 1-2
  invoke_agent w ok 2-3
    chat m ok 2-3`},
		{"rounds of one agent", proxied(), []*event.Batch{at2("w", "-", "", concludes), at2("w", "-", "", concludes)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent w ok 0-1
    chat m ok 0-1
  invoke_agent w ok 1-2
    chat m ok 1-2`},
		{"after another's turn, without a final answer", proxied(), []*event.Batch{
			at2("w", "-", "", responds("m"), calls("c", "tool")), at2("w", "-", "", returns("c", "tool"), settles), at2("x", "-", "", concludes), at2("w", "-", "", concludes)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent w ok 0-2
    chat m ok 0-1
    execute_tool tool ok 1-2
  invoke_agent x ok 2-3
    chat m ok 2-3
  invoke_agent w ok 3-4
    chat m ok 3-4`},
		{"a response after a tool's is of the same", proxied(), []*event.Batch{
			at2("w", "-", "", responds("m"), calls("c", "tool")), at2("w", "-", "", returns("c", "tool")), at2("w", "-", "", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent w ok 0-3
    chat m ok 0-1
    execute_tool tool ok 1-2
    chat m ok 2-3`},
		{"control that comes back from another of the same name", proxied(), []*event.Batch{
			atRoot("boss", responds("m"), handsOver("", "expert")), atRoot("expert", responds("m"), handsOver("", "boss")), atRoot("boss", concludes),
			atRoot("expert"), atRoot("expert", concludes), atRoot("boss"), atRoot("boss", concludes)}, `
completed
invoke_workflow app ok 0-8
  invoke_agent boss ok 0-7
    invoke_agent expert ok 1-5
      invoke_agent boss ok 2-3
        chat m ok 2-3
      chat m ok 1-2
      chat m ok 4-5
    chat m ok 0-1
    chat m ok 6-7`},
		{"another round of an agent for which another answered", proxied(), []*event.Batch{
			atRoot("lead", responds("m"), handsOver("", "expert")), atRoot("expert", concludes),
			atRoot("lead", responds("m"), handsOver("", "expert")), atRoot("expert", concludes)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent lead ok 0-2
    invoke_agent expert ok 1-2
      chat m ok 1-2
    chat m ok 0-1
  invoke_agent lead ok 2-4
    invoke_agent expert ok 3-4
      chat m ok 3-4
    chat m ok 2-3`},
		{"rounds of a parallel agent", proxied(), []*event.Batch{
			at2("a", "-", "p.a", concludes), at2("b", "-", "p.b", concludes), at2("a", "-", "p.a", concludes), at2("b", "-", "p.b", concludes)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent p ok 0-2
    invoke_agent a ok 0-1
      chat m ok 0-1
    invoke_agent b ok 0-2
      chat m ok 0-2
  invoke_agent p ok 2-4
    invoke_agent a ok 2-3
      chat m ok 2-3
    invoke_agent b ok 2-4
      chat m ok 2-4`},
		{"as the path counts them", proxied(), []*event.Batch{at2("app", "app@1", "", responds("m"), handsOver("", "kid")),
			at2("kid", "app@1/kid@1", "", responds("m"), handsOver("", "app")), at2("app", "app@2", "", concludes)}, `
completed
invoke_agent app ok 0-4
  invoke_agent kid ok 1-2
    chat m ok 1-2
  chat m ok 0-1
  invoke_agent app ok 2-3
    chat m ok 2-3`},
		{"rounds that end with a text of no model", proxied(), []*event.Batch{at2("w", "-", "", text, final), at2("w", "-", "", concludes)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent w ok 0-1
  invoke_agent w ok 1-2
    chat m ok 1-2`},
		{"a container that is tried again", proxied(), []*event.Batch{at2("a", "app@1/pair@1", "", concludes),
			at2("a", "app@1/pair@1", "", errorCode), at2("a", "app@1/pair@1", "", concludes), at2("app", "app@1/store@1", "", gives, final)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent pair error agent_error 0-2
    invoke_agent a ok 0-2
      chat m ok 0-1
  invoke_agent pair ok 2-3
    invoke_agent a ok 2-3
      chat m ok 2-3
  invoke_node store ok 3-4`},
		{"a task within a task", proxied(), []*event.Batch{
			at2("app", "app@1", "", responds("m"), calls("c1", "kid")), task("kid", "app@1/kid@c1", "kid@c1", "c1", responds("m"), calls("c2", "aide")),
			task("aide", "app@1/kid@c1/aide@c2", "kid@c1.aide@c2", "c2", concludes, gives), says("", returns("c2", "aide")),
			task("kid", "app@1/kid@c1", "kid@c1", "c1", concludes, gives), says("", returns("c1", "kid")), at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-8
  invoke_agent kid ok 1-3
    invoke_agent aide ok 2-3
      chat m ok 2-3
    chat m ok 1-2
  chat m ok 0-1
  invoke_agent kid ok 3-5
    chat m ok 3-5
  invoke_agent app ok 6-7
    chat m ok 6-7`},
		{"a step that is tried again", proxied(), []*event.Batch{
			at2("app", "app@1/flaky@1", "", errorCode), at2("app", "app@1/flaky@1", "", gives, final)}, `
completed
invoke_workflow app ok 0-3
  invoke_node flaky error agent_error 0-1
  invoke_node flaky ok 1-2`},
	})
}

// TestContainers checks that containers are operations.
func TestContainers(t *testing.T) {
	transfer := []*event.Batch{at2("boss", "boss@1", "", responds("m"), handsOver("", "pipe"))}
	tell(t, []story{
		{"by a path of JavaScript", proxied(), []*event.Batch{
			at2("deep", "app.inner.deep", "", concludes, gives), at2("a", "app.a", "a@1", responds("m")), at2("b", "app.b", "b@1", concludes), at2("a", "app.a", "a@1", concludes)}, `
completed
invoke_workflow app ok 0-5
  invoke_workflow inner ok 0-1
    invoke_agent deep ok 0-1
      chat m ok 0-1
  invoke_agent a ok 1-4
    chat m ok 1-2
    chat m ok 2-4
  invoke_agent b ok 1-3
    chat m ok 1-3`},
		{"by the path", proxied(), []*event.Batch{at2("deep", "app@1/inner@1/deep@1", "", concludes, gives)}, `
completed
invoke_workflow app ok 0-2
  invoke_workflow inner ok 0-1
    invoke_agent deep ok 0-1
      chat m ok 0-1`},
		{"by the branch", proxied(), []*event.Batch{at2("a", "-", "p.a", concludes), at2("b", "-", "p.b", concludes)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent p ok 0-2
    invoke_agent a ok 0-1
      chat m ok 0-1
    invoke_agent b ok 0-2
      chat m ok 0-2`},
		{"by a transfer", proxied(), append(transfer, at2("s1", "boss@1/pipe@1", "", concludes), at2("s2", "boss@1/pipe@1", "", concludes)), `
completed
invoke_workflow app ok 0-4
  invoke_agent boss ok 0-3
    invoke_agent pipe ok 1-3
      invoke_agent s1 ok 1-2
        chat m ok 1-2
      invoke_agent s2 ok 2-3
        chat m ok 2-3
    chat m ok 0-1`},
		{"by a transfer, without a path", proxied(), []*event.Batch{atRoot("boss", responds("m"), handsOver("", "pipe")), atRoot("s1", concludes), at2("p1", "", "par.p1", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent boss ok 0-3
    invoke_agent pipe ok 1-3
      invoke_agent s1 ok 1-2
        chat m ok 1-2
      invoke_agent par ok 2-3
        invoke_agent p1 ok 2-3
          chat m ok 2-3
    chat m ok 0-1`},
		{"whose branch stays on what follows", proxied(), append(transfer, at2("p1", "boss@1/pipe@1", "par.p1", concludes), at2("s2", "boss@1/pipe@1", "par.p1", concludes)), `
completed
invoke_workflow app ok 0-4
  invoke_agent boss ok 0-3
    invoke_agent pipe ok 1-3
      invoke_agent par ok 1-2
        invoke_agent p1 ok 1-2
          chat m ok 1-2
      invoke_agent s2 ok 2-3
        chat m ok 2-3
    chat m ok 0-1`},
		{"but not of a run that goes on below it", proxied(), []*event.Batch{at2("kid", "boss@1/kid@1", "", concludes)}, `
completed
invoke_workflow app ok 0-2
  invoke_agent kid ok 0-1
    chat m ok 0-1`},
		{"nor of one that hands control back", proxied(), []*event.Batch{
			at2("kid", "boss@1/kid@1", "", responds("m"), handsOver("", "boss")), at2("boss", "boss@2", "", concludes)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent kid ok 0-1
    chat m ok 0-1
  invoke_agent boss ok 1-2
    chat m ok 1-2`},
		{"a function that runs a function", proxied(), []*event.Batch{at2("app", "app@1/outer@1/inner@1", "", gives, final)}, `
completed
invoke_workflow app ok 0-2
  invoke_node outer ok 0-1
    invoke_node inner ok 0-1`},
		{"one in a branch, which gets control back there", proxied(), []*event.Batch{at2("a", "-", "p.a", responds("m"), handsOver("", "kid")),
			at2("kid", "-", "p.a", responds("m"), handsOver("", "a")), at2("a", "-", "p.a", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent p ok 0-3
    invoke_agent a ok 0-3
      invoke_agent kid ok 1-3
        invoke_agent a ok 2-3
          chat m ok 2-3
        chat m ok 1-2
      chat m ok 0-1`},
		{"one in a call that failed while the run goes on", proxied(), []*event.Batch{
			at2("app", "app@1", "", responds("m"), calls("c1", "flow")), at2("flow", "app@1/flow@c1/step@1", "flow@c1", errorCode),
			at2("app", "app@1", "", returns("c1", "flow")), at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-5
  chat m ok 0-1
  execute_tool flow ok 1-3
    invoke_workflow flow error agent_error 1-2
      invoke_node step error agent_error 1-2
  chat m ok 3-4`},
		{"and what is no agent", proxied(), []*event.Batch{at2("app", "app@1/scale@1", "", gives, final)}, `
completed
invoke_workflow app ok 0-2
  invoke_node scale ok 0-1`},
		{"that fail as what they run", proxied(), []*event.Batch{at2("a", "-", "p.a", errorCode), at2("b", "-", "p.b", concludes)}, `
failed, error_code
invoke_workflow app error agent_error 0-3
  invoke_agent p error agent_error 0-2
    invoke_agent a error agent_error 0-1
    invoke_agent b ok 0-2
      chat m ok 0-2`},
		{"the call that is the invocation", proxied(), []*event.Batch{
			at2("app", "app@1", "", responds("m"), calls("c1", "kid")), task("kid", "app@1/kid@c1", "kid@c1", "c1", concludes), says("", returns("c1", "kid")), at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-5
  invoke_agent kid ok 1-2
    chat m ok 1-2
  chat m ok 0-1
  invoke_agent app ok 3-4
    chat m ok 3-4`},
	})
}

// TestCauses checks that the first operation in a new branch starts at its cause.
func TestCauses(t *testing.T) {
	tell(t, []story{
		{"branches after a step", proxied(), []*event.Batch{
			at2("planner", "-", "", concludes), at2("a", "-", "p.a", concludes), at2("b", "-", "p.b", concludes), at2("merger", "-", "", concludes)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent planner ok 0-1
    chat m ok 0-1
  invoke_agent p ok 1-3
    invoke_agent a ok 1-2
      chat m ok 1-2
    invoke_agent b ok 1-3
      chat m ok 1-3
  invoke_agent merger ok 3-4
    chat m ok 3-4`},
		{"a call in whose branch an agent works", proxied(), []*event.Batch{
			at2("app", "app@1", "", responds("m"), calls("c1", "kid")), at2("app", "app@1", "", text), at2("kid", "app@1/kid@1", "kid@c1", concludes, gives),
			at2("app", "app@1", "", returns("c1", "kid")), at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-6
  chat m ok 0-1
  execute_tool kid ok 1-4
    invoke_agent kid ok 1-3
      chat m ok 1-3
  chat m ok 4-5`},
		{"a step after one outside of its workflow", proxied(), []*event.Batch{
			at2("x", "app@1/inner@1/x@1", "", concludes, gives), at2("y", "app@1/y@1", "", concludes, gives), at2("z", "app@1/inner@1/z@1", "", concludes, gives)}, `
completed
invoke_workflow app ok 0-4
  invoke_workflow inner ok 0-3
    invoke_agent x ok 0-1
      chat m ok 0-1
    invoke_agent z ok 2-3
      chat m ok 2-3
  invoke_agent y ok 1-2
    chat m ok 1-2`},
		{"what goes on in a lane, not what another lane says", proxied(), []*event.Batch{
			at2("x", "app@1/x@1", "x@1", concludes, gives), at2("y", "app@1/y@1", "y@1", concludes, gives), at2("app", "app@1/z@1", "x@1", gives, final)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent x ok 0-1
    chat m ok 0-1
  invoke_agent y ok 0-2
    chat m ok 0-2
  invoke_node z ok 1-3`},
		{"what fans out, not what another branch says", proxied(), []*event.Batch{
			at2("app", "app@1/split@1", "", gives), at2("x", "app@1/x@1", "x@1", concludes, gives), at2("y", "app@1/y@1", "y@1", concludes, gives)}, `
completed
invoke_workflow app ok 0-4
  invoke_node split ok 0-1
  invoke_agent x ok 1-2
    chat m ok 1-2
  invoke_agent y ok 1-3
    chat m ok 1-3`},
	})
}

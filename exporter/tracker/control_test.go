package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestControlReturns checks which invocation speaks when control comes back, in a protocol that does not number them. ADK for
// JavaScript returns from a transfer with a frame that has only the usage.
func TestControlReturns(t *testing.T) {
	tell(t, []story{
		{"in a branch, whose place names the agent that got control back", proxied(), []*event.Batch{
			at2("lead", "", "fan.lead", responds("m"), handsOver("", "expert")), at2("expert", "", "fan.lead", responds("m"), handsOver("", "lead")),
			at2("lead", "", "fan.lead", concludes), at2("expert", "", "fan.lead"), at2("expert", "", "fan.lead", concludes),
			at2("lead", "", "fan.lead"), at2("lead", "", "fan.lead", concludes)}, `
completed
invoke_workflow app ok 0-8
  invoke_agent fan ok 0-7
    invoke_agent lead ok 0-7
      invoke_agent expert ok 1-5
        invoke_agent lead ok 2-3
          chat m ok 2-3
        chat m ok 1-2
        chat m ok 4-5
      chat m ok 0-1
      chat m ok 6-7`},
		{"to the node that runs another of its name", proxied(), []*event.Batch{
			at2("app", "app@1/twin@1", "", text), at2("twin", "app@1/twin@1/twin@1", "", responds("m"), calls("c", "tool")),
			at2("app", "app@1/twin@1", "", text), at2("twin", "app@1/twin@1/twin@1", "", returns("c", "tool")), at2("twin", "app@1/twin@1/twin@1", "", concludes, gives)}, `
completed
invoke_workflow app ok 0-6
  invoke_node twin ok 0-5
    invoke_agent twin ok 1-5
      chat m ok 1-2
      execute_tool tool ok 2-4
      chat m ok 4-5`},
		{"not to one of the name in another branch", proxied(), []*event.Batch{
			atRoot("a", responds("m"), handsOver("", "fan")), at2("a", "", "fan.a", concludes), atRoot("a"), at2("a", "", "fan.a", text, final)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent a ok 0-4
    invoke_agent fan ok 1-4
      invoke_agent a ok 1-4
        chat m ok 1-2
    chat m ok 0-1`},
		{"not to another workflow's node of the name", proxied(), []*event.Batch{
			at2("a", "app.one", "", concludes), at2("a", "app.two", "", concludes)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent one ok 0-1
    invoke_agent a ok 0-1
      chat m ok 0-1
  invoke_agent two ok 1-2
    invoke_agent a ok 1-2
      chat m ok 1-2`},
		{"to the caller of a task, not to the task", proxied(), []*event.Batch{
			at2("app", "app@1", "", responds("m"), calls("c1", "kid")), task("kid", "app@1/kid@c1", "kid@c1", "c1", responds("m")), says("", returns("c1", "kid")), says("", fails)}, `
failed, error_frame
invoke_agent app error agent_error 0-5
  invoke_agent kid ok 1-2
    chat m ok 1-2
  chat m ok 0-1`},
	})
}

// TestRounds checks that an agent that gets control again, without a number, is invoked again.
func TestRounds(t *testing.T) {
	tell(t, []story{
		{"after the agent to which it transferred has failed", proxied(), []*event.Batch{
			atRoot("lead", responds("m"), handsOver("", "expert")), atRoot("expert", responds(""), wrong(event.ModelError), errorCode),
			atRoot("lead", responds("m"), handsOver("", "expert")), atRoot("expert", concludes)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent lead ok 0-2
    invoke_agent expert error agent_error 1-2
      chat  error model_error 1-2
    chat m ok 0-1
  invoke_agent lead ok 2-4
    invoke_agent expert ok 3-4
      chat m ok 3-4
    chat m ok 2-3`},
		{"after agents of other branches have spoken", proxied(), []*event.Batch{
			at2("lead", "", "fan.lead", responds("m"), handsOver("", "expert")), at2("expert", "", "fan.lead", text, final), at2("b", "", "fan.b", concludes),
			at2("lead", "", "fan.lead", concludes)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent fan ok 0-3
    invoke_agent lead ok 0-2
      invoke_agent expert ok 1-2
      chat m ok 0-1
    invoke_agent b ok 0-3
      chat m ok 0-3
  invoke_agent fan ok 3-4
    invoke_agent lead ok 3-4
      chat m ok 3-4`},
		{"and has the name of one above it", proxied(), []*event.Batch{
			atRoot("a", responds("m"), handsOver("", "team")), atRoot("a", concludes), atRoot("b", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent a ok 0-3
    invoke_agent team ok 1-3
      invoke_agent a ok 1-2
        chat m ok 1-2
      invoke_agent b ok 2-3
        chat m ok 2-3
    chat m ok 0-1`},
		{"and fails at once", proxied(), []*event.Batch{at2("w", "-", "", concludes), at2("w", "-", "", responds(""), wrong(event.ModelError), errorCode)}, `
failed, error_code
invoke_workflow app error agent_error 0-3
  invoke_agent w ok 0-1
    chat m ok 0-1
  invoke_agent w error agent_error 1-2
    chat  error model_error 1-2`},
		{"in a branch of a parallel agent that runs once", proxied(), []*event.Batch{
			at2("a", "-", "p.loop", concludes), at2("b", "-", "p.b", concludes), at2("a", "-", "p.loop", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent p ok 0-3
    invoke_agent loop ok 0-3
      invoke_agent a ok 0-1
        chat m ok 0-1
      invoke_agent a ok 1-3
        chat m ok 1-3
    invoke_agent b ok 0-2
      chat m ok 0-2`},
		{"in a lane of a workflow that runs once", proxied(), []*event.Batch{
			at2("a", "graph.a", "a@1", concludes, gives), at2("b", "graph.b", "b@1", concludes, gives), at2("a", "graph.a", "a@1", concludes, gives)}, `
completed
invoke_workflow app ok 0-4
  invoke_workflow graph ok 0-3
    invoke_agent a ok 0-1
      chat m ok 0-1
    invoke_agent b ok 0-2
      chat m ok 0-2
    invoke_agent a ok 1-3
      chat m ok 1-3`},
		{"but not its caller, which continues from an earlier run", proxied(), []*event.Batch{
			task("kid", "boss@1/kid@c1", "kid@c1", "c1", concludes, gives), says("", returns("c1", "kid")), at2("boss", "boss@1", "", responds("m"), calls("c9", "worker")),
			task("worker", "boss@1/worker@c9", "worker@c9", "c9", responds("m"), calls("c2", "aide")),
			task("aide", "boss@1/worker@c9/aide@c2", "worker@c9.aide@c2", "c2", concludes, gives), says("", lane("worker@c9"), returns("c2", "aide")),
			task("worker", "boss@1/worker@c9", "worker@c9", "c9", concludes, gives), says("", returns("c9", "worker")), at2("boss", "boss@1", "", concludes)}, `
completed
invoke_workflow app ok 0-10
  invoke_agent boss ok 0-7
    invoke_agent kid ok 0-1
      chat m ok 0-1
    invoke_agent worker ok 3-5
      invoke_agent aide ok 4-5
        chat m ok 4-5
      chat m ok 3-4
    chat m ok 2-3
    invoke_agent worker ok 5-7
      chat m ok 5-7
  invoke_agent boss ok 8-9
    chat m ok 8-9`},
	})
}

// TestNoRetry checks that a node whose model stated an error, and that goes on, is not invoked again.
func TestNoRetry(t *testing.T) {
	tell(t, []story{
		{"at the top of the run", proxied(), []*event.Batch{
			at2("app", "app@1", "", responds("m"), errorCode, coded("MAX_TOKENS"), calls("c", "tool")), at2("app", "app@1", "", returns("c", "tool")),
			at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-4
  chat m ok 0-1
  execute_tool tool ok 1-2
  chat m ok 2-3`},
		{"whose invocations have no number", proxied(), []*event.Batch{
			at2("lead", "app.lead", "", responds(""), wrong(event.ModelError), errorCode), at2("lead", "app.lead", "", responds("m"), handsOver("", "expert")),
			at2("expert", "app.lead", "", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent lead error agent_error 0-3
    chat  error model_error 0-1
    invoke_agent expert ok 2-3
      chat m ok 2-3
    chat m ok 1-2`},
	})
}

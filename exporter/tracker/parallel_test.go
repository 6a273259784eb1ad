package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestRoundsOfStreams checks parallel agents in a loop. Their responses arrive in pieces.
func TestRoundsOfStreams(t *testing.T) {
	piece := func(agent, branch string) *event.Batch { return at2(agent, "-", branch, begins("m")) }
	whole := func(agent, branch string) *event.Batch { return at2(agent, "-", branch, concludes) }
	unnamed := proxied()
	unnamed.App = ""
	round := func() []*event.Batch {
		return []*event.Batch{piece("a", "p.s"), piece("c", "p.c"), whole("a", "p.s"), whole("c", "p.c"), whole("b", "p.s"), whole("critic", "")}
	}
	rounds := append(round(), round()...)
	inner := `
  invoke_agent p ok 0-5
    invoke_agent s ok 0-5
      invoke_agent a ok 0-3
        chat m ok 0-3
      invoke_agent b ok 3-5
        chat m ok 3-5
    invoke_agent c ok 0-4
      chat m ok 0-4
  invoke_agent critic ok 5-6
    chat m ok 5-6
  invoke_agent p ok 6-11
    invoke_agent s ok 6-11
      invoke_agent a ok 6-9
        chat m ok 6-9
      invoke_agent b ok 9-11
        chat m ok 9-11
    invoke_agent c ok 6-10
      chat m ok 6-10
  invoke_agent critic ok 11-12
    chat m ok 11-12`
	tell(t, []story{
		{"another agent speaks between the rounds", proxied(), rounds, "\ncompleted\ninvoke_workflow app ok 0-13" + inner},
		{"the same without a request", unnamed, append(round(), round()...), "\ncompleted\ninvoke_workflow  ok 0-13" + inner},
		{"the root, as far as a recording shows", unnamed, []*event.Batch{whole("a", "p.a"), whole("b", "p.b"), whole("a", "p.a"), whole("b", "p.b")}, `
completed
invoke_workflow  ok 0-5
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
		{"nothing speaks between the rounds", proxied(), []*event.Batch{
			whole("a", "p.s"), whole("b", "p.s"), whole("c", "p.c"), piece("a", "p.s"), piece("c", "p.c"), whole("a", "p.s"), whole("b", "p.s"), whole("c", "p.c")}, `
completed
invoke_workflow app ok 0-9
  invoke_agent p ok 0-3
    invoke_agent s ok 0-2
      invoke_agent a ok 0-1
        chat m ok 0-1
      invoke_agent b ok 1-2
        chat m ok 1-2
    invoke_agent c ok 0-3
      chat m ok 0-3
  invoke_agent p ok 3-8
    invoke_agent s ok 3-7
      invoke_agent a ok 3-6
        chat m ok 3-6
      invoke_agent b ok 6-7
        chat m ok 6-7
    invoke_agent c ok 3-8
      chat m ok 3-8`},
		{"a child has not spoken before", proxied(), []*event.Batch{
			whole("c", "p.c"), piece("a", "p.s"), piece("c", "p.c"), whole("a", "p.s"), whole("c", "p.c")}, `
completed
invoke_workflow app ok 0-6
  invoke_agent p ok 0-1
    invoke_agent c ok 0-1
      chat m ok 0-1
  invoke_agent p ok 1-5
    invoke_agent s ok 1-4
      invoke_agent a ok 1-4
        chat m ok 1-4
    invoke_agent c ok 1-5
      chat m ok 1-5`},
		{"a branch that failed is beside the others", proxied(), []*event.Batch{whole("a", "p.a"), at2("x", "-", "", errorCode), whole("b", "p.b")}, `
failed, error_code
invoke_workflow app error agent_error 0-4
  invoke_agent p ok 0-3
    invoke_agent a ok 0-1
      chat m ok 0-1
    invoke_agent b ok 0-3
      chat m ok 0-3
  invoke_agent x error agent_error 1-2`},
		{"a response was cut off in the round before", proxied(), []*event.Batch{
			piece("a", "p.s"), whole("c", "p.c"), piece("c", "p.c"), whole("c", "p.c")}, `
incomplete, stream_ended
invoke_workflow app unfinished 0-5
  invoke_agent p unfinished 0-5
    invoke_agent s unfinished 0-5
      invoke_agent a unfinished 0-5
        chat m unfinished 0-5
    invoke_agent c ok 0-2
      chat m ok 0-2
  invoke_agent p ok 2-4
    invoke_agent c ok 2-4
      chat m ok 2-4`},
		{"a branch that stays on what follows is no round", proxied(), []*event.Batch{at2("boss", "boss@1", "", responds("m"), handsOver("", "pipe")),
			at2("p1", "boss@1/pipe@1", "par.p1", concludes), at2("s2", "boss@1/pipe@1", "par.p1", concludes), at2("s3", "boss@1/pipe@1", "par.p1", concludes)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent boss ok 0-4
    invoke_agent pipe ok 1-4
      invoke_agent par ok 1-2
        invoke_agent p1 ok 1-2
          chat m ok 1-2
      invoke_agent s2 ok 2-3
        chat m ok 2-3
      invoke_agent s3 ok 3-4
        chat m ok 3-4
    chat m ok 0-1`},
		{"a loop that says which agent it runs next", unnamedRun(), []*event.Batch{
			at2("loop", "-", "", runsNext), at2("p", "-", "", runsNext), whole("a", "p.a"), whole("b", "p.b"),
			at2("loop", "-", "", runsNext), at2("p", "-", "", runsNext), whole("b", "p.b"), whole("a", "p.a")}, `
completed
invoke_agent loop ok 0-9
  invoke_agent p ok 1-4
    invoke_agent a ok 2-3
      chat m ok 2-3
    invoke_agent b ok 2-4
      chat m ok 2-4
  invoke_agent p ok 5-8
    invoke_agent b ok 6-7
      chat m ok 6-7
    invoke_agent a ok 6-8
      chat m ok 6-8`},
		{"rounds below a path", proxied(), []*event.Batch{at2("boss", "boss@1", "", responds("m"), handsOver("", "pipe")),
			at2("p1", "boss@1/pipe@1", "par.p1", concludes), at2("s2", "boss@1/pipe@1", "par.p1", concludes), at2("p1", "boss@1/pipe@1", "par.p1", concludes), at2("s2", "boss@1/pipe@1", "par.p1", concludes)}, `
completed
invoke_workflow app ok 0-6
  invoke_agent boss ok 0-5
    invoke_agent pipe ok 1-5
      invoke_agent par ok 1-2
        invoke_agent p1 ok 1-2
          chat m ok 1-2
      invoke_agent s2 ok 2-3
        chat m ok 2-3
      invoke_agent par ok 3-4
        invoke_agent p1 ok 3-4
          chat m ok 3-4
      invoke_agent s2 ok 4-5
        chat m ok 4-5
    chat m ok 0-1`},
	})
}

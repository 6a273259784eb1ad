package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestLeftoverBranch sends frames of an agent with the branch of a parallel agent that has ended. The agent is not below the parallel
// agent.
func TestLeftoverBranch(t *testing.T) {
	team := func(frames ...*event.Batch) []*event.Batch {
		return append([]*event.Batch{at2("boss", "boss@1", "", responds("m"), handsOver("", "team")), at2("p1", "boss@1/team@1", "par.p1", concludes)}, frames...)
	}
	in := func(agent string, facts ...fact) *event.Batch { return at2(agent, "boss@1/team@1", "par.p2", facts...) }
	tell(t, []story{
		{"but the target of a transfer is", proxied(), team(in("p2", responds("m"), handsOver("", "expert")), at2("p1", "boss@1/team@1", "par.p1", text),
			in("expert", responds("m"), calls("c", "tool")), at2("p1", "boss@1/team@1", "par.p1", text), in("expert", returns("c", "tool")), in("expert", concludes), in("s2", concludes)), `
completed
invoke_workflow app ok 0-10
  invoke_agent boss ok 0-9
    invoke_agent team ok 1-9
      invoke_agent par ok 1-8
        invoke_agent p1 ok 1-6
          chat m ok 1-2
        invoke_agent p2 ok 1-8
          invoke_agent expert ok 3-8
            chat m ok 3-5
            execute_tool tool ok 5-7
            chat m ok 7-8
          chat m ok 1-3
      invoke_agent s2 ok 8-9
        chat m ok 8-9
    chat m ok 0-1`},
		{"and neither are the steps of a container to which it transfers", proxied(), team(in("p2", concludes), in("lead", responds("m"), handsOver("", "crew")), in("s1", concludes)), `
completed
invoke_workflow app ok 0-6
  invoke_agent boss ok 0-5
    invoke_agent team ok 1-5
      invoke_agent par ok 1-3
        invoke_agent p1 ok 1-2
          chat m ok 1-2
        invoke_agent p2 ok 1-3
          chat m ok 1-3
      invoke_agent lead ok 3-5
        invoke_agent crew ok 4-5
          invoke_agent s1 ok 4-5
            chat m ok 4-5
        chat m ok 3-4
    chat m ok 0-1`},
		{"but the steps of a container to which a branch transferred are", proxied(), team(in("p2", responds("m"), handsOver("", "crew")), in("s1", concludes), in("s2", concludes)), `
completed
invoke_workflow app ok 0-6
  invoke_agent boss ok 0-5
    invoke_agent team ok 1-5
      invoke_agent par ok 1-5
        invoke_agent p1 ok 1-2
          chat m ok 1-2
        invoke_agent p2 ok 1-5
          invoke_agent crew ok 3-5
            invoke_agent s1 ok 3-4
              chat m ok 3-4
            invoke_agent s2 ok 4-5
              chat m ok 4-5
          chat m ok 1-3
    chat m ok 0-1`},
		{"nor is what the target of a transfer answers an answer to another branch's failure", proxied(), []*event.Batch{
			at2("boss", "boss@1", "", responds("m"), handsOver("", "team")), at2("p1", "boss@1/team@1", "par.p1", responds("m"), errorCode),
			in("p2", responds("m"), handsOver("", "expert")), in("expert", concludes)}, `
failed, error_code
invoke_workflow app error agent_error 0-5
  invoke_agent boss ok 0-4
    invoke_agent team error agent_error 1-4
      invoke_agent par error agent_error 1-4
        invoke_agent p1 error agent_error 1-2
          chat m ok 1-2
        invoke_agent p2 ok 1-4
          invoke_agent expert ok 3-4
            chat m ok 3-4
          chat m ok 1-3
    chat m ok 0-1`},
		{"but the steps of a node with a lane of its own are", proxied(), []*event.Batch{
			at2("lead", "app@1/lead@1", "lead@1", responds("m"), handsOver("", "crew")), at2("s1", "app@1/lead@1", "lead@1", concludes), at2("s2", "app@1/lead@1", "lead@1", concludes, gives)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent lead ok 0-3
    invoke_agent crew ok 1-3
      invoke_agent s1 ok 1-2
        chat m ok 1-2
      invoke_agent s2 ok 2-3
        chat m ok 2-3
    chat m ok 0-1`},
		{"and only a path comes with a branch that is left over", proxied(), []*event.Batch{at2("p", "-", "par.p", concludes), at2("x", "-", "par.p", concludes)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent par ok 0-2
    invoke_agent p ok 0-2
      chat m ok 0-1
      invoke_agent x ok 1-2
        chat m ok 1-2`},
		{"and a workflow leaves none", proxied(), []*event.Batch{at2("lead", "graph.lead", "lead@1", concludes), at2("x", "graph.lead", "lead@1", concludes, gives)}, `
completed
invoke_workflow app ok 0-3
  invoke_workflow graph ok 0-2
    invoke_agent lead ok 0-2
      chat m ok 0-1
      invoke_agent x ok 1-2
        chat m ok 1-2`},
	})
}

// TestTargetFails checks that a container to which control was transferred fails as what it runs.
func TestTargetFails(t *testing.T) {
	tell(t, []story{
		{"a sequence", proxied(), []*event.Batch{
			at2("boss", "boss@1", "", responds("m"), handsOver("", "pipe")), at2("s1", "boss@1/pipe@1", "", responds(""), wrong(event.ModelError), errorCode)}, `
failed, error_code
invoke_workflow app error agent_error 0-3
  invoke_agent boss ok 0-2
    invoke_agent pipe error agent_error 1-2
      invoke_agent s1 error agent_error 1-2
        chat  error model_error 1-2
    chat m ok 0-1`},
	})
}

// TestRunners checks which container runs an agent that the place names alone.
func TestRunners(t *testing.T) {
	tell(t, []story{
		{"not one that ran in an earlier node of the workflow", proxied(), []*event.Batch{
			at2("lead", "app@1/lead@1", "", responds("m"), handsOver("", "team")), at2("s1", "app@1/lead@1", "", concludes, gives),
			at2("one", "app@1/pair@1", "", concludes), at2("two", "app@1/pair@1", "", concludes, gives)}, `
completed
invoke_workflow app ok 0-5
  invoke_agent lead ok 0-2
    invoke_agent team ok 1-2
      invoke_agent s1 ok 1-2
        chat m ok 1-2
    chat m ok 0-1
  invoke_agent pair ok 2-4
    invoke_agent one ok 2-3
      chat m ok 2-3
    invoke_agent two ok 3-4
      chat m ok 3-4`},
		{"one that got control in a branch while another branch speaks", proxied(), []*event.Batch{
			at2("lead", "-", "par.lead", responds("m"), handsOver("", "crew")), at2("b", "-", "par.b", responds("m"), calls("c", "tool")), at2("s1", "-", "par.lead", concludes),
			at2("b", "-", "par.b", returns("c", "tool")), at2("s2", "-", "par.lead", concludes), at2("b", "-", "par.b", concludes)}, `
completed
invoke_workflow app ok 0-7
  invoke_agent par ok 0-6
    invoke_agent lead ok 0-5
      invoke_agent crew ok 1-5
        invoke_agent s1 ok 1-3
          chat m ok 1-3
        invoke_agent s2 ok 3-5
          chat m ok 3-5
      chat m ok 0-1
    invoke_agent b ok 0-6
      chat m ok 0-2
      execute_tool tool ok 2-4
      chat m ok 4-6`},
		{"not one from which control came back", proxied(), []*event.Batch{
			at2("lead", "", "par.team", responds("m"), handsOver("", "crew")), at2("s1", "", "par.team", concludes), at2("lead", "", "par.team"), at2("lead", "", "par.team", concludes),
			at2("b", "", "par.team", concludes)}, `
completed
invoke_workflow app ok 0-6
  invoke_agent par ok 0-5
    invoke_agent team ok 0-5
      invoke_agent lead ok 0-4
        invoke_agent crew ok 1-2
          invoke_agent s1 ok 1-2
            chat m ok 1-2
        chat m ok 0-1
        chat m ok 3-4
      invoke_agent b ok 4-5
        chat m ok 4-5`},
		{"not an agent with a model, although the application has its name", proxied(), []*event.Batch{atRoot("app", concludes), atRoot("b", concludes)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent app ok 0-1
    chat m ok 0-1
  invoke_agent b ok 1-2
    chat m ok 1-2`},
		{"one that says so, and is the root", unnamedRun(), []*event.Batch{
			at2("pipe", "", "", runsNext), atRoot("a", concludes), atRoot("b", concludes)}, `
completed
invoke_agent pipe ok 0-4
  invoke_agent a ok 1-2
    chat m ok 1-2
  invoke_agent b ok 2-3
    chat m ok 2-3`},
		{"not one to which control was transferred in another branch", proxied(), []*event.Batch{
			at2("lead", "-", "par.lead", responds("m"), handsOver("", "crew")), at2("s1", "-", "par.lead", concludes), at2("closer", "-", "", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent par ok 0-2
    invoke_agent lead ok 0-2
      invoke_agent crew ok 1-2
        invoke_agent s1 ok 1-2
          chat m ok 1-2
      chat m ok 0-1
  invoke_agent closer ok 2-3
    chat m ok 2-3`},
	})
}

func unnamedRun() *event.Stream {
	s := proxied()
	s.App = ""
	return s
}

// runsNext marks a frame in which an ADK container says which agent it runs next.
func runsNext(b *event.Batch) {
	n := &b.Place.Nodes[len(b.Place.Nodes)-1]
	n.Kind = event.NodeContainer
}

// TestTargetOfEndedCall checks that an agent that got control in a call, and never spoke, is not the one that gets control later.
func TestTargetOfEndedCall(t *testing.T) {
	tell(t, []story{
		{"by another transfer", proxied(), []*event.Batch{
			at2("app", "app@1", "", responds("m"), calls("c1", "flow")), at2("lead", "app@1/flow@c1/lead@1", "flow@c1", responds("m"), handsOver("", "kid")),
			at2("app", "app@1", "", returns("c1", "flow")), at2("app", "app@1", "", responds("m"), handsOver("", "kid")), at2("kid", "app@1/kid@1", "", concludes)}, `
completed
invoke_agent app ok 0-6
  chat m ok 0-1
  execute_tool flow ok 1-3
    invoke_workflow flow ok 1-2
      invoke_agent lead ok 1-2
        invoke_agent kid unfinished 2-?
        chat m ok 1-2
  invoke_agent kid ok 4-5
    chat m ok 4-5
  chat m ok 3-4`},
	})
}

// TestKinds checks what an operation is that appeared before it spoke.
func TestKinds(t *testing.T) {
	below := func(frames ...*event.Batch) []*event.Batch {
		return append([]*event.Batch{at2("kid", "app@1/lead@1/kid@1", "", concludes, gives)}, frames...)
	}
	tell(t, []story{
		{"an agent by its model's answer", proxied(), below(at2("lead", "app@1/lead@1", "", responds("m"), final)), `
completed
invoke_workflow app ok 0-3
  invoke_agent lead ok 0-2
    invoke_agent kid ok 0-1
      chat m ok 0-1
    chat m ok 1-2`},
		{"by its model's first words", proxied(), below(at2("lead", "app@1/lead@1", "", begins("m"))), `
incomplete, stream_ended
invoke_workflow app unfinished 0-3
  invoke_agent lead unfinished 0-3
    invoke_agent kid ok 0-1
      chat m ok 0-1
    chat m unfinished 1-3`},
		{"by its text", proxied(), below(at2("lead", "app@1/lead@1", "", text, final)), `
completed
invoke_workflow app ok 0-3
  invoke_agent lead ok 0-2
    invoke_agent kid ok 0-1
      chat m ok 0-1`},
		{"a workflow by its output", proxied(), below(at2("lead", "app@1/lead@1", "", gives, final)), `
completed
invoke_workflow app ok 0-3
  invoke_workflow lead ok 0-2
    invoke_agent kid ok 0-1
      chat m ok 0-1`},
		{"a root agent by what it says of its steps", proxied(), []*event.Batch{at2("app", "-", "", runsNext), at2("a", "-", "", concludes)}, `
completed
invoke_agent app ok 0-3
  invoke_agent a ok 1-2
    chat m ok 1-2`},
		{"an agent whose model fails at once, to which control was transferred", proxied(), []*event.Batch{
			at2("app", "app@1", "", responds("m"), handsOver("", "kid")), at2("app", "app@1/kid@1", "", errorCode)}, `
failed, error_code
invoke_agent app error agent_error 0-3
  invoke_agent kid error agent_error 1-2
  chat m ok 0-1`},
		{"an agent that speaks by its workflow's name later", proxied(), []*event.Batch{
			at2("kid", "app@1/kid@1", "", responds("m"), calls("c", "tool")), at2("app", "app@1/kid@1", "", returns("c", "tool"), settles), at2("app", "app@1/kid@1", "", gives, final)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent kid ok 0-3
    chat m ok 0-1
    execute_tool tool ok 1-2`},
	})
}

// TestRunAgent checks which agent a run is counted for.
func TestRunAgent(t *testing.T) {
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   string
	}{
		"the first":                                  {[]*event.Batch{atRoot("boss", responds("m"), handsOver("", "kid")), atRoot("kid", concludes)}, "boss"},
		"the root, if agents follow one another":     {[]*event.Batch{atRoot("a", concludes), atRoot("b", concludes)}, "app"},
		"the root, if a parallel agent follows":      {[]*event.Batch{atRoot("a", concludes), at2("b", "", "par.b", concludes)}, "app"},
		"the first of a path, also if it runs again": {[]*event.Batch{at2("boss", "boss@1", "", concludes), at2("boss", "boss@2", "", concludes)}, "boss"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := follow(t, proxied(), c.frames...); r.Agent != c.want {
				t.Errorf("the run is of %q", r.Agent)
			}
		})
	}
}

// TestNoRoomForRoot checks that no root is put above the first agent if the run has no room for it.
func TestNoRoomForRoot(t *testing.T) {
	s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 2 }), unnamedRun()
	s.feed(stream, atRoot("a", calls("c", "tool")), atRoot("b", text))
	r := s.end(stream, event.EndOfStream).only(t)
	equal(t, outline(r), lines("incomplete, stream_ended", "invoke_agent a unfinished 0-3", "  execute_tool tool unfinished 1-3"))
	equal(t, lines(s.lost...), lines("evicted invoke_workflow", "evicted invoke_agent"))
}

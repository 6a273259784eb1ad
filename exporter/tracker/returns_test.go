package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// within puts a frame's agent in a branch in which another agent runs it.
func within(place, agent, above string) fact {
	return func(b *event.Batch) {
		b.Branch, b.ParentBranch, b.Around = place, above, &event.Around{Agent: agent, Branch: above}
	}
}

// TestReturns checks transfers in a graph of agents, in which each agent has a branch.
func TestReturns(t *testing.T) {
	begins := []*event.Batch{says("a", lane("a:1"), responds("m"), handsOver("", "b"))}
	after := func(more ...*event.Batch) []*event.Batch { return append(clone(begins), more...) }
	tell(t, []story{
		{"the run's agent speaks in another branch than the one that gave control back", file(), []*event.Batch{
			says("a", responds("m"), handsOver("", "b")), says("b", lane("b:1"), responds("m"), final), says("b", lane("b:1"), handsOver("", "a")), says("a", responds("m"), final)}, `
completed
invoke_agent a ok 1-4
  invoke_agent b ok 1-3
    chat m ok 1-2
  chat m ok 1-1
  chat m ok 3-4`},
		{"and does not speak", file(), []*event.Batch{
			says("a", responds("m"), handsOver("", "b")), says("b", lane("b:1"), responds("m"), final), says("b", lane("b:1"), handsOver("", "a")), says("c", lane("c:1"), responds("m"), final)}, `
incomplete, stream_ended
invoke_agent a unfinished 1-4
  invoke_agent b ok 1-3
    chat m ok 1-2
  chat m ok 1-1
  invoke_agent c ok 3-4
    chat m ok 3-4`},
		{"an agent gets control back in another branch", file(), after(
			says("b", lane("b:1"), responds("m"), handsOver("", "c")), says("c", lane("c:1"), responds("m"), handsOver("", "b")), says("b", lane("b:2"), responds("m"), final)), `
completed
invoke_agent  ok 1-4
  invoke_agent a ok 1-4
    invoke_agent b ok 1-4
      invoke_agent c ok 2-3
        chat m ok 2-3
      chat m ok 1-2
      chat m ok 3-4
    chat m ok 1-1`},
		{"and in the same", file(), after(
			says("b", lane("b:1"), responds("m"), handsOver("", "c")), says("c", lane("c:1"), responds("m"), handsOver("", "b")), says("b", lane("b:1"), responds("m"), final)), `
completed
invoke_agent  ok 1-4
  invoke_agent a ok 1-4
    invoke_agent b ok 1-4
      invoke_agent c ok 2-3
        chat m ok 2-3
      chat m ok 1-2
      chat m ok 3-4
    chat m ok 1-1`},
		{"an agent whose end was stated is invoked again", file(), after(
			says("b", lane("b:1"), responds("m"), handsOver("", "c")), says("b", lane("b:1"), ends), says("c", lane("c:1"), responds("m"), handsOver("", "b")), says("b", lane("b:2"), responds("m"), final)), `
completed
invoke_agent  ok 1-5
  invoke_agent a ok 1-5
    invoke_agent b ok 1-5
      invoke_agent c ok 2-5
        invoke_agent b ok 4-5
          chat m ok 4-5
        chat m ok 3-4
      chat m ok 1-2
    chat m ok 1-1`},
		{"a team works that got control", file(), after(says("c", within("c:1", "b", "b:1"), responds("m"), final)), `
completed
invoke_workflow  ok 1-2
  invoke_agent a ok 1-2
    invoke_agent b ok 1-2
      invoke_agent c ok 1-2
        chat m ok 1-2
    chat m ok 1-1`},
		{"a team works, and its end is stated", file(), after(says("c", within("c:1", "b", "b:1"), responds("m"), final), says("b", lane("b:1"), ends)), `
completed
invoke_workflow  ok 1-3
  invoke_agent a ok 1-3
    invoke_agent b ok 1-3
      invoke_agent c ok 1-2
        chat m ok 1-2
    chat m ok 1-1`},
	})
}

package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestWrittenNames has code write a text in a name, which is that of an agent only if the stream shows such an agent.
func TestWrittenNames(t *testing.T) {
	unnamed := proxied()
	unnamed.App = ""
	written := func(agent, place string) *event.Batch {
		return says(agent, lane(place), func(b *event.Batch) { b.IsWritten = true }, text, final)
	}
	own, a := says("", responds("m"), final), says("a", lane("a:1"), responds("m"), final)
	tell(t, []story{
		{"no agent", unnamed, []*event.Batch{own, written("x", "n:1")}, `
completed
invoke_agent  ok 0-3
  chat m ok 0-1`},
		{"beside an agent", unnamed, []*event.Batch{own, a, written("x", "a:1")}, `
completed
invoke_agent  ok 0-4
  chat m ok 0-1
  invoke_agent a ok 1-2
    chat m ok 1-2`},
		{"an agent", unnamed, []*event.Batch{own, a, written("a", "a:1")}, `
completed
invoke_agent  ok 0-4
  chat m ok 0-1
  invoke_agent a ok 1-3
    chat m ok 1-2`},
		{"an agent elsewhere", unnamed, []*event.Batch{own, a, written("a", "n:1")}, `
completed
invoke_agent  ok 0-4
  chat m ok 0-1
  invoke_agent a ok 1-2
    chat m ok 1-2`},
		{"the target of a transfer", unnamed, []*event.Batch{own, says("", handsOver("c", "x")), written("x", "x:1")}, `
completed
invoke_agent  ok 0-4
  chat m ok 0-1
  invoke_agent x ok 2-3`},
		{"a step", unnamed, []*event.Batch{own, says("", lane("s:1"), func(b *event.Batch) { b.Step = "s" }, responds("m")), written("x", "s:1")}, `
completed
invoke_agent  ok 0-4
  chat m ok 0-1
  invoke_node s ok 1-3
    chat m ok 1-2`},
	})
}

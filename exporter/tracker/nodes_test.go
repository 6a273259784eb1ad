package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestEndedNodes checks runs in which a node ends that was known by several keys, or whose place is below a node that has ended.
func TestEndedNodes(t *testing.T) {
	state := fresh(event.KindState)
	tell(t, []story{
		{"an agent to which control returned at another place", proxied(), []*event.Batch{
			at2("R", "R@1", "", responds("m"), calls("c1", "t")), at2("a", "R@1/x@c1", "", handsOver("", "b")), at2("a", "R@1", "", concludes),
			at2("b", "R@1/x@c1", "", state), at2("a", "R@1", "", state), at2("R", "R@1", "", returns("c1", "t")), at2("a", "R@1", "", concludes)}, `
completed
invoke_workflow app ok 0-8
  invoke_agent R ok 0-7
    chat m ok 0-1
    execute_tool t ok 1-6
      invoke_agent x ok 1-5
        invoke_agent a ok 1-5
          invoke_agent b ok 2-4
            invoke_agent a ok 2-3
              chat m ok 2-3
    invoke_agent a ok 6-7
      chat m ok 6-7`},
		{"an agent in a call that has become an invocation", proxied(), []*event.Batch{
			at2("R", "R@1", "", responds("m"), calls("c1", "x")), at2("z", "R@1/z@c1", "z@c1", concludes), task("x", "R@1/x@c1", "", "c1", concludes),
			at2("R", "R@1", "", returns("c1", "x")), at2("z", "R@1/z@c1", "z@c1", concludes)}, `
incomplete, stream_ended
invoke_workflow app unfinished 0-6
  invoke_agent R unfinished 0-5
    invoke_agent x ok 1-3
      invoke_agent z ok 1-2
        chat m ok 1-2
      chat m ok 2-3
    chat m ok 0-1
    invoke_agent z ok 4-5
      chat m ok 4-5`},
		{"the place of a transfer's target", proxied(), []*event.Batch{
			at2("p1", "R@1", "P.p1", concludes), at2("R", "R@1", "", responds("m"), calls("c1", "t")), at2("R", "R@1", "", handsOver("", "b")),
			at2("b", "R@1/x@c1", "", begins("m")), says("", returns("c1", "t")), at2("p1", "R@1", "P.p1", concludes)}, `
incomplete, stream_ended
invoke_workflow app unfinished 0-7
  invoke_agent R unfinished 0-7
    invoke_agent P ok 0-1
      invoke_agent p1 ok 0-1
        chat m ok 0-1
    chat m ok 1-2
    execute_tool t ok 2-5
      invoke_agent x unfinished 2-?
    invoke_agent b unfinished 3-7
      chat m unfinished 3-7
      invoke_agent P ok 5-6
        invoke_agent p1 ok 5-6
          chat m ok 5-6`},
		{"a root that a call invoked", proxied(), []*event.Batch{
			task("app", "app@c1", "", "c1", concludes), says("", returns("c1", "t"))}, `
incomplete, stream_ended
invoke_agent app unfinished 0-3
  chat m ok 0-1
  execute_tool t ok ?-2`},
	})
}

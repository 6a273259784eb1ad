package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestUnseenTaskCall checks that the response to a call that was not seen belongs to the task that names the call, and is no tool.
func TestUnseenTaskCall(t *testing.T) {
	tell(t, []story{
		{"a task", proxied(), []*event.Batch{
			at2("app", "app@1", ""), task("sub", "app@1/sub@t1", "sub@t1", "t1", text),
			at2("app", "app@1", "", returns("t1", "sub"), settles), at2("app", "app@1", "", text), at2("app", "app@1", "", text, final)}, `
completed
invoke_agent app ok 0-6
  invoke_agent sub ok 1-2`},
	})
}

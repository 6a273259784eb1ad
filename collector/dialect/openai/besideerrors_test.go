package openai_test

import (
	"slices"
	"testing"
)

// TestErrorsBesideAgents sends errors while agents work at the same time. An error names no agent, so it ends the only response that is open,
// if there is one and one agent is at work. An agent that has answered has not failed.
func TestErrorsBesideAgents(t *testing.T) {
	const down = `{"type":"error","message":"m"}`
	message := func(id string) string { return `{"type":"message","id":"` + id + `","role":"assistant"}` }
	both := []string{begins("a"), begins("b"), createdOf("r"), createdOf("s"), messageOf(1, "added", "i"), messageOf(1, "added", "j"), messageOf(2, "done", "i")}
	first := slices.Concat(both, []string{completedOf(3, "r", message("i")), messageItem("a", "i")})
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"one is open": {first, "failed\ninvoke_workflow  error 0-11\n  invoke_agent a ok 0-9?\n    chat  ok 2-8?\n  invoke_agent b error 2-10\n    chat  error 3-10?"},
		"none is open": {slices.Concat(first, []string{messageOf(2, "done", "j"), completedOf(3, "s", message("j")), messageItem("b", "j")}),
			"failed\ninvoke_workflow  error 0-14\n  invoke_agent a ok 0-9?\n    chat  ok 2-8?\n  invoke_agent b ok 2-12?\n    chat  ok 3-11?"},
		"two are open": {both, "failed\ninvoke_workflow  error 0-9\n  invoke_agent a ok 0-1?\n  invoke_agent b ok 2-2?\n  chat  unfinished 2-9?\n  chat  unfinished 3-9?"},
	} {
		if got := treeOf(t, append(slices.Clone(c.sent), down)...); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		checkTruth(t, name, stream(append(slices.Clone(c.sent), down)...))
	}
}

package a2a_test

import (
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestStopsThatRepeat ends or pauses a task with an update that repeats something internal. Its state leaves, and nothing else.
func TestStopsThatRepeat(t *testing.T) {
	hidden := stateOf("working", "m", canary, internalMark)
	call := stateOf("working", "m", callOf("c", ""), markedEvent)
	task := func(state, more string) [3]string {
		return [3]string{"task", "task", `"id":"t","contextId":"c","status":{"state":"` + state + `"` + more}
	}
	for _, state := range []string{"completed", "failed", "canceled", "rejected", "input-required", "auth-required", "TASK_STATE_COMPLETED"} {
		update := [3]string{"status-update", "statusUpdate", ids + `,"status":{"state":"` + state + `"},"final":true`}
		for name, c := range map[string]struct{ hidden, sent, want [3]string }{
			"a message":   {hidden, stateOf(state, "m", hi, `,"metadata":{"x":"y"},"final":true`), update},
			"a call":      {call, stateOf(state, "n", callOf("c", ""), `,"final":true`), update},
			"a history":   {hidden, task(state, `},"history":[`+messageOf("m", hi)+`]`), task(state, "}")},
			"a status":    {hidden, task(state, `,"message":`+messageOf("m", hi)+`},"metadata":{"x":"y"}`), task(state, "}")},
			"an artifact": {artifactOf(canary, internalMark), task(state, `},"artifacts":[{"artifactId":"a","parts":[`+hi+`]}]`), task(state, "}")},
		} {
			for envelope, wrap := range envelopes {
				for _, s := range []filter.Settings{client, public} {
					got := filterStream(t, s, streamOf(wrap, c.hidden, c.sent))
					if want := wrap(c.want[0], c.want[1], c.want[2]); got[1] != want {
						t.Errorf("%s, %s, %s, under %s: the update leaves as %s, want %s", name, state, envelope, s.Policy, got[1], want)
					}
				}
			}
		}
	}
}

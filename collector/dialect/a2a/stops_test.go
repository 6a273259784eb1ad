package a2a_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// stateIn returns the state of a task that an update states to have ended or to wait, or "".
func stateIn(update string) string {
	_, rest, _ := strings.Cut(update, `"status":{"state":"`)
	state, _, _ := strings.Cut(rest, `"`)
	if state == "working" {
		return ""
	}
	return state
}

// hasContent reports whether an update leaves with more than the state of a task that has ended or waits.
func hasContent(output string) bool {
	return !strings.HasPrefix(output, withheld) && (stateIn(output) == "" || strings.Contains(output, `"message"`))
}

// TestStopsThatRepeat ends or pauses a task with an update that repeats something internal. Its state leaves, and nothing else.
func TestStopsThatRepeat(t *testing.T) {
	const text = `{"kind":"text","text":"the CANARY costs"}`
	hidden := stateOf("working", "m", text, internalMark)
	call := stateOf("working", "m", plainCall, markedEvent)
	said := func(id, parts string) string {
		return `{"kind":"message","role":"agent","messageId":"` + id + `","parts":[` + parts + `]}`
	}
	task := func(state, more string) [3]string {
		return [3]string{"task", "task", `"id":"t","contextId":"c","status":{"state":"` + state + `"` + more}
	}
	for _, state := range []string{"completed", "failed", "canceled", "rejected", "input-required", "auth-required", "TASK_STATE_COMPLETED"} {
		update := [3]string{"status-update", "statusUpdate", ids + `,"status":{"state":"` + state + `"},"final":true`}
		for name, c := range map[string]struct{ hidden, sent, want [3]string }{
			"a text":            {hidden, stateOf(state, "n", text, `,"metadata":{"x":"y"},"final":true`), update},
			"a message":         {hidden, stateOf(state, "m", hi, `,"final":true`), update},
			"a call":            {call, stateOf(state, "n", plainCall, `,"final":true`), update},
			"a history":         {hidden, task(state, `},"history":[`+said("m", hi)+`]`), task(state, "}")},
			"a status":          {hidden, task(state, `,"message":`+said("m", hi)+`},"metadata":{"x":"y"}`), task(state, "}")},
			"an artifact":       {artifactOf(text, internalMark), task(state, `},"artifacts":[{"artifactId":"a","parts":[`+hi+`]}]`), task(state, "}")},
			"an unreadable one": {[3]string{"x", "x", `"US":1,"us":2`}, task(state, `},"history":[`+said("n", hi)+`]`), task(state, "}")},
		} {
			for envelope, wrap := range envelopes {
				for _, s := range []filter.Settings{client, public} {
					got := filterStream(t, s, "data: "+wrap(c.hidden[0], c.hidden[1], c.hidden[2])+"\n\ndata: "+wrap(c.sent[0], c.sent[1], c.sent[2])+"\n\n")
					if want := wrap(c.want[0], c.want[1], c.want[2]); got[1] != want {
						t.Errorf("%s, %s, %s, under %s: the update leaves as %s, want %s", name, state, envelope, s.Policy, got[1], want)
					}
				}
			}
		}
	}
}

package a2a_test

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/event"
)

// TestStateHash checks that an update and a snapshot have the same hash if, and only if, they state the same, and which states
// wait for input.
func TestStateHash(t *testing.T) {
	update := func(status string) string {
		return `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":` + status + `}}}`
	}
	const asks = `{"state":"input-required","timestamp":"2026-01-01T00:00:00Z","message":{"messageId":"m","role":"agent","parts":[]}}`
	first := decodeState(t, update(asks)).StateHash
	for _, same := range []string{
		update(strings.Replace(asks, `"input-required"`, `"TASK_STATE_INPUT_REQUIRED"`, 1)),
		`{"jsonrpc":"2.0","id":2,"result":{"kind":"task","id":"t","contextId":"c","status":` + asks + `,"artifacts":[],"history":[]}}`,
	} {
		if decodeState(t, same).StateHash != first || first == 0 {
			t.Errorf("%s has another hash than the update", same)
		}
	}
	for _, other := range []string{`"state":"failed"`, `"timestamp":"2026-01-02T00:00:00Z"`, `"messageId":"n"`} {
		name, _, _ := strings.Cut(other, ":")
		before, after, _ := strings.Cut(asks, name+":")
		_, after, _ = strings.Cut(after, ",")
		if sent := update(before + other + "," + after); decodeState(t, sent).StateHash == first {
			t.Errorf("%s has the same hash", sent)
		}
	}
	for _, state := range []string{"completed", "failed", "canceled", "rejected", "TASK_STATE_CANCELLED"} {
		if b := decodeState(t, update(strings.Replace(asks, "input-required", state, 1))); b.StateHash != event.StateEnded || b.AwaitsInput {
			t.Errorf("a task that is %s has not ended for good, or waits for input", state)
		}
	}
	for state, waits := range map[string]bool{"submitted": false, "working": false, "input-required": true, "TASK_STATE_AUTH_REQUIRED": true} {
		if b := decodeState(t, update(strings.Replace(asks, "input-required", state, 1))); b.AwaitsInput != waits {
			t.Errorf("a task that is %s waits for input: %t", state, b.AwaitsInput)
		}
	}
}

// TestUnmarkedFinals checks in which updates an agent's response is its final answer if it asks for nothing: Python's servers leave
// long-running calls out of artifacts, or send a status without parts, JavaScript's do not.
func TestUnmarkedFinals(t *testing.T) {
	artifact := func(more string) string {
		return envelopes["0.3"]("artifact-update", "", artifactCase(hi, "").sent+`,"metadata":{"adk_author":"a"`+more+`}`)
	}
	status := func(state, parts, more string) string {
		return envelopes["0.3"]("status-update", "", `"taskId":"t","status":{"state":"`+state+`","message":{"messageId":"m","role":"agent","parts":[`+parts+`]}},"metadata":{"adk_author":"a"`+more+`}`)
	}
	for _, c := range []struct {
		sent string
		want bool
	}{
		{artifact(""), false},
		{artifact(`,"adk_is_long_running":false`), true},
		{status("working", hi, ""), true},
		{status("working", "", ""), false},
		{status("working", "", `,"adk_is_long_running":false`), true},
		{status("working", "", `,"adk_error_code":"SAFETY"`), true},
		{status("completed", "", ""), true},
	} {
		if b := decodeState(t, c.sent); b.Place == nil || b.Place.FinalsUnmarked != c.want {
			t.Errorf("of %s, the place is %+v", c.sent, b.Place)
		}
	}
}

func decodeState(t *testing.T, frame string) *event.Batch {
	t.Helper()
	input := collector.Input{Reader: strings.NewReader("data: " + frame + "\n\n"), ReceivedAt: func() time.Time { return time.Time{} }}
	b, err := collector.New([]dialect.Dialect{a2a.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil).Decode(&event.Stream{}, input, "a2a").Next()
	if err != nil || b.Rejected != "" {
		t.Fatalf("%s is not read: %v %s", frame, err, b.Rejected)
	}
	return b
}

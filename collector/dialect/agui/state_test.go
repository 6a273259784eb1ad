package agui_test

import (
	"slices"
	"testing"
)

// TestWithheldState checks that changes of a state are withheld until a snapshot leaves, in any run and of any agent.
func TestWithheldState(t *testing.T) {
	const (
		snapshot = `{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}`
		delta    = `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":"CANARY"}]}`
	)
	run := func(kind, id string) string { return sent(kind, `"threadId":"t"`, `"runId":"`+id+`"`) }
	client := allSettings[0]
	for name, before := range map[string][]string{
		"internal":           {evasions["kind"](snapshot)},
		"after another":      {snapshot, evasions["kind"](snapshot)},
		"instructions":       {with(`"role":"system"`)(snapshot)},
		"an internal change": {snapshot, evasions["kind"](delta)},
		"unreadable":         {snapshot, `{"type": "STATE_SNAPSHOT","snapshot":{"a":1,,}}`},
		"unreadable change":  {snapshot, with(`"kind":"internal","kind":"internal"`)(delta)},
		"in an earlier run":  {run("RUN_STARTED", "r"), evasions["kind"](snapshot), run("RUN_FINISHED", "r"), run("RUN_STARTED", "q")},
		"in a withheld run":  {evasions["kind"](run("RUN_STARTED", "r")), snapshot, run("RUN_FINISHED", "r"), run("RUN_STARTED", "q")},
	} {
		got := filterFrames(t, client, append(slices.Clone(before), delta, with(`"subagentRunId":"u"`)(delta), snapshot, delta)...)[len(before):]
		if want := []string{withheld, withheld, snapshot, delta}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for name, before := range map[string][]string{
		"without a snapshot":    nil,
		"an unknown type":       {`{"type":"NEWS","delta":"x"}`},
		"unreadable data":       {`{"type":"CUSTOM","name":"x","value":{"a":1,,}}`},
		"an internal message":   {evasions["kind"](startCases["a message"][0])},
		"data without an event": {`ping`},
	} {
		if got := last(filterFrames(t, client, append(slices.Clone(before), delta)...)); got != delta {
			t.Errorf("%s: got %s, want the change", name, got)
		}
	}
}

package agui_test

import (
	"slices"
	"testing"
)

// TestWithheldState checks that changes of a state are withheld until a snapshot leaves, in any run and of any agent.
func TestWithheldState(t *testing.T) {
	const (
		snapshot   = `{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}`
		delta      = `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":"CANARY"}]}`
		unreadable = `{"type":"STATE_SNAPSHOT","snapshot":{"a":1,,}}`
	)
	run := func(kind, id string) string { return sent(kind, `"threadId":"t"`, `"runId":"`+id+`"`) }
	client := allSettings[0]
	for name, before := range map[string][]string{
		"internal":           {evasions["kind"](snapshot)},
		"after another":      {snapshot, evasions["kind"](snapshot)},
		"instructions":       {with(`"role":"system"`)(snapshot)},
		"unreadable":         {unreadable},
		"unreadable, later":  {snapshot, unreadable},
		"of another type":    {snapshot, evasions["type, longer"](snapshot)},
		"not an event":       {snapshot, `{"Snapshot":{}}`},
		"misspelled link":    {snapshot, with(`"message_id":"m"`)(snapshot)},
		"an internal change": {snapshot, evasions["kind"](delta)},
		"a subagent's":       {evasions["kind"](startCases["a subagent"][0]), with(`"subagentRunId":"s"`)(snapshot)},
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
		"an internal message":   {evasions["kind"](startCases["a message"][0])},
		"data without an event": {`ping`},
	} {
		if got := last(filterFrames(t, client, append(slices.Clone(before), delta)...)); got != delta {
			t.Errorf("%s: got %s, want the change", name, got)
		}
	}
}

// TestInternalMessagesInState checks that a message that calls itself internal does not leave in a value of an application, and what
// becomes of its calls' results.
func TestInternalMessagesInState(t *testing.T) {
	const message = `{"content":"secret","type":"ai","kind":"internal_planner","id":null,"tool_calls":[{"name":"f","args":{},"id":"call_p"}]}`
	const result, said = `{"content":"secret","type":"tool","tool_call_id":"call_p"}`, `{"content":"Hi","type":"ai","name":"planner","id":"a"}`
	state := func(messages string) string {
		return `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[` + messages + `],"n":1}}`
	}
	for sent, want := range map[string]string{
		state(message + "," + said):                state(said),
		state(said + "," + message + "," + result): state(said),
		state(said): state(said),
		`{"type":"STATE_SNAPSHOT","snapshot":{"last":` + message + `}}`:                              `{"type":"STATE_SNAPSHOT","snapshot":{}}`,
		`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/messages/-","value":` + message + `}]}`: withheld,
		`{"type":"CUSTOM","name":"x","value":{"messages":[` + message + `]}}`:                        withheld,
		`{"type":"CUSTOM","name":"x","value":{"messages":[` + said + `]}}`:                           `{"type":"CUSTOM","name":"x","value":{"messages":[` + said + `]}}`,
	} {
		if got := last(filterFrames(t, allSettings[0], run, sent)); got != want {
			t.Errorf("%s becomes %s, want %s", sent, got, want)
		}
	}
}

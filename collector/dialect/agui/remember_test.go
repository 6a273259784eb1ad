package agui_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// Parts of events with a message, the call in it and the result of the call. %MARK% stands for a mark of the message.
const (
	markedMessage = `{"id":"msg-00000001","role":"assistant","content":"CANARY","toolCalls":[{"id":"call-00000001","type":"function","function":{"name":"f","arguments":"{\"q\":\"CANARY\"}"}}]%MARK%}`
	markedResult  = `{"id":"res-00000001","role":"tool","toolCallId":"call-00000001","content":"CANARY"}`
	langChains    = `{"id":"msg-00000001","type":"ai","content":"CANARY","tool_calls":[{"id":"call-00000001","name":"f","args":{"q":"CANARY"}}]%MARK%}`
	internalAgent = `{"type":"SUBAGENT_STARTED","kind":"internal","subagentRunId":"s","name":"internal_audit"}`
	otherAgent    = `{"type":"SUBAGENT_STARTED","subagentRunId":"t","name":"b"}`
)

// placesOfMessages holds events from which a message is withheld.
var placesOfMessages = map[string][]string{
	"a snapshot":          {`{"type":"MESSAGES_SNAPSHOT","messages":[$]}`},
	"a request":           {`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"q","input":{"messages":[$]}}`},
	"a state":             {`{"type":"STATE_SNAPSHOT","snapshot":{"messages":[$]}}`},
	"a state, late":       {`{"type":"STATE_SNAPSHOT","snapshot":{"messages":[` + markedResult + `,$]}}`},
	"a change of a state": {`{"type":"STATE_SNAPSHOT","snapshot":{}}`, `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/messages/0","value":$}]}`},
	"a stale change":      {`{"type":"STATE_SNAPSHOT","kind":"internal","snapshot":{}}`, `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/messages/0","value":$}]}`},
	"an event":            {`{"type":"CUSTOM","name":"c","value":{"m":[$]}}`},
	"an internal event":   {`{"type":"CUSTOM","name":"internal_c","value":{"m":[$]}}`},
	"a question":          {`{"type":"CUSTOM","name":"on_interrupt","value":{"draft":$}}`},
	"an activity":         {`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":{"messages":[$]}}`},
	"a listed activity":   {`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"activity","activityType":"x","content":{"messages":[$]}}]}`},
	"a change":            {activity(`{}`), change(`[{"op":"add","path":"/messages","value":[$]}]`)},
	"a result":            {`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"messages":[$]}}`, nextRun},
	"an outcome":          {`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x","metadata":{"draft":$}}]}}`, nextRun},
	"a subagent's result": {otherAgent, `{"type":"SUBAGENT_FINISHED","subagentRunId":"t","result":[$]}`},
	"an unknown event":    {`{"type":"X_STATE","messages":[$]}`},
}

// repeatsOfMessages holds events that repeat the message without its mark, or its call.
var repeatsOfMessages = map[string][]string{
	"a text":       {`{"type":"TEXT_MESSAGE_START","messageId":"msg-00000001","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-00000001","delta":"CANARY"}`},
	"a chunk":      {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"msg-00000001","role":"assistant","delta":"CANARY"}`},
	"a thought":    {`{"type":"REASONING_MESSAGE_CHUNK","messageId":"msg-00000001","delta":"CANARY"}`, `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"msg-00000001","encryptedValue":"CANARY"}`},
	"a call":       {`{"type":"TOOL_CALL_START","toolCallId":"call-00000001","toolCallName":"CANARY"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"call-00000001","delta":"CANARY"}`},
	"a result":     {`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"call-00000001","content":"CANARY"}`},
	"a snapshot":   {`{"type":"MESSAGES_SNAPSHOT","messages":[$,` + markedResult + `]}`},
	"a state":      {`{"type":"STATE_SNAPSHOT","snapshot":{"m":[$],"n":1}}`},
	"an event":     {`{"type":"CUSTOM","name":"c","value":{"m":[$]}}`},
	"an activity":  {`{"type":"ACTIVITY_SNAPSHOT","messageId":"b","activityType":"x","content":{"m":[$]}}`},
	"the last":     {`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"m":$}}`},
	"a question":   {`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call","message":"CANARY","toolCallId":"call-00000001"}]}}`},
	"a next run's": {`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, nextRun, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"msg-00000001","role":"assistant","delta":"CANARY"}`},
}

// TestRepeatedMessages checks that a message that was withheld in any place, and its call, do not leave later without the mark.
func TestRepeatedMessages(t *testing.T) {
	for mark, isInternal := range map[string]bool{`,"kind":"internal_audit"`: true, `,"metadata":{"event":"internal_audit"}`: true, `,"name":"internal_audit"`: false} {
		for place, first := range placesOfMessages {
			for repeat, next := range repeatsOfMessages {
				for _, message := range []string{markedMessage, langChains} {
					if message == langChains && (place == "a snapshot" || place == "a request" || repeat == "a snapshot") {
						continue // not of the protocol
					}
					sent := append([]string{run, internalAgent}, append(first[:len(first):len(first)], next...)...)
					for i := range sent {
						with := mark
						if i >= len(sent)-len(next) {
							with = ""
						}
						sent[i] = strings.ReplaceAll(sent[i], "$", strings.Replace(message, "%MARK%", with, 1))
					}
					for _, s := range allSettings {
						got := filterFrames(t, s, sent...)
						leaves := strings.Contains(strings.Join(got, ""), "CANARY")
						// A result without a call does not leave after an internal event.
						if isInternal && leaves || !isInternal && s.Policy == event.PolicyClient && !leaves && repeat != "a result" {
							t.Errorf("%s, %s with %s, then %s:\n%s\nbecome\n%s", s.Policy, place, mark, repeat, strings.Join(sent, "\n"), strings.Join(got, "\n"))
						}
					}
				}
			}
		}
	}
}

// TestRepeatedResults repeats a result that a snapshot marks as internal. The call is ordinary.
func TestRepeatedResults(t *testing.T) {
	const (
		call   = `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`
		asked  = `{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		marked = `{"id":"x","role":"tool","toolCallId":"c","content":"CANARY of the audit, 20 bytes","metadata":{"event":"internal_audit"}}`
	)
	for _, repeat := range []string{
		`{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"c","content":"CANARY"}`,
		snapshotOf(`{"id":"y","role":"tool","toolCallId":"c","content":"CANARY"}`),
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":{"v":"CANARY of the audit, 20 bytes"}}`,
		`{"type":"RUN_ERROR","message":"CANARY of the audit, 20 bytes"}`,
	} {
		for _, first := range []string{
			snapshotOf(asked + "," + marked), `{"type":"STATE_SNAPSHOT","snapshot":{"m":[` + marked + `]}}`, `{"type":"CUSTOM","name":"c","value":[` + marked + `]}`,
		} {
			for _, s := range allSettings {
				if got := filterFrames(t, s, run, call, first, repeat); strings.Contains(strings.Join(got, ""), "CANARY") {
					t.Errorf("%s: after %s, %s becomes %s", s.Policy, first, repeat, last(got))
				}
			}
		}
	}
}

// TestInternalSnapshots checks that what an internal snapshot of messages contains does not leave later, unless it has left before.
func TestInternalSnapshots(t *testing.T) {
	snapshot := func(mark, marked string) string {
		message := strings.Replace(markedMessage, "%MARK%", marked, 1)
		return `{"type":"MESSAGES_SNAPSHOT"` + mark + `,"messages":[{"id":"u","role":"user","content":"Hi"},` + message + `]}`
	}
	for name, c := range map[string]struct {
		before []string
		mark   string
		leaves bool
	}{
		"metadata":             {nil, `,"metadata":{"event":"internal_audit"}`, false},
		"kind":                 {nil, `,"kind":"internal_x"`, false},
		"unknown kind":         {nil, `,"kind":"x"`, false},
		"after a text":         {repeatsOfMessages["a text"], `,"kind":"internal_x"`, true},
		"after a snapshot":     {[]string{snapshot("", "")}, `,"kind":"internal_x"`, true},
		"after an internal":    {[]string{snapshot(`,"kind":"internal_x"`, "")}, `,"kind":"internal_x"`, false},
		"after another's mark": {[]string{snapshot("", `,"kind":"internal_audit"`)}, `,"kind":"internal_x"`, false},
		"in an internal run":   {[]string{`{"type":"RUN_STARTED","kind":"internal","threadId":"t","runId":"n","parentRunId":"r","input":` + snapshot("", "") + `}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"n"}`}, `,"kind":"internal_x"`, false},
		"after a run": {[]string{
			`{"type":"TOOL_CALL_START","toolCallId":"call-00000001","toolCallName":"f","parentMessageId":"msg-00000001"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, nextRun,
		}, `,"kind":"internal_x"`, true},
	} {
		sent := append([]string{run}, append(c.before[:len(c.before):len(c.before)], snapshot(c.mark, ""))...)
		for _, repeat := range []string{snapshot("", ""), repeatsOfMessages["a result"][0], repeatsOfMessages["a chunk"][0]} {
			got := last(filterFrames(t, allSettings[0], append(sent[:len(sent):len(sent)], repeat)...))
			if leaves := strings.Contains(got, "CANARY"); leaves != c.leaves && (repeat != repeatsOfMessages["a result"][0] || !c.leaves) {
				t.Errorf("%s: %s becomes %s", name, repeat, got)
			}
			if !strings.Contains(got, `"Hi"`) && strings.Contains(repeat, `"Hi"`) {
				t.Errorf("%s: the snapshot loses the user's message: %s", name, got)
			}
		}
	}
}

// TestOrdinaryMessages checks that a message leaves after a withheld event that says nothing about it.
func TestOrdinaryMessages(t *testing.T) {
	const (
		text   = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"msg-00000001","role":"assistant","delta":"hi"}`
		start  = `{"type":"TOOL_CALL_START","toolCallId":"call-00000001","toolCallName":"f","parentMessageId":"msg-00000001"}`
		result = `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"call-00000001","content":"1"}`
		hidden = `{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"internal_f"}`
	)
	message := strings.Replace(markedMessage, "%MARK%", "", 1)
	internal := `{"id":"n","role":"assistant","name":"internal_audit","content":"x"}`
	for name, c := range map[string]struct {
		before []string
		next   string
	}{
		"an internal event":     {[]string{`{"type":"CUSTOM","name":"internal_c","value":{"messages":[` + message + `]}}`}, text},
		"an internal state":     {[]string{`{"type":"STATE_SNAPSHOT","kind":"internal","snapshot":{"messages":[` + message + `]}}`}, text},
		"another in the state":  {[]string{`{"type":"STATE_SNAPSHOT","snapshot":{"messages":[` + internal + `,` + message + `]}}`}, text},
		"another in the event":  {[]string{`{"type":"CUSTOM","name":"c","value":{"messages":[` + internal + `,` + message + `]}}`}, text},
		"a withheld call in it": {[]string{strings.Replace(hidden, `"toolCallName"`, `"kind":"internal","toolCallName"`, 1), snapshotOf(strings.ReplaceAll(message, "call-00000001", "d"))}, text},
		"a withheld piece": {[]string{
			`{"type":"TEXT_MESSAGE_START","messageId":"msg-00000001","role":"assistant"}`, start, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-00000001","kind":"internal","delta":"x"}`, snapshotOf(message),
		}, result},
		"a prompt in the state":       {[]string{`{"type":"STATE_SNAPSHOT","snapshot":{"messages":[` + internal + `,{"id":"msg-00000001","role":"system","content":"Be brief."}]}}`}, text},
		"an internal activity's call": {[]string{start, snapshotOf(`{"id":"a","role":"activity","activityType":"internal_x","toolCallId":"call-00000001","content":{}}`)}, result},
	} {
		if got := last(filterFrames(t, allSettings[0], append([]string{run}, append(c.before, c.next)...)...)); got != c.next {
			t.Errorf("after %s, %s becomes %s", name, c.next, got)
		}
	}
}

// TestAnswersAfterSnapshots checks that the result of a call that began a withheld subagent leaves without the answer after a snapshot
// had the answer, so that the call ends.
func TestAnswersAfterSnapshots(t *testing.T) {
	sent := []string{
		run, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`, `{"type":"SUBAGENT_STARTED","subagentRunId":"s","kind":"internal_a","parentToolCallId":"c"}`,
		snapshotOf(`{"id":"x","role":"tool","toolCallId":"c","content":"CANARY"}`), `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":"CANARY"}`,
	}
	if got := last(filterFrames(t, allSettings[0], sent...)); got == withheld || strings.Contains(got, "CANARY") {
		t.Errorf("the result becomes %s", got)
	}
}

// TestResultsBeforeCalls checks that the result of a withheld message's call is remembered if it stands before the message.
func TestResultsBeforeCalls(t *testing.T) {
	message := strings.Replace(markedMessage, "%MARK%", `,"kind":"internal_audit"`, 1)
	for _, first := range []string{
		snapshotOf(markedResult + "," + message), `{"type":"STATE_SNAPSHOT","snapshot":{"m":[` + markedResult + `,` + message + `]}}`,
		`{"type":"CUSTOM","name":"c","value":[` + markedResult + `,` + message + `]}`,
	} {
		if got := last(filterFrames(t, allSettings[0], run, first, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"res-00000001","role":"assistant","delta":"CANARY"}`)); got != withheld {
			t.Errorf("after %s a text with the ID of the result becomes %s", first, got)
		}
	}
}

// TestArgumentsOfLangChain checks that an activity with the arguments of a withheld message's call does not leave.
func TestArgumentsOfLangChain(t *testing.T) {
	const first = `{"type":"CUSTOM","name":"c","value":{"type":"ai","kind":"internal_audit","content":"","tool_calls":[{"id":"c","name":"f","args":{"q":"CANARY of the audit, 20 bytes"}}]}}`
	if got := last(filterFrames(t, allSettings[0], run, first, activity(`{"v":{"q":"CANARY of the audit, 20 bytes"}}`))); got != withheld {
		t.Errorf("the activity becomes %s", got)
	}
}

// TestReferringMessages checks that a message of a snapshot that names something withheld does not leave later without the name, and
// that the call of a result with such a name ends.
func TestReferringMessages(t *testing.T) {
	const (
		hidden = `{"type":"TOOL_CALL_START","kind":"internal","toolCallId":"call-00000009","toolCallName":"f"}`
		call   = `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`
		text   = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"CANARY"}`
		result = `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"{\"for\":\"call-00000009\",\"x\":\"CANARY\"}"}`
	)
	said := snapshotOf(`{"id":"m","role":"assistant","content":"CANARY","metadata":{"for":"call-00000009"}}`)
	answered := snapshotOf(`{"id":"m","role":"tool","toolCallId":"c","content":"{\"for\":\"call-00000009\",\"x\":\"CANARY\"}"}`)
	if got := last(filterFrames(t, allSettings[0], run, hidden, said, text)); got != withheld {
		t.Errorf("the text becomes %s", got)
	}
	if got := last(filterFrames(t, allSettings[0], run, call, hidden, answered, result)); got == withheld || strings.Contains(got, "CANARY") {
		t.Errorf("the result becomes %s", got)
	}
}

// TestMessagesAfterMany checks that no snapshot leaves after more messages were withheld in events than are remembered.
func TestMessagesAfterMany(t *testing.T) {
	sent := []string{run}
	for i := range 1100 {
		sent = append(sent, fmt.Sprintf(`{"type":"CUSTOM","name":"c","value":{"id":"m%d","role":"assistant","kind":"internal_audit","content":"x"}}`, i))
	}
	if got := last(filterFrames(t, allSettings[0], append(sent, snapshotOf(`{"id":"m1099","role":"assistant","content":"CANARY"}`))...)); got != withheld {
		t.Errorf("a snapshot becomes %s", got)
	}
}

// TestOrdinaryNames checks that the names of files, rows and tools are not those of agents, and that nothing is remembered of them.
func TestOrdinaryNames(t *testing.T) {
	const file = `{"id":"file-00001","name":"internal-report.md","content":"text"}`
	const call = `{"id":"a-1","type":"ai","name":null,"content":[{"type":"tool_use","id":"call-00001","name":"internal_search","input":{}}],"tool_calls":[{"id":"call-00001","name":"internal_search","args":{}}]}`
	const result = `{"id":"r-1","type":"tool","name":"internal_search","tool_call_id":"call-00001","content":"found"}`
	later := []string{
		`{"type":"TOOL_CALL_START","toolCallId":"call-00001","toolCallName":"internal_search"}`, `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"call-00001","content":"{\"id\":\"file-00001\"}"}`,
		`{"type":"CUSTOM","name":"opened","value":{"file":"file-00001"}}`, `{"type":"ACTIVITY_SNAPSHOT","messageId":"b","activityType":"viewer","content":{"file":"file-00001"}}`,
		`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/n","value":1}]}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a-1","role":"assistant","content":"x","toolCalls":[{"id":"call-00001","type":"function","function":{"name":"internal_search","arguments":"{}"}}]},{"id":"r-1","role":"tool","toolCallId":"call-00001","content":"found"}]}`,
	}
	for place, frames := range placesOfMessages {
		if strings.Contains(place, "internal") || strings.Contains(place, "stale") || strings.Contains(place, "unknown") || strings.Contains(place, "snapshot") || strings.Contains(place, "request") {
			continue // withheld anyway, or what is not in AG-UI's form
		}
		for _, object := range []string{file, call, result} {
			if object == file && strings.Contains(strings.Join(frames, ""), "messages") {
				continue // it stands where messages stand
			}
			sent := []string{run, otherAgent}
			for _, frame := range frames {
				sent = append(sent, strings.Replace(frame, "$", object, 1))
			}
			sent = append(sent, later...)
			for i, got := range filterFrames(t, allSettings[0], sent...) {
				if got != sent[i] {
					t.Errorf("%s: %s leaves as %s", place, sent[i], got)
				}
			}
		}
	}
}

// TestResultsWithOtherIDs checks that a result that left does not count as withheld when an internal list has it with another ID, as the
// lists of LangGraph's adapter do.
func TestResultsWithOtherIDs(t *testing.T) {
	call := []string{run, `{"type":"TOOL_CALL_START","toolCallId":"call-00000001","toolCallName":"f"}`, `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"call-00000001","content":"y"}`}
	list := snapshotOf(`{"id":"res-00000001","role":"tool","toolCallId":"call-00000001","content":"y"}`)
	internal := with(`"metadata":{"event":"internal_x"}`)(list)
	if got := last(filterFrames(t, allSettings[0], append(call, internal, list)...)); got != list {
		t.Errorf("after the result, the list becomes %s", got)
	}
	if got := last(filterFrames(t, allSettings[0], append(call[:2:2], internal, list)...)); got == list {
		t.Error("a result leaves that only the internal list had")
	}
}

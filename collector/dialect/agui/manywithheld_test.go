package agui_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestStartsAfterMany checks what leaves after more entities of a run were withheld than are remembered: what shows its start.
func TestStartsAfterMany(t *testing.T) {
	sent := []string{`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`}
	for i := range 1100 {
		sent = append(sent, fmt.Sprintf(`{"type":"TOOL_CALL_START","kind":"internal","toolCallId":"i%d","toolCallName":"f"}`, i))
	}
	const (
		text = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`
		call = `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`
	)
	for _, c := range []struct {
		next   string // some events
		leaves bool   // the last of them
	}{
		{text, true},
		{text + "\n" + `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hi"}`, true},
		{text + "\n" + call, true},
		{text + "\n" + call + "\n" + `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}`, true},
		{text + "\n" + call + "\n" + `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":"1"}`, true},
		{`{"type":"TOOL_CALL_ARGS","toolCallId":"i1099","delta":"CANARY"}`, false},
		{`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"i1099","content":"CANARY"}`, false},
		{`{"type":"TOOL_CALL_START","toolCallId":"i1","toolCallName":"f"}`, false},
		{`{"type":"TOOL_CALL_START","kind":"internal","toolCallId":"n","toolCallName":"f"}` + "\n" + `{"type":"TOOL_CALL_ARGS","toolCallId":"n","delta":"CANARY"}`, false},
		{`{"type":"TEXT_MESSAGE_START","kind":"internal","messageId":"n","role":"assistant"}` + "\n" + `{"type":"TEXT_MESSAGE_CONTENT","messageId":"n","delta":"CANARY"}`, false},
		{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"n","delta":"CANARY"}`, false},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","delta":"CANARY"}`, false},
		{`{"type":"TOOL_CALL_CHUNK","toolCallId":"i1099","toolCallName":"f","delta":"CANARY"}`, false},
		{`{"type":"TEXT_MESSAGE_START","messageId":"n","role":"assistant","subagentRunId":"s"}`, false},
		{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"b","parentToolCallId":"i1099"}`, false},
		{`{"type":"ACTIVITY_SNAPSHOT","messageId":"n","activityType":"a","content":{"x":"CANARY"}}`, false},
		{`{"type":"REASONING_MESSAGE_START","messageId":"n","role":"reasoning"}`, false},
		{`{"type":"REASONING_START","kind":"internal","messageId":"p"}` + "\n" + `{"type":"REASONING_MESSAGE_START","messageId":"n","role":"reasoning"}`, false},
		{`{"type":"RUN_STARTED","kind":"internal","threadId":"t","runId":"q","parentRunId":"r"}` + "\n" + text, false},
		{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"b"}`, false},
		{`{"type":"STATE_SNAPSHOT","snapshot":{"messages":[{"type":"tool","tool_call_id":"i1099","content":"CANARY"}]}}`, false},
		{`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/messages/-","value":{"tool_call_id":"i1099","content":"CANARY"}}]}`, false},
	} {
		next := strings.Split(c.next, "\n")
		got := last(filterFrames(t, allSettings[0], append(sent[:len(sent):len(sent)], next...)...))
		if leaves := got == next[len(next)-1]; leaves != c.leaves || !leaves && got != withheld {
			t.Errorf("after %s the last event leaves as %s", c.next, got)
		}
	}
}

package agui_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// Frames of a call that runs a subagent, in the order of the protocol's example.
const (
	task         = `{"type":"TOOL_CALL_START","toolCallId":"call_1a2b3c","toolCallName":"task"}`
	taskEnd      = `{"type":"TOOL_CALL_END","toolCallId":"call_1a2b3c"}`
	worker       = `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"internal_worker","parentToolCallId":"call_1a2b3c"}`
	workerEnd    = `{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":"CANARY"}`
	answer       = `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"call_1a2b3c","content":"CANARY","role":"tool"}`
	emptyAnswer  = `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"call_1a2b3c","content":"","role":"tool"}`
	listedCall   = `{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"call_1a2b3c","type":"function","function":{"name":"task","arguments":"{}"}}]}`
	listedAnswer = `{"id":"y","role":"tool","toolCallId":"call_1a2b3c","content":"CANARY"}`
	nextRun      = `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`
)

// TestAnswersOfNamedDelegates checks that the answer of an internal agent does not leave with, or after, the call in a list, a state or a
// value that names it. LangGraph's adapter may send no other frame of the call.
func TestAnswersOfNamedDelegates(t *testing.T) {
	shapes := map[string]string{
		"AG-UI":      `{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"call_1a2b3c","type":"function","function":{"name":"task","arguments":"{\"subagent_type\":\"NAME\"}"}}]},{"id":"y","role":"tool","toolCallId":"call_1a2b3c","content":"CANARY"}`,
		"LangChain":  `{"id":"a","type":"ai","content":"x","name":null,"tool_calls":[{"id":"call_1a2b3c","name":"task","args":{"subagent_type":"NAME"},"type":"tool_call"}]},{"id":"y","type":"tool","name":"task","tool_call_id":"call_1a2b3c","content":"CANARY"}`,
		"Anthropic":  `{"id":"a","role":"assistant","content":[{"type":"tool_use","id":"call_1a2b3c","name":"task","input":{"subagent_type":"NAME"}}]},{"id":"y","role":"tool","tool_call_id":"call_1a2b3c","content":"CANARY"}`,
		"of a team":  `{"id":"a","role":"assistant","tool_calls":[{"id":"call_1a2b3c","function":{"name":"delegate_task_to_member","arguments":"{\"member_id\":\"NAME\"}"}}]},{"id":"y","role":"tool","tool_call_id":"call_1a2b3c","content":"CANARY"}`,
		"the answer": `{"id":"y","role":"tool","toolCallId":"call_1a2b3c","content":"CANARY"},{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"call_1a2b3c","type":"function","function":{"name":"task","arguments":"{\"subagent_type\":\"NAME\"}"}}]}`,
	}
	for shape, messages := range shapes {
		for place, frames := range placesOfMessages {
			for name, leaves := range map[string]bool{"internal_x": false, "writer": true} {
				sent := []string{run, otherAgent}
				for _, frame := range frames {
					list := "[" + strings.ReplaceAll(messages, "NAME", name) + "]"
					sent = append(sent, strings.NewReplacer("[$]", list, markedResult+",$", list[1:len(list)-1], "$", `{"messages":`+list+`}`).Replace(frame))
				}
				if last(frames) != nextRun {
					sent = append(sent, task)
				}
				for _, s := range allSettings {
					got := filterFrames(t, s, append(sent, answer)...)
					if all := strings.Join(got, ""); strings.Contains(all, "CANARY") && !leaves || leaves && place == "a state" && s.Policy == event.PolicyClient && strings.Count(all, "CANARY") != 2 || place == "a state" && s.Policy == event.PolicyClient && !strings.Contains(all, name) {
						t.Errorf("%s, %s, %s: %q", shape, place, name, got)
					}
				}
			}
		}
	}
}

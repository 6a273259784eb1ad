package agui_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestLearnedDelegates checks that a call without arguments of its own is of the agent that another frame names, which has them.
func TestLearnedDelegates(t *testing.T) {
	const task = `{"id":"c","name":"task","args":{"subagent_type":"analyst"}}`
	for what, frame := range map[string]string{
		"an event":        `{"type":"RAW","event":{"event":"on_chat_model_end","data":{"output":{"type":"ai","tool_calls":[` + task + `]}}}}`,
		"an event beside": `{"type":"CUSTOM","name":"x","value":1,"rawEvent":{"data":{"output":{"tool_calls":[` + task + `]}}}}`,
		"a state":         `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[{"type":"ai","tool_calls":[` + task + `]}]}}`,
		"a list":          `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"task","arguments":"{\"subagent_type\":\"analyst\"}"}}]}]}`,
		"":                `{"type":"CUSTOM","name":"x","value":1}`,
	} {
		var agent string
		decodeEach(t, []string{
			run, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"task"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`, frame,
			`{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"hm"}`, `{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"look"}`,
		}, func(b *event.Batch) { agent = b.Agent })
		if want := "analyst"; (agent == want) != (what != "") {
			t.Errorf("after %q, a call is of %q", what, agent)
		}
	}
}

package agui_test

import (
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestLearnedDelegates checks that a call without arguments of its own is of the agent that another frame names, which has them. Only
// LangChain's event shows when the agent begins.
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
		var isLate bool
		decodeEach(t, []string{
			run, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"task"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`, frame,
			`{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"hm"}`, `{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"look"}`,
		}, func(b *event.Batch) { agent, isLate = b.Agent, b.MayBeBeside })
		if want := "analyst"; (agent == want) != (what != "") {
			t.Errorf("after %q, a call is of %q", what, agent)
		}
		if want := what != "" && what != "an event"; isLate != want {
			t.Errorf("after %q, the agent may have begun earlier: %t", what, isLate)
		}
	}
}

// TestLearnedDelegatesBegin checks that all agents begin with the event that states the arguments of their calls, if these have ended.
func TestLearnedDelegatesBegin(t *testing.T) {
	call := func(id string) string {
		return `{"type":"TOOL_CALL_START","toolCallId":"` + id + `","toolCallName":"task"}`
	}
	end := func(id string) string { return `{"type":"TOOL_CALL_END","toolCallId":"` + id + `"}` }
	task := func(id, agent string) string {
		return `{"id":"` + id + `","name":"task","args":{"subagent_type":"` + agent + `"}}`
	}
	states := `{"type":"RAW","event":{"event":"on_chat_model_end","data":{"output":{"tool_calls":[` + task("1", "a") + `,` + task("2", "a") + `,` + task("3", "b") + `]}}}}`
	var got []string
	decodeEach(t, []string{run, call("1"), end("1"), call("2"), end("2"), call("3"), states, end("3"), states}, func(b *event.Batch) {
		for one := range b.Turns() {
			if one.EnclosingCall != "" {
				got = append(got, b.Type+" "+one.EnclosingCall+" "+one.Agent)
			}
		}
		if b.Type == "RAW" && b.Agent != "" {
			t.Errorf("the event is of %q", b.Agent)
		}
	})
	if want := []string{"RAW 1 a", "RAW 2 a", "TOOL_CALL_END 3 b"}; !slices.Equal(got, want) {
		t.Errorf("the agents begin with %q, want %q", got, want)
	}
}

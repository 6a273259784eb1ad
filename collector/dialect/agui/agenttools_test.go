package agui_test

import (
	"strings"
	"testing"
)

// TestAgentTools checks that the answer of an internal agent of Mastra, which runs agents as tools, does not leave.
func TestAgentTools(t *testing.T) {
	for tool, leaves := range map[string]bool{"agent-internalAuditor": false, "agent-Internal_auditor": false, "agent-writer": true, "agents-internal": true} {
		listed := `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"c","type":"function","function":{"name":"` + tool + `","arguments":"{}"}}]},{"id":"rc","role":"tool","toolCallId":"c","content":"CANARY"}]}`
		state := `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"c","name":"` + tool + `","args":{}}]},{"id":"rc","role":"tool","toolCallId":"c","content":"CANARY"}]}}`
		for what, sent := range map[string][]string{
			"a call": toolCall("c", tool, `{"prompt":"x"}`, "CANARY"),
			"chunks": {`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"` + tool + `","delta":"{}"}`, toolCall("c", tool, "", "CANARY")[3]},
			"a list": {listed}, "a state": {state},
		} {
			got := filterFrames(t, allSettings[0], append([]string{run}, sent...)...)
			if strings.Contains(last(got), "CANARY") != leaves || strings.Join(got[1:len(got)-1], "\n") != strings.Join(sent[:len(sent)-1], "\n") || last(got) == withheld {
				t.Errorf("%s of %s: %q", what, tool, got[1:])
			}
		}
	}
}

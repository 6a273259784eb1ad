package agui_test

import (
	"strings"
	"testing"
)

// Frames of Strands' adapter, as version 1.0.2 sent them.
const (
	strandsAsks  = `{"type":"CUSTOM","name":"MultiAgentNodeInterrupt","value":{"node_id":"internal_audit","interrupts":[{"id":"v1:tool_call:tooluse_cac3621776c0:71f98a38","name":"confirm","reason":{"question":"CANARY"}}]}}`
	strandsAsked = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"v1:tool_call:tooluse_cac3621776c0:71f98a38","reason":"confirm","message":"CANARY","metadata":{"reason":{"question":"CANARY"}}}]}}`
	strandsHands = `{"type":"CUSTOM","name":"MultiAgentHandoff","value":{"from_nodes":["internal_audit"],"to_nodes":["writer"],"message":"CANARY"}}`
	strandsStops = `{"type":"CUSTOM","name":"MultiAgentNodeCancel","value":{"node_id":"internal_audit","message":"CANARY"}}`
	strandsFails = `{"type":"CUSTOM","name":"MultiAgentNodeStatus","value":{"node_id":"internal_audit","status":"failed"}}`
)

// TestStrandsNodes checks that nothing leaves of what the adapter of Strands says of an internal node, and that the same leaves of an
// ordinary node.
func TestStrandsNodes(t *testing.T) {
	const step, end = `{"type":"STEP_STARTED","stepName":"agent:internal_audit"}`, `{"type":"STEP_FINISHED","stepName":"agent:internal_audit"}`
	group := strings.NewReplacer("agent:internal", "multiagent:internal")
	said := []string{begun[0], `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"CANARY"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`}
	for what, sent := range map[string][]string{
		"a text":                {step, said[0], said[1], said[2], end},
		"a text of a group":     {group.Replace(step), said[0], said[1], said[2], group.Replace(end)},
		"another spelling":      {strings.Replace(step, "agent:", "Agent: ", 1), said[0], said[1], said[2]},
		"a handoff":             {step, end, strandsHands},
		"a question":            {step, strandsAsks, end, strandsAsked},
		"a question of a group": {group.Replace(step), strandsAsks, group.Replace(end), strandsAsked},
		"a cancellation":        {step, strandsStops, end},
	} {
		for i, s := range allSettings {
			if got := strings.Join(filterFrames(t, s, append([]string{run}, sent...)...), "\n"); strings.Contains(got, "CANARY") {
				t.Errorf("%s, %s: %s", what, s.Policy, got)
			}
			ordinary := strings.Split(strings.ReplaceAll(strings.Join(sent, "\n"), "internal_audit", "planner"), "\n")
			if got := strings.Join(filterFrames(t, s, append([]string{run}, ordinary...)...), "\n"); i == 0 && got != run+"\n"+strings.Join(ordinary, "\n") {
				t.Errorf("%s of an ordinary node: %s", what, got)
			}
		}
	}
}

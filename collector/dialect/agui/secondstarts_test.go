package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// TestSecondStarts checks that a call that an internal agent starts again leaves with one start and one end.
//
// Source: _handle_single_event in ag_ui_langgraph/agent.py of ag-ui-langgraph 0.0.47, after a tool of langgraph-swarm 0.1.
func TestSecondStarts(t *testing.T) {
	alice, audit, unnamed := langChain("alice", "one:1|model:2"), langChain("internal_audit", "two:3|tools:4"), func(frame string) string { return frame }
	frames := []string{begun[2], `{"type":"TOOL_CALL_ARGS","toolCallId":"d","delta":"{}"}`, `{"type":"TOOL_CALL_END","toolCallId":"d"}`}
	const result = `{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"d","content":"x"}`
	of := func(agent func(string) string) (sent []string) {
		for _, frame := range frames {
			sent = append(sent, agent(frame))
		}
		return sent
	}
	for what, c := range map[string]struct {
		sent  []string
		leave int // frames in all
	}{
		"after the result":       {slices.Concat(of(alice), []string{result}, of(audit)), 5},
		"before the result":      {slices.Concat(of(alice), of(audit), []string{result}), 5},
		"with an unnamed end":    {slices.Concat(of(alice), []string{result, audit(frames[0]), frames[1], frames[2]}), 5},
		"twice":                  {slices.Concat(of(alice), []string{result}, of(audit), of(audit)), 5},
		"by an ordinary agent":   {slices.Concat(of(alice), []string{result}, of(unnamed)), 8},
		"then by an ordinary":    {slices.Concat(of(alice), []string{result}, of(audit), of(alice)), 8},
		"not ended":              {slices.Concat(of(alice), []string{result, audit(frames[0])}, of(alice)), 8},
		"before the end":         {slices.Concat(of(alice)[:2], []string{audit(frames[0]), audit(frames[1])}, of(alice)[2:]), 4},
		"end of an internal one": {slices.Concat(of(alice)[:2], []string{audit(frames[2])}), 4},
	} {
		for i, s := range allSettings {
			got := strings.Join(filterFrames(t, s, append([]string{run}, c.sent...)...), "\n")
			starts, ends, all := strings.Count(got, "CALL_START"), strings.Count(got, "CALL_END"), strings.Count(got, `{"type"`)
			if starts != ends || i == 0 && all != c.leave {
				t.Errorf("%s: %d frames with %d starts and %d ends leave: %s", what, all, starts, ends, got)
			}
		}
	}
}

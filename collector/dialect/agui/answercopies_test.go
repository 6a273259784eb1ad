package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// delegation returns the frames of a delegation to a member of a team around others. Its result is the last one.
func delegation(id, to, result string, within ...string) []string {
	all := toolCall(id, "delegate_task_to_member", `{"member_id":"`+to+`"}`, result)
	return slices.Concat(all[:2], within, all[2:])
}

// TestAnswersInResults checks that no result repeats the answer of an internal delegate, and that other results leave.
//
// Source: adelegate_task_to_member in agno/team/_default_tools.py of agno 3.1: a team answers with what all members said.
func TestAnswersInResults(t *testing.T) {
	const answer = "CANARY audit failed in March"
	inner := delegation("c2", "internal_x", `"`+answer+`"`)
	for result, leaves := range map[string]bool{
		answer: false, `"` + answer + `"`: false, answer + "and a poem": false, "a poem" + answer: false, `{"a":["` + answer + `"]}`: false,
		"the audit failed": true, "CANARY": true, `{"a":"CANARY audit"}`: true, strings.Repeat("word ", 8000): true,
	} {
		quoted := strings.ReplaceAll(result, `"`, `\"`)
		for what, sent := range map[string][]string{
			"the call around": delegation("c1", "research", result, inner...),
			"another call":    slices.Concat(inner, toolCall("c1", "look", "{}", result)),
			"a list":          append(slices.Clone(inner), `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"y","role":"tool","toolCallId":"c1","content":"`+quoted+`"}]}`),
			"of the run":      append(slices.Clone(inner), `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"x":"`+quoted+`"}}`),
			"a state":         append(slices.Clone(inner), `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[{"id":"y","type":"tool","tool_call_id":"c1","content":"`+quoted+`"}]}}`),
		} {
			got := last(filterFrames(t, allSettings[0], append([]string{run}, sent...)...))
			if got == withheld || strings.Contains(got, quoted) != leaves {
				t.Errorf("%s: %q leaves as %s", what, result, got)
			}
		}
	}
}

// TestAnswersInStates checks that no value of a state is the answer of an internal delegate. Other agents may quote it.
func TestAnswersInStates(t *testing.T) {
	const answer = "CANARY audit failed in March"
	sent := append([]string{run}, delegation("c", "internal_x", answer)...)
	for value, leaves := range map[string]bool{
		`"` + answer + `"`: false, `"[\"` + answer + `\"]"`: false, `{"a":"` + answer + `"}`: false, `["` + answer + `"]`: false,
		`"They said: ` + answer + `"`: true, `"CANARY"`: true, `{"id":"n","role":"assistant","content":"` + answer + `"}`: true,
	} {
		snapshot, delta := fmt.Sprintf(`{"type":"STATE_SNAPSHOT","snapshot":{"x":%s,"k":"kept"}}`, value), fmt.Sprintf(`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":%s}]}`, value)
		got := last(filterFrames(t, allSettings[0], append(slices.Clone(sent), snapshot)...))
		if (got == snapshot) != leaves || !strings.Contains(got, "kept") || strings.Contains(got, "CANARY") != leaves {
			t.Errorf("%s leaves as %s", value, got)
		}
		if got := last(filterFrames(t, allSettings[0], append(slices.Clone(sent), delta)...)); (got == delta) != leaves {
			t.Errorf("%s leaves as %s", value, got)
		}
	}
}

package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestListedCalls checks that nothing leaves that an internal agent says, calls or thinks in a call that only a list shows.
//
// Source: recordings of ag-ui-langgraph 0.0.47 with deepagents 0.7.32 and emit_raw_events=False, in a run that goes on after a question.
func TestListedCalls(t *testing.T) {
	const (
		lead    = `{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"c","type":"function","function":{"name":"task","arguments":"{\"subagent_type\":\"internal_x\"}"}},{"id":"e","type":"function","function":{"name":"look","arguments":"{}"}}]}`
		state   = `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[{"type":"human","content":"x","id":"u"},{"type":"ai","content":"x","id":"a","tool_calls":[{"name":"task","args":{"subagent_type":"internal_x"},"id":"c","type":"tool_call"}]}]}}`
		result  = `{"id":"r","role":"tool","toolCallId":"c","content":"x"}`
		asks    = `{"id":"u","role":"user","content":"x"}`
		start   = `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"task"}`
		answer  = `{"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":"x"}`
		sub     = `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentToolCallId":"c"}`
		failed  = `{"type":"RUN_ERROR","message":"CANARY"}`
		besides = `{"type":"TOOL_CALL_START","toolCallId":"e","toolCallName":"look"}`
	)
	list := func(messages ...string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[` + strings.Join(messages, ",") + `]}`
	}
	inner := list(`{"id":"i","role":"assistant","content":"x"}`)
	var full []string
	for i := range 5 {
		var calls []string
		for j := range 300 {
			calls = append(calls, fmt.Sprintf(`{"id":"c%d","name":"task","args":{"subagent_type":"internal_x"}}`, 300*i+j))
		}
		full = append(full, list(fmt.Sprintf(`{"id":"a%d","role":"assistant","content":"x","toolCalls":[%s]}`, i, strings.Join(calls, ","))))
	}
	for what, c := range map[string]struct {
		before []string
		leaves bool
	}{
		"in a list":                {[]string{list(asks, lead)}, false},
		"in a state":               {[]string{state}, false},
		"in the input":             {[]string{`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[` + asks + "," + lead + `]}}`}, false},
		"then another list":        {[]string{list(asks, lead), inner}, false},
		"with a result":            {[]string{list(asks, lead, result)}, true},
		"then a list with it":      {[]string{list(asks, lead), list(result)}, true},
		"then a result":            {[]string{list(asks, lead), answer}, true},
		"after its result":         {[]string{answer, list(asks, lead)}, true},
		"before a question":        {[]string{list(lead, asks)}, true},
		"changed to an ordinary":   {[]string{list(asks, lead), list(asks, strings.Replace(lead, "internal_x", "writer", 1))}, true},
		"of an ordinary":           {[]string{list(asks, strings.Replace(lead, "internal_x", "writer", 1))}, true},
		"with a subagent":          {[]string{list(asks, lead), sub}, true},
		"more than are remembered": {append(full, list(asks)), false},
	} {
		for _, frame := range begun[1:7] {
			if got := last(filterFrames(t, allSettings[0], append(append([]string{run}, c.before...), frame)...)); (got == frame) != c.leaves {
				t.Errorf("%s: %.80s leaves as %.80s", what, frame, got)
			}
		}
		say := `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"CANARY"}`
		if got := last(filterFrames(t, allSettings[1], append(append([]string{run}, c.before...), begun[0], say)...)); (got == say) != c.leaves {
			t.Errorf("%s: a piece leaves as %s", what, got)
		}
		if got := last(filterFrames(t, allSettings[0], append(append([]string{run}, c.before...), failed)...)); (got == failed) != c.leaves {
			t.Errorf("%s: the error leaves as %s", what, got)
		}
	}
	sent := []string{run, state, list(asks, lead), start, besides}
	if got := filterFrames(t, allSettings[0], sent...); !slices.Equal(got[:4], sent[:4]) {
		t.Errorf("the call leaves as %q", got)
	}
	sent = []string{run, list(asks, lead), besides}
	if got := filterFrames(t, allSettings[0], sent...); !slices.Equal(got, sent) {
		t.Errorf("a call beside it leaves as %q", got)
	}
	own := strings.NewReplacer(`"a"`, `"i"`, `"c"`, `"f"`, `"e"`, `"g"`)
	sent = []string{run, list(asks, lead), `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[` + own.Replace(lead) + `]}}`, own.Replace(besides)}
	if got := last(filterFrames(t, allSettings[0], sent...)); got != withheld {
		t.Errorf("a call of the internal agent leaves as %s", got)
	}
}

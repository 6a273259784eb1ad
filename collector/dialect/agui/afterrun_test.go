package agui_test

import (
	"slices"
	"testing"
)

// TestAfterWithheldRun checks that nothing leaves after the end of a withheld run until the next run starts, except an error of the
// server without its text.
func TestAfterWithheldRun(t *testing.T) {
	const (
		finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":"CANARY"}`
		failed   = `{"type":"RUN_ERROR","message":"CANARY failed"}`
		unknown  = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":"x"}`
		next     = `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`
		other    = `{"type":"TEXT_MESSAGE_START","messageId":"other","role":"assistant"}`
		public   = `{"type":"RUN_ERROR","message":"the run failed"}`
	)
	late := append([]string{
		finished, failed, `{"type":"RUN_FINISHED","threadId":"t","runId":"lg","result":"CANARY"}`,
		`{"type":"STATE_SNAPSHOT","snapshot":{"x":"CANARY"}}`, `{"type":"CUSTOM","name":"x","value":"CANARY"}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"o","role":"assistant","content":"CANARY"}]}`,
	}, begun...)
	for _, s := range allSettings {
		for _, end := range []string{finished, failed, unknown} {
			for _, frame := range late {
				sent := []string{evasions["kind"](run), end, frame, frame, next, other}
				if got := filterFrames(t, s, sent...); !allWithheld(got[:4]) || got[4] == withheld || got[5] == withheld {
					t.Errorf("%s, %s after %s: %q", s.Policy, frame, end, got)
				}
			}
			if got := last(filterFrames(t, s, evasions["kind"](run), end, `{"error":"CANARY"}`)); got != public {
				t.Errorf("%s: an error of the server after %s leaves as %s", s.Policy, end, got)
			}
		}
	}
	if got := filterFrames(t, allSettings[0], evasions["kind"](run), run, begun[0]); last(got) != withheld {
		t.Errorf("after a second start of a withheld run: %q", got)
	}
}

// TestAfterInternalWork checks the same of a run that ended while something internal went on, of which the client knows the end.
func TestAfterInternalWork(t *testing.T) {
	const (
		end    = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
		failed = `{"type":"RUN_ERROR","message":"CANARY failed"}`
		other  = `{"type":"TEXT_MESSAGE_START","messageId":"other","role":"assistant"}`
		text   = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`
	)
	task := func(to string) []string {
		return []string{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"task"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"subagent_type\":\"` + to + `\"}"}`}
	}
	hidden := []string{evasions["kind"](`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`), `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"x\":\"CANARY failed\"}"}`}
	transfer := func(to string) []string {
		return []string{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"transfer_to_agent"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"agent_name\":\"` + to + `\"}"}`, `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":"{}"}`}
	}
	for what, c := range map[string]struct {
		work   []string
		leaves bool
	}{
		"a delegate":            {task("internal_planner"), false},
		"a step":                {[]string{`{"type":"STEP_STARTED","stepName":"internal"}`}, false},
		"an agent":              {transfer("internal_planner"), false},
		"a call":                {hidden, false},
		"an ordinary one":       {task("planner"), true},
		"an ordinary agent":     {transfer("planner"), true},
		"an ordinary step":      {[]string{`{"type":"STEP_STARTED","stepName":"s"}`}, true},
		"nothing":               {nil, true},
		"a delegate that ended": {append(task("internal_planner"), `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":"done"}`), true},
	} {
		for _, late := range []string{text, failed} {
			sent := slices.Concat([]string{run}, c.work, []string{end, late})
			got := filterFrames(t, allSettings[0], sent...)
			if n := len(got); got[n-2] == withheld || (got[n-1] == late) != c.leaves || late == failed && got[n-1] == withheld {
				t.Errorf("%s: %s leaves as %s", what, late, got[n-1])
			}
			next := last(filterFrames(t, allSettings[0], append(sent, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`, other)...))
			if next != other {
				t.Errorf("%s: the text of the next run leaves as %s", what, next)
			}
			const nextFailed = `{"type":"RUN_ERROR","message":"another"}`
			after := last(filterFrames(t, allSettings[0], append(sent, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"q"}`, nextFailed)...))
			if after != nextFailed {
				t.Errorf("%s: an error after the next run leaves as %s", what, after)
			}
		}
	}
}

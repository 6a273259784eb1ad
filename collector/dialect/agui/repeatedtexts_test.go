package agui_test

import (
	"strings"
	"testing"
)

// TestErrorsAfterWork checks that the message of an error does not leave after work of an internal agent, until an ordinary one begins
// something.
//
// Source: real streams of ag_ui_langgraph 0.0.47, of which an agent of create_agent failed.
func TestErrorsAfterWork(t *testing.T) {
	const failure = `{"type":"RUN_ERROR","message":"the ledger is empty"}`
	model := func(agent string) string {
		return `{"type":"RAW","event":{"event":"on_chat_model_start","data":{},"metadata":{"langgraph_node":"model","lc_agent_name":"` + agent + `"}}}`
	}
	const step, ended = `{"type":"STEP_STARTED","stepName":"model"}`, `{"type":"STEP_FINISHED","stepName":"model"}`
	for what, c := range map[string]struct {
		sent   []string
		leaves bool
	}{
		"of a model of LangChain":           {[]string{step, model("internal_audit")}, false},
		"of an ordinary one after it":       {[]string{step, model("internal_audit"), model("writer")}, true},
		"of a step after it":                {[]string{step, model("internal_audit"), ended, step}, true},
		"with an open message":              {[]string{`{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant","kind":"internal_audit"}`}, false},
		"with an open message, then others": {[]string{`{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant","kind":"internal_audit"}`, `{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant"}`}, true},
		"of a subagent":                     {[]string{`{"type":"SUBAGENT_STARTED","subagentRunId":"s1","kind":"internal_audit"}`}, false},
	} {
		got := last(filterFrames(t, allSettings[0], append(append([]string{run}, c.sent...), failure)...))
		if (got == failure) != c.leaves || !strings.Contains(got, "RUN_ERROR") {
			t.Errorf("an error %s leaves as %s", what, got)
		}
	}
}

// TestMethodOutputs checks that the question of an internal method of CrewAI leaves without what the method returned.
func TestMethodOutputs(t *testing.T) {
	const value = `{"id":"flow-0001","reason":"crewai:human_feedback","message":"Please review","metadata":{"crewai":{"methodName":"internal_draft","output":"CANARY"}}}`
	for _, frame := range []string{
		`{"type":"CUSTOM","name":"on_interrupt","value":` + value + `}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[` + value + `]}}`,
	} {
		if got := last(filterFrames(t, allSettings[0], run, frame)); got != strings.Replace(frame, `,"output":"CANARY"`, "", 1) {
			t.Errorf("an internal method: %s", got)
		}
		ordinary := strings.Replace(frame, "internal_", "", 1)
		if got := last(filterFrames(t, allSettings[0], run, ordinary)); got != ordinary {
			t.Errorf("an ordinary method: %s", got)
		}
	}
}

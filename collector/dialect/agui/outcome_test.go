package agui

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestOutcomes checks the outcomes of runs and subagents, also in the forms before 1.0.
func TestOutcomes(t *testing.T) {
	end := func(members ...string) string {
		return ev("RUN_FINISHED", append([]string{`"threadId":"t"`, `"runId":"r"`}, members...)...)
	}
	for _, c := range []struct{ members, facts string }{
		{`"outcome":null`, "run_ended awaits_outcome"},
		{`"outcome":"success"`, "run_ended awaits_outcome"},
		{`"interrupt":null`, "run_ended awaits_outcome"},
		{`"interrupt":[]`, "run_ended awaits_outcome"},
		{`"outcome":"interrupt","interrupt":{"id":"i","reason":"human_approval","payload":{}}`, `input_requested call="i" confirmation; run_ended awaits_outcome`},
		{`"interrupt":[{"id":"i","value":{}}]`, `input_requested call="i" clarification; run_ended awaits_outcome`},
		{`"outcome":"interrupt"`, `input_requested call="r" clarification; run_ended awaits_outcome`},
		{`"outcome":"canceled"`, "error canceled; run_ended canceled"},
		{`"outcome":{"type":"error"}`, "error agent_error; run_ended agent_error"},
		{`"outcome":{"type":"paused"}`, "other"},
		{`"outcome":"aborted"`, "other"},
	} {
		runDecode(t, []decodeCase{{c.members, []string{start, end(c.members)}, []string{startFacts, "RUN_FINISHED" + runFields + "; " + c.facts}}})
	}
	subagent, fields := ev("SUBAGENT_STARTED", `"subagentRunId":"s"`, `"name":"n"`), ` agent="n" branch="s"`
	for outcome, facts := range map[string]string{`"suspended"`: " agent waits; other", `{"type":"cancelled"}`: "; agent_ended canceled", `{"type":"x"}`: "; other"} {
		runDecode(t, []decodeCase{{outcome, []string{subagent, ev("SUBAGENT_FINISHED", `"subagentRunId":"s"`, `"outcome":`+outcome)},
			[]string{"SUBAGENT_STARTED" + fields + "; agent_started", "SUBAGENT_FINISHED" + fields + facts}}})
	}
}

// TestStoppedRuns checks that a run is canceled if the error at its end says that a user stopped it.
func TestStoppedRuns(t *testing.T) {
	for code, facts := range map[string]string{"abort": `error canceled code="abort"; run_ended canceled code="abort"`, "STOPPED": `error canceled code="STOPPED"; run_ended canceled code="STOPPED"`, "aborted": `error agent_error code="aborted"; run_ended agent_error code="aborted"`} {
		runDecode(t, []decodeCase{{code, []string{start, ev("RUN_ERROR", `"message":"x"`, `"code":"`+code+`"`)}, []string{startFacts, "RUN_ERROR" + runFields + "; " + facts}}})
	}
}

// TestMissingTargets checks that an error of ADK names the target of a transfer that it does not find.
func TestMissingTargets(t *testing.T) {
	transfer := []string{
		start, ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"transfer_to_agent"`), ev("TOOL_CALL_ARGS", `"toolCallId":"c"`, `"delta":"{\"agent_name\":\"ghost\"}"`),
		ev("TOOL_CALL_RESULT", `"toolCallId":"c"`, `"content":"{\"result\":null}"`),
	}
	for message, facts := range map[string]string{
		"Transfer target agent 'ghost' not found.":     `agent="me"; error name="ghost" agent_error; run_ended agent_error`,
		"Agent ghost not found in the agent tree.":     `agent="me"; error name="ghost" agent_error; run_ended agent_error`,
		"Transfer target agent 'ghostly' not found.":   `agent="ghost"; error agent_error; run_ended agent_error`,
		"The model of the agent 'ghost' is not ready.": `agent="ghost"; error agent_error; run_ended agent_error`,
	} {
		got := factsOf(t, &event.Stream{ConfiguredAgent: "me"}, append(transfer, ev("RUN_ERROR", `"message":"`+message+`"`))...)
		if want := "RUN_ERROR" + runFields + " " + facts; got[strings.LastIndexByte(got, '\n')+1:] != want {
			t.Errorf("%s: got %s, want %s", message, got, want)
		}
	}
}

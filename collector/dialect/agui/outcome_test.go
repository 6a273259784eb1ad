package agui

import "testing"

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

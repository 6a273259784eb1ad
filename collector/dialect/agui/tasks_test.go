package agui

import "testing"

// TestTasks checks that each task of LangGraph is one step, also if the adapter's steps alternate.
func TestTasks(t *testing.T) {
	step := func(kind, name string) string { return ev("STEP_"+kind, `"stepName":"`+name+`"`) }
	raw := func(kind, name, run, parents, node, namespace string) string {
		return ev("RAW", `"event":{"event":"on_`+kind+`","name":"`+name+`","run_id":"`+run+`","parent_ids":[`+parents+`],"metadata":{"langgraph_node":"`+node+`","langgraph_checkpoint_ns":"`+namespace+`"}}`)
	}
	// of returns an event of a node's own run.
	of := func(kind, node, task string) string {
		return raw("chain_"+kind, node, "run"+task, `"g"`, node, node+":"+task)
	}
	graphEnds := ev("RAW", `"event":{"event":"on_chain_end","name":"LangGraph","run_id":"g","parent_ids":[]}`)
	custom := ev("CUSTOM", `"name":"x"`)
	const a1, a2, b2 = ` step="a" branch="a#1"`, ` step="a" branch="a#2"`, ` step="b" branch="b#2"`
	reads := func(speaker, facts string) string { return "RAW withheld" + speaker + " internal; " + facts }
	runDecode(t, []decodeCase{
		{"that alternate", []string{step("STARTED", "a"), of("start", "a", "1"), step("FINISHED", "a"), step("STARTED", "b"), of("start", "b", "1"), step("FINISHED", "b"), step("STARTED", "a"), raw("tool_start", "f", "r", `"g","run1"`, "a", "a:1"), custom, of("end", "a", "1"), custom, step("FINISHED", "a")},
			[]string{"STEP_STARTED" + a1 + "; agent_started", reads(a1, "other"), "STEP_FINISHED" + a1 + "; other", "STEP_STARTED" + b2 + "; agent_started", reads(b2, "other"), "STEP_FINISHED" + b2 + "; other",
				"STEP_STARTED" + "; other", reads(a1, "other"), "CUSTOM" + a1 + "; other", reads(a1, "agent_ended"), "CUSTOM" + "; other", "STEP_FINISHED" + "; other"}},
		{"of one node at a time", []string{step("STARTED", "a"), of("start", "a", "1"), of("start", "a", "2"), of("stream", "a", "1"), of("end", "a", "1"), of("end", "a", "2"), of("stream", "a", "2")},
			[]string{"STEP_STARTED" + a1 + "; agent_started", reads(a1, "other"), reads(a2, "agent_started"), reads(a1, "other"), reads(a1, "agent_ended"), reads(a2, "agent_ended"), reads("", "other")}},
		{"of a node that begins again", []string{step("STARTED", "a"), of("start", "a", "1"), step("FINISHED", "a"), step("STARTED", "a"), of("start", "a", "2")},
			[]string{"STEP_STARTED" + a1 + "; agent_started", reads(a1, "other"), "STEP_FINISHED" + a1 + "; other", "STEP_STARTED" + "; other", reads(a2, "agent_started")}},
		{"with a retry, and a chain of the same name", []string{step("STARTED", "a"), of("start", "a", "1"), raw("chain_start", "a", "again", `"g"`, "a", "a:1"), raw("chain_start", "a", "inner", `"g","again"`, "a", "a:1"), raw("chain_end", "a", "inner", `"g","again"`, "a", "a:1"), raw("chain_end", "a", "again", `"g"`, "a", "a:1")},
			[]string{"STEP_STARTED" + a1 + "; agent_started", reads(a1, "other"), reads(a1, "other"), reads(a1, "other"), reads(a1, "other"), reads(a1, "agent_ended")}},
		{"that waits", []string{step("STARTED", "a"), of("start", "a", "1"), graphEnds, step("FINISHED", "a")},
			[]string{"STEP_STARTED" + a1 + "; agent_started", reads(a1, "other"), reads(a1, "other"), "STEP_FINISHED" + a1 + " agent waits; other"}},
		{"with a subagent", []string{step("STARTED", "a"), of("start", "a", "1"), ev("SUBAGENT_STARTED", `"subagentRunId":"a:1"`, `"name":"s"`), raw("chain_end", "f", "r", `"run1"`, "a", "a:1"), raw("chain_end", "s", "r", `"run1"`, "a", "a:1")},
			[]string{"STEP_STARTED" + a1 + "; agent_started", reads(a1, "other"), `SUBAGENT_STARTED agent="s" branch="a:1" parent="a#1"; agent_started`, reads(a1, "other"), reads(` agent="s" branch="a:1" parent="a#1"`, "agent_ended")}},
	})
}

package looopy

import "testing"

// TestCodes checks that the decoder finds an error code in each member that may contain it.
func TestCodes(t *testing.T) {
	const head, call = ` run="t"`, `"toolCallId":"c1","toolName":"look"`
	newTask, newTaskFacts := by("task-created", created), `task-created`+head+`; run_started`
	failed := func(members string) string { return by("task-status", `"status":"failed",`+members) }
	over := func(code string) string {
		if code != "" {
			code = ` code="` + code + `"`
		}
		return `task-status` + head + `; error agent_error` + code + `; run_ended agent_error` + code + ` awaits_outcome`
	}
	runDecode(t, []decodeCase{
		{"a reason", []string{newTask, failed(`"message":"Stopped after 3 consecutive tool failures","metadata":{"reason":"consecutive-tool-failures"}`)},
			[]string{newTaskFacts, over("consecutive-tool-failures")}},
		{"a class in the metadata", []string{newTask, failed(`"message":"secret","metadata":{"error":"TimeoutError: secret"}`)}, []string{newTaskFacts, over("TimeoutError")}},
		{"a class in the message", []string{newTask, failed(`"message":"TimeoutError: secret"`)}, []string{newTaskFacts, over("TimeoutError")}},
		{"a sentence", []string{newTask, failed(`"message":"LLM provider returned 529","metadata":{"error":"LLM provider returned 529","reason":"it is overloaded"}`)}, []string{newTaskFacts, over("")}},
		{"an interrupted response", []string{newTask, by("content-delta", `"delta":"h"`), failed(`"message":"HTTP 503"`)},
			[]string{newTaskFacts, `content-delta` + head + ` partial; model_started; text "h"`,
				`task-status` + head + `; model_ended model_error code="503"; error agent_error code="503"; run_ended agent_error code="503" awaits_outcome`}},
		{"canceled", []string{newTask, by("task-status", `"status":"canceled","metadata":{"reason":"user"}`)}, []string{newTaskFacts, `task-status` + head + `; error canceled; run_ended canceled awaits_outcome`}},
		{"completed", []string{newTask, by("task-status", `"status":"completed","metadata":{"reason":"done"}`)}, []string{newTaskFacts, `task-status` + head + `; final; run_ended awaits_outcome`}},
		{"a tool", []string{by("tool-complete", call+`,"success":false,"error":"HTTP 503"`)}, []string{`tool-complete` + head + ` orphan; tool_ended name="look" call="c1" tool_error code="503"`}},
		{"a tool with a sentence", []string{by("tool-complete", call+`,"success":false,"error":"secret"`)}, []string{`tool-complete` + head + ` orphan; tool_ended name="look" call="c1" tool_error`}},
		{"a tool that did not fail", []string{by("tool-complete", call+`,"success":true,"error":"HTTP 503"`)}, []string{`tool-complete` + head + ` orphan; tool_ended name="look" call="c1"`}},
		{"an error of an unknown kind", []string{by("error", `"message":"TimeoutError: secret"`)}, []string{`error withheld` + head + ` orphan; error agent_error code="TimeoutError"`}},
	})
}

// TestAgentCode checks that a call fails with the code of the agent that it started.
func TestAgentCode(t *testing.T) {
	const invoke = `"toolCallId":"c1","toolName":"agent__bot__invoke"`
	runDecode(t, []decodeCase{{"the agent fails, its call says nothing",
		[]string{by("task-created", created), by("tool-start", invoke), of("s", "task-created", `"path":["agent:bot"],"parentTaskId":"t"`),
			of("s", "task-status", `"path":["agent:bot"],"parentTaskId":"t","status":"failed","message":"TimeoutError: secret"`), by("tool-complete", invoke+`,"success":true`)},
		[]string{`task-created run="t"; run_started`, `tool-start run="t"; tool_started name="agent__bot__invoke" call="c1"`,
			`task-created run="t" agent="bot" branch="s" within="c1"; agent_started`, `task-status run="t" agent="bot" branch="s" within="c1"; agent_ended agent_error code="TimeoutError" awaits_outcome`,
			`tool-complete run="t"; tool_ended name="agent__bot__invoke" call="c1" tool_error code="TimeoutError"`}}})
}

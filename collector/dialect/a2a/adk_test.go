package a2a

import (
	"strings"
	"testing"
)

func calls(id, name string, long bool) string {
	mark := ""
	if long {
		mark = `,"adk_is_long_running":true`
	}
	return `{"kind":"data","data":{"id":"` + id + `","name":"` + name + `","args":{"agent_name":"x"}},"metadata":{"adk_type":"function_call"` + mark + `}}`
}

func gave(id, name, response string) string {
	return `{"kind":"data","data":{"id":"` + id + `","name":"` + name + `","response":` + response + `},"metadata":{"adk_type":"function_response"}}`
}

// by is the metadata of an event of agent a.
func by(more string) string {
	return `,"metadata":{"adk_author":"a","adk_invocation_id":"e-1"` + more + `}`
}

const usage = `,"adk_usage_metadata":{"promptTokenCount":3.0,"candidatesTokenCount":2,"totalTokenCount":5}`

// TestEvents decodes what agents of the ADK add to the protocol.
func TestEvents(t *testing.T) {
	const (
		args  = `{"agent_name":"x"}`
		model = `model_ended input=3 output=2`
	)
	runDecode(t, []decodeCase{
		{"a call and its answer", []string{
			statusIs("working", calls("c", "f", false), by(usage)), statusIs("working", gave("c", "f", `{"x":1}`), by("")), statusIs("working", text("hi"), by(usage)),
			piece("a", text("hi"), last+by("")), statusIs("completed", "", by("")),
		}, []string{
			`calls agent="a"; ` + model + `; tool_started name="f" call="c" ` + args,
			`results agent="a"; tool_ended name="f" call="c" {"x":1}`,
			`working agent="a"; ` + model + `; text "hi"`,
			`artifact-update agent="a" partial; artifact id="a" other bytes=2 complete; text "hi"`,
			`status-update agent="a"; final; run_ended awaits_outcome`,
		}},
		{"calls are said once", []string{
			piece("a", calls("c", "f", false), by(usage)), piece("a", calls("c", "f", false)+","+text("hm"), by("")),
			piece("a", gave("c", "f", `{"error":"x"}`), last+by("")), piece("a", gave("c", "f", `{}`), last+by("")),
		}, []string{
			`calls agent="a" partial; model_started`,
			`artifact-update agent="a" partial; text "hm"`,
			`results agent="a"; tool_ended name="f" call="c" tool_error {"error":"x"}`,
			`results agent="a"; other`,
		}},
		{"pieces that say so", []string{
			piece("p", `{"text":"h","metadata":{"adk_partial":true}}`, by(usage+`,"adk_partial":true`)), piece("p", text("i"), more+by(`,"adk_partial":true`)),
			piece("a", text("hi"), by(usage+`,"adk_partial":false`)), piece("p", `{"kind":"data","data":{}}`, last+`,"metadata":{"adk_partial":true}`),
		}, []string{
			`artifact-update agent="a" partial; model_started; text "h"`,
			`artifact-update agent="a" partial; text "i"`,
			`artifact-update agent="a"; artifact id="a" other bytes=2; ` + model + `; text "hi"`,
			`artifact-update partial; other`,
		}},
		{"pieces that say so, in statuses", []string{
			statusIs("working", text("h"), by(usage+`,"adk_partial":true`)), statusIs("working", text("i"), by(usage+`,"adk_partial":true`)),
			statusIs("working", text("hi"), by(usage+`,"adk_partial":false`)),
		}, []string{
			`working agent="a" partial; model_started; text "h"`,
			`working agent="a" partial; text "i"`,
			`working agent="a"; ` + model + `; text "hi"`,
		}},
		{"pieces that do not", []string{
			statusIs("working", text("h"), by(usage+`,"adk_event_id":"1"`)), statusIs("working", text("i"), by(usage+`,"adk_event_id":"1"`)),
			statusIs("working", text("hi"), by(`,"adk_event_id":"1","adk_usage_metadata":{"promptTokenCount":3,"candidatesTokenCount":5}`)),
			statusIs("working", text("ho"), by(usage+`,"adk_event_id":"2"`)),
		}, []string{
			`working agent="a"; ` + model + `; text "h"`,
			`working agent="a" partial; text "i"`,
			`working agent="a"; usage output=3; text "hi"`,
			`working agent="a"; ` + model + `; text "ho"`,
		}},
		{"a transfer, by the call's arguments", []string{
			statusIs("working", calls("c", "transfer_to_agent", false), by("")), statusIs("working", gave("c", "transfer_to_agent", `{"result":null}`), by(`,"adk_event_id":"7"`)),
			statusIs("completed", "", `,"metadata":{"adk_transfer_to_agent":"x"}`),
		}, []string{
			`calls agent="a"; tool_started name="transfer_to_agent" call="c" ` + args,
			`results agent="a"; tool_ended name="transfer_to_agent" call="c" {"result":null}; transfer name="x" call="c" id="7"`,
			`status-update; final; run_ended awaits_outcome`,
		}},
		{"a transfer, by its action", []string{statusIs("working", gave("c", "transfer_to_agent", `{}`), by(`,"adk_actions":{"transferToAgent":"y"}`))},
			[]string{`results agent="a"; tool_ended name="transfer_to_agent" call="c" {}; transfer name="y" call="c"`}},
		{"a transfer that failed", []string{statusIs("working", gave("c", "transfer_to_agent", `{"error":1}`), by(`,"adk_actions":{"transferToAgent":"y"}`))},
			[]string{`results agent="a"; tool_ended name="transfer_to_agent" call="c" tool_error {"error":1}`}},
		{"a call that waits", []string{statusIs("input-required", calls("c", "f", true)+","+gave("c", "f", `{"status":"pending"}`), ""), statusIs("working", "", ""), statusIs("working", gave("c", "f", `{}`), by(""))},
			[]string{`asking; tool_started name="f" call="c" long_running ` + args, `working; input_answered call="c"`, `results agent="a"; tool_ended name="f" call="c" settled {}`}},
		{"a call that waited, and its task still does", []string{statusIs("working", calls("c", "f", true), by("")), statusIs("working", gave("c", "f", `{}`), by("")), statusIs("input-required", calls("c", "f", true), by(""))},
			[]string{`calls agent="a"; tool_started name="f" call="c" long_running ` + args, `results agent="a"; tool_ended name="f" call="c" settled {}`, `asking agent="a"; input_requested call="t" clarification`}},
		{"questions of the ADK's own", []string{
			statusIs("auth-required", calls("c", "adk_request_credential", true)+","+calls("d", "adk_request_confirmation", true)+","+calls("e", "adk_request_input", true), by("")),
			statusIs("working", gave("c", "adk_request_credential", `{}`), by("")),
		}, []string{
			`asking agent="a"; input_requested call="c" credential; input_requested call="d" confirmation; input_requested call="e" clarification`,
			`results agent="a"; input_answered call="c"; input_answered call="d"; input_answered call="e"; input_answered call="c"`,
		}},
		{"a question with a schema", []string{statusIs("input-required", strings.Replace(calls("e", "adk_request_input", true), `"agent_name":"x"`, `"response_schema":{}`, 1), by(""))},
			[]string{`asking agent="a"; input_requested call="e" data`}},
		{"a call that waits for a credential", []string{statusIs("working", gave("c", "f", `{"error":"sign in"}`), by(`,"adk_actions":{"requestedAuthConfigs":{"c":{}}}`))},
			[]string{`results agent="a"; tool_paused call="c"; tool_ended name="f" call="c" tool_error {"error":"sign in"}`}},
		{"a call that waits for a confirmation", []string{statusIs("working", gave("c", "f", `{"error":"confirm"}`), by(`,"adk_actions":{"requestedToolConfirmations":{"c":{"hint":"?"}}}`))},
			[]string{`results agent="a"; tool_paused call="c"; tool_ended name="f" call="c" tool_error {"error":"confirm"}`}},
		{"the user's part", []string{bindings["0.3, JSON-RPC"]("status-update", `"taskId":"t","contextId":"c","status":{"state":"working","message":{"role":"user","parts":[`+text("secret")+`,`+gave("c", "f", `{}`)+`]}},"metadata":{"adk_author":"user"}`)},
			[]string{`working; tool_ended name="f" call="c" {}`}},
		{"a refusal", []string{statusIs("working", text("secret"), by(usage+`,"adk_error_code":"SAFETY"`)), statusIs("failed", text("secret"), by(`,"adk_error_code":"SAFETY"`))},
			[]string{`working agent="a"; model_ended model_error code="SAFETY" input=3 output=2; error model_error code="SAFETY" from_code`,
				`status-update agent="a"; error agent_error code="SAFETY"; run_ended agent_error code="SAFETY" awaits_outcome`}},
		{"a refusal at the end", []string{statusIs("failed", text("secret"), by(usage+`,"adk_error_code":"SAFETY"`))},
			[]string{`status-update agent="a"; model_ended model_error code="SAFETY" input=3 output=2; error agent_error code="SAFETY"; run_ended agent_error code="SAFETY" awaits_outcome`}},
		{"codes that are none", []string{statusIs("working", text("hi"), by(`,"adk_error_code":"MAX_TOKENS"`))},
			[]string{`working agent="a"; text "hi"`}},
		{"branches", []string{statusIs("working", text("hi"), by(`,"adk_branch":"team.a"`))},
			[]string{`working agent="a" branch="team.a" place="…/team:container/a[team.a]"; text "hi"`}},
		{"remarks in the artifact, or in the message", []string{
			bindings["1.0, HTTP+JSON"]("artifact-update", `"taskId":"t","contextId":"c","artifact":{"artifactId":"x","metadata":{"adk_author":"a"`+usage+`},"parts":[{"text":"hi"}]},"lastChunk":true`),
			bindings["1.0, HTTP+JSON"]("status-update", `"taskId":"t","contextId":"c","status":{"state":"working","message":{"role":"ROLE_AGENT","metadata":{"adk_author":"a"},"parts":[{"text":"ho"}]}},"metadata":{"adk_author":null}`),
		}, []string{
			`artifact-update agent="a"; artifact id="x" other bytes=2 complete; ` + model + `; text "hi"`,
			`working agent="a"; text "ho"`,
		}},
		{"thoughts, and code", []string{piece("x", `{"text":"hm","metadata":{"adk_thought":true}},{"data":{"code":"x"},"metadata":{"adk_type":"executable_code"}}`, last+by(`,"adk_usage_metadata":{"promptTokenCount":1,"thoughtsTokenCount":2,"toolUsePromptTokenCount":4,"cachedContentTokenCount":1,"totalTokenCount":7}`))},
			[]string{`thoughts agent="a"; model_ended input=5 output=2 cached=1 reasoning=2; thought "hm"`}},
		{"what Go leaves out", []string{statusIs("working", text("hi"), by(`,"adk_usage_metadata":{"promptTokenCount":9,"totalTokenCount":9}`))},
			[]string{`working agent="a"; model_ended input=9 output=0; text "hi"`}},
		{"usage that is none", []string{statusIs("working", text("hi"), by(`,"adk_usage_metadata":"prompt_token_count=9"`))},
			[]string{`working agent="a"; text "hi"`}},
	})
}

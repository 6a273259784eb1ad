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

// pauses returns a request that pauses a call.
func pauses(id, name, args string) string {
	return strings.Replace(calls(id, name, true), `"agent_name":"x"`, args, 1)
}

func toolResult(id, name, response string) string {
	return `{"kind":"data","data":{"id":"` + id + `","name":"` + name + `","response":` + response + `},"metadata":{"adk_type":"function_response"}}`
}

// adkEvent returns the metadata of an event of agent a, with additional members.
func adkEvent(more string) string {
	return `,"metadata":{"adk_author":"a","adk_invocation_id":"e-1"` + more + `}`
}

// kagent returns an event of kagent, which has no ID.
func kagent(parts, more string) string {
	return strings.NewReplacer(`"adk_adk_`, `"kagent_adk_`, `"adk_`, `"kagent_`).Replace(statusIs("working", parts, adkEvent(more)))
}

const usage = `,"adk_usage_metadata":{"promptTokenCount":3.0,"candidatesTokenCount":2,"totalTokenCount":5}`

// TestADKEvents checks the metadata that ADK agents add to the protocol.
func TestADKEvents(t *testing.T) {
	const uuid, inJavaScript = "adk-11111111-2222-4333-8444-555555555555", `,"adk_is_long_running":false`
	const (
		args  = `{"agent_name":"x"}`
		model = `model_ended input=3 output=2`

		isPiece = `,"adk_adk_partial":true`
	)
	id := func(id string) string { return adkEvent(`,"adk_event_id":"` + id + `"`) }
	runDecode(t, []decodeCase{
		{"a call and its response", []string{
			statusIs("working", calls("c", "f", false), adkEvent(usage)), statusIs("working", toolResult("c", "f", `{"x":1}`), adkEvent("")), statusIs("working", text("hi"), adkEvent(usage)),
			piece("a", text("hi"), last+adkEvent("")), statusIs("completed", "", adkEvent("")),
		}, []string{
			`calls agent="a"; ` + model + `; tool_started name="f" call="c" ` + args,
			`results agent="a"; tool_ended name="f" call="c" {"x":1}`,
			`working agent="a"; ` + model + `; text "hi"`,
			`artifact-update agent="a" partial repeats; artifact id="a" other bytes=2 complete; text "hi"`,
			`status-update agent="a"; final; run_ended awaits_outcome`,
		}},
		{"code", []string{
			statusIs("working", `{"data":{"code":"1 / 0","language":"PYTHON"},"metadata":{"adk_type":"executable_code"}}`, adkEvent(`,"adk_event_id":"1"`+usage)),
			statusIs("working", `{"data":{"outcome":"OUTCOME_FAILED","output":"x"},"metadata":{"adk_type":"code_execution_result"}}`, adkEvent(`,"adk_event_id":"2"`)),
			piece("a", `{"data":{"outcome":"OUTCOME_FAILED","output":"x"},"metadata":{"adk_type":"code_execution_result"}},`+text("hi"), last+adkEvent(`,"adk_event_id":"2"`)),
		}, []string{
			`working agent="a"; ` + model + `; tool_started name="code_execution" {"code":"1 / 0","language":"PYTHON"}`,
			`working agent="a"; tool_ended name="code_execution" tool_error code="OUTCOME_FAILED" settled {"outcome":"OUTCOME_FAILED","output":"x"}`,
			`artifact-update agent="a"; artifact id="a" other bytes=2 complete; text "hi"`,
		}},
		{"an event that JavaScript sends again", []string{
			piece("a", calls(uuid, "f", false), last+adkEvent(inJavaScript+usage)), piece("b", toolResult(uuid, "f", `{"x":1}`), last+adkEvent(inJavaScript)),
			piece("c", text("hm")+","+calls(uuid, "f", false), last+adkEvent(inJavaScript+usage)), piece("d", text("hm")+","+calls(uuid, "f", false)+","+calls("c", "f", false), last+adkEvent(inJavaScript)),
			piece("e", calls("c", "f", false), last+adkEvent(inJavaScript)),
		}, []string{
			`calls agent="a"; ` + model + `; tool_started name="f" call="` + uuid + `" ` + args,
			`results agent="a"; tool_ended name="f" call="` + uuid + `" {"x":1}`,
			`artifact-update; other`,
			`artifact-update agent="a"; artifact id="d" other bytes=2 complete; text "hm"; tool_started name="f" call="` + uuid + `" reuses_id ` + args + `; tool_started name="f" call="c" ` + args,
			`calls agent="a"; other`,
		}},
		{"a summary of the session", []string{
			piece("s", text("hi"), last+`,"metadata":{"adk_author":"system","adk_invocation_id":""}`),
			taskIs("completed", `,"artifacts":[{"artifactId":"s","parts":[`+text("hi")+`]}]`),
		}, []string{`summary; other`, `task; final; run_ended`}},
		{"a pending response", []string{
			statusIs("working", calls("c", "f", true), adkEvent("")), statusIs("working", toolResult("c", "f", `{"status":"Pending"}`), adkEvent("")),
			statusIs("working", toolResult("c", "f", `{"status":"pending"}`), adkEvent("")), statusIs("input-required", calls("c", "f", true), ""),
			statusIs("working", toolResult("c", "f", `{"status":"approved"}`), adkEvent("")),
		}, []string{
			`calls agent="a"; tool_started name="f" call="c" long_running ` + args,
			`results agent="a"; tool_ended name="f" call="c" pending settled {"status":"Pending"}`,
			`results agent="a"; other`,
			`awaited; other`,
			`results agent="a"; input_answered call="c"; tool_ended name="f" call="c" settled {"status":"approved"}`,
		}},
		{"another call with the ID of an answered one", []string{
			statusIs("working", calls("c", "f", false), id("1")), statusIs("working", toolResult("c", "f", `{"x":1}`), id("2")), statusIs("working", calls("c", "f", false), id("1")),
			statusIs("working", calls("c", "f", false), id("3")), statusIs("working", calls("c", "f", false), id("3")), statusIs("working", toolResult("c", "f", `{"error":2}`), id("4")),
			piece("a", calls("c", "f", false), last+id("5")), statusIs("input-required", calls("c", "f", false), id("6")),
		}, []string{
			`calls agent="a"; tool_started name="f" call="c" ` + args,
			`results agent="a"; tool_ended name="f" call="c" {"x":1}`,
			`calls agent="a"; other`,
			`calls agent="a"; tool_started name="f" call="c" reuses_id ` + args,
			`calls agent="a"; other`,
			`results agent="a"; tool_ended name="f" call="c" tool_error {"error":2}`,
			`calls agent="a"; other`,
			`awaited agent="a"; input_requested call="t" clarification`,
		}},
		{"another call with the ID of an answered one, in artifacts without event ids", []string{
			piece("a", calls("c", "f", false), adkEvent("")), piece("a", toolResult("c", "f", `{}`), more+adkEvent("")), piece("a", calls("c", "f", false), more+adkEvent("")), piece("a", toolResult("c", "f", `{}`), more+adkEvent("")),
		}, []string{
			`calls agent="a"; tool_started name="f" call="c" ` + args,
			`results agent="a"; tool_ended name="f" call="c" {}`,
			`calls agent="a"; tool_started name="f" call="c" reuses_id ` + args,
			`results agent="a"; tool_ended name="f" call="c" {}`,
		}},
		{"repeated calls", []string{
			piece("a", calls("c", "f", false), adkEvent(usage)), piece("a", calls("c", "f", false)+","+text("hm"), adkEvent("")),
			piece("a", toolResult("c", "f", `{"error":"x"}`), last+adkEvent("")), piece("a", toolResult("c", "f", `{}`), last+adkEvent("")),
		}, []string{
			`calls agent="a"; ` + model + `; tool_started name="f" call="c" ` + args,
			`artifact-update agent="a"; artifact id="a" other bytes=2; text "hm"`,
			`results agent="a"; tool_ended name="f" call="c" tool_error {"error":"x"}`,
			`results agent="a"; other`,
		}},
		{"kagent", []string{
			statusIs("working", "", `,"metadata":{"kagent_app_name":"x","kagent_session_id":"c"}`), kagent(calls("c", "f", false), usage), kagent(toolResult("c", "f", `{"x":1}`), ""),
			kagent(text("h"), isPiece), kagent(text("i"), isPiece), kagent(text("hi"), usage),
			piece("a", text("hi"), last), statusIs("completed", "", strings.ReplaceAll(`,"metadata":{"adk_invocation_id":"e-1"`+usage+`}`, "adk_", "kagent_")),
		}, []string{
			`working; other`,
			`calls agent="a"; ` + model + `; tool_started name="f" call="c" ` + args,
			`results agent="a"; tool_ended name="f" call="c" {"x":1}`,
			`working agent="a" partial; model_started; text "h"`,
			`working agent="a" partial; text "i"`,
			`working agent="a"; ` + model + `; text "hi"`,
			`artifact-update partial repeats; artifact id="a" other bytes=2 complete; text "hi"`,
			`status-update; final; run_ended awaits_outcome`,
		}},
		{"updates without lastChunk", []string{
			piece("a", calls("c", "f", false), adkEvent(usage)), piece("a", toolResult("c", "f", `{"x":1}`), more+adkEvent("")),
			piece("a", text("hi"), more+adkEvent(usage)), piece("a", `{"kind":"data","data":{}}`, more+last),
			statusIs("completed", "", ""),
		}, []string{
			`calls agent="a"; ` + model + `; tool_started name="f" call="c" ` + args,
			`results agent="a"; tool_ended name="f" call="c" {"x":1}`,
			`artifact-update agent="a" partial; model_started; text "hi"`,
			`artifact-update agent="a"; artifact id="a" data append complete; text "hi"; ` + model,
			`status-update; final; run_ended awaits_outcome`,
		}},
		{"pieces without lastChunk until the end", []string{piece("a", text("h"), adkEvent(usage)), piece("a", text("i"), more+adkEvent(usage)), statusIs("completed", "", "")},
			[]string{`artifact-update agent="a" partial; model_started; text "h"`, `artifact-update agent="a" partial; text "i"`, `status-update agent="a"; ` + model + `; text "hi"; final; run_ended awaits_outcome`}},
		{"pieces without lastChunk until a question", []string{piece("a", text("h"), adkEvent(usage)), statusIs("input-required", "", "")},
			[]string{`artifact-update agent="a" partial; model_started; text "h"`, `asking agent="a"; ` + model + `; input_requested call="t" clarification`}},
		{"pieces of two agents without lastChunk", []string{piece("a", text("h"), adkEvent(usage)), piece("a", text("i"), more+`,"metadata":{"adk_author":"b"`+usage+`}`), statusIs("completed", "", "")},
			[]string{`artifact-update agent="a" partial; model_started; text "h"`, `artifact-update agent="b" partial; model_started; text "i"`, `status-update agent="b"; ` + model + `; text "i"; final; run_ended awaits_outcome`}},
		{"a last piece", []string{piece("a", text("h"), adkEvent(usage)), piece("a", text("i"), more+last+adkEvent(usage))},
			[]string{`artifact-update agent="a" partial; model_started; text "h"`, `artifact-update agent="a"; artifact id="a" other bytes=1 append complete; text "hi"; ` + model}},
		{"a failure after pieces", []string{piece("a", text("h"), adkEvent(usage)), statusIs("failed", "", "")},
			[]string{`artifact-update agent="a" partial; model_started; text "h"`, `working; error agent_error; run_ended agent_error awaits_outcome`}},
		{"pieces without usage", []string{piece("a", text("h"), adkEvent("")), piece("a", text("h"), adkEvent(`,"adk_partial":false`)), statusIs("completed", "", "")},
			[]string{`artifact-update agent="a" partial; text "h"`, `artifact-update agent="a"; artifact id="a" other bytes=1; text "h"`, `status-update; final; run_ended awaits_outcome`}},
		{"a file and data", []string{piece("a", `{"kind":"file","file":{"bytes":"AAAA"}}`, adkEvent("")), piece("b", `{"kind":"data","data":{"x":1}}`, adkEvent(""))},
			[]string{`artifact-update agent="a"; artifact id="a" file bytes=3 (bytes "AAAA")`, `artifact-update agent="a"; artifact id="b" data bytes=7 (data {"x":1})`}},
		{"a call whose arguments are still written", []string{
			piece("a", strings.Replace(calls("c", "f", false), `"args"`, `"willContinue":true,"args"`, 1), adkEvent(usage+`,"adk_event_id":"1"`)), piece("a", calls("c", "f", false), more+adkEvent(usage+`,"adk_event_id":"1"`)), piece("a", calls("c", "f", false), last+adkEvent(usage+`,"adk_event_id":"1"`)),
		}, []string{`calls agent="a" partial; model_started`, `calls agent="a"; ` + model + `; tool_started name="f" call="c" ` + args, `calls agent="a"; other`}},
		{"pieces marked as partial", []string{
			piece("p", `{"text":"h","metadata":{"adk_partial":true}}`, adkEvent(usage+`,"adk_partial":true`)), piece("p", text("i"), more+adkEvent(`,"adk_partial":true`)),
			piece("a", text("hi"), adkEvent(usage+`,"adk_partial":false`)), piece("p", `{"kind":"data","data":{}}`, last+`,"metadata":{"adk_partial":true}`),
		}, []string{
			`artifact-update agent="a" partial; model_started; text "h"`,
			`artifact-update agent="a" partial; text "i"`,
			`artifact-update agent="a"; artifact id="a" other bytes=2; ` + model + `; text "hi"`,
			`artifact-update partial; other`,
		}},
		{"pieces marked as partial, in statuses", []string{
			statusIs("working", text("h"), adkEvent(usage+`,"adk_partial":true`)), statusIs("working", text("i"), adkEvent(usage+`,"adk_partial":true`)),
			statusIs("working", text("hi"), adkEvent(usage+`,"adk_partial":false`)),
		}, []string{
			`working agent="a" partial; model_started; text "h"`,
			`working agent="a" partial; text "i"`,
			`working agent="a"; ` + model + `; text "hi"`,
		}},
		{"pieces without a mark", []string{
			statusIs("working", text("h"), adkEvent(usage+`,"adk_event_id":"1"`)), statusIs("working", text("i"), adkEvent(usage+`,"adk_event_id":"1"`)),
			statusIs("working", text("hi"), adkEvent(`,"adk_event_id":"1","adk_usage_metadata":{"promptTokenCount":3,"candidatesTokenCount":5}`)),
			statusIs("working", text("ho"), adkEvent(usage+`,"adk_event_id":"2"`)),
		}, []string{
			`working agent="a"; ` + model + `; text "h"`,
			`working agent="a" partial; text "i"`,
			`working agent="a"; usage output=3; text "hi"`,
			`working agent="a"; ` + model + `; text "ho"`,
		}},
		{"pieces without a mark, of which only the last has usage", []string{
			statusIs("working", text("h"), id("1")), statusIs("working", text("i"), id("1")), statusIs("working", text("!"), id("1")), statusIs("working", text("hi!"), adkEvent(usage+`,"adk_event_id":"1"`)),
			statusIs("working", text("ho"), id("2")), statusIs("working", text("ho"), adkEvent(usage+`,"adk_event_id":"2"`)), piece("a", text("ho"), last+id("2")),
		}, []string{
			`working agent="a"; text "h"`,
			`working agent="a" partial; model_started; text "i"`,
			`working agent="a" partial; text "!"`,
			`working agent="a"; ` + model + `; text "hi!"`,
			`working agent="a"; text "ho"`,
			`working agent="a" partial repeats; ` + model + `; text "ho"`,
			`artifact-update agent="a" partial repeats; artifact id="a" other bytes=2 complete; text "ho"`,
		}},
		{"pieces without a mark or usage", []string{statusIs("working", text("h"), id("1")), statusIs("working", text("i"), id("1")), statusIs("working", text("hi"), id("1"))},
			[]string{`working agent="a"; text "h"`, `working agent="a" partial; model_started; text "i"`, `working agent="a"; model_ended; text "hi"`}},
		{"a transfer, by the call's arguments", []string{
			statusIs("working", calls("c", "transfer_to_agent", false), adkEvent("")), statusIs("working", toolResult("c", "transfer_to_agent", `{"result":null}`), adkEvent(`,"adk_event_id":"7"`)),
			statusIs("completed", "", `,"metadata":{"adk_transfer_to_agent":"x"}`),
		}, []string{
			`calls agent="a"; tool_started name="transfer_to_agent" call="c" ` + args,
			`results agent="a"; tool_ended name="transfer_to_agent" call="c" {"result":null}; transfer name="x" call="c" id="7"`,
			`status-update; final; run_ended awaits_outcome`,
		}},
		{"a transfer, by its action", []string{statusIs("working", toolResult("c", "transfer_to_agent", `{}`), adkEvent(`,"adk_actions":{"transferToAgent":"y"}`))},
			[]string{`results agent="a"; tool_ended name="transfer_to_agent" call="c" {}; transfer name="y" call="c"`}},
		{"a response that ends a turn", []string{statusIs("working", toolResult("c", "exit_loop", `{}`), adkEvent(`,"adk_actions":{"escalate":true}`)), statusIs("working", toolResult("d", "exit_loop", `{}`), adkEvent(`,"adk_actions":{"skip_summarization":true}`)), statusIs("working", toolResult("e", "stop", `{}`), adkEvent(`,"adk_actions":{"endInvocation":true,"escalate":false}`))},
			[]string{`results agent="a"; tool_ended name="exit_loop" call="c" settled {}`, `results agent="a"; tool_ended name="exit_loop" call="d" settled {}`, `results agent="a"; tool_ended name="stop" call="e" settled {}`}},
		{"a transfer that failed", []string{statusIs("working", toolResult("c", "transfer_to_agent", `{"error":1}`), adkEvent(`,"adk_actions":{"transferToAgent":"y"}`))},
			[]string{`results agent="a"; tool_ended name="transfer_to_agent" call="c" tool_error {"error":1}`}},
		{"a call that waits", []string{statusIs("input-required", calls("c", "f", true)+","+toolResult("c", "f", `{"status":"pending"}`), ""), statusIs("working", "", ""), statusIs("working", toolResult("c", "f", `{}`), adkEvent(""))},
			[]string{`awaited; tool_started name="f" call="c" long_running ` + args, `working; input_answered call="c"`, `results agent="a"; tool_ended name="f" call="c" settled {}`}},
		{"a call that waited, in a waiting task", []string{statusIs("working", calls("c", "f", true), adkEvent("")), statusIs("working", toolResult("c", "f", `{}`), adkEvent("")), statusIs("input-required", calls("c", "f", true), adkEvent(""))},
			[]string{`calls agent="a"; tool_started name="f" call="c" long_running ` + args, `results agent="a"; tool_ended name="f" call="c" settled {}`, `awaited agent="a"; input_requested call="t" clarification`}},
		{"ADK's requests for input", []string{
			statusIs("auth-required", calls("c", "adk_request_credential", true)+","+calls("d", "adk_request_confirmation", true)+","+calls("e", "adk_request_input", true), adkEvent("")),
			statusIs("working", toolResult("c", "adk_request_credential", `{}`), adkEvent("")),
		}, []string{
			`awaited agent="a"; input_requested call="c" credential; input_requested call="d" confirmation; input_requested call="e" clarification`,
			`results agent="a"; input_answered call="c"; input_answered call="d"; input_answered call="e"; input_answered call="c"`,
		}},
		{"a question of a remote agent", []string{statusIs("input-required", strings.Replace(calls("c", "mock_function_call_for_required_user_auth", true), `"agent_name":"x"`, `"auth_required":"Log in."`, 1), adkEvent(""))},
			[]string{`awaited agent="a"; input_requested call="c" credential prompt="Log in."`}},
		{"a question with a schema", []string{statusIs("input-required", strings.Replace(calls("e", "adk_request_input", true), `"agent_name":"x"`, `"response_schema":{}`, 1), adkEvent(""))},
			[]string{`awaited agent="a"; input_requested call="e" data`}},
		{"a call that waits for a credential", []string{statusIs("working", toolResult("c", "f", `{"error":"sign in"}`), adkEvent(`,"adk_actions":{"requestedAuthConfigs":{"c":{}}}`))},
			[]string{`results agent="a"; tool_paused call="c"; tool_ended name="f" call="c" tool_error {"error":"sign in"}`}},
		{"a call that waits for a confirmation", []string{statusIs("working", toolResult("c", "f", `{"error":"confirm"}`), adkEvent(`,"adk_actions":{"requestedToolConfirmations":{"c":{"hint":"?"}}}`))},
			[]string{`results agent="a"; tool_paused call="c"; tool_ended name="f" call="c" tool_error {"error":"confirm"}`}},
		{"a call whose request says that it waits", []string{
			statusIs("working", calls("c", "f", false), adkEvent("")),
			statusIs("working", pauses("q", "adk_request_confirmation", `"originalFunctionCall":{"id":"c"}`), adkEvent("")),
			statusIs("working", toolResult("c", "f", `{"error":"confirm"}`), adkEvent("")),
			statusIs("input-required", pauses("q", "adk_request_confirmation", `"originalFunctionCall":{"id":"c"}`), adkEvent("")),
			statusIs("working", toolResult("c", "f", `{"error":"no"}`), adkEvent("")),
		}, []string{
			`calls agent="a"; tool_started name="f" call="c" ` + args, `calls agent="a"; input_requested call="q" confirmation; tool_paused call="c"`,
			`results agent="a"; tool_paused call="c"; tool_ended name="f" call="c" tool_error {"error":"confirm"}`, `awaited agent="a"; other`,
			`results agent="a"; input_answered call="q"; tool_ended name="f" call="c" tool_error {"error":"no"}`,
		}},
		{"a call whose request for a credential says so", []string{
			statusIs("working", pauses("q", "adk_request_credential", `"function_call_id":"c"`), adkEvent("")),
			statusIs("working", toolResult("c", "f", `{}`)+","+toolResult("d", "g", `{}`), adkEvent("")),
		}, []string{`calls agent="a"; input_requested call="q" credential`, `results agent="a"; tool_paused call="c"; tool_ended name="f" call="c" {}; tool_ended name="g" call="d" {}`}},
		{"a request that was answered first", []string{
			statusIs("working", pauses("q", "adk_request_credential", `"functionCallId":"c"`), adkEvent("")),
			statusIs("working", toolResult("q", "adk_request_credential", `{}`), adkEvent("")), statusIs("working", toolResult("c", "f", `{}`), adkEvent("")),
		}, []string{`calls agent="a"; input_requested call="q" credential`, `results agent="a"; input_answered call="q"`, `results agent="a"; tool_ended name="f" call="c" {}`}},
		{"the user's part", []string{bindings["0.3, JSON-RPC"]("status-update", `"taskId":"t","contextId":"c","status":{"state":"working","message":{"role":"user","parts":[`+text("secret")+`,`+toolResult("c", "f", `{}`)+`]}},"metadata":{"adk_author":"user"}`)},
			[]string{`results; tool_ended name="f" call="c" ends_agent {}`}},
		{"a repeat without the branch of the event", []string{
			statusIs("working", text("hi"), adkEvent(usage+`,"adk_event_id":"1","adk_branch":"p.a"`)), piece("x", text("hi"), last+adkEvent(`,"adk_event_id":"1"`)),
			statusIs("working", text("ho"), adkEvent(`,"adk_event_id":"2"`)),
		}, []string{
			`working agent="a" branch="p.a" place="…/p:container/a[p.a]"; ` + model + `; text "hi"`, `artifact-update agent="a" branch="p.a" place="…/p:container/a[p.a]" partial repeats; artifact id="x" other bytes=2 complete; text "hi"`,
			`working agent="a"; text "ho"`,
		}},
		{"a refusal", []string{statusIs("working", text("secret"), adkEvent(usage+`,"adk_error_code":"SAFETY"`)), statusIs("failed", text("secret"), adkEvent(`,"adk_error_code":"SAFETY"`))},
			[]string{`working agent="a"; model_ended model_error code="SAFETY" input=3 output=2; error model_error code="SAFETY" from_code`,
				`working agent="a"; error agent_error code="SAFETY"; run_ended agent_error code="SAFETY" awaits_outcome`}},
		{"a refusal at the end", []string{statusIs("failed", text("secret"), adkEvent(usage+`,"adk_error_code":"SAFETY"`))},
			[]string{`working agent="a"; model_ended model_error code="SAFETY" input=3 output=2; error agent_error code="SAFETY"; run_ended agent_error code="SAFETY" awaits_outcome`}},
		{"an error while a call waits", []string{
			statusIs("working", calls("c", "f", false), adkEvent("")), statusIs("working", text("secret"), adkEvent(`,"adk_error_code":"ValueError"`)),
			statusIs("failed", text("secret"), adkEvent(`,"adk_error_code":"ValueError"`)),
		}, []string{`calls agent="a"; tool_started name="f" call="c" ` + args,
			`working agent="a"; tool_ended name="f" call="c" tool_error code="ValueError"; error tool_error code="ValueError" from_code`,
			`working agent="a"; error agent_error code="ValueError"; run_ended agent_error code="ValueError" awaits_outcome`}},
		{"an error at the end while a call waits", []string{
			statusIs("working", calls("c", "f", false), adkEvent("")), statusIs("failed", text("secret"), adkEvent(`,"adk_error_code":"ValueError"`)),
		}, []string{`calls agent="a"; tool_started name="f" call="c" ` + args,
			`working agent="a"; tool_ended name="f" call="c" tool_error code="ValueError"; error agent_error code="ValueError"; run_ended agent_error code="ValueError" awaits_outcome`}},
		{"an error while two calls wait", []string{
			statusIs("working", calls("c", "f", false), adkEvent("")), statusIs("working", calls("d", "g", false), adkEvent("")), statusIs("working", text("f broke"), adkEvent(`,"adk_error_code":"ValueError"`)),
		}, []string{`calls agent="a"; tool_started name="f" call="c" ` + args, `calls agent="a"; tool_started name="g" call="d" ` + args,
			`working agent="a"; tool_ended name="f" call="c" tool_error code="ValueError"; error tool_error code="ValueError" from_code`}},
		{"an error while two calls wait, that names none", []string{
			statusIs("working", calls("c", "f", false), adkEvent("")), statusIs("working", calls("d", "g", false), adkEvent("")), statusIs("working", text("offline"), adkEvent(`,"adk_error_code":"ValueError"`)),
		}, []string{`calls agent="a"; tool_started name="f" call="c" ` + args, `calls agent="a"; tool_started name="g" call="d" ` + args,
			`working agent="a"; error tool_error code="ValueError" from_code`}},
		{"an error with usage while a call waits", []string{
			statusIs("working", calls("c", "f", false), adkEvent("")), statusIs("working", text("secret"), adkEvent(usage+`,"adk_error_code":"SAFETY"`)),
		}, []string{`calls agent="a"; tool_started name="f" call="c" ` + args,
			`working agent="a"; model_ended model_error code="SAFETY" input=3 output=2; error model_error code="SAFETY" from_code`}},
		{"a code that is no failure", []string{statusIs("working", text("hi"), adkEvent(`,"adk_error_code":"MAX_TOKENS"`))},
			[]string{`working agent="a"; text "hi"`}},
		{"branches", []string{statusIs("working", text("hi"), adkEvent(`,"adk_branch":"team.a"`))},
			[]string{`working agent="a" branch="team.a" place="…/team:container/a[team.a]"; text "hi"`}},
		{"an answer from a branch", []string{
			statusIs("working", text("hi"), adkEvent(`,"adk_branch":"team.a"`+usage)), piece("x", text("hi"), last+adkEvent("")), statusIs("completed", "", adkEvent("")),
		}, []string{
			`working agent="a" branch="team.a" place="…/team:container/a[team.a]"; ` + model + `; text "hi"`,
			`artifact-update agent="a" branch="team.a" place="…/team:container/a[team.a]" partial repeats; artifact id="x" other bytes=2 complete; text "hi"`,
			`status-update agent="a" branch="team.a" place="…/team:container/a[team.a]"; final; run_ended awaits_outcome`,
		}},
		{"an event without a branch, after one in a branch", []string{statusIs("working", text("hi"), adkEvent(`,"adk_branch":"team.a"`)), statusIs("working", text("ho"), adkEvent(usage)), statusIs("completed", "", adkEvent(""))},
			[]string{`working agent="a" branch="team.a" place="…/team:container/a[team.a]"; text "hi"`, `working agent="a"; ` + model + `; text "ho"`, `status-update agent="a"; final; run_ended awaits_outcome`}},
		{"metadata in the artifact or the message", []string{
			bindings["1.0, HTTP+JSON"]("artifact-update", `"taskId":"t","contextId":"c","artifact":{"artifactId":"x","metadata":{"adk_author":"a"`+usage+`},"parts":[{"text":"hi"}]},"lastChunk":true`),
			bindings["1.0, HTTP+JSON"]("status-update", `"taskId":"t","contextId":"c","status":{"state":"working","message":{"role":"ROLE_AGENT","metadata":{"adk_author":"a"},"parts":[{"text":"ho"}]}},"metadata":{"adk_author":null}`),
		}, []string{
			`artifact-update agent="a"; artifact id="x" other bytes=2 complete; ` + model + `; text "hi"`,
			`working agent="a"; text "ho"`,
		}},
		{"thoughts, and code", []string{piece("x", `{"text":"hm","metadata":{"adk_thought":true}},{"data":{"code":"x"},"metadata":{"adk_type":"executable_code"}}`, last+adkEvent(`,"adk_usage_metadata":{"promptTokenCount":1,"thoughtsTokenCount":2,"toolUsePromptTokenCount":4,"cachedContentTokenCount":1,"totalTokenCount":7}`))},
			[]string{`thoughts agent="a"; model_ended input=5 output=2 cached=1 reasoning=2; thought "hm"; tool_started name="code_execution" {"code":"x"}`}},
		{"counts that Go omits", []string{statusIs("working", text("hi"), adkEvent(`,"adk_usage_metadata":{"promptTokenCount":9,"totalTokenCount":9}`))},
			[]string{`working agent="a"; model_ended input=9 output=0; text "hi"`}},
		{"invalid usage", []string{statusIs("working", text("hi"), adkEvent(`,"adk_usage_metadata":"prompt_token_count=9"`))},
			[]string{`working agent="a"; text "hi"`}},
	})
}

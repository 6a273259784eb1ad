package adk

import (
	"strings"
	"testing"
)

// TestCodes checks that the decoder finds an error code in each member that may contain it.
func TestCodes(t *testing.T) {
	const (
		quota  = "429 RESOURCE_EXHAUSTED. {'error': {'code': 429}}"
		advice = `\nOn how to mitigate this issue, please refer to:\n\nhttps://example.org\n\n\n`
	)
	event := func(code, message string) string {
		return by(`"errorCode":` + code + `,"errorMessage":"` + message + `"`)
	}
	frame := func(class, message string) string {
		return `{"error":"` + class + `: ` + message + `","error_details":{"error_type":"` + class + `","error_message":"` + message + `"}}`
	}
	model := func(code string) string {
		if code != "" {
			code = ` code="` + code + `"`
		}
		return "model_ended model_error" + code + "; error model_error" + code + " from_code; final"
	}
	runDecode(t, []decodeCase{
		{"a gRPC status", []string{event(`"UNAVAILABLE"`, "x")}, []string{model("UNAVAILABLE")}},
		{"an HTTP status", []string{event(`"429"`, "quota exceeded")}, []string{model("429")}},
		{"an HTTP status as a number", []string{event(`429`, "quota exceeded")}, []string{model("429")}},
		{"a private class", []string{event(`"_QuotaError"`, "x")}, []string{model("_QuotaError")}},
		{"a class, and the status in the message", []string{event(`"ClientError"`, quota)}, []string{model("RESOURCE_EXHAUSTED")}},
		{"a sentence instead of a code", []string{event(`"the quota is used up"`, "x")}, []string{model("")}},
		{"a sentence, and a class in the message", []string{event(`"it failed"`, "KeyError: 'x'")}, []string{model("KeyError")}},
		{"a long code", []string{event(`"`+strings.Repeat("X", 65)+`"`, "x")}, []string{model("")}},
		{"a code with a line break", []string{event(`"SAFETY\nX"`, "x")}, []string{model("")}},
		{"a code with an umlaut", []string{event(`"\u00dcberlauf"`, "x")}, []string{model("")}},
		{"a status, and its error frame", []string{event(`"RESOURCE_EXHAUSTED"`, advice+quota), frame("_ResourceExhaustedError", advice+quota)},
			[]string{model("RESOURCE_EXHAUSTED"), `error agent_error code="RESOURCE_EXHAUSTED" elsewhere`}},
		{"an error frame whose event has a code of another form", []string{event(`"429"`, "slow down"), frame("RateLimitError", "slow down")},
			[]string{model("429"), `error agent_error code="429" elsewhere`}},
		{"an error frame whose event has no code", []string{event(`"it failed"`, "slow down"), frame("RateLimitError", "slow down")},
			[]string{model(""), `error agent_error code="RateLimitError" elsewhere`}},
		{"an error frame of another error", []string{event(`"429"`, "slow down"), frame("ValueError", "boom")},
			[]string{model("429"), `error agent_error code="ValueError"`}},
		{"an error frame of another run", []string{event(`"429"`, "x"), strings.Replace(by(parts(hi)), "e-1", "e-2", 1), frame("ValueError", "x")},
			[]string{model("429"), `text "hi"; final`, `error agent_error code="ValueError"`}},
		{"an error frame and an event without messages", []string{event(`"429"`, ""), frame("ValueError", "")},
			[]string{model("429"), `error agent_error code="ValueError"`}},
		{"an error frame of the model's API", []string{`{"error":"` + advice + quota + `"}`},
			[]string{`model_ended model_error code="RESOURCE_EXHAUSTED"; error agent_error code="RESOURCE_EXHAUSTED"`}},
		{"an error frame of the model's API, in Go", []string{`{"error":"failed to call model: Error 503, Message: Try later., Status: UNAVAILABLE, Details: []"}`},
			[]string{`model_ended model_error code="UNAVAILABLE"; error agent_error code="UNAVAILABLE"`}},
		{"a class in a text", []string{`{"error":"KeyError: 'x'"}`}, []string{`error agent_error code="KeyError"`}},
		{"a class in a broken frame", []string{`{"error": "KeyError: "x""}`}, []string{`error agent_error code="KeyError"`}},
		{"a text", []string{`{"error":"unhandled errors in a TaskGroup (1 sub-exception)"}`}, []string{"error agent_error"}},
		{"an object", []string{`{"error":{"code":503,"status":"UNAVAILABLE","message":"x"}}`}, []string{`error agent_error code="UNAVAILABLE"`}},
		{"a number", []string{`{"error":503}`}, []string{`error agent_error code="503"`}},
		{"an open call", []string{by(stop + "," + parts(call)), frame("KeyError", "x")},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" tool_error code="KeyError"; error agent_error code="KeyError"`}},
		{"a response", []string{by(parts(strings.Replace(answer, `{}`, `{"error":"x","error_code":"E_BUSY"}`, 1)))},
			[]string{`tool_ended name="look" call="c1" tool_error code="E_BUSY" {"error":"x","error_code":"E_BUSY"}`}},
		{"a response without an error", []string{by(parts(strings.Replace(answer, `{}`, `{"code":"E_BUSY"}`, 1)))},
			[]string{`tool_ended name="look" call="c1" {"code":"E_BUSY"}`}},
		{"a code that is no failure", []string{by(`"errorCode":"MAX_TOKENS","finishReason":"MAX_TOKENS",` + parts(hi))}, []string{`model_ended finish="MAX_TOKENS"; text "hi"; final`}},
	})
}

// TestExecutedCode checks that executed code and its result are reported as a tool call.
func TestExecutedCode(t *testing.T) {
	const code = `{"executableCode":{"code":"1 / 0","language":"PYTHON"}}`
	result := func(members string) string { return `{"codeExecutionResult":{` + members + `}}` }
	started := `tool_started name="code_execution" {"code":"1 / 0","language":"PYTHON"}`
	after := func(members string) []string { return []string{by(parts(code)), by(parts(result(members)))} }
	runDecode(t, []decodeCase{
		{"by the ADK", []string{by(parts(hi, code)), by(parts(result(`"outcome":"OUTCOME_OK","output":"42"`))), by(stop + "," + parts(hi))},
			[]string{`model_ended; text "hi"; ` + started + `; final`, `tool_ended name="code_execution" {"outcome":"OUTCOME_OK","output":"42"}`, `model_ended finish="STOP"; text "hi"; final`}},
		{"by the model's API", []string{by(stop + "," + parts(code, result(`"outcome":"OUTCOME_OK"`), hi))},
			[]string{`model_ended finish="STOP"; ` + started + `; tool_ended name="code_execution" settled {"outcome":"OUTCOME_OK"}; text "hi"; final`}},
		{"also in partial frames", []string{by(partial + "," + parts(code)), by(partial + "," + parts(result(`"outcome":"OUTCOME_OK"`))), by(stop + "," + parts(code, result(`"outcome":"OUTCOME_OK"`), hi))},
			[]string{"model_started", "", `model_ended finish="STOP"; ` + started + `; tool_ended name="code_execution" settled {"outcome":"OUTCOME_OK"}; text "hi"; final`}},
		{"with ids", []string{by(parts(`{"executable_code":{"id":"x1"}}`)), by(parts(`{"code_execution_result":{"id":"x1"}}`))},
			[]string{`model_ended; tool_started name="code_execution" call="x1" {"id":"x1"}; final`, `tool_ended name="code_execution" call="x1" {"id":"x1"}`}},
		{"that failed", after(`"outcome":"OUTCOME_FAILED","output":"ZeroDivisionError"`),
			[]string{`model_ended; ` + started + `; final`, `tool_ended name="code_execution" tool_error code="OUTCOME_FAILED" {"outcome":"OUTCOME_FAILED","output":"ZeroDivisionError"}`}},
		{"that took too long", after(`"outcome":"OUTCOME_DEADLINE_EXCEEDED"`),
			[]string{`model_ended; ` + started + `; final`, `tool_ended name="code_execution" timeout code="OUTCOME_DEADLINE_EXCEEDED" {"outcome":"OUTCOME_DEADLINE_EXCEEDED"}`}},
		{"of another outcome", after(`"outcome":"OUTCOME_LOST"`),
			[]string{`model_ended; ` + started + `; final`, `tool_ended name="code_execution" tool_error code="OUTCOME_LOST" {"outcome":"OUTCOME_LOST"}`}},
		{"of an unspecified outcome", after(`"outcome":"OUTCOME_UNSPECIFIED"`),
			[]string{`model_ended; ` + started + `; final`, `tool_ended name="code_execution" {"outcome":"OUTCOME_UNSPECIFIED"}`}},
		{"by an executor that raised", []string{by(parts(code)), by(raised)},
			[]string{`model_ended; ` + started + `; final`, `tool_ended name="code_execution" ` + toolRaised}},
	})
}

// TestMessagesWithoutCode checks the errors of agents that call a remote agent.
func TestMessagesWithoutCode(t *testing.T) {
	runDecode(t, []decodeCase{
		{"a message without a code", []string{by(`"errorMessage":"boom"`), by(`"errorCode":null,"errorMessage":"boom",` + parts(hi)), by(`"errorMessage":""`)},
			[]string{"error agent_error from_code; final", `text "hi"; error agent_error from_code; final`, "final"}},
		{"messages that are no failures", []string{by(`"errorCode":"MAX_TOKENS","errorMessage":"too long","finishReason":"MAX_TOKENS",` + parts(hi)), by(`"errorMessage":null`), `{"author":"user","partial":true,"errorMessage":"too large"}`},
			[]string{`model_ended finish="MAX_TOKENS"; text "hi"; final`, "final", ""}},
		{"a message without a code beside an open call", []string{by(stop + "," + parts(call)), by(`"errorMessage":"boom"`)},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}`, "error agent_error from_code; final"}},
	})
}

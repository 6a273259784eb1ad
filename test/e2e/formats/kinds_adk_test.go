package formats_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var camelMember = regexp.MustCompile(`"([a-z]+)([A-Z][A-Za-z]*)":`)

// snake converts the members of an event to Rust's spelling.
func snake(frame string) string {
	return camelMember.ReplaceAllStringFunc(frame, func(member string) string {
		return regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(member, func(c string) string { return "_" + strings.ToLower(c) })
	})
}

// adkShapes has events with and without times, in both spellings, and in the envelope of Rust's servers. A frame is the members
// besides those of every event. If it begins with a brace, it is the whole event.
var adkShapes = []kindShape{
	{"Python", func(n int, frame string) string {
		return adkData(frame, func(frame string) string { return fmt.Sprintf(`%s,"timestamp":%d.5`, frame, 1767081390+n) })
	}},
	{"Go", func(_ int, frame string) string { return adkData(frame, func(frame string) string { return frame }) }},
	{"snake case", func(n int, frame string) string {
		return adkData(frame, func(frame string) string {
			return snake(fmt.Sprintf(`%s,"timestamp":"2026-05-03T10:00:%02dZ"`, frame, n))
		})
	}},
	{"Rust", func(n int, frame string) string {
		data := strings.TrimSpace(strings.TrimPrefix(adkData(frame, func(frame string) string {
			return snake(fmt.Sprintf(`%s,"timestamp":"2026-05-03T10:00:%02dZ"`, frame, n))
		}), "data: "))
		if strings.HasPrefix(frame, "{") {
			return "data: " + data + "\n\n"
		}
		return `data: {"ui_protocol":"adk_ui","event":` + data + "}\n\n"
	}},
}

func adkData(frame string, with func(string) string) string {
	if !strings.HasPrefix(frame, "{") {
		if !strings.HasPrefix(frame, `"author":`) {
			frame = `"author":"helper",` + frame
		}
		frame = "{" + with(`"invocationId":"e-1",`+frame) + "}"
	}
	return "data: " + frame + "\n\n"
}

// parts returns an event's content.
func parts(all ...string) string {
	return `"content":{"role":"model","parts":[` + strings.Join(all, ",") + `]}`
}

// TestKindsOfADK checks each member of an event on its own, and data that is no event.
func TestKindsOfADK(t *testing.T) {
	const (
		usage   = `,"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3,"totalTokenCount":10},"modelVersion":"m-secret","finishReason":"STOP"`
		call    = `{"functionCall":{"id":"c1","name":"look","args":{"q":"secret"}}}`
		answer  = `{"functionResponse":{"id":"c1","name":"look","response":{"result":"secret"}}}`
		failed  = `{"functionResponse":{"id":"c1","name":"look","response":{"error":"secret"}}}`
		handing = `{"functionCall":{"id":"c2","name":"transfer_to_agent","args":{"agent_name":"advisor"}}}`
		handed  = `{"functionResponse":{"id":"c2","name":"transfer_to_agent","response":{"result":null}}}`
		confirm = `{"functionCall":{"id":"q1","name":"adk_request_confirmation","args":{"x":"secret"}}}`
	)
	said := []string{parts(`{"text":"Well."}`) + usage}
	called := []string{parts(call) + usage}
	kindTable{"adk", adkShapes, []kindCase{
		{"text", nil, parts(`{"text":"Hi."}`)},
		{"text of a response", nil, parts(`{"text":"Hi."}`) + usage},
		{"text, partial", nil, parts(`{"text":"Hi"}`) + `,"partial":true`},
		{"text, whole after partial", []string{parts(`{"text":"Hi"}`) + `,"partial":true`}, parts(`{"text":"Hi."}`) + `,"partial":false` + usage},
		{"text of the user", said, `"author":"user","content":{"role":"user","parts":[{"text":"secret"}]}`},
		{"text with a confidence and a source", nil, parts(`{"text":"Confidence: 90%\nSource: MTBS"}`) + usage},
		{"thought", said, parts(`{"text":"secret","thought":true}`)},
		{"code", said, parts(`{"executableCode":{"language":"PYTHON","code":"secret"}}`)},
		{"call", said, parts(call) + usage},
		{"call, partial", said, parts(call) + `,"partial":true`},
		{"call, of a long-running tool", said, parts(call) + `,"longRunningToolIds":["c1"]`},
		{"response", called, parts(answer)},
		{"response, failed", called, parts(failed)},
		{"response of the user's", []string{parts(call) + `,"longRunningToolIds":["c1"]`}, `"author":"user",` + parts(answer)},
		{"response that waits for a confirmation", called, parts(failed) + `,"actions":{"requestedToolConfirmations":{"c1":{"hint":"Really?","payload":"secret"}}}`},
		{"response that waits for a credential", called, parts(failed) + `,"actions":{"requestedAuthConfigs":{"c1":{"x":"secret"}}}`},
		{"request for a confirmation", called, parts(confirm) + `,"longRunningToolIds":["q1"]`},
		{"request for a credential", said, parts(`{"functionCall":{"id":"q1","name":"adk_request_credential","args":{"x":"secret"}}}`) + `,"longRunningToolIds":["q1"]`},
		{"request for data", said, parts(`{"functionCall":{"id":"q1","name":"adk_request_input","args":{"message":"secret","response_schema":{}}}}`) + `,"longRunningToolIds":["q1"]`},
		{"request for words", said, parts(`{"functionCall":{"id":"q1","name":"adk_request_input","args":{"message":"secret"}}}`) + `,"longRunningToolIds":["q1"]`},
		{"answer to a request", []string{called[0], parts(confirm) + `,"longRunningToolIds":["q1"]`}, `"author":"user",` + parts(`{"functionResponse":{"id":"q1","name":"adk_request_confirmation","response":{"confirmed":true}}}`)},
		{"transfer, called", said, parts(handing) + usage},
		{"transfer", []string{parts(handing) + usage}, `"id":"f2",` + parts(handed) + `,"actions":{"transferToAgent":"advisor"}`},
		{"text of the agent that was handed to", []string{parts(handing) + usage, `"id":"f2",` + parts(handed) + `,"actions":{"transferToAgent":"advisor"}`}, `"author":"advisor",` + parts(`{"text":"Hi."}`)},
		{"text in a branch", said, `"author":"advisor","branch":"helper.advisor",` + parts(`{"text":"Hi."}`)},
		{"text of a remote agent, partial", said, parts(`{"text":"Hi."}`) + `,"partial":true,"customMetadata":{"a2a:task_id":"secret"}`},
		{"text of a remote agent, of Java", said, parts(`{"text":"Hi."}`) + `,"partial":true,"customMetadata":[{"key":"a2a:task_id","stringValue":"secret"}]`},
		{"question of a remote agent", said, parts(`{"functionCall":{"id":"q1","name":"mock_function_call_for_required_user_input","args":{"input_required":"secret"}}}`) + `,"longRunningToolIds":["q1"],"customMetadata":{"a2a:task_id":"secret"}`},
		{"output of a function in JavaScript", said, parts(`{"text":"secret"}`) + `,"output":"secret","nodeInfo":{"path":"flow.helper","outputFor":["flow.helper"]}`},
		{"summary of the session in JavaScript", said, `"author":"system",` + parts(`{"text":"secret"}`) + `,"isCompacted":true,"compactedContent":"secret"`},
		{"artifact", said, `"actions":{"artifactDelta":{"report.pdf":0}}`},
		{"state", said, `"actions":{"stateDelta":{"secret":"secret"}}`},
		{"escalation", said, `"actions":{"escalate":true}`},
		{"error code", said, `"errorCode":"SAFETY","errorMessage":"secret"`},
		{"error code that is none", said, `"errorCode":"MAX_TOKENS","errorMessage":"secret"`},
		{"error code of a tool that raised", called, `"errorCode":"ValueErrorSecret","errorMessage":"secret"`},
		{"error message", said, `"errorCode":"","errorMessage":"secret"`},
		{"answer cut at its limit", nil, parts(`{"text":"Hi"}`) + `,"finishReason":"MAX_TOKENS"`},
		{"nothing", said, `"id":"f1"`},

		{"error", said, `{"error":"secret"}`},
		{"error before anything", nil, `{"error":{"code":429,"message":"secret"}}`},
		{"a kind", said, `"kind":"internal:x","x":"CANARY"`},
		{"an internal event in an envelope", said, `{"event":{"kind":"internal:x","author":"helper","invocationId":"e-1"},"x":"CANARY"}`},
		{"no event", said, `{"x":"CANARY"}`},
		{"no object", said, `{"author":"CANARY`},
	}}.test(t)
}

package a2a

import "testing"

// TestCodes checks that the decoder finds an error code in each member that may contain it.
func TestCodes(t *testing.T) {
	with := func(code string) string {
		if code == "" {
			return ""
		}
		return ` code="` + code + `"`
	}
	over := func(code string) string {
		return "error agent_error" + with(code) + "; run_ended agent_error" + with(code)
	}
	rpc := func(failure string) string { return data(`{"jsonrpc":"2.0","id":1,"error":` + failure + `}`) }
	says := func(code string) string {
		return statusIs("working", "", `,"metadata":{"adk_author":"a","adk_invocation_id":"i","adk_error_code":"`+code+`"}`)
	}
	said := func(code string) string {
		return `working agent="a"; error agent_error` + with(code) + " from_code"
	}
	for _, c := range []struct {
		failure, code string
	}{
		{`{"code":-32603,"message":"secret"}`, "-32603"},
		{`{"code":-32001,"message":"secret","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND"}]}`, "TASK_NOT_FOUND"},
		{`{"code":500,"status":"INTERNAL","message":"secret"}`, "INTERNAL"},
		{`{"code":418,"message":"secret"}`, "418"},
		{`{"code":7,"message":"secret"}`, ""},
	} {
		runDecode(t, []decodeCase{
			{c.failure, []string{statusIs("working", "", ""), rpc(c.failure)}, []string{"working; other", "error; " + over(c.code)}},
		})
	}
	runDecode(t, []decodeCase{
		{"over HTTP+JSON", []string{statusIs("working", "", ""), data(`{"error":{"code":503,"status":"UNAVAILABLE","message":"secret"}}`)},
			[]string{"working; other", "error; " + over("UNAVAILABLE")}},
		{"of a2a-js 0.3 over HTTP+JSON", []string{statusIs("working", "", ""), "event: error\n" + data(`{"code":-32603,"message":"secret"}`)},
			[]string{"working; other", "error; " + over("-32603")}},
		{"without an envelope and an event name", []string{statusIs("working", "", ""), data(`{"code":-32603,"message":"secret"}`)},
			[]string{"working; other", "error; " + over("-32603")}},
		{"of a2a-java 0.3 over HTTP+JSON", []string{statusIs("working", "", ""), data(`{"error":"io.a2a.spec.InternalError","message":"secret"}`)},
			[]string{"working; other", "error; " + over("io.a2a.spec.InternalError")}},
		{"of problem details", []string{statusIs("working", "", ""), "event: error\n" + data(`{"type":"https://a2a-protocol.org/errors/x","title":"secret","status":400}`)},
			[]string{"working; other", "error; " + over("")}},
		{"of an event named error that is an update", []string{"event: error\n" + statusIs("working", "", "")}, []string{"working; other"}},
		{"after the end", []string{statusIs("completed", "", ""), rpc(`{"code":-32603,"message":"secret"}`)},
			[]string{"status-update; final; run_ended awaits_outcome", `error; error agent_error code="-32603"`}},
		{"a status", []string{statusIs("failed", text("secret"), "")}, []string{"working; " + over("") + " awaits_outcome"}},
		{"a status with a class", []string{statusIs("failed", text("ValueError: secret"), "")}, []string{"working; " + over("ValueError") + " awaits_outcome"}},
		{"a status with an error of the model's API, in Go", []string{statusIs("failed", text("agent run failed: Error 429, Message: x, Status: RESOURCE_EXHAUSTED, Details: []"), "")},
			[]string{"working; " + over("RESOURCE_EXHAUSTED") + " awaits_outcome"}},
		{"an answer that looks like an error", []string{statusIs("completed", text("ValueError: hi"), "")}, []string{`status-update; text "ValueError: hi"; final; run_ended awaits_outcome`}},
		{"of an ADK event, before a failure without a code", []string{says("RuntimeError"), statusIs("failed", text("secret"), "")},
			[]string{said("RuntimeError"), "working; " + over("RuntimeError") + " awaits_outcome"}},
		{"of an ADK event, before an error of the server", []string{says("RuntimeError"), rpc(`{"code":-32603,"message":"secret"}`)},
			[]string{said("RuntimeError"), "error; " + over("RuntimeError")}},
		{"of an ADK event, before other events", []string{says("RuntimeError"), statusIs("working", text("hi"), `,"metadata":{"adk_author":"a","adk_invocation_id":"i"}`), statusIs("failed", "", "")},
			[]string{said("RuntimeError"), `working agent="a"; text "hi"`, "working; " + over("") + " awaits_outcome"}},
		{"a sentence in an ADK event", []string{says("the model hung up")}, []string{said("")}},
		{"of a canceled task", []string{says("RuntimeError"), statusIs("canceled", "", "")}, []string{said("RuntimeError"), "working; error canceled; run_ended canceled awaits_outcome"}},
		{"of a tool", []string{statusIs("working", `{"kind":"data","data":{"id":"c","name":"f","response":{"error":"x","code":"E_BUSY"}},"metadata":{"adk_type":"function_response"}}`,
			`,"metadata":{"adk_author":"a","adk_invocation_id":"i"}`)},
			[]string{`results agent="a"; tool_ended name="f" call="c" tool_error code="E_BUSY" {"error":"x","code":"E_BUSY"}`}},
	})
}

package adkstudio

import "testing"

// TestCodes checks the code at the start of an adk-rust error, and the codes of tools.
func TestCodes(t *testing.T) {
	const call = `tool_call {"name":"f"}`
	started, called := "trace"+agentFields+"; agent_started", "tool_call"+agentFields+`; tool_started name="f"`
	log := func(message, failure string) string {
		return `debug {"level":"warn","detail":{"fields":{"message":"` + message + `","tool.name":"f","error":"` + failure + `"}}}`
	}
	logged := func(failure string) string {
		return `debug withheld` + agentFields + `; tool_ended name="f" ` + failure + ` settled`
	}
	runDecode(t, []decodeCase{
		{"an error", []string{session, "error model.rate_limited: slow down, secret", end},
			[]string{sessionFacts, `error session="s"; error agent_error code="model.rate_limited"`, `end session="s"; run_ended agent_error code="model.rate_limited"`}},
		{"a sentence", []string{session, "error model overloaded at https://example.org/?key=secret"}, []string{sessionFacts, `error session="s"; error agent_error`}},
		{"an error of the graph", []string{session, start, trace(`"error","message":"graph.internal: secret","node":"a"`)},
			[]string{sessionFacts, started, "raw withheld" + agentFields + `; error agent_error code="graph.internal"`}},
		{"a tool", []string{session, start, call, log("tool_error", "tool.internal: no index for x")}, []string{sessionFacts, started, called, logged(`tool_error code="tool.internal"`)}},
		{"a tool of an older server", []string{session, start, call, log("tool_error", "no index")}, []string{sessionFacts, started, called, logged("tool_error")}},
		{"a tool that timed out", []string{session, start, call, log("tool_timeout", "tool.timeout: 5 s")}, []string{sessionFacts, started, called, logged(`timeout code="tool.timeout"`)}},
		{"a result", []string{session, start, call, `tool_result {"name":"f","result":"{\"error\":\"x\",\"error_code\":\"E_BUSY\"}"}`},
			[]string{sessionFacts, started, called, "tool_result" + agentFields + `; tool_ended name="f" tool_error code="E_BUSY" settled {"error":"x","error_code":"E_BUSY"}`}},
	})
}

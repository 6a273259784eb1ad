package adkstudio

import "testing"

// TestCodes reads the code with which adk-rust begins an error, and those that tools give.
func TestCodes(t *testing.T) {
	const call = `tool_call {"name":"f"}`
	started, called := "trace"+by+"; agent_started", "tool_call"+by+`; tool_started name="f"`
	log := func(message, failure string) string {
		return `debug {"level":"warn","detail":{"fields":{"message":"` + message + `","tool.name":"f","error":"` + failure + `"}}}`
	}
	logged := func(failure string) string {
		return `debug withheld` + by + `; tool_ended name="f" ` + failure + ` settled`
	}
	runDecode(t, []decodeCase{
		{"an error", []string{began, "error model.rate_limited: slow down, secret", end},
			[]string{first, `error session="s"; error agent_error code="model.rate_limited"`, `end session="s"; run_ended agent_error code="model.rate_limited"`}},
		{"words", []string{began, "error model overloaded at https://example.org/?key=secret"}, []string{first, `error session="s"; error agent_error`}},
		{"an error of the graph", []string{began, start, trace(`"error","message":"graph.internal: secret","node":"a"`)},
			[]string{first, started, "raw withheld" + by + `; error agent_error code="graph.internal"`}},
		{"a tool", []string{began, start, call, log("tool_error", "tool.internal: no index for x")}, []string{first, started, called, logged(`tool_error code="tool.internal"`)}},
		{"a tool of an older server", []string{began, start, call, log("tool_error", "no index")}, []string{first, started, called, logged("tool_error")}},
		{"a tool that was too late", []string{began, start, call, log("tool_timeout", "tool.timeout: 5 s")}, []string{first, started, called, logged(`timeout code="tool.timeout"`)}},
		{"a result", []string{began, start, call, `tool_result {"name":"f","result":"{\"error\":\"x\",\"error_code\":\"E_BUSY\"}"}`},
			[]string{first, started, called, "tool_result" + by + `; tool_ended name="f" tool_error code="E_BUSY" settled {"error":"x","error_code":"E_BUSY"}`}},
	})
}

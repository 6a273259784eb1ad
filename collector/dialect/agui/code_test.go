package agui

import (
	"strings"
	"testing"
)

// TestCodes reads the code of an error out of each place in which producers write it.
func TestCodes(t *testing.T) {
	failed := func(code string) string {
		if code != "" {
			code = ` code="` + code + `"`
		}
		return "RUN_ERROR" + of + "; error agent_error" + code + "; run_ended agent_error" + code
	}
	sub := ev("SUBAGENT_STARTED", `"subagentRunId":"s"`, `"name":"b"`)
	bySub := of + ` agent="b" branch="s"`
	runDecode(t, []decodeCase{
		{"a word", []string{start, ev("RUN_ERROR", `"message":"x"`, `"code":"BUSY"`)}, []string{began, failed("BUSY")}},
		{"an HTTP status", []string{start, ev("RUN_ERROR", `"message":"rate limit"`, `"code":"429"`)}, []string{began, failed("429")}},
		{"a number", []string{start, ev("RUN_ERROR", `"message":"x"`, `"code":503`)}, []string{began, failed("503")}},
		{"a status in the message", []string{start, ev("RUN_ERROR", `"message":"ServerError: 503 UNAVAILABLE. {}"`, `"code":"AGENT_ERROR"`)}, []string{began, failed("UNAVAILABLE")}},
		{"a class in the message", []string{start, ev("RUN_ERROR", `"message":"KeyError: 'x'"`)}, []string{began, failed("KeyError")}},
		{"words in the place of a code", []string{start, ev("RUN_ERROR", `"message":"x"`, `"code":"it failed"`)}, []string{began, failed("")}},
		{"none", []string{start, ev("RUN_ERROR", `"message":"x"`, `"code":null`)}, []string{began, failed("")}},
		{"of the server around an agent", []string{start, `{"error":"KeyError: 'x'"}`}, []string{began, "error" + strings.TrimPrefix(failed("KeyError"), "RUN_ERROR")}},
		{"of a subagent", []string{start, sub, ev("SUBAGENT_ERROR", `"subagentRunId":"s"`, `"message":"x"`, `"code":"NO_DATA"`)},
			[]string{began, "SUBAGENT_STARTED" + bySub + "; agent_started", "SUBAGENT_ERROR" + bySub + `; agent_ended agent_error code="NO_DATA"`}},
		{"a run that went well has none", []string{start, ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"code":"X"`)}, []string{began, finished}},
	})
}

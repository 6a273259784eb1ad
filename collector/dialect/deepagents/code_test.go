package deepagents

import "testing"

// TestCodes checks the code in an error or next to it. The protocol itself has only texts.
func TestCodes(t *testing.T) {
	failed := func(members string) string { return v2("error", members) }
	over := func(code string) string {
		if code != "" {
			code = ` code="` + code + `"`
		}
		return "error" + runFields + "; error agent_error" + code
	}
	runDecode(t, []decodeCase{
		{"a number", []string{start, failed(`"error":{"message":"model overloaded","code":529}`), end},
			[]string{startFacts, over("529"), "end" + runFields + `; run_ended agent_error code="529" took=5ms`}},
		{"a word", []string{start, failed(`"error":{"message":"x","code":"rate_limit_exceeded"}`)}, []string{startFacts, over("rate_limit_exceeded")}},
		{"a word next to the error", []string{start, failed(`"error":"x","code":"BUSY"`)}, []string{startFacts, over("BUSY")}},
		{"a class", []string{start, failed(`"error":"TimeoutError: secret"`)}, []string{startFacts, over("TimeoutError")}},
		{"a sentence", []string{start, failed(`"error":"model overloaded"`)}, []string{startFacts, over("")}},
		{"a sentence instead of a code", []string{start, failed(`"error":{"message":"x","code":"it is overloaded"}`)}, []string{startFacts, over("")}},
		{"of the first error", []string{start, failed(`"error":{"code":529}`), failed(`"error":{"code":500}`), end},
			[]string{startFacts, over("529"), over("500"), "end" + runFields + `; run_ended agent_error code="529" took=5ms`}},
	})
}

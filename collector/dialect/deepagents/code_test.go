package deepagents

import "testing"

// TestCodes reads the code of an error, which stands in it or beside it; the protocol's own errors are words.
func TestCodes(t *testing.T) {
	failed := func(members string) string { return v2("error", members) }
	over := func(code string) string {
		if code != "" {
			code = ` code="` + code + `"`
		}
		return "error" + by + "; error agent_error" + code
	}
	runDecode(t, []decodeCase{
		{"a number", []string{start, failed(`"error":{"message":"model overloaded","code":529}`), end},
			[]string{started, over("529"), "end" + by + `; run_ended agent_error code="529" took=5ms`}},
		{"a word", []string{start, failed(`"error":{"message":"x","code":"rate_limit_exceeded"}`)}, []string{started, over("rate_limit_exceeded")}},
		{"beside it", []string{start, failed(`"error":"x","code":"BUSY"`)}, []string{started, over("BUSY")}},
		{"a class", []string{start, failed(`"error":"TimeoutError: secret"`)}, []string{started, over("TimeoutError")}},
		{"words", []string{start, failed(`"error":"model overloaded"`)}, []string{started, over("")}},
		{"words in the place of a code", []string{start, failed(`"error":{"message":"x","code":"it is overloaded"}`)}, []string{started, over("")}},
		{"of the first error", []string{start, failed(`"error":{"code":529}`), failed(`"error":{"code":500}`), end},
			[]string{started, over("529"), over("500"), "end" + by + `; run_ended agent_error code="529" took=5ms`}},
	})
}

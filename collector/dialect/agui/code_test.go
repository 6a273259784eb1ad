package agui

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestCodes checks that the decoder finds an error code in each member that may contain it.
func TestCodes(t *testing.T) {
	failed := func(code string) string {
		if code != "" {
			code = ` code="` + code + `"`
		}
		return "RUN_ERROR" + runFields + "; error agent_error" + code + "; run_ended agent_error" + code
	}
	sub := ev("SUBAGENT_STARTED", `"subagentRunId":"s"`, `"name":"b"`)
	bySub := runFields + ` agent="b" branch="s"`
	runDecode(t, []decodeCase{
		{"a word", []string{start, ev("RUN_ERROR", `"message":"x"`, `"code":"BUSY"`)}, []string{startFacts, failed("BUSY")}},
		{"an HTTP status", []string{start, ev("RUN_ERROR", `"message":"rate limit"`, `"code":"429"`)}, []string{startFacts, failed("429")}},
		{"a number", []string{start, ev("RUN_ERROR", `"message":"x"`, `"code":503`)}, []string{startFacts, failed("503")}},
		{"a status in the message", []string{start, ev("RUN_ERROR", `"message":"ServerError: 503 UNAVAILABLE. {}"`, `"code":"AGENT_ERROR"`)}, []string{startFacts, failed("UNAVAILABLE")}},
		{"a class in the message", []string{start, ev("RUN_ERROR", `"message":"KeyError: 'x'"`)}, []string{startFacts, failed("KeyError")}},
		{"a sentence instead of a code", []string{start, ev("RUN_ERROR", `"message":"x"`, `"code":"it failed"`)}, []string{startFacts, failed("")}},
		{"no code", []string{start, ev("RUN_ERROR", `"message":"x"`, `"code":null`)}, []string{startFacts, failed("")}},
		{"of the server", []string{start, `{"error":"KeyError: 'x'"}`}, []string{startFacts, "error" + strings.TrimPrefix(failed("KeyError"), "RUN_ERROR")}},
		{"of a subagent", []string{start, sub, ev("SUBAGENT_ERROR", `"subagentRunId":"s"`, `"message":"x"`, `"code":"NO_DATA"`)},
			[]string{startFacts, "SUBAGENT_STARTED" + bySub + "; agent_started", "SUBAGENT_ERROR" + bySub + `; agent_ended agent_error code="NO_DATA"`}},
		{"a run without an error", []string{start, ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, `"code":"X"`)}, []string{startFacts, finishFacts}},
	})
}

// TestFailedRunEndsTwice checks that a run stays failed whose end comes again with another ID, and that no other run ends.
//
// Source: src/agent.ts of @ag-ui/langgraph 0.0.43, which sends RUN_FINISHED with LangGraph's ID also after an error.
func TestFailedRunEndsTwice(t *testing.T) {
	fails, other := ev("RUN_ERROR", `"message":"x"`), ev("RUN_FINISHED", `"threadId":"t"`, `"runId":"q"`)
	next := ev("RUN_STARTED", `"threadId":"t"`, `"runId":"q"`)
	for name, c := range map[string]struct {
		frames []string
		last   string
	}{
		"another ID":          {[]string{start, fails, other}, "RUN_FINISHED" + runFields + "; other"},
		"without a start":     {[]string{fails, other}, "RUN_FINISHED; other"},
		"the same ID":         {[]string{start, fails, finish}, "RUN_FINISHED" + runFields + "; other"},
		"after a snapshot":    {[]string{start, fails, ev("STATE_SNAPSHOT", `"snapshot":{}`), other}, "RUN_FINISHED" + runFields + "; other"},
		"of the next run":     {[]string{start, fails, next, other}, strings.ReplaceAll(finishFacts, `"r"`, `"q"`)},
		"after a good end":    {[]string{start, finish, other}, strings.ReplaceAll(finishFacts, `"r"`, `"q"`)},
		"the next run's fail": {[]string{start, fails, other, next, fails}, `RUN_ERROR run="q" session="t"; error agent_error; run_ended agent_error`},
	} {
		got := factsOf(t, &event.Stream{}, c.frames...)
		if got = got[strings.LastIndex(got, "\n")+1:]; got != c.last {
			t.Errorf("%s: %s, want %s", name, got, c.last)
		}
	}
}

package aisdk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/aisdk"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
)

const (
	ask     = `{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}`
	approve = `{"type":"tool-approval-response","approvalId":"a","approved":true,"reason":"secret"}`
)

// factsOf returns the facts about calls, questions, failures and the end of an answer.
func factsOf(sent ...string) (facts []string) {
	for line := range strings.SplitSeq(dialecttest.Facts(aisdk.Dialect{}, newAnswer(), "data: "+strings.Join(sent, "\n\ndata: ")+"\n\n"), "\n") {
		fact := strings.TrimSpace(line)
		if strings.HasPrefix(line, " ") && !strings.HasPrefix(fact, "model_") && !strings.HasPrefix(fact, "usage") && fact != "other" && fact != "run_started" {
			facts = append(facts, fact)
		}
	}
	return facts
}

// TestLifeOfCalls checks the facts of calls that begin again, wait for a person, start over, or are part of a merged answer.
func TestLifeOfCalls(t *testing.T) {
	const (
		pay, paid     = `{"type":"tool-input-available","toolCallId":"c","toolName":"pay","input":1}`, `{"type":"tool-output-available","toolCallId":"c","output":"ok"}`
		input         = `{"type":"tool-input-start","toolCallId":"c","toolName":"pay"}`
		automatic     = `{"type":"tool-approval-request","approvalId":"a","toolCallId":"c","isAutomatic":true}`
		refuse        = `{"type":"tool-approval-response","approvalId":"a","approved":false}`
		denied        = `{"type":"tool-output-denied","toolCallId":"c"}`
		begun, ended  = `tool_started name="f" call="c" 1`, `tool_ended name="f" call="c" settled "secret"`
		begunP, paidP = `tool_started name="pay" call="c" reuses_id 1`, `tool_ended name="pay" call="c" settled "ok"`
		paused        = `tool_paused call="c"`
	)
	asks := []string{paused, `input_requested call="a" confirmation`}
	for name, c := range map[string]struct{ sent, want []string }{
		"the ID of a call that has ended":        {[]string{started, result, pay, paid, end}, []string{begun, ended, begunP, paidP, "final"}},
		"the ID of a call that runs":             {[]string{started, input, pay, paid, end}, []string{begun, begunP, paidP, "final"}},
		"a repeated call":                        {[]string{started, started, result, end}, []string{begun, begun, ended, "final"}},
		"a question":                             {[]string{started, ask, approve, result, end}, slices.Concat([]string{begun}, asks, []string{`input_answered call="a"`, ended, "final"})},
		"an approved call of the client":         {[]string{started, ask, approve, end}, slices.Concat([]string{begun}, asks, []string{`input_answered call="a"`, paused, "final"})},
		"a refusal without a result":             {[]string{started, ask, refuse, end}, slices.Concat([]string{begun}, asks, []string{`input_answered call="a"`, "final"})},
		"a refusal":                              {[]string{started, ask, refuse, denied, end}, slices.Concat([]string{begun}, asks, []string{`input_answered call="a"`, `tool_ended name="f" call="c" tool_error settled`, "final"})},
		"a refusal of an earlier call":           {[]string{denied, end}, []string{"final"}},
		"a late decision":                        {[]string{started, automatic, result, approve, end}, []string{begun, ended, "final"}},
		"a question about a call that has ended": {[]string{started, result, ask, end}, []string{begun, ended, "final"}},
		"a late answer to it":                    {[]string{started, result, ask, approve, end}, []string{begun, ended, "final"}},
		"two finishes":                           {[]string{started, end, end}, []string{begun, paused, "final"}},
		"a step between two finishes":            {[]string{started, end, beginStep, endStep, end}, []string{begun, paused, "final", "final"}},
		"a finish before the start":              {[]string{end, begin, begin, beginStep, started, end}, []string{"final", begun}},
		"a step that starts over":                {[]string{beginStep, started, `{"type":"reset-step"}`, end}, []string{begun, "final"}},
		"an answer within a call":                {[]string{begin, beginStep, started, begin, beginStep, endStep, end, result, endStep, end}, []string{begun, ended, "final"}},
		"a start without a finish":               {[]string{begin, begin, beginStep, started, endStep, end}, []string{begun, paused, "final"}},
		"a step without an end":                  {[]string{begin, beginStep, started, end}, []string{begun, paused, "final"}},
	} {
		if diff := cmp.Diff(c.want, factsOf(c.sent...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestFactsOfWithheldCalls checks that calls and questions are reported like others, although they are withheld or begin in an unreadable
// frame.
func TestFactsOfWithheldCalls(t *testing.T) {
	for _, sent := range [][]string{{started, ask, approve, result, end}, {started, ask, end}, {started, end}} {
		for _, before := range []string{inMetadata(begin), inKind(beginStep), `{"type":"tool-input-start","toolCallId":"c","toolName":"f","x":1,"X":1}`} {
			if diff := cmp.Diff(factsOf(append([]string{begin}, sent...)...), factsOf(append([]string{before}, sent...)...)); diff != "" {
				t.Errorf("after %s: %s", before, diff)
			}
		}
	}
}

// TestManyWithheldCalls sends more internal calls than are remembered. Each is reported. A later call leaves, but no results of internal ones.
func TestManyWithheldCalls(t *testing.T) {
	const calls = 1100
	call := func(id int) []string {
		return []string{fmt.Sprintf(`{"type":"tool-input-available","toolCallId":"%d","toolName":"f"}`, id), fmt.Sprintf(`{"type":"tool-output-available","toolCallId":"%d","output":1}`, id)}
	}
	sent := []string{inKind(beginStep)}
	for id := range calls {
		sent = append(sent, call(id)...)
	}
	sent = append(append(sent, inKind(endStep), beginStep), call(calls)...)
	for id, want := range map[int]string{calls: unchanged, 0: withheld, calls - 1: withheld} {
		got := leavesOf(t, newAnswer(), event.PolicyClient, append(sent, call(id)[1])...)
		if n := len(got); got[n-3] != unchanged || got[n-2] != unchanged || got[n-1] != want {
			t.Errorf("the last frames leave as %s, with the ID %d", got[n-3:], id)
		}
	}
	if n := len(factsOf(sent...)); n != 2*(calls+1) {
		t.Errorf("%d facts, want %d", n, 2*(calls+1))
	}
}

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

// TestFactsOfWithheldCalls checks that calls and questions are reported like others, although they are withheld: they are internal, or
// they may have begun in an unreadable frame.
func TestFactsOfWithheldCalls(t *testing.T) {
	inputStart := `{"type":"tool-input-start","toolCallId":"c","toolName":"f","x":1,"X":1}`
	for _, sent := range [][]string{
		{started, ask, approve, result, end},
		{started, ask, end},
		{started, end},
	} {
		for _, before := range []string{inMetadata(begin), inputStart} {
			if diff := cmp.Diff(factsOf(append([]string{begin}, sent...)...), factsOf(append([]string{before}, sent...)...)); diff != "" {
				t.Errorf("after %s: %s", before, diff)
			}
			if got := leaves(t, event.PolicyClient, append([]string{before}, sent...)...); slices.Contains(got[1:len(sent)], unchanged) {
				t.Errorf("after %s, these leave: %s", before, got)
			}
		}
	}
}

// TestWithheldDecisions withholds the decision about a call. The result of the call is withheld too, on all streams. Other results leave.
func TestWithheldDecisions(t *testing.T) {
	for _, first := range [][]string{{started, ask, inKind(approve)}, {inKind(approve)}} {
		for _, between := range [][]string{nil, {"[DONE]"}} {
			memory := new(event.Withheld)
			sent := slices.Concat(first, between, []string{result})
			if got := last(leavesOf(t, &event.Stream{Withheld: memory}, event.PolicyClient, sent...)); got != withheld && len(first) > 1 || got != withheld && between == nil {
				t.Errorf("the last of %s leaves as %s", sent, got)
			}
			if got := last(leavesOf(t, &event.Stream{Withheld: memory, Identity: event.Identity{JoinedRun: "r"}}, event.PolicyClient, result)); got != withheld && len(first) > 1 {
				t.Errorf("after %s, the result on another stream leaves as %s", sent, got)
			}
		}
	}
	if got := last(leaves(t, event.PolicyClient, started, ask, approve, result)); got != unchanged {
		t.Errorf("the result of an approved call leaves as %s", got)
	}
}

// TestManyWithheldCalls sends more internal calls than are remembered. Each is reported. A later call leaves, but none with the ID of an
// internal one.
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
	for id, want := range map[int]string{calls + 1: unchanged, 0: withheld, calls - 1: withheld} {
		s := newAnswer()
		s.Withheld = new(event.Withheld)
		got := leavesOf(t, s, event.PolicyClient, append(sent, call(id)...)...)
		if n := len(got); got[n-4] != unchanged || got[n-3] != unchanged || got[n-2] != want || got[n-1] != want {
			t.Errorf("the last calls leave as %s, with the ID %d", got[n-4:], id)
		}
	}
	if n := len(factsOf(sent...)); n != 2*(calls+1) {
		t.Errorf("%d facts, want %d", n, 2*(calls+1))
	}
}

// TestCallsBeyondTheLimit begins a call when there is no room. Nothing of it leaves, although another call ends meanwhile.
func TestCallsBeyondTheLimit(t *testing.T) {
	var sent []string
	for n := range 1025 {
		sent = append(sent, fmt.Sprintf(`{"type":"tool-input-start","toolCallId":"%d","toolName":"f"}`, n))
	}
	sent = append(sent, `{"type":"tool-output-available","toolCallId":"0","output":1}`)
	for _, then := range []string{`{"type":"tool-output-available","toolCallId":"1024","output":1}`, `{"type":"tool-input-available","toolCallId":"1024","toolName":"f"}`} {
		got := leavesOf(t, newAnswer(), event.PolicyClient, append(sent, then)...)
		if n := len(got); got[n-2] != unchanged || got[n-1] != withheld {
			t.Errorf("the last frames leave as %s", got[n-2:])
		}
	}
}

package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestErrorsAfterAnswers sends the error of a run after its last agent has answered, as a guardrail causes it. The run's first
// agent has failed, and no workflow is above it, unless the stream has several runs.
func TestErrorsAfterAnswers(t *testing.T) {
	const down = `{"type":"error","error":{"message":"m"}}`
	for name, c := range map[string]struct {
		sent [][]string
		want string
	}{
		"an answer": {[][]string{{begins("A")}, workOf("A", "i", "x")}, `
failed
invoke_agent A error 0-9
  chat  ok 1-5`},
		"only responses": {[][]string{{begins("A")}, responseOf("i", "x")}, `
failed
invoke_agent A error 0-8
  chat  ok 1-5`},
		"no start of the agent": {[][]string{answerJS("A", "r")}, `
failed
invoke_agent A error 0-6
  chat m ok 0-2`},
		"a call": {[][]string{callJS("A", "r")}, `
failed
invoke_agent A error 0-7
  chat m ok 0-2
  execute_tool w ok 3-4`},
		"a handoff": {[][]string{{agentA, asksB, toB, agentB}, answerJS("B", "r")}, `
failed
invoke_agent A error 0-10
  execute_tool transfer_to_B ok 2-3
  invoke_agent B ok 3-7
    chat m ok 4-6`},
		"an agent in a call": {[][]string{callJS("A", "r")[:3], answerJS("B", "p"), callJS("A", "r")[3:], answerJS("A", "q")}, `
failed
invoke_agent A error 0-13
  chat m ok 0-2
  execute_tool w ok 3-7
    invoke_agent B ok 3-6
      chat m ok 3-5
  chat m ok 7-9`},
		"several runs": {[][]string{answerJS("A", "r"), answerJS("B", "p")}, `
failed
invoke_workflow  error 0-9
  invoke_agent A ok 0-3
    chat m ok 0-2
  invoke_agent B ok 3-6
    chat m ok 3-5`},
	} {
		all := slices.Concat(append(c.sent, []string{down, "[DONE]"})...)
		if diff := cmp.Diff(strings.TrimSpace(c.want), treeOf(t, all...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		checkTruth(t, name, stream(all...))
	}
}

// TestTripwires sends the error of a guardrail while a model answers. It was no fault of the model.
func TestTripwires(t *testing.T) {
	for failure, want := range map[string]string{
		`{"message":"m","type":"InputGuardrailTripwireTriggered"}`:                 "unfinished",
		`{"message":"m","type":"APIError"}`:                                        "error",
		`"Guardrail InputGuardrail triggered tripwire"`:                            "unfinished",
		`{"message":"Guardrail OutputGuardrail triggered tripwire"}`:               "unfinished",
		`{"message":"Tool input guardrail ToolInputGuardrail triggered tripwire"}`: "unfinished",
		`"Input guardrail triggered: {\"why\":\"m\"}"`:                             "unfinished",
		`"The text says: Guardrail G triggered tripwire"`:                          "error",
	} {
		kind, failed := failure, `{"type":"error","error":`+failure+`}`
		got := treeOf(t, slices.Concat([]string{begins("A")}, workOf("A", "i", "x")[:3], []string{failed, "[DONE]"})...)
		if !strings.Contains(got, "chat  "+want+" 1-") || !strings.Contains(got, "invoke_agent A error") {
			t.Errorf("%s:\n%s\nwant %s", kind, got, want)
		}
	}
}

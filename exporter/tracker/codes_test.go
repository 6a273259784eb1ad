package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestCodes checks that each operation has the code of the error that failed it.
func TestCodes(t *testing.T) {
	tell(t, []story{
		{"of a response, a tool and the agent that has both", proxied(), []*event.Batch{
			says("a", calls("c1", "tool")), says("a", returns("c1", "tool"), wrong(event.ToolError), coded("NOT_FOUND")),
			says("a", responds("m"), wrong(event.ModelError), coded("UNAVAILABLE"), errorCode, coded("UNAVAILABLE"), final)}, `
failed, error_code
invoke_agent app error agent_error (UNAVAILABLE) 0-4
  invoke_agent a error agent_error (UNAVAILABLE) 1-3
    execute_tool tool error tool_error (NOT_FOUND) 1-2
    chat m error model_error (UNAVAILABLE) 2-3`},
		{"of an error frame: the agent in control and the response that it cut off", proxied(), []*event.Batch{
			says("a", text), says("b", partial, begins("m")), says("", fails, coded("ValueError"))}, `
failed, error_frame
invoke_agent app error agent_error (ValueError) 0-4
  invoke_agent a ok 1-1
  invoke_agent b error agent_error (ValueError) 1-3
    chat m error model_error (ValueError) 1-3`},
		{"of the last of two errors", proxied(), []*event.Batch{
			says("a", errorCode, coded("SAFETY"), final), says("b", errorCode, coded("UNAVAILABLE"), final)}, `
failed, error_code
invoke_agent app error agent_error (UNAVAILABLE) 0-3
  invoke_agent a error agent_error (SAFETY) 1-1
  invoke_agent b error agent_error (UNAVAILABLE) 2-2`},
		{"none where the last has none", proxied(), []*event.Batch{
			says("a", errorCode, coded("SAFETY"), final), says("b", text), says("", fails)}, `
failed, error_frame
invoke_agent app error agent_error 0-4
  invoke_agent a error agent_error (SAFETY) 1-1
  invoke_agent b error agent_error 2-2`},
		{"none once a final frame has made up for it", proxied(), []*event.Batch{
			says("a", responds("m"), wrong(event.ModelError), coded("UNAVAILABLE"), errorCode, coded("UNAVAILABLE")), says("a", responds("m"), final)}, `
completed
invoke_agent app ok 0-3
  invoke_agent a ok 0-2
    chat m error model_error (UNAVAILABLE) 0-1
    chat m ok 1-2`},
		{"of the lane in which nothing made up for it", proxied(), []*event.Batch{
			says("a", branch("fan.a"), errorCode, coded("SAFETY")), says("b", branch("fan.b"), errorCode, coded("UNAVAILABLE")), says("b", branch("fan.b"), final)}, `
failed, error_code
invoke_workflow app error agent_error (SAFETY) 0-4
  invoke_agent fan error agent_error (SAFETY) 0-3
    invoke_agent a error agent_error (SAFETY) 0-1
    invoke_agent b ok 0-3`},
		{"of an agent that ended by the protocol's word", proxied(), []*event.Batch{
			says("b", at("s1", "", ""), fresh(event.KindAgentStarted)), says("b", at("s1", "", ""), ends, wrong(event.AgentError), coded("NO_DATA")), says("app", final)}, `
completed
invoke_agent app ok 0-4
  invoke_agent b error agent_error (NO_DATA) 1-2`},
		{"of a response whose usage followed", proxied(), []*event.Batch{
			says("a", responds("m"), unmetered, wrong(event.ModelError), coded("SAFETY")), says("a", text, final)}, `
completed
invoke_agent app ok 0-3
  invoke_agent a ok 0-2
    chat m error model_error (SAFETY) 0-1`},
		{"of an error of time", proxied(), []*event.Batch{says("a", text), says("", fails, wrong(event.FailureTimeout), coded("DEADLINE_EXCEEDED"))}, `
failed, error_frame
invoke_agent app error timeout (DEADLINE_EXCEEDED) 0-3
  invoke_agent a error agent_error (DEADLINE_EXCEEDED) 1-1`},
		{"none of a run that gave up", proxied(), []*event.Batch{says("a", begins("m")), says("", gaveUp, coded("CANCELLED"))}, `
canceled, agent_canceled
invoke_agent app unfinished canceled 0-3
  invoke_agent a unfinished canceled 0-3
    chat m unfinished canceled 0-3`},
	})
}

// TestErrorType checks that the error type is the code, else our class.
func TestErrorType(t *testing.T) {
	for want, op := range map[string]tracker.Operation{
		"":             {},
		"model_error":  {Failure: event.ModelError},
		"UNAVAILABLE":  {Failure: event.ModelError, ErrorCode: "UNAVAILABLE"},
		"canceled":     {Failure: event.FailureCanceled},
		"HTTPError":    {Failure: event.ToolError, ErrorCode: "HTTPError"},
		"model.legacy": {Failure: event.FailureTimeout, ErrorCode: "model.legacy"},
	} {
		if got := op.ErrorType(); got != want {
			t.Errorf("%+v: %q, want %q", op, got, want)
		}
	}
}

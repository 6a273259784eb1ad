package main

import (
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
)

// language is one of the agents' servers, and what its own spans are like.
type language struct {
	start     func(testing.TB, *adkserver.FakeModel, ...string) *adkserver.Server
	isRoot    func(*tracepb.Span) bool // the last of a trace to end
	isRun     func(*tracepb.Span) bool
	continues bool // the trace that the request names

	// early is by how much a time may lie before what it stands for.
	early time.Duration
	// answered says that a model call ends with the answer. Else it lasts until all is done that the answer asks for.
	answered bool
	// differs names the cases in which the accounts cannot be equal, with streaming alone where it says so.
	differs map[string]difference
}

var languages = map[string]language{
	"python": {
		start:     adkserver.Python,
		isRoot:    func(s *tracepb.Span) bool { return s.Name == "POST /run_sse" },
		isRun:     func(s *tracepb.Span) bool { return s.Name == "invoke_workflow "+adkserver.App },
		continues: true,
		answered:  true,
		differs: map[string]difference{
			"agent_tool":                        {"Agents Input Output Chats", agentAsTool},
			"confirmation":                      {"Tools", waits},
			"long_running_silent":               {"Tools", waits},
			"model_error_midway streaming=true": {"Input Output", noAggregate},
			"safety":                            {"Failed ModelErrors", "a run that ends in an error code has failed; the agent leaves its spans unset"},
		},
	},
	"js": {
		start:  adkserver.JS,
		isRoot: isInvocation,
		isRun:  isInvocation,
		// Its SDK takes a beginning from a clock of whole milliseconds, and adds to it how long the span lasted.
		early: time.Millisecond,
		differs: map[string]difference{
			"agent_tool":                        {"Agents Input Output Chats", agentAsTool},
			"confirmation":                      {"Tools", waits},
			"long_running_silent":               {"Tools", waits},
			"failing_tool":                      {"Tools", neverFails},
			"parallel_failing":                  {"Tools", neverFails},
			"model_error":                       {"Failed ModelErrors", neverFails},
			"model_error_after_tool":            {"Failed ModelErrors", neverFails},
			"model_error_midway":                {"Failed ModelErrors", neverFails},
			"model_error_midway streaming=true": {"Input Output Failed ModelErrors", neverFails + "; " + noAggregate},
			"safety":                            {"Failed ModelErrors", neverFails},
			"thought":                           {"Output", "the agent's spans leave thoughts out of the output"},
			"unknown_tool":                      {"Tools", "a call of a tool that does not exist is in the stream; the agent makes no span of it"},
		},
	},
}

func isInvocation(s *tracepb.Span) bool { return s.Name == "invocation" && len(s.ParentSpanId) == 0 }

const (
	agentAsTool = "what goes on in an agent used as a tool never stands in the stream"
	waits       = "a call that waits for a human is interrupted; to the agent its tool has returned"
	noResponse  = "the run ends without a response of the tool, and the stream does not say which call it was that failed"
	noAggregate = "tokens are counted from whole frames, and of an answer that breaks off there is none"
	neverFails  = "the agent's spans never fail"
)

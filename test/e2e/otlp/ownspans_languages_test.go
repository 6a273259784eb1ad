package otlp_test

import (
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
)

// language is one of the agents' servers, with the properties of its own spans.
type language struct {
	start     func(testing.TB, *adkserver.FakeModel, ...string) *adkserver.Server
	isRoot    func(*tracepb.Span) bool // the last span of a trace to end
	isRun     func(*tracepb.Span) bool
	continues bool // continues the trace of the request

	// early is the most by which a time may precede what it describes.
	early time.Duration
	// answered means that a model call ends with the answer. Otherwise it lasts until everything that the answer requests is
	// done.
	answered bool
	// differs lists the cases in which the accounts cannot agree, with "streaming" only where it matters.
	differs map[string]difference
}

var languages = map[string]language{
	"python": {
		start:     adkserver.StartPython,
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
		start:  adkserver.StartJS,
		isRoot: isInvocation,
		isRun:  isInvocation,
		// Its SDK takes a start time in whole milliseconds and adds the duration of the span.
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

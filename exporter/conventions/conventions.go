// Package conventions holds the names of spans, attributes and metrics in the OpenTelemetry GenAI
// conventions, with one table for each version that Delegraph emits.
package conventions

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/delegraph/delegraph/collector/event"
)

// OptInVariable is the environment variable that selects a table. Its value is a comma-separated
// list of words; each instrumentation reads the words that it knows.
const OptInVariable = "OTEL_SEMCONV_STABILITY_OPT_IN"

// newest is the word that selects Latest.
const newest = "gen_ai_latest_experimental"

// Choose returns the table selected by a value of OptInVariable.
func Choose(optIn string) Table {
	for word := range strings.SplitSeq(optIn, ",") {
		if strings.TrimSpace(word) == newest {
			return Latest()
		}
	}
	return Released()
}

// Table holds the names of one version of the conventions. What has no name in it is not emitted.
type Table struct {
	Version   string
	SchemaURL string

	Attributes
	Metrics
	EvaluationEvent string // of a span
}

// Attributes holds the names of attributes, for spans and metrics. Prometheus has underscores in
// them.
type Attributes struct {
	OperationName, ErrorType, ConversationID, SessionID attribute.Key
	AgentName, WorkflowName                             attribute.Key
	HandoffSource, HandoffTarget                        attribute.Key
	ToolName, ToolCallID, ToolArguments, ToolResult     attribute.Key
	RequestModel, ResponseModel                         attribute.Key
	FinishReasons, OutputMessages                       attribute.Key

	InputTokens, OutputTokens, CacheReadTokens, ReasoningTokens attribute.Key
	RunCacheReadTokens                                          attribute.Key // of a whole run

	EvaluationName, EvaluationScore, EvaluationLabel, EvaluationExplanation attribute.Key
}

// Metrics holds the names of metrics over OTLP.
type Metrics struct {
	AgentDuration, WorkflowDuration, ToolDuration, InferenceDuration, FirstChunk string // histograms, in seconds

	InferenceCalls, ToolCalls string // histograms of the calls of one agent invocation
	Tokens                    []TokenMetric
}

// TokenMetric describes how one kind of token is recorded. Several kinds can share one metric, with
// a label that tells them apart.
type TokenMetric struct {
	Name         string
	Help         string
	Count        func(event.Usage) event.Count
	IsCounter    bool               // a counter of all tokens; otherwise a histogram of the tokens of each response
	IncludesRuns bool               // also records usage that the protocol reports only for a whole run
	Label        attribute.KeyValue // on every series
}

func input(u event.Usage) event.Count     { return u.Input }
func output(u event.Usage) event.Count    { return u.Output }
func cacheRead(u event.Usage) event.Count { return u.CacheRead }
func reasoning(u event.Usage) event.Count { return u.Reasoning }

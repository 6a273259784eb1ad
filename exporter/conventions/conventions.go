// Package conventions holds the names that the OpenTelemetry GenAI conventions give to spans and metrics: one table for each version
// that Delegraph emits.
package conventions

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/delegraph/delegraph/collector/event"
)

// Variable is the environment variable that chooses a table. Its value is a list of words, each for the instrumentations that know it.
const Variable = "OTEL_SEMCONV_STABILITY_OPT_IN"

// newest is the word that asks for Latest.
const newest = "gen_ai_latest_experimental"

// Choose returns the table that a value of Variable asks for.
func Choose(optIn string) Table {
	for word := range strings.SplitSeq(optIn, ",") {
		if strings.TrimSpace(word) == newest {
			return Latest()
		}
	}
	return Released()
}

// Table is one version of the conventions. What has no name in it is not emitted.
type Table struct {
	Version   string
	SchemaURL string

	Attributes
	Metrics
	EvaluationEvent string // of a span
}

// Attributes are names of attributes of spans. Those of metrics are the same; Prometheus has them with underscores.
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

// Metrics are names of metrics, as OTLP has them.
type Metrics struct {
	AgentDuration, WorkflowDuration, ToolDuration, InferenceDuration, FirstChunk string // histograms, in seconds

	InferenceCalls, ToolCalls string // histograms of the calls of one agent's invocation
	Tokens                    []Tokens
}

// Tokens is a metric of the tokens that models used. Several can be one metric whose label tells them apart.
type Tokens struct {
	Name  string
	Help  string
	Of    func(event.Usage) event.Count
	Total bool               // a counter of all tokens; otherwise a histogram of the tokens of each response
	Runs  bool               // also the usage of whole runs, where the protocol ties it to no response
	Label attribute.KeyValue // of every series
}

func input(u event.Usage) event.Count     { return u.Input }
func output(u event.Usage) event.Count    { return u.Output }
func cacheRead(u event.Usage) event.Count { return u.CacheRead }
func reasoning(u event.Usage) event.Count { return u.Reasoning }

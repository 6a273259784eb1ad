package conventions

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	convention "go.opentelemetry.io/otel/semconv/v1.41.0" // the last version with the GenAI names, which then moved to their own repository
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/delegraph/delegraph/collector/event"
)

// released maps the fields of the tables to the names in the semconv package.
var released = map[string]string{
	"SchemaURL":             convention.SchemaURL,
	"OperationName":         string(convention.GenAIOperationNameKey),
	"ErrorType":             string(convention.ErrorTypeKey),
	"ConversationID":        string(convention.GenAIConversationIDKey),
	"SessionID":             string(convention.SessionIDKey),
	"AgentName":             string(convention.GenAIAgentNameKey),
	"WorkflowName":          string(convention.GenAIWorkflowNameKey),
	"ToolName":              string(convention.GenAIToolNameKey),
	"ToolCallID":            string(convention.GenAIToolCallIDKey),
	"ToolArguments":         string(convention.GenAIToolCallArgumentsKey),
	"ToolResult":            string(convention.GenAIToolCallResultKey),
	"RequestModel":          string(convention.GenAIRequestModelKey),
	"ResponseModel":         string(convention.GenAIResponseModelKey),
	"FinishReasons":         string(convention.GenAIResponseFinishReasonsKey),
	"OutputMessages":        string(convention.GenAIOutputMessagesKey),
	"InputTokens":           string(convention.GenAIUsageInputTokensKey),
	"OutputTokens":          string(convention.GenAIUsageOutputTokensKey),
	"CacheReadTokens":       string(convention.GenAIUsageCacheReadInputTokensKey),
	"RunCacheReadTokens":    string(convention.GenAIUsageCacheReadInputTokensKey),
	"ReasoningTokens":       string(convention.GenAIUsageReasoningOutputTokensKey),
	"EvaluationName":        string(convention.GenAIEvaluationNameKey),
	"EvaluationScore":       string(convention.GenAIEvaluationScoreValueKey),
	"EvaluationLabel":       string(convention.GenAIEvaluationScoreLabelKey),
	"EvaluationExplanation": string(convention.GenAIEvaluationExplanationKey),
	"InferenceDuration":     genaiconv.ClientOperationDuration{}.Name(),
	"FirstChunk":            genaiconv.ClientOperationTimeToFirstChunk{}.Name(),
	"Tokens":                genaiconv.ClientTokenUsage{}.Name(),
}

// unreleased maps the fields whose names the semconv package lacks to the reason.
var unreleased = map[string]string{
	"Version":          "part of its path",
	"EvaluationEvent":  "an event's name, which it does not have",
	"HandoffSource":    "proposed in open-telemetry/semantic-conventions-genai#98",
	"HandoffTarget":    "proposed in open-telemetry/semantic-conventions-genai#98",
	"AgentDuration":    "later, open-telemetry/semantic-conventions-genai#201",
	"ToolDuration":     "later, open-telemetry/semantic-conventions-genai#201",
	"InferenceCalls":   "later, open-telemetry/semantic-conventions-genai#336",
	"ToolCalls":        "later, open-telemetry/semantic-conventions-genai#336",
	"WorkflowDuration": "later, open-telemetry/semantic-conventions-genai#341",
}

// names returns the names of a table by field.
func names(t *testing.T, table any) map[string]string {
	t.Helper()
	all := map[string]string{}
	for field, value := range reflect.ValueOf(table).Fields() {
		switch {
		case field.Anonymous:
			for name, text := range names(t, value.Interface()) {
				all[name] = text
			}
		case value.Kind() == reflect.String:
			all[field.Name] = value.String()
		case field.Name == "Tokens":
			var list []string
			for _, tokens := range value.Interface().([]TokenMetric) {
				list = append(list, tokens.Name)
			}
			all[field.Name] = list[0]
			for _, other := range slices.Compact(list)[1:] {
				all[field.Name] += " " + other
			}
		default:
			t.Fatalf("%s is no name", field.Name)
		}
	}
	return all
}

// TestReleased compares every name of the table with the semconv package of its version.
func TestReleased(t *testing.T) {
	ours := names(t, Released())
	for field, name := range ours {
		theirs, has := released[field]
		switch why := unreleased[field]; {
		case has == (why != ""):
			t.Errorf("%s is in the semconv package: %t; it lacks it because %q", field, has, why)
		case has && theirs != name:
			t.Errorf("%s is %q, and %q in the semconv package", field, name, theirs)
		case name == "":
			t.Errorf("%s has no name", field)
		}
	}
	if len(ours) != len(released)+len(unreleased) {
		t.Errorf("%d names, of %d", len(ours), len(released)+len(unreleased))
	}
	if v := Released().Version; convention.SchemaURL != "https://opentelemetry.io/schemas/"+v {
		t.Errorf("the version is %s, the schema %s", v, convention.SchemaURL)
	}
	if label := Released().Tokens[0].Label; label != convention.GenAITokenTypeInput {
		t.Errorf("input tokens have %v", label)
	}
	if label := Released().Tokens[1].Label; label != convention.GenAITokenTypeOutput {
		t.Errorf("output tokens have %v", label)
	}
}

// TestLatest checks every difference from the release, as listed in docs/gen-ai/non-normative/migration.md of the conventions'
// repository.
func TestLatest(t *testing.T) {
	before, after := names(t, Released()), names(t, Latest())
	changed := map[string]string{}
	for field, name := range after {
		if before[field] != name {
			changed[field] = name
		}
	}
	const usage, operation = "gen_ai.client.inference.usage.", "gen_ai.client.inference.operation."
	want := map[string]string{
		"Version":            "1.42.0-dev",
		"SchemaURL":          "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev",
		"RunCacheReadTokens": "",
		"InferenceDuration":  "gen_ai.client.inference.duration",
		"Tokens": usage + "input_tokens " + usage + "output_tokens " + usage + "cache_read.input_tokens " + usage + "reasoning.output_tokens " +
			operation + "input_tokens " + operation + "output_tokens",
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for _, tokens := range Latest().Tokens {
		if modality := attribute.String("gen_ai.token.modality", "unknown"); tokens.IsCounter != (tokens.Label == modality) || tokens.IsCounter != tokens.IncludesRuns {
			t.Errorf("%+v: a counter, and only one, has a modality and counts whole runs", tokens)
		}
	}
}

// TestTokens checks that each metric of tokens counts its own kind.
func TestTokens(t *testing.T) {
	u := event.Usage{Input: event.Count{N: 1}, Output: event.Count{N: 2}, CacheRead: event.Count{N: 3}, Reasoning: event.Count{N: 4}}
	for _, c := range []struct {
		table Table
		want  []int64
	}{{Released(), []int64{1, 2}}, {Latest(), []int64{1, 2, 3, 4, 1, 2}}} {
		var got []int64
		for _, tokens := range c.table.Tokens {
			got = append(got, tokens.Count(u).N)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.table.Version, got, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	for value, want := range map[string]string{
		"": Released().Version, "http": Released().Version, "GEN_AI_LATEST_EXPERIMENTAL": Released().Version, "gen_ai_latest_experimental_too": Released().Version,
		"gen_ai_latest_experimental": Latest().Version, "http/dup, gen_ai_latest_experimental ,database": Latest().Version,
	} {
		if got := Choose(value).Version; got != want {
			t.Errorf("%q chooses %s, not %s", value, got, want)
		}
	}
}

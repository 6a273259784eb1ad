package spans

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	convention "go.opentelemetry.io/otel/semconv/v1.41.0" // the last with the GenAI names, which then moved to a repository of their own
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// released are the names that a semconv package has.
var released = map[attribute.Key]attribute.Key{
	operationName:         convention.GenAIOperationNameKey,
	agentName:             convention.GenAIAgentNameKey,
	conversationID:        convention.GenAIConversationIDKey,
	toolName:              convention.GenAIToolNameKey,
	toolCallID:            convention.GenAIToolCallIDKey,
	toolType:              convention.GenAIToolTypeKey,
	responseModel:         convention.GenAIResponseModelKey,
	finishReasons:         convention.GenAIResponseFinishReasonsKey,
	inputTokens:           convention.GenAIUsageInputTokensKey,
	outputTokens:          convention.GenAIUsageOutputTokensKey,
	cacheTokens:           convention.GenAIUsageCacheReadInputTokensKey,
	thoughtTokens:         convention.GenAIUsageReasoningOutputTokensKey,
	toolArguments:         convention.GenAIToolCallArgumentsKey,
	toolResult:            convention.GenAIToolCallResultKey,
	outputMessages:        convention.GenAIOutputMessagesKey,
	errorType:             convention.ErrorTypeKey,
	evaluationName:        convention.GenAIEvaluationNameKey,
	evaluationScore:       convention.GenAIEvaluationScoreValueKey,
	evaluationLabel:       convention.GenAIEvaluationScoreLabelKey,
	evaluationExplanation: convention.GenAIEvaluationExplanationKey,
}

// unreleased are the names of the conventions that no semconv package has, and why we have them.
var unreleased = map[attribute.Key]string{
	evaluationResult: "an event's name: semconv packages hold attributes only",
	handoffSource:    "proposed in open-telemetry/semantic-conventions-genai#98",
	workflowName:     "added after v1.41",
	handoffTarget:    "proposed in open-telemetry/semantic-conventions-genai#98",
}

// TestVocabulary reads the names out of names.go, so that none can be added without being held against the conventions.
func TestVocabulary(t *testing.T) {
	all := namesIn(t, "names.go")
	for i, name := range all {
		if slices.Contains(all[:i], name) {
			t.Errorf("%s is there twice", name)
		}
		key := attribute.Key(name)
		theirs, isReleased := released[key]
		why := unreleased[key]
		switch {
		case strings.HasPrefix(name, "delegraph.") || name == proofConfidence || name == linkTransfer:
			if isReleased || why != "" {
				t.Errorf("%s is ours, and yet in a table of the conventions'", name)
			}
		case isReleased && why != "":
			t.Errorf("%s is in both tables", name)
		case isReleased && theirs != key:
			t.Errorf("%s is %s in the conventions", name, theirs)
		case !isReleased && why == "":
			t.Errorf("%s is in neither table of the conventions' names", name)
		}
	}
	if len(all) < len(released)+len(unreleased) {
		t.Errorf("names.go has %d names, the tables of the conventions' %d and %d", len(all), len(released), len(unreleased))
	}
}

// TestVocabularyValues holds the values that are an enumeration of the conventions' against it.
func TestVocabularyValues(t *testing.T) {
	for ours, theirs := range map[tracker.OperationKind][]string{
		tracker.InvokeAgent: {convention.GenAIOperationNameInvokeAgent.Value.AsString(), string(genaiconv.OperationNameInvokeAgent)},
		tracker.ExecuteTool: {convention.GenAIOperationNameExecuteTool.Value.AsString(), string(genaiconv.OperationNameExecuteTool)},
		tracker.Chat:        {convention.GenAIOperationNameChat.Value.AsString(), string(genaiconv.OperationNameChat)},
	} {
		for _, value := range theirs {
			if string(ours) != value {
				t.Errorf("%s is %s in the conventions", ours, value)
			}
		}
	}
}

// namesIn returns the values of a file's string constants.
func namesIn(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, declared := range parsed.Decls {
		constants, ok := declared.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		ast.Inspect(constants, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				name, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, name)
			}
			return true
		})
	}
	return names
}

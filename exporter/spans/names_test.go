package spans

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	convention "go.opentelemetry.io/otel/semconv/v1.41.0" // the last with the GenAI names
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestVocabulary checks that each name in names.go occurs once and is in none of the conventions' namespaces.
func TestVocabulary(t *testing.T) {
	all := namesIn(t, "names.go")
	for i, name := range all {
		if slices.Contains(all[:i], name) {
			t.Errorf("%s occurs twice", name)
		}
		if !strings.HasPrefix(name, "delegraph.") && name != proofConfidence && name != linkTransfer {
			t.Errorf("%s is not in our namespace", name)
		}
	}
	if len(all) < 30 {
		t.Errorf("names.go has %d names", len(all))
	}
}

// TestVocabularyValues compares enumerated values with the conventions.
func TestVocabularyValues(t *testing.T) {
	for ours, theirs := range map[tracker.OperationKind][]string{
		tracker.InvokeWorkflow: {convention.GenAIOperationNameInvokeWorkflow.Value.AsString(), string(genaiconv.OperationNameInvokeWorkflow)},
		tracker.InvokeAgent:    {convention.GenAIOperationNameInvokeAgent.Value.AsString(), string(genaiconv.OperationNameInvokeAgent)},
		tracker.ExecuteTool:    {convention.GenAIOperationNameExecuteTool.Value.AsString(), string(genaiconv.OperationNameExecuteTool)},
		tracker.Chat:           {convention.GenAIOperationNameChat.Value.AsString(), string(genaiconv.OperationNameChat)},
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

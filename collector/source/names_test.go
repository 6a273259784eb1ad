package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	convention "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// conventionNames maps our constants to those of a semconv package.
var conventionNames = map[attribute.Key]attribute.Key{
	requestMethod:  convention.HTTPRequestMethodKey,
	originalMethod: convention.HTTPRequestMethodOriginalKey,
	httpRoute:      convention.HTTPRouteKey,
	statusCode:     convention.HTTPResponseStatusCodeKey,
	urlScheme:      convention.URLSchemeKey,
	urlPath:        convention.URLPathKey,
	serverAddress:  convention.ServerAddressKey,
	serverPort:     convention.ServerPortKey,
	errorType:      convention.ErrorTypeKey,
}

// TestNames checks the names in names.go against the conventions. It parses the file, so that no name can be added unchecked.
func TestNames(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			name, err := strconv.Unquote(n.Value)
			if err != nil {
				t.Fatal(err)
			}
			theirs, isReleased := conventionNames[attribute.Key(name)]
			if strings.HasPrefix(name, "delegraph.") == isReleased || isReleased && string(theirs) != name {
				t.Errorf("%s differs from the conventions, which have %q", name, theirs)
			}
			found++
		}
		return true
	})
	if found <= len(conventionNames) {
		t.Errorf("names.go has %d names, but conventionNames has %d", found, len(conventionNames))
	}
}

// TestMethods checks conventionalMethods against the values of the conventions.
func TestMethods(t *testing.T) {
	var theirs []string
	for _, known := range []attribute.KeyValue{
		convention.HTTPRequestMethodConnect, convention.HTTPRequestMethodDelete, convention.HTTPRequestMethodGet,
		convention.HTTPRequestMethodHead, convention.HTTPRequestMethodOptions, convention.HTTPRequestMethodPatch,
		convention.HTTPRequestMethodPost, convention.HTTPRequestMethodPut, convention.HTTPRequestMethodQuery,
		convention.HTTPRequestMethodTrace,
	} {
		theirs = append(theirs, known.Value.AsString())
	}
	if !slices.Equal(conventionalMethods, theirs) {
		t.Errorf("conventionalMethods = %q, want %q as in the conventions", conventionalMethods, theirs)
	}
	if other := convention.HTTPRequestMethodOther.Value.AsString(); otherMethod != other {
		t.Errorf("otherMethod = %s, want %s as in the conventions", otherMethod, other)
	}
}

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

// released maps our names to those of a semconv package.
var released = map[attribute.Key]attribute.Key{
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

// TestNames reads the names out of names.go, so that none can be added without being checked against the conventions.
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
			theirs, isReleased := released[attribute.Key(name)]
			if strings.HasPrefix(name, "delegraph.") == isReleased || isReleased && string(theirs) != name {
				t.Errorf("%s is %q in the conventions", name, theirs)
			}
			found++
		}
		return true
	})
	if found <= len(released) {
		t.Errorf("names.go has %d names, the table of the conventions' %d", found, len(released))
	}
}

// TestMethods checks the methods that spans name against the conventions' values.
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
		t.Errorf("%q, and in the conventions %q", conventionalMethods, theirs)
	}
	if other := convention.HTTPRequestMethodOther.Value.AsString(); otherMethod != other {
		t.Errorf("%s is %s in the conventions", otherMethod, other)
	}
}

package proof

import (
	"regexp"
	"regexp/syntax"
	"testing"
)

func size(re *regexp.Regexp) int {
	p, _ := syntax.Parse(re.String(), syntax.Perl)
	pr, _ := syntax.Compile(p.Simplify())
	return len(pr.Inst)
}
func TestSizes(t *testing.T) {
	for i := range shapes {
		t.Log(shapes[i].name, size(shapes[i].before), size(shapes[i].after))
	}
	for i := range valueShapes {
		t.Log(valueShapes[i].name, size(valueShapes[i].re))
	}
	t.Log(size(alone), size(column), size(separators), size(scopeEnds), size(sourceHeading))
}

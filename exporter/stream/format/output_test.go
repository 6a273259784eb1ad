package format

import "testing"

// TestLineEnds checks that the characters that some readers of SSE take for line ends are escaped.
func TestLineEnds(t *testing.T) {
	var o output
	o.add("a\u0085b\u2028c\u2029d\u0085")
	if got, want := o.json.String(), `"a\u0085b\u2028c\u2029d\u0085"`; got != want {
		t.Errorf("add wrote %s, want %s", got, want)
	}
}

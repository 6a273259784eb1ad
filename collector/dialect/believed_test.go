package dialect

import (
	"strings"
	"testing"
	"unsafe"
)

// TestName bounds a name, and makes sure that one that is cut does not hold on to all that it was cut from.
func TestName(t *testing.T) {
	long := strings.Repeat("x", MaxName-1) + "é" + strings.Repeat("x", 1<<20)
	for text, want := range map[string]string{"a": "a", "\xff": "\uFFFD", long: long[:MaxName-1], long[:MaxName-1] + "x": long[:MaxName-1] + "x"} {
		if got := Name(text); got != want {
			t.Errorf("%.20q… is %q", text, got)
		}
	}
	if unsafe.StringData(Name(long)) == unsafe.StringData(long) {
		t.Error("a name holds on to the text that it was cut from")
	}
}

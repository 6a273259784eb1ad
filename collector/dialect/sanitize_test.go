package dialect

import (
	"strings"
	"testing"
	"unsafe"
)

// TestName checks the limit of a name, and that a cut name does not keep the whole text in memory.
func TestName(t *testing.T) {
	long := strings.Repeat("x", MaxName-1) + "é" + strings.Repeat("x", 1<<20)
	for text, want := range map[string]string{"a": "a", "\xff": "\uFFFD", long: long[:MaxName-1], long[:MaxName-1] + "x": long[:MaxName-1] + "x"} {
		if got := Name(text); got != want {
			t.Errorf("Name(%.20q…) = %.20q… of %d bytes, want %d bytes", text, got, len(got), len(want))
		}
	}
	if unsafe.StringData(Name(long)) == unsafe.StringData(long) {
		t.Error("a cut name shares memory with the whole text")
	}
}

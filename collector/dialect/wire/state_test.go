package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
)

// TestStateOf checks that at most MaxKeys keys are reported.
func TestStateOf(t *testing.T) {
	var members []string
	for i := range 3 * MaxKeys {
		members = append(members, fmt.Sprintf(`"k%d":0`, i))
	}
	if got := StateOf(value(t, "{"+strings.Join(members, ",")+"}")); len(got.Keys) != MaxKeys {
		t.Errorf("StateOf() has %d keys, want %d", len(got.Keys), MaxKeys)
	}
	for _, sent := range []string{"7", `"x"`, "null", "[]"} {
		if got := StateOf(value(t, sent)); len(got.Keys) != 0 || !got.Bytes.Known {
			t.Errorf("StateOf(%s) = %+v, want no keys and a known size", sent, got)
		}
	}
}

// TestNumberedBranch checks that a branch is cut at the boundary of a character and keeps its number.
func TestNumberedBranch(t *testing.T) {
	if got := NumberedBranch(strings.Repeat("ä", dialect.MaxName), 12); len(got) > dialect.MaxName || !strings.HasSuffix(got, "ä#12") {
		t.Errorf("NumberedBranch() has %d bytes and ends with %q, want at most %d and ä#12", len(got), got[len(got)-8:], dialect.MaxName)
	}
}

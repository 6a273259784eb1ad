package dialect

import (
	"strings"
	"testing"
)

// TestUnknownKind checks that only short names without special characters are kept.
func TestUnknownKind(t *testing.T) {
	for name, want := range map[string]string{
		"task-paused": "task-paused", "internal:llm-call": "internal:llm-call", "TOOL_CALL_V2": "TOOL_CALL_V2", "trace.debug2": "trace.debug2",
		strings.Repeat("k", 64): strings.Repeat("k", 64),
		strings.Repeat("k", 65): OtherKind,
		"":                      OtherKind,
		"the patient has":       OtherKind,
		"kind\nlevel=ERROR":     OtherKind,
		"\x1b[2J":               OtherKind,
		"k\u00e4nd":             OtherKind,
		"k\xff":                 OtherKind,
		`kind"`:                 OtherKind,
	} {
		if got := UnknownKind([]byte(name)); got != want {
			t.Errorf("UnknownKind(%q) = %q, want %q", name, got, want)
		}
	}
}

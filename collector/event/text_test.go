package event

import (
	"strings"
	"testing"
	"unsafe"
)

// TestLimitText checks that a text is cut between runes and made valid UTF-8.
func TestLimitText(t *testing.T) {
	for _, c := range []struct {
		s     string
		limit int
		want  string
	}{
		{"", 4, ""},
		{"text", 4, "text"},
		{"texts", 4, "text"},
		{"ü", 1, ""},
		{"aüb", 2, "a"},
		{"aüb", 3, "aü"},
		{"ab🔥", 5, "ab"},
		{"ab🔥", 6, "ab🔥"},
		{"a\xffb", 8, "a\uFFFDb"},
		{"a\xff\xfeb", 8, "a\uFFFDb"},
		{"a\xc3", 8, "a\uFFFD"},
		{"ab\xff", 4, "ab"}, // U+FFFD takes three bytes
		{"\xff\xff\xff\xff\xff", 3, "\uFFFD"},
		{"\x80\x80\x80\x80\x80\x80", 4, "\uFFFD"},
		{"text", 0, ""},
	} {
		if got := LimitText(c.s, c.limit); got != c.want {
			t.Errorf("LimitText(%q, %d) = %q, want %q", c.s, c.limit, got, c.want)
		}
	}
}

// TestLimitTextCopies checks that a cut text does not keep the whole text in memory.
func TestLimitTextCopies(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	if got := LimitText(long, MaxText); unsafe.StringData(got) == unsafe.StringData(long) {
		t.Error("the cut text shares memory with the whole text")
	}
}

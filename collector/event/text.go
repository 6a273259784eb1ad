package event

import (
	"strings"
	"unicode/utf8"
)

// MaxText is the most bytes that a text in a span has.
const MaxText = 1 << 10

// Bounded returns s as valid UTF-8 of at most limit bytes. Every text that enters a span or a label passes it: a backend refuses
// the whole batch for one text that is not UTF-8. Bytes that are not UTF-8 become U+FFFD. A text that is cut is copied, so that it
// does not keep the rest in memory.
func Bounded(s string, limit int) string {
	// Replacing can make a text longer than it was.
	return cut(strings.ToValidUTF8(cut(s, limit), "\uFFFD"), limit)
}

// cut returns at most limit bytes of s and leaves out a rune that does not fit.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > max(limit-utf8.UTFMax+1, 0) && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.Clone(s[:end])
}

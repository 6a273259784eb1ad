package waterfall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is the maximum number of combining marks on one character. Scripts need at most four;
// more would cover the lines around it.
const maxMarks = 4

// Sanitize returns a text from an agent as one line, cut after the given number of bytes.
// Characters that control a terminal, change the text direction or are invisible become U+FFFD.
func Sanitize(s string, longest int) string {
	if len(s) > longest {
		end := longest
		for end > max(longest-utf8.UTFMax, 0) && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "…"
	}
	hasBase, marks := false, 0
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Zs, r):
			hasBase = false
			return ' '
		case joins(r) && hasBase:
			if marks++; marks > maxMarks {
				return -1
			}
			return r
		case joins(r) || hidden(r):
			r = unicode.ReplacementChar
		}
		hasBase, marks = true, 0
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// joins reports whether a character is visible only together with the one before it.
func joins(r rune) bool {
	const nonJoiner, joiner = 0x200C, 0x200D
	return r == nonJoiner || r == joiner || unicode.In(r, unicode.Mn, unicode.Me)
}

// hidden reports whether a character is invisible or has effects beyond being visible.
func hidden(r rune) bool {
	const emptyBraille = 0x2800
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point) || r == emptyBraille
}

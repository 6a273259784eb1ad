package waterfall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many marks one character bears. Scripts need four at most; a tower of them covers the lines around it.
const maxMarks = 4

// Text makes one line of what an agent sent, cut after so many bytes: nothing in it steers a terminal, turns the text around it, or is
// there without being seen. What would be is U+FFFD.
func Text(s string, longest int) string {
	if len(s) > longest {
		end := longest
		for end > max(longest-utf8.UTFMax, 0) && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "…"
	}
	bearer, marks := false, 0
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Zs, r):
			bearer = false
			return ' '
		case joins(r) && bearer:
			if marks++; marks > maxMarks {
				return -1
			}
			return r
		case joins(r) || hidden(r):
			r = unicode.ReplacementChar
		}
		bearer, marks = true, 0
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// joins says whether a character is seen only with the one before it.
func joins(r rune) bool {
	const nonJoiner, joiner = 0x200C, 0x200D
	return r == nonJoiner || r == joiner || unicode.In(r, unicode.Mn, unicode.Me)
}

// hidden says whether a character is not seen, or does more than to be seen.
func hidden(r rune) bool {
	const emptyBraille = 0x2800
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point) || r == emptyBraille
}

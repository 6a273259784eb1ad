package proof

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// readable returns a line as valid UTF-8, with plain spaces and without control characters. Otherwise
// the line could change how a page or a terminal shows the text after it.
func readable(line []byte) string {
	if isPlain(line) {
		return string(line)
	}
	var b strings.Builder
	b.Grow(len(line))
	for _, r := range string(line) { // an invalid byte is U+FFFD here
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			b.WriteByte(' ') // never remove it: separate numbers must not become one
		case invisible(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isPlain[T string | []byte](line T) bool {
	for i := range len(line) {
		if line[i] < ' ' || line[i] > '~' {
			return false
		}
	}
	return true
}

// invisible reports whether a rune is invisible or changes the direction of the text. readable removes
// such runes, because they can be within a label or a number.
func invisible(r rune) bool {
	switch {
	case r == '\u00AD' || r == '\u200B' || r == '\u2060' || r == '\uFEFF': // soft hyphen, no spaces
		return true
	}
	return '\u200E' <= r && r <= '\u200F' || '\u202A' <= r && r <= '\u202E' || '\u2066' <= r && r <= '\u2069'
}

// clean returns a readable string without the spaces and emphasis at its ends, cut at maxString bytes.
// It returns a copy, because a finding must not keep the line in memory.
func clean(s string) string {
	if s == "" {
		return ""
	}
	s = trimEmphasis(truncate(strings.Trim(s, " "), 2*maxString)) // cut first: trimEmphasis is slow on long runs of marks
	return strings.Clone(strings.TrimRight(truncate(s, maxString), " "))
}

// truncate returns at most the first size bytes of s and does not split a rune.
func truncate(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}

// ifShort returns a copy of s, or "" if s is longer than maxString.
func ifShort(s string) string {
	if len(s) > maxString {
		return ""
	}
	return strings.Clone(s)
}

// trimEmphasis removes emphasis around the whole of s, and an unpaired mark at one end.
func trimEmphasis(s string) string {
	for {
		before := len(s)
		s = strings.Trim(s, " ")
		for _, mark := range []string{"**", "__", "*", "_", "`"} {
			s = trimMark(s, mark)
		}
		if len(s) == before {
			return s
		}
	}
}

func trimMark(s, mark string) string {
	if inner, ok := strings.CutPrefix(s, mark); ok {
		switch strings.Index(inner, mark) {
		case -1:
			if mark == "**" { // another mark may belong to a name
				return inner
			}
		case len(inner) - len(mark):
			return inner[:len(inner)-len(mark)]
		}
		return s
	}
	if inner, ok := strings.CutSuffix(s, mark); ok && strings.Count(inner, mark)%2 == 0 {
		return inner
	}
	return s
}

package event

import (
	"strings"
	"unicode/utf8"
)

// MaxText is the maximum length of a text in a span, in bytes.
const MaxText = 1 << 10

// LimitText returns s as valid UTF-8 of at most limit bytes; invalid bytes become U+FFFD. Every text
// in a span or a label goes through it, because a backend rejects a batch that has one invalid text. A
// text that is cut is copied, so that it does not keep s in memory.
func LimitText(s string, limit int) string {
	// Cut again: U+FFFD is longer than the bytes that it replaces.
	return cut(strings.ToValidUTF8(cut(s, limit), "\uFFFD"), limit)
}

// cut returns at most limit bytes of s and does not split a rune.
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

// maxIdentifier is the maximum length of an identifier, in bytes.
const maxIdentifier = 64

// IsIdentifier reports whether a name consists of 1 to maxIdentifier letters, digits, '.', '_', ':' and
// '-'. Any other name may be content.
func IsIdentifier[T string | []byte](name T) bool {
	if len(name) == 0 || len(name) > maxIdentifier {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == ':', c == '-':
		default:
			return false
		}
	}
	return true
}

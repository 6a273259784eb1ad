package dialect

import "unicode/utf8"

// MaxTextTail is the minimum number of bytes that are kept from the end of a longer text. Package proof
// searches fewer bytes, so it notices when the beginning is missing.
const MaxTextTail = 65 << 10

// TextTail is the end of a text that arrives in pieces.
type TextTail []byte

// Add appends a piece. It keeps at most 2*MaxTextTail bytes and does not split a rune.
func (t *TextTail) Add(piece []byte) {
	*t = append(*t, tail(piece)...)
	if len(*t) > 2*MaxTextTail {
		*t = append((*t)[:0], tail(*t)...)
	}
}

// tail returns the last MaxTextTail bytes of a text, without a rune that is cut at the start.
func tail(text []byte) []byte {
	if len(text) <= MaxTextTail {
		return text
	}
	text = text[len(text)-MaxTextTail:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

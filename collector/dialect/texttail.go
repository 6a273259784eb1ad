package dialect

import "unicode/utf8"

// MaxTextTail is how many bytes at the end of a streamed text are kept. It is more than what is searched
// for statements about an answer, so that a missing beginning is noticed.
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

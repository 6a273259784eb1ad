package agui

import "unicode/utf8"

// maxText is how much of a text that comes in pieces is kept, in bytes: its end, and more of it than is ever searched for what an
// answer says of itself, so that it can be seen that the beginning is missing.
const maxText = 65 << 10

// said is a text that comes in pieces.
type said []byte

func (s *said) add(piece []byte) {
	*s = append(*s, end(piece)...)
	if len(*s) > 2*maxText {
		*s = append((*s)[:0], end(*s)...)
	}
}

// end is the end of a text, in whole characters.
func end(text []byte) []byte {
	if len(text) <= maxText {
		return text
	}
	text = text[len(text)-maxText:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

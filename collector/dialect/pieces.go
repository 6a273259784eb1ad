package dialect

import "unicode/utf8"

// MaxPieces is how much of a text that comes in pieces is kept, in bytes: its end, and more of it than is ever searched for what an
// answer says of itself, so that it can be seen that the beginning is missing.
const MaxPieces = 65 << 10

// Pieces is a text that comes in pieces, or its end.
type Pieces []byte

// Add appends a piece; of a long text no more than twice MaxPieces is kept, in whole characters.
func (p *Pieces) Add(piece []byte) {
	*p = append(*p, end(piece)...)
	if len(*p) > 2*MaxPieces {
		*p = append((*p)[:0], end(*p)...)
	}
}

func end(text []byte) []byte {
	if len(text) <= MaxPieces {
		return text
	}
	text = text[len(text)-MaxPieces:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

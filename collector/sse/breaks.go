package sse

import "bytes"

// breaks finds the ends of lines, which may be CR or LF. It remembers how far it
// has looked for each of the two: looking for both anew from every line would
// cost the square of the length where only one of them is used.
type breaks struct{ lf, cr int }

// next returns the index of the first CR or LF in p at or after from, or len(p)
// if there is none. Between calls from may only rise and p may only grow.
func (b *breaks) next(p []byte, from int) int {
	b.lf = indexFrom(p, max(b.lf, from), '\n')
	b.cr = indexFrom(p, max(b.cr, from), '\r')
	return min(b.lf, b.cr)
}

// shift follows the bytes of p when they move n places towards its start.
func (b *breaks) shift(n int) {
	b.lf -= n
	b.cr -= n
}

func indexFrom(p []byte, from int, c byte) int {
	if from == len(p) || p[from] == c {
		return from
	}
	if i := bytes.IndexByte(p[from:], c); i >= 0 {
		return from + i
	}
	return len(p)
}

package sse

import "bytes"

// lineEnds finds the ends of lines, which may be CR or LF. It remembers the position of the next CR and of
// the next LF. Without that, in a stream that has only LF, each line would search the whole buffer for a CR.
type lineEnds struct{ lf, cr int }

// next returns the index of the first CR or LF in p at or after from, or len(p). In the next call, from
// must not be smaller, and p must begin with the same bytes. After bytes were removed from the start of p,
// call shift.
func (b *lineEnds) next(p []byte, from int) int {
	b.lf = indexFrom(p, max(b.lf, from), '\n')
	b.cr = indexFrom(p, max(b.cr, from), '\r')
	return min(b.lf, b.cr)
}

// shift adjusts the positions after the first n bytes of p have been removed.
func (b *lineEnds) shift(n int) {
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

package sse

import "bytes"

// lineEnds finds the ends of lines, which may be CR or LF. It remembers where the next one of each is.
// Otherwise, in a stream that uses only one of them, each line would search the whole rest for the other.
type lineEnds struct{ lf, cr int }

// next returns the index of the first CR or LF in p at or after from, or len(p). From call to call, from
// must not decrease, and p may only grow, unless shift is called.
func (b *lineEnds) next(p []byte, from int) int {
	b.lf = indexFrom(p, max(b.lf, from), '\n')
	b.cr = indexFrom(p, max(b.cr, from), '\r')
	return min(b.lf, b.cr)
}

// shift adjusts the state after the first n bytes of p have been removed.
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

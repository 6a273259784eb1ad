package sse

import "bytes"

// lineEnds finds the ends of lines, which may be CR or LF. It remembers how far it has searched for each
// of the two. Otherwise the cost would be the square of the length if only one of them is used.
type lineEnds struct{ lf, cr int }

// next returns the index of the first CR or LF in p at or after from, or len(p). Between calls, from
// must not decrease and p may only grow.
func (b *lineEnds) next(p []byte, from int) int {
	b.lf = indexFrom(p, max(b.lf, from), '\n')
	b.cr = indexFrom(p, max(b.cr, from), '\r')
	return min(b.lf, b.cr)
}

// shift adjusts the state after the bytes of p have moved n places toward its start.
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

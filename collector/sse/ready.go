package sse

import "bytes"

// lookahead is the state of Ready. It remembers what Ready has seen of lines that Next has not read
// yet, so that each line is examined once however often Ready is called.
type lookahead struct {
	lineEnds  lineEnds
	end       int64 // offset in the source up to which lines were examined
	afterCR   bool  // an LF at end belongs to the line end before it
	hasData   bool  // the last block examined has a data line so far
	hasFields bool  // it has a line other than comments so far

	afterComment bool  // the last line was a comment before a block
	result       int64 // offset of the end of the newest frame or comment that Ready has found; 0 if none
}

// Ready reports whether Next will certainly return without reading from its source, because the buffer
// holds the end of a frame, or of a comment or block that Next reports. Call it only after Next has
// returned.
func (r *Reader) Ready() bool {
	a := &r.lookahead
	at := r.base + int64(r.line)
	if a.result > at {
		return true // Next has not returned this result yet
	}
	if a.end < at {
		a.end, a.afterCR, a.hasData, a.hasFields, a.afterComment = at, r.afterCR, false, false, r.afterComment
	}
	for {
		from := int(a.end - r.base)
		if a.afterCR && from < r.end {
			a.afterCR = false
			if r.buf[from] == '\n' {
				from++
				a.end++
			}
		}
		i := a.lineEnds.next(r.buf[:r.end], from)
		if i == r.end {
			return false
		}
		a.end, a.afterCR = r.base+int64(i+1), r.buf[i] == '\r'
		if a.examine(r.buf[from:i], r.reportComments) {
			a.result = a.end
			return true
		}
	}
}

// examine examines the next line and reports whether Next returns at its end.
func (a *lookahead) examine(line []byte, comments bool) bool {
	if len(line) == 0 {
		returns := a.hasData || comments && !a.afterComment
		a.hasData, a.hasFields, a.afterComment = false, false, false
		return returns
	}
	a.hasFields = a.hasFields || line[0] != ':'
	a.hasData = a.hasData || string(line) == "data" || bytes.HasPrefix(line, []byte("data:"))
	a.afterComment = !a.hasFields
	return comments && a.afterComment
}

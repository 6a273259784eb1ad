package sse

import "bytes"

// lookahead remembers what Ready has seen of the lines that Next has not read yet, so that each line is looked at once however
// often Ready is called.
type lookahead struct {
	breaks  breaks
	end     int64 // where the lines looked at end in the source
	afterCR bool  // an LF there belongs to the line end before it
	data    bool  // the last block looked at has data so far
	fields  bool  // it has other lines than comments so far
	found   int64 // where the newest result that was found ends; 0 if none was
}

// Ready reports whether Next is sure to return a frame or a comment without reading from its source. It may be called after a
// result of Next only.
func (r *Reader) Ready() bool {
	a := &r.ahead
	at := r.base + int64(r.line)
	if a.found > at {
		return true // Next has not returned it yet
	}
	if a.end < at {
		a.end, a.afterCR, a.data, a.fields = at, r.afterCR, false, false
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
		i := a.breaks.next(r.buf[:r.end], from)
		if i == r.end {
			return false
		}
		a.end, a.afterCR = r.base+int64(i+1), r.buf[i] == '\r'
		if a.line(r.buf[from:i], r.comments) {
			a.found = a.end
			return true
		}
	}
}

// line takes the next line and reports whether Next returns at its end.
func (a *lookahead) line(line []byte, comments bool) bool {
	if len(line) == 0 {
		frame := a.data
		a.data, a.fields = false, false
		return frame
	}
	a.fields = a.fields || line[0] != ':'
	a.data = a.data || string(line) == "data" || bytes.HasPrefix(line, []byte("data:"))
	return comments && !a.fields
}

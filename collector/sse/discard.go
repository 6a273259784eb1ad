package sse

// isAtComment reports whether the current line is a comment before a block. Such a comment belongs to
// no frame: if it did, comments without blank lines would add up to a frame over the limit.
func (r *Reader) isAtComment() bool { return r.size == 0 && r.buf[r.line] == ':' }

// discardComment skips the comment at the current line. Its length has no limit.
func (r *Reader) discardComment() error {
	_, err := r.discardLine()
	r.size, r.afterComment = 0, true
	r.offset = r.base + int64(r.line)
	return err
}

// discardBlock skips the rest of a block over the limit.
func (r *Reader) discardBlock() error {
	r.hasData, r.idAlone, r.afterComment = false, false, false
	r.retry, r.hasRetry = r.oldRetry, r.hadRetry
	for {
		n, err := r.discardLine()
		if n == 0 || err != nil {
			break // the next call of Next returns the error
		}
	}
	r.offset = r.base + int64(r.line)
	return &TooLargeError{Limit: r.limit, Size: r.size}
}

// discardLine skips the rest of the current line and its line end, and returns its length without the line end.
func (r *Reader) discardLine() (n int, err error) {
	for {
		r.skipLF()
		i := r.lineEnds.next(r.buf[:r.end], r.line)
		part := i - r.line
		n += part
		if i < r.end {
			r.endLine(part)
			return n, nil
		}
		r.size += part
		r.line = r.end
		if err := r.more(); err != nil {
			return n, err
		}
	}
}

package sse

import "io"

const (
	// firstBuffer holds some usual frames; thousands of idle streams pay for it.
	firstBuffer = 4 << 10
	// burstBuffer is what a stream gets that has more ready than it can hold.
	burstBuffer = 16 << 10
	// keepBuffer is the size up to which a grown buffer stays with its stream.
	keepBuffer = 64 << 10
	// maxEmptyReads is when a source that gives neither bytes nor an error is broken.
	maxEmptyReads = 100
)

// buffer holds what was read and is still needed: buf[:end], where the line
// being read begins at line.
type buffer struct {
	src       io.Reader
	err       error // of src, final
	buf       []byte
	base      int64 // where buf[0] stands in the source
	line, end int
	full      bool // by the last read, so that there may be more
}

// keep drops the bytes before from, and the memory that a big frame has left
// behind. Each byte is moved at most once a line and once a block.
func (b *buffer) keep(from int) {
	rest := b.buf[from:b.end]
	switch {
	case len(b.buf) > keepBuffer && len(rest) <= len(b.buf)/4:
		b.buf = make([]byte, max(firstBuffer, 2*len(rest)))
		copy(b.buf, rest)
	case from > 0:
		copy(b.buf, rest)
	}
	b.base += int64(from)
	b.line -= from
	b.end = len(rest)
}

// fill waits for one read of src. The bytes kept must not be more than limit.
func (b *buffer) fill(limit int) error {
	if b.err != nil {
		return b.err
	}
	if b.end == len(b.buf) || b.full && len(b.buf) < min(burstBuffer, limit) {
		b.grow(limit)
	}
	for range maxEmptyReads {
		n, err := b.src.Read(b.buf[b.end:])
		b.end += n
		b.full, b.err = b.end == len(b.buf), err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	b.err = io.ErrNoProgress
	return b.err
}

// grow doubles the buffer, up to one byte over limit: that byte shows that a
// frame is too large.
func (b *buffer) grow(limit int) {
	n := max(2*len(b.buf), firstBuffer)
	if n-1 > limit {
		n = max(limit+1, firstBuffer)
	}
	buf := make([]byte, n)
	copy(buf, b.buf)
	b.buf = buf
}

package sse

import "io"

const (
	// minBuffer is enough for usual frames. Thousands of idle streams may hold one each.
	minBuffer = 4 << 10
	// burstBuffer is the size for a stream that has more bytes ready than minBuffer holds.
	burstBuffer = 16 << 10
	// maxIdleBuffer is the size of the largest buffer that is kept when a frame no longer needs it.
	maxIdleBuffer = 64 << 10
	// maxEmptyReads is how many reads without bytes and error are allowed in a row.
	maxEmptyReads = 100
)

// buffer holds bytes that have been read and are still needed: buf[:end]. The current line begins at
// line.
type buffer struct {
	src       io.Reader
	err       error // final error of src
	buf       []byte
	base      int64 // offset of buf[0] in the source
	line, end int
	full      bool // the last read filled buf, so the source may have more bytes ready

	beforeGrow func(size int) // called before buf grows beyond maxIdleBuffer; may be nil
}

// discardBefore discards the bytes before from. If a large frame has left the buffer mostly empty, it
// shrinks the buffer. The caller must adjust its own indexes in buf.
func (b *buffer) discardBefore(from int) {
	rest := b.buf[from:b.end]
	switch {
	case len(b.buf) > maxIdleBuffer && len(rest) <= len(b.buf)/4:
		b.buf = make([]byte, max(minBuffer, 2*len(rest)))
		copy(b.buf, rest)
	case from > 0:
		copy(b.buf, rest)
	}
	b.base += int64(from)
	b.line -= from
	b.end = len(rest)
}

// fill waits for more bytes of src. The buffer must hold at most limit bytes.
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

// grow doubles the buffer, up to limit+1 bytes: the additional byte shows that a frame is too large.
func (b *buffer) grow(limit int) {
	n := max(2*len(b.buf), minBuffer)
	if n-1 > limit {
		n = max(limit+1, minBuffer)
	}
	if n > maxIdleBuffer && b.beforeGrow != nil {
		b.beforeGrow(n)
	}
	buf := make([]byte, n)
	copy(buf, b.buf)
	b.buf = buf
}

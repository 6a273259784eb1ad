package source

import (
	"errors"
	"io"
)

// errBlockTooLong means that a block of an unconfirmed stream exceeds the buffer. The block passes unless it
// declares itself internal.
var errBlockTooLong = errors.New("block over the limit")

// errorReader is a reader that returns only an error.
type errorReader struct{ err error }

func (f errorReader) Read([]byte) (int, error) { return 0, f.err }

// blockEnd finds the blank line that ends a block, over several reads.
type blockEnd struct {
	inLine  bool // the current line is not empty
	afterCR bool // an LF now belongs to the preceding CR
}

// find returns the offset after the blank line, or -1 if p does not contain it.
func (b *blockEnd) find(p []byte) int {
	for i, c := range p {
		lf := c == '\n' && b.afterCR
		b.afterCR = c == '\r'
		switch {
		case lf:
		case c != '\n' && c != '\r':
			b.inLine = true
		case !b.inLine:
			return i + 1
		default:
			b.inLine = false
		}
	}
	return -1
}

// blockBuffer is a reader that keeps the current block of an unconfirmed stream until it has been filtered.
type blockBuffer struct {
	source      io.Reader
	limit       int
	bytes       []byte
	offset      int64 // of bytes[0] in the stream
	passThrough bool  // Read no longer keeps bytes

	dropping bool // drop the rest of the block, whose beginning was dropped
}

// Read reads from the source and keeps the bytes. It fails if the block exceeds the limit.
func (p *blockBuffer) Read(buf []byte) (int, error) {
	if !p.passThrough && len(p.bytes) > p.limit {
		return 0, errBlockTooLong
	}
	n, err := p.source.Read(buf)
	if !p.passThrough {
		p.bytes = append(p.bytes, buf[:n]...)
	}
	return n, err
}

// take removes and returns the bytes before an offset of the stream. They are valid until the next Read.
func (p *blockBuffer) take(offset int64) []byte {
	n := offset - p.offset
	passed := p.bytes[:n]
	p.bytes, p.offset = p.bytes[n:], offset
	if !p.dropping {
		return passed
	}
	end := (&blockEnd{inLine: true}).find(passed)
	if p.dropping = end < 0; p.dropping {
		return nil
	}
	return passed[end:]
}

// takeAll removes and returns all bytes.
func (p *blockBuffer) takeAll() []byte { return p.take(p.offset + int64(len(p.bytes))) }

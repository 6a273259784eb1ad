package source

import (
	"bytes"
	"errors"
	"io"
)

// errBlockTooLong means that a block of an unconfirmed stream (see Proxy) exceeds the buffer. The block passes
// unless it declares itself internal.
var errBlockTooLong = errors.New("block over the limit")

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

// isWhole reports whether a block has the blank line that ends it. The LF of its last CRLF may be missing.
func isWhole(block []byte) bool {
	end := (&blockEnd{inLine: true}).find(block)
	return end >= 0 && len(bytes.TrimPrefix(block[end:], []byte("\n"))) == 0
}

// blockBuffer is a reader of an unconfirmed stream. It keeps the current block until the block has been filtered.
type blockBuffer struct {
	source      io.Reader
	limit       int
	bytes       []byte
	offset      int64 // of bytes[0] in the stream
	passThrough bool  // Read no longer keeps bytes

	dropping bool // the beginning of the block was dropped, and take drops the rest
}

// Read reads from the source and keeps the bytes. It fails if the block exceeds the limit.
func (b *blockBuffer) Read(buf []byte) (int, error) {
	if !b.passThrough && len(b.bytes) > b.limit {
		return 0, errBlockTooLong
	}
	n, err := b.source.Read(buf)
	if !b.passThrough {
		b.bytes = append(b.bytes, buf[:n]...)
	}
	return n, err
}

// take removes the kept bytes before an offset of the stream. It returns them without the rest of a block that is being
// dropped. They are valid until the next Read.
func (b *blockBuffer) take(offset int64) []byte {
	n := offset - b.offset
	passed := b.bytes[:n]
	b.bytes, b.offset = b.bytes[n:], offset
	if !b.dropping {
		return passed
	}
	end := (&blockEnd{inLine: true}).find(passed)
	if b.dropping = end < 0; b.dropping {
		return nil
	}
	return passed[end:]
}

// takeAll is take for all bytes.
func (b *blockBuffer) takeAll() []byte { return b.take(b.offset + int64(len(b.bytes))) }

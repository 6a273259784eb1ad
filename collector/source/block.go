package source

import (
	"bytes"
	"errors"
	"io"
)

// errBlockTooLong means that a block of an unconfirmed stream (see Proxy) exceeds the buffer. The block passes
// unless mustWithholdCut forbids it.
var errBlockTooLong = errors.New("block over the limit")

// blockEnd finds the blank lines that end blocks, over several reads.
type blockEnd struct {
	inLine    bool // the current line is not empty
	inComment bool // the current line is a comment before a block, so its end counts too
	afterCR   bool // an LF now belongs to the preceding CR
	isEnd     bool // the last line was blank
}

// isCutComment reports whether a block is so far a single comment without its end. The block of an event may follow.
func isCutComment(block []byte) bool {
	line := bytes.TrimLeft(block, "\ufeff\r\n")
	return len(line) > 0 && line[0] == ':' && !bytes.ContainsAny(line, "\r\n")
}

// find returns the offset after the next blank line, or -1 if p does not contain one.
func (b *blockEnd) find(p []byte) int {
	for i, c := range p {
		lf := c == '\n' && b.afterCR
		b.afterCR = c == '\r'
		switch {
		case lf:
		case c != '\n' && c != '\r':
			b.inLine, b.isEnd = true, false
		case !b.inLine, b.inComment:
			b.inLine, b.inComment, b.isEnd = false, false, true
			return i + 1
		default:
			b.inLine, b.isEnd = false, false
		}
	}
	return -1
}

// skip is find for all blank lines in p.
func (b *blockEnd) skip(p []byte) {
	for end := 0; end >= 0; p = p[max(end, 0):] {
		end = b.find(p)
	}
}

// blockBuffer is a reader of an unconfirmed stream. It keeps the current block until the block has been filtered.
type blockBuffer struct {
	source      io.Reader
	limit       int
	bytes       []byte
	offset      int64    // of bytes[0] in the stream
	taken       blockEnd // has skipped all bytes that were taken
	passThrough bool     // Read no longer keeps bytes
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

// take removes the kept bytes before an offset of the stream and returns them. They are valid until the next Read.
func (b *blockBuffer) take(offset int64) []byte {
	n := offset - b.offset
	taken := b.bytes[:n]
	b.bytes, b.offset = b.bytes[n:], offset
	b.taken.skip(taken)
	return taken
}

// takeWhole is take for all blocks that have ended.
func (b *blockBuffer) takeWhole() []byte {
	ends, end := b.taken, 0
	for n := 0; n >= 0; n = ends.find(b.bytes[end:]) {
		end += n
	}
	return b.take(b.offset + int64(end))
}

// takeAll is take for all bytes.
func (b *blockBuffer) takeAll() []byte { return b.take(b.offset + int64(len(b.bytes))) }

package sse

import (
	"bytes"
	"errors"
	"io"
	"math"
	"time"
)

const (
	// maxResumeID bounds the id that a reconnect sends: servers answer 431 to a
	// huge Last-Event-ID header, on every attempt.
	maxResumeID = 1 << 10
	// minRetry keeps "retry:0" from becoming a hot loop, maxRetry a huge one from
	// silencing the stream.
	minRetry = 100 * time.Millisecond
	maxRetry = 5 * time.Minute
)

var (
	bom = []byte("\xEF\xBB\xBF")

	errOverLimit = errors.New("sse: block over the limit")

	// ErrComment says that a comment came between two blocks, which some servers send to keep a connection open. It is no end.
	ErrComment = errors.New("sse: comment")
)

// Reader reads frames from a byte stream. It is for one goroutine at a time.
//
// A frame is returned as soon as the last byte of its blank line is there, and
// nothing more is read from the source while a whole frame is at hand. The
// memory held is bounded by a small multiple of the limit; a usual stream needs
// a few KiB, and what a big frame needed is let go after it.
type Reader struct {
	limit int
	buffer
	breaks breaks

	begun   bool // the byte order mark was looked for
	afterCR bool // an LF here belongs to the line end before it

	// The block being read. data and dataEnd delimit its data in the buffer: each
	// further data line is moved down to the end of the one before it. The other
	// fields are copied, as that move may overwrite them.
	size          int  // bytes of its lines so far
	alone         bool // it has nothing but comments so far
	data, dataEnd int
	hasData       bool
	event         []byte
	newID         []byte
	hasID         bool
	oldRetry      time.Duration

	ahead lookahead // of Ready

	comments bool  // are reported
	passed   int64 // bytes up to the end of the last block, or of a comment between blocks

	id        []byte // in force
	resumeID  []byte // the newest id that a reconnect can send
	retry     time.Duration
	truncated int
}

// NewReader returns a Reader of src. A frame may have limit bytes on the wire,
// or DefaultLimit if limit is not positive.
func NewReader(src io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{limit: limit, buffer: buffer{src: src}}
}

// Resume goes on with src, the stream of a new connection: the last id and the
// retry time stay in force, as the standard asks, all else begins anew.
func (r *Reader) Resume(src io.Reader) {
	*r = Reader{
		limit: r.limit, buffer: buffer{src: src}, comments: r.comments,
		id: r.id, resumeID: r.resumeID, retry: r.retry,
	}
}

// Cut ends the stream behind what has been read from its source.
func (r *Reader) Cut() {
	if r.err == nil {
		r.err = io.EOF
	}
}

// LastEventID returns the id to ask for when reconnecting, empty if none: that
// of the newest finished block, with data or without. An id over 1 KiB is not
// kept for this, the one before it stays: better a frame twice than one lost.
// An id may hold bytes that an HTTP header may not.
func (r *Reader) LastEventID() string { return string(r.resumeID) }

// Retry returns the reconnection time that the stream asked for last, put
// between 100 ms and 5 minutes, and whether it asked for one.
func (r *Reader) Retry() (time.Duration, bool) { return r.retry, r.retry > 0 }

// ReportComments makes Next return ErrComment for each comment line that stands outside any block.
func (r *Reader) ReportComments(on bool) { r.comments = on }

// Offset returns how many bytes of the source the blocks and comments passed so far took, the byte order mark included. The LF
// of a CRLF that ends a block may come after it.
func (r *Reader) Offset() int64 { return r.passed }

// Held returns the bytes of memory that the reader holds for its stream.
func (r *Reader) Held() int {
	return cap(r.buf) + cap(r.event) + cap(r.newID) + cap(r.id) + cap(r.resumeID)
}

// Truncated returns how many bytes of an unfinished frame were discarded when
// the stream ended, by io.EOF or any other error. Comments and retry lines alone
// are no frame, and a block that was over the limit is not counted again.
func (r *Reader) Truncated() int { return r.truncated }

// Next returns the next frame with data. A *TooLargeError stands for one frame
// and the stream goes on: call Next again. Any other error is the source's own,
// io.EOF at the end, and final.
func (r *Reader) Next() (Frame, error) {
	r.beginBlock()
	for {
		n, err := r.scanLine()
		switch {
		case err == errOverLimit:
			return Frame{}, r.skipBlock()
		case err != nil:
			return Frame{}, r.finish(err)
		case n > 0:
			r.alone = r.alone && r.buf[r.line] == ':'
			r.field(r.buf[r.line : r.line+n])
			r.endLine(n)
			if r.alone && r.comments {
				r.passed = r.base + int64(r.line)
				return Frame{}, ErrComment
			}
			continue
		}
		r.endLine(0)
		r.passed = r.base + int64(r.line)
		if f, ok := r.dispatch(); ok {
			return f, nil
		}
		r.beginBlock()
	}
}

// beginBlock forgets the block before, which the caller may have borrowed.
func (r *Reader) beginBlock() {
	r.size, r.alone, r.hasData, r.hasID = 0, true, false, false
	r.event, r.newID = reuse(r.event), reuse(r.newID)
	r.oldRetry = r.retry
}

// reuse empties b, or lets it go if one long field made it big.
func reuse(b []byte) []byte {
	if cap(b) > maxResumeID {
		return nil
	}
	return b[:0]
}

// scanLine reads until the line at r.line is whole and returns its length
// without the line end.
func (r *Reader) scanLine() (int, error) {
	for {
		if r.skipBOM() {
			r.skipLF()
			i := r.breaks.next(r.buf[:r.end], r.line)
			n := i - r.line
			size := r.size + n
			if i < r.end {
				size++
			}
			if size > r.limit {
				return 0, errOverLimit
			}
			if i < r.end {
				return n, nil
			}
		}
		if err := r.more(); err != nil {
			return 0, err
		}
	}
}

// skipBOM passes over one byte order mark at the start of the stream; false says
// that the bytes at hand may still become one.
func (r *Reader) skipBOM() bool {
	if r.begun {
		return true
	}
	b := r.buf[:r.end]
	if len(b) < len(bom) && bytes.HasPrefix(bom, b) {
		return false
	}
	if bytes.HasPrefix(b, bom) {
		r.line = len(bom)
	}
	r.begun = true
	return true
}

// skipLF completes a CRLF whose CR was acted on when it came. After the CR of a
// blank line the LF is in no block.
func (r *Reader) skipLF() {
	if !r.afterCR || r.line == r.end {
		return
	}
	r.afterCR = false
	if r.buf[r.line] != '\n' {
		return
	}
	r.line++
	if r.size > 0 {
		r.size++
	}
}

// endLine passes over the n bytes of a line and the first byte of its end.
func (r *Reader) endLine(n int) {
	r.afterCR = r.buf[r.line+n] == '\r'
	r.line += n + 1
	r.size += n + 1
}

// more brings at least one further byte to the end of the current block.
func (r *Reader) more() error {
	from := r.line
	if r.hasData {
		from = r.data
	}
	r.keep(from)
	r.data -= from
	r.dataEnd -= from
	r.breaks.shift(from)
	r.ahead.breaks.shift(from)
	return r.fill(r.limit)
}

func (r *Reader) field(line []byte) {
	name, value := line, line[len(line):]
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		name, value = line[:i], line[i+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(name) { // a comment has the empty name
	case "data":
		r.addData(value, r.line+len(line)-len(value))
	case "event":
		r.event = append(r.event[:0], value...)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.newID = append(r.newID[:0], value...)
			r.hasID = true
		}
	case "retry":
		if d, ok := parseRetry(value); ok {
			r.retry = d
		}
	}
}

// parseRetry reads milliseconds: ASCII digits and nothing else. A number that
// does not fit 64 bits is refused, not taken for a long time, as in browsers.
func parseRetry(value []byte) (time.Duration, bool) {
	var ms int64
	for _, c := range value {
		digit := int64(c) - '0'
		if digit < 0 || digit > 9 || ms > (math.MaxInt64-digit)/10 {
			return 0, false
		}
		ms = 10*ms + digit
	}
	ms = min(ms, maxRetry.Milliseconds())
	return max(time.Duration(ms)*time.Millisecond, minRetry), len(value) > 0
}

// addData takes the value that stands at index at of the buffer. The LF that
// joins it takes the place of the line end before it.
func (r *Reader) addData(value []byte, at int) {
	if !r.hasData {
		r.hasData = true
		r.data, r.dataEnd = at, at+len(value)
		return
	}
	r.buf[r.dataEnd] = '\n'
	r.dataEnd += 1 + copy(r.buf[r.dataEnd+1:], value)
}

// dispatch ends a block at its blank line. The id holds from here on, with data
// or without; only a block with a data line, be it empty, is a frame.
func (r *Reader) dispatch() (Frame, bool) {
	if r.hasID {
		r.id, r.newID = r.newID, r.id
		if len(r.id) <= maxResumeID {
			r.resumeID = append(r.resumeID[:0], r.id...)
		}
	}
	if !r.hasData {
		return Frame{}, false
	}
	return Frame{
		ID:    r.id,
		Event: r.event,
		Data:  r.buf[r.data:r.dataEnd:r.dataEnd],
		Size:  r.size,
	}, true
}

// skipBlock passes over the rest of a block, keeping nothing of it.
func (r *Reader) skipBlock() error {
	r.hasData = false
	r.retry = r.oldRetry
	for begun := false; ; { // begun: bytes of this line were passed over
		r.skipLF()
		i := r.breaks.next(r.buf[:r.end], r.line)
		n := i - r.line
		begun = begun || n > 0
		if i < r.end {
			r.endLine(n)
			if !begun {
				break
			}
			begun = false
			continue
		}
		r.size += n
		r.line = r.end
		if r.more() != nil {
			break // the next call of Next says why
		}
	}
	r.passed = r.base + int64(r.line)
	return &TooLargeError{Limit: r.limit, Size: r.size}
}

// finish ends the stream: an unfinished block is discarded, its id too.
func (r *Reader) finish(err error) error {
	rest := r.buf[r.line:r.end]
	if r.hasData || r.hasID || len(r.event) > 0 || len(rest) > 0 && rest[0] != ':' {
		r.truncated = r.size + len(rest)
	}
	r.buffer = buffer{err: err}
	r.breaks, r.ahead = breaks{}, lookahead{}
	return err
}

package sse

import (
	"bytes"
	"errors"
	"io"
	"math"
	"time"
)

const (
	// maxResumeID is the length of the longest id that a reconnect sends. A server that answers 431 to a long
	// Last-Event-ID header does so at each attempt.
	maxResumeID = 1 << 10
	maxRetry    = math.MaxInt64 / int64(time.Millisecond) // in milliseconds, as far as a time.Duration can hold it
)

var (
	bom = []byte("\xEF\xBB\xBF")

	errOverLimit = errors.New("sse: block over the limit")

	// ErrComment reports a comment between two blocks, which some servers send to keep a connection
	// open. The stream continues.
	ErrComment = errors.New("sse: comment")
	// ErrNoData reports a block without data, such as a lone blank line. Some servers send one to keep
	// a connection open. It may have set the last event ID or the reconnection time. The stream
	// continues.
	ErrNoData = errors.New("sse: block without data")
)

// Reader reads frames from a byte stream. It is for one goroutine at a time.
//
// A frame is returned as soon as the first byte of its blank line has arrived: the CR of a CRLF. The
// source is not read while a complete frame is buffered. Memory is bounded by a small multiple of the
// limit. A usual stream needs a few KiB, and the memory of a large frame is released after it.
type Reader struct {
	limit int
	buffer
	lineEnds lineEnds

	bomChecked bool
	afterCR    bool // an LF at the current position belongs to the line end before it

	// The block being read. data and dataEnd delimit its data in the buffer: each further data line is
	// moved to the end of the one before it. The event name and the id are copied, because that move
	// may overwrite them.
	size          int // bytes of its lines so far; 0 until its first line other than a comment
	data, dataEnd int
	hasData       bool
	event         []byte
	newID         []byte
	hasID         bool
	oldRetry      time.Duration // retry and hasRetry before the block
	hadRetry      bool

	lookahead lookahead

	reportComments bool
	afterComment   bool  // the last line was a comment before a block
	offset         int64 // of the end of the last block, or of the last comment before a block

	id             []byte // the last event ID
	resumeID       []byte // the newest id that a reconnect can send
	idAlone        bool   // id was set after the last frame, by a block with neither data nor an event name
	retry          time.Duration
	hasRetry       bool
	truncatedBytes int
	unended        Frame
}

// NewReader returns a Reader of src. A frame may have at most limit bytes on the wire, or DefaultLimit
// if limit is not positive.
func NewReader(src io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{limit: limit, buffer: buffer{src: src}}
}

// Resume continues with src, the stream of a new connection. As the standard requires, it keeps the last
// event ID and the reconnection time, and resets all other state. The reader's settings stay.
func (r *Reader) Resume(src io.Reader) {
	*r = Reader{
		limit: r.limit, buffer: buffer{src: src, beforeGrow: r.beforeGrow}, reportComments: r.reportComments,
		id: r.id, resumeID: r.resumeID, retry: r.retry, hasRetry: r.hasRetry,
	}
}

// StopReading ends the stream after the bytes that have already been read from its source.
func (r *Reader) StopReading() {
	if r.err == nil {
		r.err = io.EOF
	}
}

// LastEventID returns the id to send when reconnecting: that of the newest complete block with an id,
// with or without data. It is "" if there is none. An id over 1 KiB is ignored, and the one before it
// is returned: a repeated frame is better than a lost one. The id may contain bytes that are not allowed
// in an HTTP header.
func (r *Reader) LastEventID() string { return string(r.resumeID) }

// IDAlone returns the last event ID, which is valid until the next call of Next. alone reports
// whether it was set after the last frame, by a block that has neither data nor an event name.
func (r *Reader) IDAlone() (id []byte, alone bool) { return r.id, r.idAlone }

// Retry returns the reconnection time that the stream asked for last, and whether it asked for one. The time has no upper limit.
func (r *Reader) Retry() (time.Duration, bool) { return r.retry, r.hasRetry }

// ReportComments makes Next return ErrComment for each comment line before a block, and ErrNoData for each block without data.
// A blank line right after a comment only ends the comment's block and is not reported.
func (r *Reader) ReportComments(on bool) { r.reportComments = on }

// BeforeGrow makes the reader call a function, with the new size in bytes, before its buffer grows to
// more than 64 KiB. The source is not read while the function blocks. Detach does not call it.
func (r *Reader) BeforeGrow(wait func(size int)) { r.beforeGrow = wait }

// Detach gives the caller the data of f, which Next has just returned, together with the buffer that
// holds it: the data stays valid. The reader continues with a buffer for the bytes after the frame. This
// buffer may be as large as the old one, but Detach does not call BeforeGrow: f must not wait. ID and
// Event still belong to the reader.
func (r *Reader) Detach(f Frame) Frame {
	f.Data = r.buf[r.data:r.dataEnd] // with the capacity of the buffer, so that the caller can count its memory
	from := r.line
	rest := r.buf[from:r.end]
	r.buf = make([]byte, len(rest)+minBuffer)
	copy(r.buf, rest)
	r.base += int64(from)
	r.line, r.end = 0, len(rest)
	r.lineEnds.shift(from)
	r.lookahead.lineEnds.shift(from)
	return f
}

// Offset returns how many bytes of the source the blocks and comments so far took, including the byte
// order mark. If a block ends in CRLF, the LF may not be included yet.
func (r *Reader) Offset() int64 { return r.offset }

// MemorySize returns the bytes of memory that the reader holds for its stream.
func (r *Reader) MemorySize() int {
	return cap(r.buf) + cap(r.event) + cap(r.newID) + cap(r.id) + cap(r.resumeID) + cap(r.unended.Data) + cap(r.unended.Event) + cap(r.unended.ID)
}

// Next returns the next frame with data. A *TooLargeError stands for one frame, ErrComment for one comment, and
// ErrNoData for one block without data: the stream continues after them. Any other error is final. It is the error of the source,
// io.EOF at the end.
func (r *Reader) Next() (Frame, error) {
	r.beginBlock()
	for {
		n, err := r.scanLine()
		switch isOverLimit := err == errOverLimit; { //nolint:errorlint // never wrapped, and checked for each line
		case (err == nil || isOverLimit) && r.isAtComment():
			if err := r.discardComment(); err != nil {
				return Frame{}, r.finish(err)
			}
			if r.reportComments {
				return Frame{}, ErrComment
			}
			continue
		case isOverLimit:
			return Frame{}, r.discardBlock()
		case err != nil:
			return Frame{}, r.finish(err)
		case n > 0:
			r.afterComment = false
			r.field(r.buf[r.line : r.line+n])
			r.endLine(n)
			continue
		}
		r.endLine(0)
		r.offset = r.base + int64(r.line)
		isEmpty := r.reportComments && !r.afterComment
		r.afterComment = false
		if f, ok := r.dispatch(); ok {
			return f, nil
		} else if isEmpty {
			return Frame{}, ErrNoData
		}
		r.beginBlock()
	}
}

// beginBlock discards the previous block, whose frame the caller may have used until now.
func (r *Reader) beginBlock() {
	r.size, r.hasData, r.hasID = 0, false, false
	r.event, r.newID = reuse(r.event), reuse(r.newID)
	r.oldRetry, r.hadRetry = r.retry, r.hasRetry
}

// reuse returns an empty b, or nil if a long field has made b large.
func reuse(b []byte) []byte {
	if cap(b) > maxResumeID {
		return nil
	}
	return b[:0]
}

// scanLine reads until the line at r.line is complete and returns its length without the line end.
func (r *Reader) scanLine() (int, error) {
	for {
		if r.skipBOM() {
			r.skipLF()
			i := r.lineEnds.next(r.buf[:r.end], r.line)
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

// skipBOM skips a byte order mark at the start of the stream. It returns false if more bytes are
// needed to tell whether there is one.
func (r *Reader) skipBOM() bool {
	if r.bomChecked {
		return true
	}
	b := r.buf[:r.end]
	if len(b) < len(bom) && bytes.HasPrefix(bom, b) {
		return false
	}
	if bytes.HasPrefix(b, bom) {
		r.line = len(bom)
	}
	r.bomChecked = true
	return true
}

// skipLF skips the LF of a CRLF whose CR already ended a line. After the CR of a blank line, the LF
// belongs to no block.
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

// endLine skips the n bytes of a line and the first byte of its line end.
func (r *Reader) endLine(n int) {
	r.afterCR = r.buf[r.line+n] == '\r'
	r.line += n + 1
	r.size += n + 1
}

// more reads at least one more byte of the current block.
func (r *Reader) more() error {
	from := r.line
	if r.hasData {
		from = r.data
	}
	r.discardBefore(from)
	r.data -= from
	r.dataEnd -= from
	r.lineEnds.shift(from)
	r.lookahead.lineEnds.shift(from)
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
			r.retry, r.hasRetry = d, true
		}
	}
}

// parseRetry parses milliseconds: ASCII digits only. A number that does not fit in 64 bits is ignored, as
// in browsers.
func parseRetry(value []byte) (time.Duration, bool) {
	var ms int64
	for _, c := range value {
		digit := int64(c) - '0'
		if digit < 0 || digit > 9 || ms > (math.MaxInt64-digit)/10 {
			return 0, false
		}
		ms = 10*ms + digit
	}
	return time.Duration(min(ms, maxRetry)) * time.Millisecond, len(value) > 0
}

// addData adds value, which starts at buf[at], to the data. The two are joined by an LF, which
// overwrites the line end of the previous value.
func (r *Reader) addData(value []byte, at int) {
	if !r.hasData {
		r.hasData = true
		r.data, r.dataEnd = at, at+len(value)
		return
	}
	r.buf[r.dataEnd] = '\n'
	r.dataEnd += 1 + copy(r.buf[r.dataEnd+1:], value)
}

// dispatch ends a block at its blank line. Its id becomes the last event ID even without data. Only a
// block with a data line, which may be empty, is a frame.
func (r *Reader) dispatch() (Frame, bool) {
	if r.hasID {
		r.id, r.newID = r.newID, r.id
		if len(r.id) <= maxResumeID {
			r.resumeID = append(r.resumeID[:0], r.id...)
		}
		r.idAlone = len(r.event) == 0
	}
	if r.idAlone = r.idAlone && !r.hasData; !r.hasData {
		return Frame{}, false
	}
	return Frame{
		ID:    r.id,
		Event: r.event,
		Data:  r.buf[r.data:r.dataEnd:r.dataEnd],
		Size:  r.size,
	}, true
}

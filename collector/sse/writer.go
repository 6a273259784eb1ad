package sse

import (
	"bytes"
	"errors"
	"strconv"
	"time"
)

var (
	errID    = errors.New("sse: write frame: the id holds CR, LF or NUL: send the frame without an id or under one of your own")
	errEvent = errors.New("sse: write frame: the event name holds CR, LF or NUL: send the frame under a name of your own")
)

// AppendFrame appends f as one block that a reader dispatches as exactly one
// frame, or returns dst as it was and an error if f.ID or f.Event holds CR, LF
// or NUL.
//
// The reader gets f.Data back byte for byte, leading spaces and LF at either end
// included, if it holds no CR: a line end is all that SSE has, so a CR or CRLF
// in f.Data comes back as LF. Bytes that are not UTF-8 are written as they are.
// An empty f.Event is "message"; an empty f.ID leaves the reader's last id in
// force.
func AppendFrame(dst []byte, f Frame) ([]byte, error) {
	if bytes.ContainsAny(f.ID, "\r\n\x00") {
		return dst, errID
	}
	if bytes.ContainsAny(f.Event, "\r\n\x00") {
		return dst, errEvent
	}
	if len(f.ID) > 0 {
		dst = appendLines(dst, "id: ", f.ID)
	}
	if len(f.Event) > 0 {
		dst = appendLines(dst, "event: ", f.Event)
	}
	dst = appendLines(dst, "data: ", f.Data)
	return append(dst, '\n'), nil
}

// AppendComment appends text as a block of comment lines, which readers ignore.
// The block is closed, so that heartbeats do not add up to one endless block.
func AppendComment(dst []byte, text string) []byte {
	dst = appendLines(dst, ": ", []byte(text))
	return append(dst, '\n')
}

// AppendRetry appends a block that asks readers to wait d, in whole milliseconds
// rounded up and not less than 0, before they reconnect.
func AppendRetry(dst []byte, d time.Duration) []byte {
	ms := max(0, d.Milliseconds())
	if d > 0 && d%time.Millisecond > 0 {
		ms++
	}
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, ms, 10)
	return append(dst, "\n\n"...)
}

// appendLines writes text under prefix, a line of its own for each of its lines;
// nothing in text can end the block. The space that ends prefix is the one that
// readers remove, so a space that begins text stays.
func appendLines(dst []byte, prefix string, text []byte) []byte {
	var b breaks
	for from := 0; ; {
		i := b.next(text, from)
		dst = append(dst, prefix...)
		dst = append(dst, text[from:i]...)
		dst = append(dst, '\n')
		if i == len(text) {
			return dst
		}
		if bytes.HasPrefix(text[i:], []byte("\r\n")) {
			i++
		}
		from = i + 1
	}
}

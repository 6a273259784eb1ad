package sse

import (
	"bytes"
	"errors"
	"strconv"
	"time"
)

var (
	errID    = errors.New("sse: write frame: the id contains CR, LF or NUL; write the frame without an id or with another one")
	errEvent = errors.New("sse: write frame: the event name contains CR, LF or NUL; write the frame with another name")
)

// AppendFrame appends f as one block, which a reader dispatches as exactly one frame. If f is Unended, it omits the blank line. If f.ID or f.Event
// contains CR, LF or NUL, it returns dst unchanged and an error.
//
// The reader gets f.Data back byte for byte, including leading spaces and LF at either end, if it
// contains no CR. Readers join data lines with LF, so CR and CRLF come back as LF. Invalid UTF-8
// is written as it is. An empty f.Event means "message"; an empty f.ID keeps the reader's last event
// ID.
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
	if f.Unended {
		return dst, nil
	}
	return append(dst, '\n'), nil
}

// AppendComment appends text as a block of comment lines, which readers ignore. A blank line ends the
// block. Without it, repeated comments would form one block without an end.
func AppendComment(dst []byte, text string) []byte {
	dst = appendLines(dst, ": ", []byte(text))
	return append(dst, '\n')
}

// AppendRetry appends a block that asks readers to wait d before they reconnect: whole milliseconds,
// rounded up, at least 0.
func AppendRetry(dst []byte, d time.Duration) []byte {
	ms := max(0, d.Milliseconds())
	if d > 0 && d%time.Millisecond > 0 {
		ms++
	}
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, ms, 10)
	return append(dst, "\n\n"...)
}

// appendLines appends each line of text as a line with prefix, so that a line break in text cannot end
// the block. prefix must end in a space. Readers remove one space, so a space at the start of text is
// preserved.
func appendLines(dst []byte, prefix string, text []byte) []byte {
	var b lineEnds
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

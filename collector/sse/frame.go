// Package sse frames Server-Sent Events in both directions, exactly as WHATWG HTML 9.2.5 and 9.2.6 say, in bounded memory.
package sse

import "fmt"

// DefaultLimit is the number of bytes a frame may have where NewReader is given no limit.
const DefaultLimit = 8 << 20

// Frame is one SSE block as dispatched. A Reader lends its byte slices: they
// are valid, and must not be changed, until the next call of Next.
type Frame struct {
	// ID is the last event id in force when the block was dispatched, its own
	// or that of an earlier block; empty if none.
	ID []byte
	// Event is the event field as sent; empty means "message".
	Event []byte
	// Data is the data lines joined with LF. The bytes are as sent: invalid
	// UTF-8 is not repaired, so that a strict reader of the payload can refuse
	// it (AppendValidUTF8 repairs).
	Data []byte
	// Size is the number of bytes on the wire from the block's first line to its
	// blank line. A blank line sent as CRLF counts one byte: the frame is out
	// before the LF is there. AppendFrame does not look at it.
	Size int
}

// Type returns the event's type as a browser has it: Event, or "message".
func (f Frame) Type() string {
	if len(f.Event) == 0 || string(f.Event) == "message" {
		return "message"
	}
	return string(f.Event)
}

// TooLargeError says that a block was over the Reader's limit and was skipped
// up to its blank line, or to the end of the stream. Nothing of it acted:
// neither its id, so that a resume asks for it again, nor its retry.
type TooLargeError struct {
	Limit int // bytes a frame may have
	Size  int // bytes that were skipped, counted as in Frame
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("sse: skipped a frame of %d bytes: the limit is %d; raise the frame limit to read it", e.Size, e.Limit)
}

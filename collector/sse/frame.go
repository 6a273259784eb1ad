// Package sse reads and writes Server-Sent Events exactly as WHATWG HTML 9.2.5 and 9.2.6 specify, in
// bounded memory.
package sse

import "fmt"

// DefaultLimit is the default maximum size of a frame, in bytes.
const DefaultLimit = 8 << 20

// Frame is one dispatched SSE block. A block is the lines up to a blank line. The byte slices of a Frame
// from a Reader belong to the Reader: they are valid until the next call of Next and must not be changed.
type Frame struct {
	// ID is the last event ID when the block was dispatched, which may come from an earlier block. It is
	// empty if there is none.
	ID []byte
	// Event is the event field as sent. Empty means "message".
	Event []byte
	// Data is the data lines joined with LF. Invalid UTF-8 is left as sent, so that a strict reader of
	// the payload can reject it.
	Data []byte
	// Size is the number of bytes on the wire from the block's first line other than a comment to its
	// blank line. A blank line that ends in CRLF counts as one byte, because the frame is dispatched
	// before the LF arrives. AppendFrame ignores Size.
	Size int
	// Unended means that the stream ended before the block's blank line. Readers that follow the standard drop such a frame. Others, such
	// as @ag-ui/client, do not.
	Unended bool
}

// Type returns the event's type as in a browser: Event, or "message".
func (f Frame) Type() string {
	if len(f.Event) == 0 || string(f.Event) == "message" {
		return "message"
	}
	return string(f.Event)
}

// TooLargeError reports a block over the Reader's limit, which was skipped up to its blank line or the
// end of the stream. Its retry field is ignored. Its id is ignored too: after a reconnection, the server
// sends the block again.
type TooLargeError struct {
	Limit int // maximum bytes of a frame
	Size  int // bytes that were skipped, counted as in Frame
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("sse: skipped a frame of %d bytes: the limit is %d; raise the frame limit to read it", e.Size, e.Limit)
}

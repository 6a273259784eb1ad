package sse

import "bytes"

// TruncatedBytes returns how many bytes of an incomplete frame were discarded at the end of the
// stream, after io.EOF or any other error. If only comments and retry lines were discarded, it
// returns 0. A block over the limit does not count, because it was already reported.
func (r *Reader) TruncatedBytes() int { return r.truncatedBytes }

// TakeUnended returns the frame of the incomplete block at the end of the stream, and whether the block has data. The data may lack its end.
// The caller owns it, and the reader no longer has it.
func (r *Reader) TakeUnended() (f Frame, hasData bool) {
	f, r.unended = r.unended, Frame{}
	return f, f.Unended
}

// finish ends the stream. It counts the bytes of an incomplete block. That block's id does not become the last event ID.
func (r *Reader) finish(err error) error {
	rest := r.buf[r.line:r.end]
	name, _, isNamed := bytes.Cut(rest, []byte(":"))
	isOfFrame := len(rest) > 0 && (!isNamed || isFrameField(name))
	if r.hasData || r.hasID || len(r.event) > 0 || isOfFrame {
		r.truncatedBytes = r.size + len(rest)
	}
	if isNamed && string(name) == "data" {
		r.field(rest)
	} else if isOfFrame {
		r.hasData = false // returns no frame: the cut line may be an event name, without which the data can be misread
	}
	if r.hasData {
		// The data has the capacity of the buffer, so that MemorySize can count it.
		r.unended = Frame{ID: bytes.Clone(r.id), Event: r.event, Data: r.buf[r.data:r.dataEnd], Size: r.size + len(rest), Unended: true}
		if r.hasID {
			r.unended.ID = r.newID
		}
		r.event, r.newID = nil, nil // they belong to the frame
	}
	r.buffer = buffer{err: err, beforeGrow: r.beforeGrow}
	r.lineEnds, r.lookahead = lineEnds{}, lookahead{}
	return err
}

// isFrameField reports whether a field with this name is a part of a frame.
func isFrameField(name []byte) bool {
	return string(name) == "data" || string(name) == "event" || string(name) == "id"
}

package sse

import "bytes"

// TruncatedBytes returns how many bytes of an incomplete frame were discarded at the end of the
// stream, after io.EOF or any other error. Comments and retry lines alone do not count, and neither does a block
// over the limit, which was already reported.
func (r *Reader) TruncatedBytes() int { return r.truncatedBytes }

// Unended returns the frame of the incomplete block at the end of the stream, and whether the block has data. The data may lack its end.
// The caller owns it.
func (r *Reader) Unended() (Frame, bool) { return r.unended, r.unended.Unended }

// finish ends the stream. An incomplete block is counted. Its id does not become the last event ID.
func (r *Reader) finish(err error) error {
	rest := r.buf[r.line:r.end]
	if r.hasData || r.hasID || len(r.event) > 0 || len(rest) > 0 && rest[0] != ':' {
		r.truncatedBytes = r.size + len(rest)
	}
	if isData := bytes.HasPrefix(rest, []byte("data")); isData {
		r.field(rest)
	} else if len(rest) > 0 {
		r.hasData = false // the line may be an event name, without which the data means something else
	}
	if r.hasData {
		r.unended = Frame{ID: bytes.Clone(r.id), Event: r.event, Data: r.buf[r.data:r.dataEnd:r.dataEnd], Size: r.size + len(rest), Unended: true}
		if r.hasID {
			r.unended.ID = r.newID
		}
	}
	r.buffer = buffer{err: err}
	r.lineEnds, r.lookahead = lineEnds{}, lookahead{}
	return err
}

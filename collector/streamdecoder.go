package collector

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
)

const (
	// maxUndecided and maxUndecidedTime bound how many frames are buffered, and for how long, until a
	// dialect recognizes the stream. Together these frames are no larger than one frame may be.
	maxUndecided     = 5
	maxUndecidedTime = time.Second

	// minOwnedFrame is the size in bytes of the smallest frame whose data is handed on instead of copied.
	minOwnedFrame = 32 << 10
)

// StreamDecoder reads a stream and decodes it frame by frame. It is for one goroutine at a time.
type StreamDecoder struct {
	settings Settings
	stream   *event.Stream
	input    Input
	reader   *sse.Reader
	detector *dialect.Detector
	decoder  dialect.Decoder // nil while the dialect is unknown
	table    *event.Table
	last     *event.Batch // nil if there is none or it was detached
	catchUp  catchUp
	turn     budget.Turn // while a large frame is decoded and used
	session  string
	offset   int64 // of the end of the frame or comment that Next returned last

	configured dialect.Dialect   // the only dialect named to Decode
	rivals     []dialect.Dialect // the others; nil once configured is confirmed
	foreign    bool              // the stream belongs to a rival

	pending    []pendingFrame // frames read before the dialect was known
	flushCount int            // how many of them Next returns before it reads on
	truncated  bool           // the stream ended inside a frame, and Next has yet to report it
	end        event.End
	err        error // of the reader
}

// pendingFrame is a frame that waits for its dialect to be known. It owns its bytes, unless detection ends
// with it: Next returns that frame before the reader reuses the bytes.
type pendingFrame struct {
	sse.Frame
	received time.Time
	offset   int64        // of the frame's end
	rejected event.Reason // why no dialect can decode it, or ""
}

// Decode returns a decoder for a stream of one of the named dialects, or of any dialect if none has one
// of the names. If only one dialect is named and a frame certainly belongs to another, the stream is
// rejected from that frame on.
func (c *Collector) Decode(s *event.Stream, in Input, names ...string) *StreamDecoder {
	d := &StreamDecoder{settings: c.settings, stream: s, input: in, reader: sse.NewReader(in, c.settings.MaxFrame)}
	if s.JoinedRun+s.JoinedSession != "" {
		d.catchUp.start(time.Time{})
	}
	d.reader.ReportComments(in.ReportComments)
	d.reader.BeforeGrow(in.BeforeGrow)
	var named, others []dialect.Dialect
	for _, candidate := range c.dialects {
		if slices.Contains(names, candidate.Name()) {
			named = append(named, candidate)
		} else {
			others = append(others, candidate)
		}
	}
	threshold := dialect.Yes
	if in.RequireSure { // even with one name, it may be no agent's stream at all
		threshold = dialect.Sure
	} else if len(named) == 1 {
		d.configured, d.rivals = named[0], others
		d.decide(d.configured)
	}
	if len(named) == 0 {
		named = c.dialects
	}
	d.detector = dialect.NewDetector(named, threshold)
	return d
}

// Next returns the batch of the next frame, even of one that cannot be decoded. The batch is valid until
// the next call unless it is detached. The batch of a large frame has a turn until ReleaseLarge is called.
// Next returns sse.ErrComment for a comment and sse.ErrNoData for a block without data, after which the stream continues. Any other error is the
// reader's own, io.EOF at the end, and final.
func (d *StreamDecoder) Next() (*event.Batch, error) {
	b, err := d.nextOfConnection()
	if err != nil && d.err != nil {
		d.closeDecoder()
	}
	return b, err
}

// nextOfConnection is Next for one connection: after a final error, the stream may continue over another one.
func (d *StreamDecoder) nextOfConnection() (*event.Batch, error) {
	for {
		switch {
		case d.flushCount > 0:
			return d.nextPending(), nil
		case d.truncated:
			d.truncated = false
			return d.lastFrame(), nil
		case d.err != nil:
			d.recycleLast()
			return nil, d.err
		}
		d.ReleaseLarge() // others may decode while this stream waits for its agent
		frame, err := d.reader.Next()
		d.offset = d.reader.Offset()
		if len(frame.Data) >= minOwnedFrame {
			frame = d.reader.Detach(frame)
			d.takeTurn(frame)
		}
		switch {
		case errors.Is(err, sse.ErrComment), errors.Is(err, sse.ErrNoData):
			return nil, err
		case err != nil:
			var tooLarge *sse.TooLargeError
			switch {
			case !errors.As(err, &tooLarge):
				d.finish(err)
			case len(d.pending) > 0:
				d.enqueue(pendingFrame{sse.Frame{Size: tooLarge.Size}, d.input.ReceivedAt(), d.offset, event.ReasonTooLarge})
			default:
				return d.reject(sse.Frame{Size: tooLarge.Size}, d.input.ReceivedAt(), event.ReasonTooLarge), nil
			}
		case d.input.SeenBefore != nil && d.input.SeenBefore(frame):
		case d.decoder != nil || d.input.RequireSure:
			return d.decodeIfKnown(frame), nil
		default:
			d.enqueue(pendingFrame{frame, d.input.ReceivedAt(), d.offset, ""})
		}
	}
}

// nextPending returns the batch of the first pending frame.
func (d *StreamDecoder) nextPending() *event.Batch {
	next := d.pending[0]
	d.pending[0] = pendingFrame{} // release its bytes: the array stays
	d.pending, d.flushCount, d.offset = d.pending[1:], d.flushCount-1, next.offset
	d.takeTurn(next.Frame)
	switch {
	case next.rejected != "":
		return d.reject(next.Frame, next.received, next.rejected)
	case d.decoder == nil:
		return d.reject(next.Frame, next.received, event.ReasonUnrecognized)
	}
	return d.decode(next.Frame, next.received)
}

// Ready reports whether Next returns without waiting for the stream.
func (d *StreamDecoder) Ready() bool { return d.flushCount > 0 || d.decoder != nil && d.reader.Ready() }

// Offset returns where the frame, comment or block without data that Next returned last ends in the stream.
func (d *StreamDecoder) Offset() int64 { return d.offset }

// ReceivedAt returns when the last bytes were read; it is zero if the source has no clock.
func (d *StreamDecoder) ReceivedAt() time.Time { return d.input.ReceivedAt() }

// MemorySize returns the bytes of memory that reading the stream takes, without the last batch.
func (d *StreamDecoder) MemorySize() int {
	return d.reader.MemorySize() + d.pendingSize()
}

// pendingSize returns the size in bytes of the frames that wait until the dialect is known.
func (d *StreamDecoder) pendingSize() (n int) {
	for _, frame := range d.pending {
		n += cap(frame.Data)
	}
	return n
}

// takeTurn waits until a large frame may be decoded.
func (d *StreamDecoder) takeTurn(frame sse.Frame) {
	d.EndTurn()
	if d.settings.Turns != nil && len(frame.Data) >= event.LargeFrame {
		d.turn = d.settings.Turns.Take(event.DecodingSize(frame.Data))
	}
}

// EndTurn lets other streams decode large frames. It is for use after a panic; otherwise call ReleaseLarge.
func (d *StreamDecoder) EndTurn() { d.turn.End() }

// ReleaseLarge drops the last batch if its frame is large, and ends its turn. The batch must not be used
// any more.
func (d *StreamDecoder) ReleaseLarge() {
	if d.last != nil && len(d.last.Frame.Data) >= minOwnedFrame {
		d.recycleLast()
	}
	d.EndTurn()
}

// End returns why the stream ended. It is valid after Next has returned a final error.
func (d *StreamDecoder) End() event.End { return d.end }

// StopReading ends the stream after the bytes that have already been read from its source.
func (d *StreamDecoder) StopReading() { d.reader.StopReading() }

// Retry returns the reconnection time that the stream asked for, and whether it asked for one.
func (d *StreamDecoder) Retry() (time.Duration, bool) { return d.reader.Retry() }

// IDAlone returns the last event ID. alone reports whether a block without data and without an event name has set it after the last frame.
func (d *StreamDecoder) IDAlone() (id []byte, alone bool) { return d.reader.IDAlone() }

// resume continues the stream with the bytes of another connection.
func (d *StreamDecoder) resume(in Input) {
	d.input, d.err, d.truncated = in, nil, false
	d.reader.Resume(in)
}

// finish handles the end of the stream: it decides the dialect of pending frames and reports a truncated
// frame, unless the client disconnected, which can cut the stream anywhere.
func (d *StreamDecoder) finish(err error) {
	d.err = err
	if d.input.End != nil {
		d.end = d.input.End()
	}
	if likely := d.detector.MostLikely(); d.decoder == nil && likely != nil && len(d.pending) > 0 {
		d.decide(likely)
	}
	d.flushCount = len(d.pending)
	d.truncated = d.reader.TruncatedBytes() > 0 && (d.end == event.EndOfStream || d.end == event.EndBroken)
}

// lastFrame returns the batch of a frame whose blank line is missing. It is truncated unless it can be decoded.
func (d *StreamDecoder) lastFrame() *event.Batch {
	isKnown := d.decoder != nil || d.input.RequireSure
	if frame, hasData := d.reader.TakeUnended(); hasData && isKnown && d.end == event.EndOfStream && errors.Is(d.err, io.EOF) {
		d.takeTurn(frame)
		if b := d.decodeIfKnown(frame); b.Rejected == "" {
			d.offset += int64(d.reader.TruncatedBytes())
			return b
		}
	}
	return d.reject(sse.Frame{}, d.input.ReceivedAt(), event.ReasonTruncated)
}

// begin starts the batch of a frame.
func (d *StreamDecoder) begin(frame sse.Frame, received time.Time) *event.Batch {
	if d.last == nil {
		d.last = batchPool.Get().(*event.Batch)
	}
	if len(frame.Data) >= minOwnedFrame {
		d.last.BeginOwned(d.stream, frame, received)
	} else {
		d.last.Begin(d.stream, frame, received)
	}
	d.last.Replayed = d.catchUp.includes(received)
	d.last.Table = d.table
	return d.last
}

// parse parses the frame's data as strict JSON. If the data is plain text, the JSON does not exist.
func (d *StreamDecoder) parse(b *event.Batch) dialect.Frame {
	refused := b.Parse(d.settings.MaxJSONDepth)
	return dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: refused}
}

// decodeIfKnown decodes a frame if the dialect is known, or if one surely recognizes the frame. Otherwise the frame is unrecognized.
func (d *StreamDecoder) decodeIfKnown(frame sse.Frame) *event.Batch {
	received := d.input.ReceivedAt()
	if d.decoder == nil {
		found := d.detect(frame)
		if found == nil {
			d.last.Received, d.last.Rejected = received, event.ReasonUnrecognized
			return d.last // with the frame's JSON, which a relay searches for internal names
		}
		d.decide(found)
	}
	return d.decode(frame, received)
}

func (d *StreamDecoder) decode(frame sse.Frame, received time.Time) *event.Batch {
	b := d.begin(frame, received)
	f := d.parse(b)
	foreign := d.isForeign(f)
	b.Table, b.Dialect = d.table, d.stream.Dialect
	if foreign {
		b.Rejected = event.ReasonForeign
		return b
	}
	d.decodeSafely(f, b)
	if len(b.Session) > event.MaxSession {
		b.Session = ""
	}
	if d.stream.SingleRun { // all frames belong to one session, even those that do not name it
		d.session = cmp.Or(b.Session, d.session)
		b.Session = d.session
	}
	return b
}

// decodeSafely decodes a frame and rejects it if the decoder panics.
func (d *StreamDecoder) decodeSafely(f dialect.Frame, b *event.Batch) {
	defer d.settings.Panics.Recover(recovery.Decoder, func() {
		b.Events, b.Rejected, b.Type = b.Events[:0], event.ReasonPanic, ""
	})
	d.decoder.Decode(f, b)
	if b.TooManyEvents() {
		b.Events, b.Rejected = nil, event.ReasonTooLarge
	}
}

// closeDecoder tells the decoder that the stream has ended.
func (d *StreamDecoder) closeDecoder() {
	defer d.settings.Panics.Recover(recovery.Decoder, nil)
	if closer, is := d.decoder.(dialect.Closer); is {
		closer.Close()
	}
}

// reject returns the batch of a frame that is not decoded. The decoder learns of a frame over the size
// limit, because frames that continue it may have to be withheld.
func (d *StreamDecoder) reject(frame sse.Frame, received time.Time, reason event.Reason) *event.Batch {
	b := d.begin(frame, received)
	if reason == event.ReasonTooLarge && d.decoder != nil {
		d.decodeSafely(dialect.Frame{Frame: frame, Malformed: reason}, b)
		b = d.begin(frame, received) // without what it may have added
	}
	b.Rejected, b.Table = reason, d.table
	return b
}

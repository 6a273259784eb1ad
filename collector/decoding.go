package collector

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
)

// How many frames are kept, and for how long, while no dialect is sure of the stream.
const (
	maxUndecided     = 5
	maxUndecidedTime = time.Second
)

// Decoding is a stream being read, batch by batch.
type Decoding struct {
	settings Settings
	stream   *event.Stream
	input    Input
	reader   *sse.Reader
	detector *dialect.Detector
	decoder  dialect.Decoder
	table    *event.Table
	at       *event.Batch // the last one; nil if there is none or it was detached
	session  string
	offset   int64 // of the end of what Next returned last

	claims  []dialect.Dialect // all others, while nothing but a name says whose stream it is
	own     dialect.Dialect   // that of the name
	foreign bool              // it is another's

	held     []heldFrame // wait for their dialect to be known
	released int         // how many of them are to be decoded, or given up, before anything else
	cut      bool        // the stream ended inside a frame, which is yet to be said
	end      event.End
	err      error // the reader's last
}

// heldFrame waits with bytes of its own.
type heldFrame struct {
	sse.Frame
	received time.Time
	offset   int64        // of its end
	refused  event.Reason // why it cannot be decoded in any dialect, or ""
}

// Decode begins to read a stream, which is of one of the named dialects, or of any where no dialect has one of the names. A stream
// of the only one named is refused from the first frame on that surely is another's.
func (c *Collector) Decode(s *event.Stream, in Input, names ...string) *Decoding {
	d := &Decoding{settings: c.settings, stream: s, input: in, reader: sse.NewReader(in, c.settings.Frame)}
	d.reader.ReportComments(in.Comments)
	var named, others []dialect.Dialect
	for _, candidate := range c.dialects {
		if slices.Contains(names, candidate.Name()) {
			named = append(named, candidate)
		} else {
			others = append(others, candidate)
		}
	}
	enough := dialect.Yes
	if in.Sure {
		enough = dialect.Sure
	}
	switch len(named) {
	case 0:
		d.detector = dialect.NewDetector(c.dialects, enough)
	case 1:
		if !in.Sure { // else it need not be an agent's at all
			d.decide(named[0])
			d.own, d.claims = named[0], others
		}
		fallthrough
	default:
		d.detector = dialect.NewDetector(named, enough)
	}
	return d
}

// Next returns the batch of the next frame, also of one that could not be decoded. It is valid until the call after it, unless it is
// detached. The error is the reader's own, io.EOF at the end, and final; or sse.ErrComment, which is neither.
func (d *Decoding) Next() (*event.Batch, error) {
	for {
		switch {
		case d.released > 0:
			h := d.held[0]
			d.held[0] = heldFrame{} // the array outlives it
			d.held, d.released, d.offset = d.held[1:], d.released-1, h.offset
			switch {
			case h.refused != "":
				return d.reject(h.Frame, h.received, h.refused), nil
			case d.decoder == nil:
				return d.reject(h.Frame, h.received, event.ReasonUnrecognised), nil
			}
			return d.decode(h.Frame, h.received), nil
		case d.cut:
			d.cut = false
			return d.reject(sse.Frame{}, d.input.Arrival(), event.ReasonTruncated), nil
		case d.err != nil:
			d.release()
			return nil, d.err
		}
		frame, err := d.reader.Next()
		d.offset = d.reader.Offset()
		switch {
		case errors.Is(err, sse.ErrComment):
			return nil, err
		case err != nil:
			var tooLarge *sse.TooLargeError
			if !errors.As(err, &tooLarge) {
				d.settle(err)
			} else if len(d.held) > 0 {
				d.hold(heldFrame{sse.Frame{Size: tooLarge.Size}, d.input.Arrival(), d.offset, event.ReasonTooLarge})
			} else {
				return d.reject(sse.Frame{Size: tooLarge.Size}, d.input.Arrival(), event.ReasonTooLarge), nil
			}
		case d.input.Known != nil && d.input.Known(frame):
		case d.decoder != nil:
			return d.decode(frame, d.input.Arrival()), nil
		case d.input.Sure:
			found := d.ask(frame)
			if found == nil {
				b := d.at // with the frame's JSON, in which a relay looks for what calls itself internal
				b.Received, b.Rejected = d.input.Arrival(), event.ReasonUnrecognised
				return b, nil
			}
			d.decide(found)
			return d.decode(frame, d.input.Arrival()), nil
		default:
			d.hold(heldFrame{frame, d.input.Arrival(), d.offset, ""})
		}
	}
}

// Ready says whether Next returns without waiting for the stream.
func (d *Decoding) Ready() bool { return d.released > 0 || d.decoder != nil && d.reader.Ready() }

// Withholds reports whether the last frame, of which no dialect is sure, is one that a dialect which it may be of keeps from clients, or has
// a member that it does.
// After a panic it is.
func (d *Decoding) Withholds() (withholds bool) {
	defer d.settings.Panics.Recover(recovery.Detector, func() { withholds = true })
	for _, candidate := range d.detector.Unsure() {
		b := spare.Get().(*event.Batch)
		b.Begin(d.stream, d.at.Frame, d.at.Received)
		f := d.parse(b)
		candidate.New(d.stream).Decode(f, b)
		table := candidate.Table()
		withholds = b.Rejected == "" && !table.Types[b.Type].Client || generous.HasMember(f.JSON, table.Inner)
		b.Reset()
		spare.Put(b)
		if withholds {
			return true
		}
	}
	return false
}

// Offset returns where in the stream the frame or comment ends that Next returned last.
func (d *Decoding) Offset() int64 { return d.offset }

// Held returns the bytes of memory that are held to read the stream, without the last batch.
func (d *Decoding) Held() int { return d.reader.Held() }

// End is how the stream ended, once Next has said that it did.
func (d *Decoding) End() event.End { return d.end }

// Cut reads no more of the stream: Next goes on with what has been read, and then ends.
func (d *Decoding) Cut() { d.reader.Cut() }

// Retry is how long the stream asked its readers to wait before they come back, and whether it did.
func (d *Decoding) Retry() (time.Duration, bool) { return d.reader.Retry() }

// resume goes on with the bytes of another connection.
func (d *Decoding) resume(in Input) {
	d.input, d.err, d.cut = in, nil, false
	d.reader.Resume(in)
}

// hold keeps a frame of a yet unknown stream until a dialect is sure of it, or it has waited too long.
func (d *Decoding) hold(h heldFrame) {
	var found dialect.Dialect
	if h.refused == "" {
		found = d.ask(h.Frame)
	}
	late := len(d.held) > 0 && h.received.Sub(d.held[0].received) > maxUndecidedTime
	if found == nil && (late || len(d.held) == maxUndecided) {
		if found = d.detector.Likely(); found == nil {
			d.released = len(d.held)
		}
	}
	if found != nil {
		d.decide(found)
		d.held = append(d.held, h) // released before the reader is asked again: its bytes may be borrowed
		d.released = len(d.held)
		return
	}
	h.ID, h.Event, h.Data = slices.Clone(h.ID), slices.Clone(h.Event), slices.Clone(h.Data)
	d.held = append(d.held, h)
}

// ask shows a frame to the dialects. One that panics knows nothing of it.
func (d *Decoding) ask(frame sse.Frame) (found dialect.Dialect) {
	defer d.settings.Panics.Recover(recovery.Detector, nil)
	return d.detector.Ask(d.parse(d.begin(frame, time.Time{})))
}

// decide is for good: a stream does not change its dialect.
func (d *Decoding) decide(found dialect.Dialect) {
	d.stream.Dialect = found.Name()
	d.decoder, d.table = found.New(d.stream), found.Table()
}

// settle deals with what is left at the end: frames that nobody was sure of, and half a frame. A client that leaves cuts the
// stream anywhere, which is nobody's mistake.
func (d *Decoding) settle(err error) {
	d.err = err
	if d.input.End != nil {
		d.end = d.input.End()
	}
	if likely := d.detector.Likely(); d.decoder == nil && likely != nil && len(d.held) > 0 {
		d.decide(likely)
	}
	d.released = len(d.held)
	d.cut = d.reader.Truncated() > 0 && (d.end == event.EndOfStream || d.end == event.EndBroken)
}

// begin starts the batch of a frame.
func (d *Decoding) begin(frame sse.Frame, received time.Time) *event.Batch {
	if d.at == nil {
		d.at = spare.Get().(*event.Batch)
	}
	d.at.Begin(d.stream, frame, received)
	return d.at
}

// parse reads the frame's data strictly; dialects with plain text find no JSON in it.
func (d *Decoding) parse(b *event.Batch) dialect.Frame {
	refused := b.Parse(d.settings.JSONDepth)
	return dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: refused}
}

func (d *Decoding) decode(frame sse.Frame, received time.Time) *event.Batch {
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
	if d.stream.Answer { // one conversation, whether each frame names it or not
		d.session = cmp.Or(b.Session, d.session)
		b.Session = d.session
	}
	return b
}

// isForeign says whether a stream that somebody said to be of one dialect is of another.
func (d *Decoding) isForeign(f dialect.Frame) bool {
	if d.foreign || d.claims == nil {
		return d.foreign
	}
	defer d.settings.Panics.Recover(recovery.Detector, nil) // a dialect that panics knows nothing of it
	switch answer := d.own.Detect(f); {
	case answer >= dialect.Yes:
		d.claims = nil
	case answer == dialect.No:
		if other := dialect.NewDetector(d.claims, dialect.Yes).Ask(f); other != nil {
			if d.input.Suggested {
				d.claims = nil
				d.decide(other)
				return false
			}
			d.foreign = true
			if d.settings.Foreign != nil {
				d.settings.Foreign(d.stream, other.Name())
			}
		}
	}
	return d.foreign
}

// decodeSafely turns a decoder's panic into a frame that could not be decoded: nothing on the wire may end the process.
func (d *Decoding) decodeSafely(f dialect.Frame, b *event.Batch) {
	defer d.settings.Panics.Recover(recovery.Decoder, func() {
		b.Events, b.Rejected, b.Type = b.Events[:0], event.ReasonPanic, ""
	})
	d.decoder.Decode(f, b)
	if b.Overfull() {
		b.Events, b.Rejected = nil, event.ReasonShape
	}
}

func (d *Decoding) reject(frame sse.Frame, received time.Time, reason event.Reason) *event.Batch {
	b := d.begin(frame, received)
	b.Rejected, b.Table = reason, d.table
	return b
}

// Package collector turns the bytes of an agent's stream into batches of events and hands them to a sink, whatever the bytes are.
package collector

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Settings bound what one stream may cost; all must be positive.
type Settings struct {
	Frame     int // bytes of one frame
	JSONDepth int
	Proof     proof.Limits
}

// maxUndecided is how many frames are kept while no dialect is sure of the stream.
const maxUndecided = 5

// Collector reads streams.
type Collector struct {
	dialects []dialect.Dialect
	settings Settings
	sink     event.Sink
}

// New reads streams in any of the dialects, which are asked in their order.
func New(dialects []dialect.Dialect, settings Settings, sink event.Sink) *Collector {
	return &Collector{dialects: dialects, settings: settings, sink: sink}
}

// Input is a stream's bytes and, where it is live, the time at which those last read were received.
type Input struct {
	io.Reader
	Arrival func() time.Time // nil where the source has no clock
	End     func() event.End // asked at the end of the bytes; nil means that they came to their own end
}

// Observe reads a stream to its end, from Sink.Open to Sink.Close. The error is the reader's own, if it is not io.EOF.
// Dialect is a name to be used, or "" to find out.
func (c *Collector) Observe(s *event.Stream, in Input, name string) error {
	o := &observation{
		Collector: c,
		stream:    s,
		reader:    sse.NewReader(in, c.settings.Frame),
		detector:  dialect.NewDetector(c.dialects),
		arrival:   in.Arrival,
	}
	if o.arrival == nil {
		o.arrival = func() time.Time { return time.Time{} }
	}
	if i := slices.IndexFunc(c.dialects, func(d dialect.Dialect) bool { return d.Name() == name }); i >= 0 {
		o.decide(c.dialects[i])
	}
	c.sink.Open(s)
	end := event.EndUnobserved // unless we get to the end
	defer func() { c.sink.Close(s, end, o.arrival()) }()
	err := o.read()
	end = event.EndOfStream
	if in.End != nil {
		end = in.End()
	}
	o.settle(end)
	return err
}

// observation is one stream being read.
type observation struct {
	*Collector
	stream   *event.Stream
	reader   *sse.Reader
	detector *dialect.Detector
	decoder  dialect.Decoder
	arrival  func() time.Time
	doc      strictjson.Doc
	batch    event.Batch
	held     []heldFrame
}

// heldFrame waits, with bytes of its own, for its dialect to be known.
type heldFrame struct {
	sse.Frame
	received time.Time
}

func (o *observation) read() error {
	for {
		frame, err := o.reader.Next()
		var tooLarge *sse.TooLargeError
		switch {
		case errors.As(err, &tooLarge):
			o.reject(sse.Frame{Size: int(tooLarge.Size)}, event.ReasonTooLarge)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case o.decoder == nil:
			o.ask(frame)
		default:
			o.decode(frame, o.arrival())
		}
	}
}

// ask shows a frame of a yet unknown stream to the dialects.
func (o *observation) ask(frame sse.Frame) {
	if found := o.detector.Ask(o.parse(frame)); found != nil {
		o.decide(found)
		o.release()
		o.decode(frame, o.arrival())
		return
	}
	if len(o.held) < maxUndecided {
		frame.ID, frame.Event, frame.Data = slices.Clone(frame.ID), slices.Clone(frame.Event), slices.Clone(frame.Data)
		o.held = append(o.held, heldFrame{frame, o.arrival()})
		return
	}
	if likely := o.detector.Likely(); likely != nil {
		o.decide(likely)
		o.release()
		o.decode(frame, o.arrival())
		return
	}
	o.release()
	o.reject(frame, event.ReasonUnrecognised)
}

// decide is for good: a stream does not change its dialect.
func (o *observation) decide(d dialect.Dialect) {
	o.stream.Dialect = d.Name()
	o.decoder = d.New(o.stream)
}

// release decodes the frames that waited, or gives them up where the stream is nobody's.
func (o *observation) release() {
	for _, h := range o.held {
		if o.decoder == nil {
			o.reject(h.Frame, event.ReasonUnrecognised)
		} else {
			o.decode(h.Frame, h.received)
		}
	}
	o.held = o.held[:0]
}

// settle deals with what is left at the end: frames that nobody was sure of, and half a frame. A client that leaves cuts the
// stream anywhere, which is nobody's mistake.
func (o *observation) settle(end event.End) {
	if o.decoder == nil {
		if likely := o.detector.Likely(); likely != nil {
			o.decide(likely)
		}
		o.release()
	}
	if o.reader.Truncated() > 0 && end == event.EndOfStream {
		o.reject(sse.Frame{}, event.ReasonTruncated)
	}
}

// parse reads a frame's data strictly; dialects with plain text find no JSON in it.
func (o *observation) parse(frame sse.Frame) dialect.Frame {
	f := dialect.Frame{Frame: frame}
	if err := o.doc.Parse(frame.Data, o.settings.JSONDepth); err != nil {
		var refused *strictjson.Error
		errors.As(err, &refused)
		f.Malformed = event.Reason(refused.Reason)
		return f
	}
	f.JSON = o.doc.Root()
	return f
}

func (o *observation) decode(frame sse.Frame, received time.Time) {
	b := o.begin(frame, received)
	o.decodeSafely(o.parse(frame), b)
	proof.Annotate(b, o.settings.Proof)
	o.sink.Consume(b)
}

// decodeSafely turns a decoder's panic into a frame that could not be decoded: nothing on the wire may end the process.
func (o *observation) decodeSafely(f dialect.Frame, b *event.Batch) {
	defer func() {
		if recover() != nil {
			b.Events, b.Rejected = b.Events[:0], event.ReasonPanic
		}
	}()
	o.decoder.Decode(f, b)
}

func (o *observation) reject(frame sse.Frame, reason event.Reason) {
	b := o.begin(frame, o.arrival())
	b.Rejected = reason
	o.sink.Consume(b)
}

func (o *observation) begin(frame sse.Frame, received time.Time) *event.Batch {
	o.batch = event.Batch{Stream: o.stream, Frame: frame, Received: received, Events: o.batch.Events[:0]}
	return &o.batch
}

// Package collector turns the bytes of an agent's stream into batches of events and hands them to a sink, whatever the bytes are.
package collector

import (
	"errors"
	"io"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
)

// Settings bound what one stream may cost; all must be positive.
type Settings struct {
	Frame     int // bytes of one frame
	JSONDepth int
	Proof     proof.Limits

	// Foreign is told of a stream of another dialect than that which its source, or its path, says; nil where nobody asks.
	Foreign func(s *event.Stream, found string)

	// Unrecognized is called at the end of a stream that no dialect recognized, on a path that need not be an agent's. It may be nil.
	Unrecognized func(s *event.Stream)

	// Panics records the panics of dialects. Nil recovers them without a record.
	Panics *recovery.Recorder
}

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
	Arrival   func() time.Time // of no use where the source has no clock
	End       func() event.End // asked at the end of the bytes; nil means that they came to their own end
	Sure      bool             // the stream need not be an agent's: until a dialect is Sure, each frame is unrecognised at once, and none is held
	Comments  bool             // comments are told of, as sse.ErrComment
	Suggested bool             // only a path says whose stream it is: what surely is another dialect's is that dialect's
	Consumed  *int64           // set by Observe to the bytes of the frames that the sink has consumed; may be nil

	// Known says of a frame that it was read before, on an earlier connection of the same stream; nil where none can have been.
	Known func(sse.Frame) bool
}

// Position is where a stream was interrupted.
type Position struct {
	LastEventID string
	Retry       time.Duration // that the stream asked for, where Asked
	Asked       bool
	Frames      int // that the connection brought
}

// Follow reads a stream over many connections as one, from Sink.Open to Sink.Close. It asks connect for the first and after each
// interruption; the error of connect ends the stream, and is returned unless it is io.EOF. The names are as for Decode.
func (c *Collector) Follow(s *event.Stream, now func() time.Time, connect func(Position) (Input, error), names ...string) error {
	d := c.Decode(s, Input{Reader: eof{}, Arrival: now}, names...)
	c.sink.Open(s)
	end := event.EndUnobserved // unless we get to the end
	defer func() { c.sink.Close(s, end, now()) }()
	var at Position
	for {
		in, err := connect(at)
		switch {
		case errors.Is(err, io.EOF):
			end = event.EndOfStream
			return nil
		case err != nil:
			end = event.EndShutdown
			return err
		}
		in.End = func() event.End { return event.EndShutdown } // a frame that is cut will come again
		d.resume(in)
		at = Position{}
		for b, err := d.Next(); err == nil; b, err = d.Next() {
			at.Frames++
			c.consume(b)
		}
		at.LastEventID = d.reader.LastEventID()
		at.Retry, at.Asked = d.reader.Retry()
	}
}

// consume hands a batch to the sink, with what its answers say about themselves. That is read here and not with the rest of a frame,
// because it can take long for long texts, and a filtered relay decodes frames on their way to the client.
func (c *Collector) consume(b *event.Batch) {
	c.annotate(b)
	c.sink.Consume(b)
}

// annotate adds nothing after a panic.
func (c *Collector) annotate(b *event.Batch) {
	n := len(b.Events)
	defer c.settings.Panics.Recover(recovery.Decoder, func() { b.Events = b.Events[:n] })
	proof.Annotate(b, c.settings.Proof)
}

// eof is the bytes before the first connection.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// Observe reads a stream to its end, from Sink.Open to Sink.Close. A stream that need not be an agent's is opened when a dialect is sure
// of it; without that the sink never learns of it. The error is the reader's own, if it is not io.EOF.
// The names are as for Decode.
func (c *Collector) Observe(s *event.Stream, in Input, names ...string) error {
	if in.Arrival == nil {
		in.Arrival = func() time.Time { return time.Time{} }
	}
	d := c.Decode(s, in, names...)
	end := event.EndUnobserved // unless we get to the end
	opened, foreign := false, false
	open := func() {
		if !opened {
			opened, foreign = true, false
			c.sink.Open(s)
		}
	}
	if !in.Sure {
		open()
	}
	defer func() {
		if foreign && c.settings.Unrecognized != nil {
			c.settings.Unrecognized(s)
		}
		if opened {
			c.sink.Close(s, end, in.Arrival())
		}
	}()
	for {
		b, err := d.Next()
		if err == nil {
			if in.Sure && d.decoder == nil {
				foreign = true
			} else {
				open()
				c.consume(b)
			}
			if in.Consumed != nil {
				*in.Consumed = d.Offset()
			}
			continue
		}
		end = d.end
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
}

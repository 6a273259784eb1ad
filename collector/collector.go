// Package collector reads agents' streams, decodes their frames into batches of events and passes these
// to an event.Sink. Observe reads one connection; Follow reads a stream over many connections. Input may
// be any bytes.
package collector

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
)

// Settings limit the cost of one stream. The limits must be positive; the functions may be nil.
type Settings struct {
	MaxFrame     int // bytes of one frame
	MaxJSONDepth int
	Proof        proof.Limits
	Turns        *budget.Turns // for the decoding of large frames; nil means no bound

	// OnForeign is called when a stream turns out to have the dialect found instead of that of its source
	// or path.
	OnForeign func(s *event.Stream, found string)

	// OnUnrecognized is called at the end of a stream that no dialect recognized, if its input has
	// RequireSure set.
	OnUnrecognized func(s *event.Stream)

	// Panics records the panics of dialects. Nil recovers them without a record.
	Panics *recovery.Recorder
}

// Collector reads streams.
type Collector struct {
	dialects []dialect.Dialect
	settings Settings
	sink     event.Sink
}

// New returns a Collector that tries the dialects in their order.
func New(dialects []dialect.Dialect, settings Settings, sink event.Sink) *Collector {
	return &Collector{dialects: dialects, settings: settings, sink: sink}
}

// Input holds the bytes of a stream and how to read them.
type Input struct {
	io.Reader

	ReceivedAt func() time.Time // when the last bytes were read; zero if the source has no clock
	End        func() event.End // called at the end of the bytes; nil means EndOfStream

	// RequireSure is for a stream that may not be an agent's. Until a dialect answers Sure, each frame
	// is rejected at once as unrecognized.
	RequireSure bool

	ReportComments  bool   // return sse.ErrComment for comments
	DialectFromPath bool   // the named dialect is only a guess from the path: switch to another one if a frame belongs to it
	ConsumedBytes   *int64 // Observe stores here how many bytes of frames the sink has consumed; may be nil

	// BeforeGrow is called before a large frame takes more memory, with the new size of the buffer in
	// bytes. The stream is not read while it blocks. It may be nil.
	BeforeGrow func(size int)

	// SeenBefore reports whether a frame was already read on an earlier connection of the stream. Such
	// frames are skipped. It may be nil.
	SeenBefore func(sse.Frame) bool
}

// Position says where a stream was interrupted.
type Position struct {
	LastEventID string
	Retry       time.Duration // the reconnection time that the stream asked for; valid only if HasRetry
	HasRetry    bool
	Frames      int // number of frames on the connection
}

// Follow reads a stream over many connections as one, from Sink.Open to Sink.Close. It calls connect for
// the first connection and after each interruption. An error of connect ends the stream; Follow returns
// it unless it is io.EOF. Follow uses only Reader, ReceivedAt and SeenBefore of an Input; ReceivedAt must
// not be nil. The names are those of Decode.
func (c *Collector) Follow(s *event.Stream, now func() time.Time, connect func(Position) (Input, error), names ...string) error {
	d := c.Decode(s, Input{Reader: strings.NewReader(""), ReceivedAt: now}, names...)
	defer d.EndTurn() // after a panic
	c.sink.Open(s)
	end := event.EndUnobserved // if a panic ends the loop
	defer func() { c.sink.Close(s, end, now()) }()
	defer d.closeDecoder() // not at the end of a connection: the next one may continue a run
	var at Position
	for reconnects := false; ; reconnects = true {
		in, err := connect(at)
		switch {
		case errors.Is(err, io.EOF):
			end = event.EndOfStream
			return nil
		case err != nil:
			end = event.EndShutdown
			return err
		}
		in.End = func() event.End { return event.EndShutdown } // a cut frame is not an error: the agent sends it again
		if d.resume(in); reconnects {
			d.catchUp.start(now())
		}
		at = Position{}
		for b, err := d.nextOfConnection(); err == nil; b, err = d.nextOfConnection() {
			at.Frames++
			c.consume(b)
			d.ReleaseLarge()
		}
		at.LastEventID = d.reader.LastEventID()
		at.Retry, at.HasRetry = d.reader.Retry()
	}
}

// consume annotates a batch and passes it to the sink. Decode does not annotate, because that can take
// long for a long text and a filtered relay decodes frames on their way to the client.
func (c *Collector) consume(b *event.Batch) {
	c.annotate(b)
	c.sink.Consume(b)
}

// annotate adds the confidences and sources that the batch's answers state, or nothing after a panic.
func (c *Collector) annotate(b *event.Batch) {
	n := len(b.Events)
	defer c.settings.Panics.Recover(recovery.Decoder, func() { b.Events = b.Events[:n] })
	proof.Annotate(b, c.settings.Proof)
}

// Observe reads a stream to its end, from Sink.Open to Sink.Close. If the input has RequireSure set, the
// stream is opened when a dialect is sure of it, and not at all otherwise. The error is that of the
// input's reader, unless it is io.EOF. The names are those of Decode.
func (c *Collector) Observe(s *event.Stream, in Input, names ...string) error {
	if in.ReceivedAt == nil {
		in.ReceivedAt = func() time.Time { return time.Time{} }
	}
	d := c.Decode(s, in, names...)
	defer d.EndTurn()          // after a panic
	end := event.EndUnobserved // if a panic ends the loop
	opened, unrecognized := false, false
	open := func() {
		if !opened {
			opened = true
			c.sink.Open(s)
		}
	}
	if !in.RequireSure {
		open()
	}
	defer func() {
		if opened {
			c.sink.Close(s, end, in.ReceivedAt())
		} else if unrecognized && c.settings.OnUnrecognized != nil {
			c.settings.OnUnrecognized(s)
		}
	}()
	for {
		b, err := d.Next()
		if err != nil {
			end = d.end
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if in.RequireSure && d.decoder == nil {
			unrecognized = true
		} else {
			open()
			c.consume(b)
		}
		if in.ConsumedBytes != nil {
			*in.ConsumedBytes = d.Offset()
		}
		d.ReleaseLarge()
	}
}

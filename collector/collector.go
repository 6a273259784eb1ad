// Package collector turns the bytes of an agent's stream into batches of events and hands them to a sink, whatever the bytes are.
package collector

import (
	"errors"
	"io"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
)

// Settings bound what one stream may cost; all must be positive.
type Settings struct {
	Frame     int // bytes of one frame
	JSONDepth int
	Proof     proof.Limits
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
	Arrival  func() time.Time // of no use where the source has no clock
	End      func() event.End // asked at the end of the bytes; nil means that they came to their own end
	Sure     bool             // until a dialect says Yes, each frame is unrecognised at once, and none is held
	Comments bool             // comments are told of, as sse.ErrComment
}

// Observe reads a stream to its end, from Sink.Open to Sink.Close. The error is the reader's own, if it is not io.EOF.
// The names are as for Decode.
func (c *Collector) Observe(s *event.Stream, in Input, names ...string) error {
	if in.Arrival == nil {
		in.Arrival = func() time.Time { return time.Time{} }
	}
	d := c.Decode(s, in, names...)
	c.sink.Open(s)
	end := event.EndUnobserved // unless we get to the end
	defer func() { c.sink.Close(s, end, in.Arrival()) }()
	for {
		b, err := d.Next()
		if err == nil {
			c.sink.Consume(b)
			continue
		}
		end = d.end
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
}

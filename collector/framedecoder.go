package collector

import (
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
)

// FrameDecoder decodes the frames of one stream whose dialect is known. It is for frames that passed the
// filter and that a subscriber wants in another format.
type FrameDecoder struct {
	settings Settings
	stream   *event.Stream
	table    *event.Table
	decoder  dialect.Decoder
	batch    *event.Batch
	session  string
}

// NewFrameDecoder returns a decoder for one stream. If singleRun is set, all frames of the stream
// belong to one session.
func NewFrameDecoder(d dialect.Dialect, singleRun bool, settings Settings) *FrameDecoder {
	stream := &event.Stream{Dialect: d.Name(), SingleRun: singleRun}
	return &FrameDecoder{settings: settings, stream: stream, table: d.Table(), decoder: d.New(stream)}
}

// Decode returns the batch of a frame, which stays valid.
func (d *FrameDecoder) Decode(frame sse.Frame) *event.Batch {
	d.batch = new(event.Batch)
	defer func() { d.batch = nil }() // a large one would stay in memory until the next frame
	d.batch.Begin(d.stream, frame, time.Time{})
	d.batch.Table = d.table
	malformed := d.batch.Parse(d.settings.MaxJSONDepth)
	d.decode(dialect.Frame{Frame: d.batch.Frame, JSON: d.batch.JSON, Malformed: malformed})
	if d.batch.Session != "" {
		d.session = d.batch.Session
	} else if d.stream.SingleRun { // all frames belong to one session, even those that do not name it
		d.batch.Session = d.session
	}
	return d.batch
}

// decode decodes a frame and rejects it if the decoder panics.
func (d *FrameDecoder) decode(f dialect.Frame) {
	defer d.settings.Panics.Recover(recovery.Decoder, func() {
		d.batch.Events, d.batch.Rejected = d.batch.Events[:0], event.ReasonPanic
	})
	d.decoder.Decode(f, d.batch)
	proof.Annotate(d.batch, d.settings.Proof)
}

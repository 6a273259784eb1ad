package collector

import (
	"cmp"
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
	session  string
}

// NewFrameDecoder returns a decoder for one stream. If singleRun is set, all frames of the stream
// belong to one session. Set wholeCalls unless the filter removes the arguments of calls. Without it, the
// decoder does not wait for arguments.
func NewFrameDecoder(d dialect.Dialect, singleRun, wholeCalls bool, settings Settings) *FrameDecoder {
	stream := &event.Stream{Dialect: d.Name(), SingleRun: singleRun, WholeCalls: wholeCalls}
	return &FrameDecoder{settings: settings, stream: stream, table: d.Table(), decoder: d.New(stream)}
}

// Decode returns the batch of a frame, which stays valid.
func (d *FrameDecoder) Decode(frame sse.Frame) *event.Batch {
	b := new(event.Batch)
	b.Begin(d.stream, frame, time.Time{})
	b.Table = d.table
	malformed := b.Parse(d.settings.MaxJSONDepth)
	d.decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON, Malformed: malformed}, b)
	if d.stream.SingleRun { // all frames belong to one session, even those that do not name it
		d.session = cmp.Or(b.Session, d.session)
		b.Session = d.session
	}
	return b
}

// decode decodes a frame and rejects it if the decoder panics.
func (d *FrameDecoder) decode(f dialect.Frame, b *event.Batch) {
	defer d.settings.Panics.Recover(recovery.Decoder, func() { b.Events, b.Rejected = b.Events[:0], event.ReasonPanic })
	d.decoder.Decode(f, b)
	proof.Annotate(b, d.settings.Proof)
}

package collector

import (
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
)

// FrameDecoder decodes the frames of one stream whose dialect is known. It is for frames that the filter has let out and that a
// reader of the external stream wants in another format.
type FrameDecoder struct {
	settings Settings
	stream   *event.Stream
	table    *event.Table
	decoder  dialect.Decoder
	batch    event.Batch
	session  string
}

// NewFrameDecoder returns a decoder for one stream. With answer set, the stream answers one request, so that all its frames belong to
// one session.
func NewFrameDecoder(of dialect.Dialect, answer bool, settings Settings) *FrameDecoder {
	stream := &event.Stream{Dialect: of.Name(), Answer: answer}
	return &FrameDecoder{settings: settings, stream: stream, table: of.Table(), decoder: of.New(stream)}
}

// Decode returns the batch of a frame, which is valid until the next call. Batch.Rejected says why a frame could not be decoded.
func (d *FrameDecoder) Decode(frame sse.Frame) *event.Batch {
	d.batch.Begin(d.stream, frame, time.Time{})
	d.batch.Table = d.table
	malformed := d.batch.Parse(d.settings.JSONDepth)
	d.decode(dialect.Frame{Frame: d.batch.Frame, JSON: d.batch.JSON, Malformed: malformed})
	if d.batch.Session != "" {
		d.session = d.batch.Session
	} else if d.stream.Answer { // one conversation, whether each frame names it or not
		d.batch.Session = d.session
	}
	return &d.batch
}

// decode turns a decoder's panic into a frame that could not be decoded.
func (d *FrameDecoder) decode(f dialect.Frame) {
	defer d.settings.Panics.Recover(recovery.Decoder, func() {
		d.batch.Events, d.batch.Rejected = d.batch.Events[:0], event.ReasonPanic
	})
	d.decoder.Decode(f, &d.batch)
	proof.Annotate(&d.batch, d.settings.Proof)
}

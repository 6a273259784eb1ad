package main

import (
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/format"
)

// decoderOf begins to read frames again that the filter has let out. It knows nothing of the stream but these. The mapped are the dialects
// of the sources that have a mapping now.
func decoderOf(settings collector.Settings, mapped func(source string) dialect.Dialect) func(source, name string, answer bool) format.Decoder {
	dialects := make(map[string]dialect.Dialect)
	for _, d := range collector.Dialects() {
		dialects[d.Name()] = d
	}
	return func(source, name string, answer bool) format.Decoder {
		of, known := dialects[name]
		if name == custom.Name {
			of = mapped(source)
			known = of != nil
		}
		if !known {
			return nil
		}
		stream := &event.Stream{Dialect: name, Answer: answer}
		return &frameDecoder{settings: settings, stream: stream, table: of.Table(), decoder: of.New(stream)}
	}
}

// frameDecoder decodes the frames of one stream, one by one.
type frameDecoder struct {
	settings collector.Settings
	stream   *event.Stream
	table    *event.Table
	decoder  dialect.Decoder
	batch    event.Batch
	session  string
}

// Decode reads a frame; one that cannot be read says in Batch.Rejected why.
func (d *frameDecoder) Decode(frame sse.Frame) *event.Batch {
	d.batch.Begin(d.stream, frame, time.Time{})
	d.batch.Table = d.table
	refused := d.batch.Parse(d.settings.JSONDepth)
	d.decodeSafely(dialect.Frame{Frame: d.batch.Frame, JSON: d.batch.JSON, Malformed: refused})
	if d.batch.Session != "" {
		d.session = d.batch.Session
	} else if d.stream.Answer { // one conversation, whether each frame names it or not
		d.batch.Session = d.session
	}
	return &d.batch
}

// decodeSafely turns a decoder's panic into a frame that could not be decoded.
func (d *frameDecoder) decodeSafely(f dialect.Frame) {
	defer d.settings.Panics.Recover(recovery.Decoder, func() {
		d.batch.Events, d.batch.Rejected = d.batch.Events[:0], event.ReasonPanic
	})
	d.decoder.Decode(f, &d.batch)
	proof.Annotate(&d.batch, d.settings.Proof)
}

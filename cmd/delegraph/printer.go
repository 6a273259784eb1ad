package main

import (
	"errors"
	"io"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// replayEpoch begins the ids of frames that are replayed: the same in each replay, and none of a running server.
const replayEpoch = "replay"

// printer prints the frames of the external stream as its subscriber gets them.
type printer struct {
	ring   *replay.Ring
	cursor replay.Cursor
	format *format.Transformer // nil: native frames
	out    io.Writer
	err    error
}

// nativeFormat is the format of the frames as the filter lets them out.
const nativeFormat = "native"

// streamFormats are those of the external stream.
func streamFormats() []string {
	names := []string{nativeFormat}
	for _, f := range format.Formats() {
		names = append(names, string(f))
	}
	return names
}

// newPrinter makes a publisher that prints, and returns where its error will stand.
func newPrinter(c config.Config, mapped dialect.Dialect, policy, as string, out io.Writer) (*stream.Publisher, *printer, error) {
	bounds := replay.Settings{Frames: 1, Bytes: 2 * int(c.Limits.Frame), Age: time.Hour, Epoch: replayEpoch}
	ring, err := replay.New(bounds)
	if err != nil {
		return nil, nil, err
	}
	p := &printer{ring: ring, cursor: ring.Head(), out: out}
	if as != nativeFormat {
		p.format = format.New(format.Settings{Format: format.Format(as), Decoder: decoderOf(collectorSettings(c), func(string) dialect.Dialect { return mapped }), AppendID: ring.AppendID})
	}
	settings := filterSettings(c.Stream)
	if settings.Policy = event.Policy(policy); policy == config.PolicyClient {
		settings.Thoughts = event.ThoughtsDetailed
	}
	return stream.NewPublisher(settings, p.print, func(filter.Reason) {}), p, nil
}

func (p *printer) print(e replay.Entry) {
	if drop := p.ring.Publish(e); drop != replay.NotDropped {
		p.err = errors.Join(p.err, errors.New("a frame was not printed: "+string(drop)))
		return
	}
	_, err := p.out.Write(p.next())
	p.err = errors.Join(p.err, err)
}

func (p *printer) next() (out []byte) {
	if p.format == nil {
		batch := p.ring.Read(p.cursor, nil, nil)
		p.cursor = batch.Next
		return batch.Bytes
	}
	frames, batch := p.ring.Frames(p.cursor, nil, make([]replay.Frame, 0, 1))
	p.cursor = batch.Next
	for _, f := range frames {
		out = p.format.Append(out, f)
	}
	return out
}

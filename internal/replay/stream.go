package replay

import (
	"cmp"
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
	"github.com/delegraph/delegraph/internal/settings"
)

// Epoch is the beginning of the event IDs of replayed frames. It is the same in each replay, and no running server uses it.
const Epoch = "replay"

// streamPrinter prints the frames of the external stream as a subscriber gets them.
type streamPrinter struct {
	ring   *replay.Ring
	cursor replay.Cursor
	format *format.Transformer // nil: native frames
	out    io.Writer
	err    error
}

// NativeFormat is the format of frames as the filter lets them out.
const NativeFormat = "native"

// StreamFormats returns the names of the formats of the external stream.
func StreamFormats() []string {
	names := []string{NativeFormat}
	for _, f := range format.Formats() {
		names = append(names, string(f))
	}
	return names
}

// filterSettings returns the settings of the filter: those of the external stream, or, for the policy client, those of a relay to
// the protocol's own client.
func (r *Command) filterSettings() filter.Settings {
	if r.Policy == config.PolicyClient {
		return filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
	}
	s := settings.Filter(r.config.Stream)
	s.Policy = event.Policy(cmp.Or(r.Policy, r.config.Stream.Policy))
	return s
}

// newStreamPrinter returns a publisher that prints, and the printer, which holds the first error.
func newStreamPrinter(c config.Config, mapped dialect.Dialect, filtering filter.Settings, as string, out io.Writer) (*stream.Publisher, *streamPrinter, error) {
	bounds := replay.Settings{Frames: 1, Bytes: 2 * int(c.Limits.Frame), Age: time.Hour, Epoch: Epoch}
	ring, err := replay.New(bounds)
	if err != nil {
		return nil, nil, err
	}
	p := &streamPrinter{ring: ring, cursor: ring.Head(), out: out}
	if as != NativeFormat {
		p.format = format.New(format.Settings{Format: format.Format(as), Decodings: format.NewDecodings(settings.Decoder(settings.Collector(c), func() bool { return filtering.Policy != event.PolicyPublic }, func(string) dialect.Dialect { return mapped }), nil), AppendID: ring.AppendID})
	}
	return stream.NewPublisher(filtering, p.print, func(filter.Reason) {}), p, nil
}

func (p *streamPrinter) print(e replay.Entry) {
	if p.err != nil { // the rest would have a gap
		return
	}
	if drop := p.ring.Publish(e); drop != replay.NotDropped {
		p.err = errors.New("a frame was not printed: " + string(drop))
		return
	}
	_, p.err = p.out.Write(p.next())
}

func (p *streamPrinter) next() (out []byte) {
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

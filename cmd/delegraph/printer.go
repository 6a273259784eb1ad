package main

import (
	"errors"
	"io"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// replayEpoch begins the ids of frames that are replayed: the same in each replay, and none of a running server.
const replayEpoch = "replay"

// printer prints the frames of the external stream as its subscriber gets them.
type printer struct {
	ring   *replay.Ring
	cursor replay.Cursor
	out    io.Writer
	err    error
}

// newPrinter makes a publisher that prints, and returns where its error will stand.
func newPrinter(c config.Config, policy string, out io.Writer) (*stream.Publisher, *printer, error) {
	bounds := replay.Settings{Frames: 1, Bytes: 2 * int(c.Limits.Frame), Age: time.Hour, Epoch: replayEpoch}
	ring, err := replay.New(bounds)
	if err != nil {
		return nil, nil, err
	}
	p := &printer{ring: ring, cursor: ring.Head(), out: out}
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
	batch := p.ring.Read(p.cursor, nil, nil)
	p.cursor = batch.Next
	_, err := p.out.Write(batch.Bytes)
	p.err = errors.Join(p.err, err)
}

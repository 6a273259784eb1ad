package stream

import (
	"cmp"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Publisher is an event.Sink that publishes what the filter lets out of the frames of all streams. The filter comes first:
// what must not leave is never kept, and has no id.
type Publisher struct {
	publish func(replay.Entry)
	kept    func(filter.Reason) // told of each frame that stays in
	filters sync.Pool           // a filter is for one goroutine at a time
}

// NewPublisher publishes what these settings let out.
func NewPublisher(s filter.Settings, publish func(replay.Entry), kept func(filter.Reason)) *Publisher {
	return &Publisher{publish: publish, kept: kept, filters: sync.Pool{New: func() any { return filter.New(s) }}}
}

// Open does nothing: a stream without frames is nothing to a subscriber.
func (p *Publisher) Open(*event.Stream) {}

// Consume publishes what may leave of a frame.
func (p *Publisher) Consume(b *event.Batch) {
	if b.Rejected == event.ReasonTruncated {
		return // no frame
	}
	f := p.filters.Get().(*filter.Filter)
	defer p.filters.Put(f)
	frame, why := f.Apply(b)
	if why != filter.Passed {
		p.kept(why)
		return
	}
	p.publish(replay.Entry{
		Source: b.Stream.Source, Run: b.Run, Session: cmp.Or(b.Session, b.Stream.Session),
		Kinds: replay.Kinds(frame.Kinds), Name: frame.Name, Data: frame.Data,
	})
}

// Close does nothing.
func (p *Publisher) Close(*event.Stream, event.End, time.Time) {}

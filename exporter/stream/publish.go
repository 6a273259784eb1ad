package stream

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Publisher is an event.Sink that publishes what the filter lets out of the frames of all streams. The filter comes first:
// what must not leave is never kept, and has no id.
type Publisher struct {
	publish func(replay.Entry)
	kept    func(filter.Reason)       // told of each frame that stays in
	filters atomic.Pointer[sync.Pool] // a filter is for one goroutine at a time
	open    sync.Map                  // *event.Stream → *published; those of which anything was published
}

// published is what was published last of a stream.
type published struct {
	stream       replay.Stream
	run, session string
	frames       uint64
}

// NewPublisher publishes what these settings let out.
func NewPublisher(s filter.Settings, publish func(replay.Entry), kept func(filter.Reason)) *Publisher {
	p := &Publisher{publish: publish, kept: kept}
	p.Configure(s)
	return p
}

// Configure replaces the settings, from the next frame on. What has been published stays so.
func (p *Publisher) Configure(s filter.Settings) {
	p.filters.Store(&sync.Pool{New: func() any { return filter.New(s) }})
}

// Open does nothing: a stream without frames is nothing to a subscriber.
func (p *Publisher) Open(*event.Stream) {}

// Consume publishes what may leave of a frame.
func (p *Publisher) Consume(b *event.Batch) {
	if b.Rejected == event.ReasonTruncated {
		return // no frame
	}
	filters := p.filters.Load()
	f := filters.Get().(*filter.Filter)
	defer filters.Put(f)
	frame, why := f.Apply(b)
	if why != filter.Passed {
		p.kept(why)
		return
	}
	last := p.last(b.Stream)
	last.run, last.session = b.Run, cmp.Or(b.Session, b.Stream.Session)
	last.frames++
	p.publish(replay.Entry{
		Source: b.Stream.Source, Run: last.run, Session: last.session,
		Kinds: replay.Kinds(frame.Kinds), Name: frame.Name, Data: frame.Data, Stream: &last.stream,
		Origin: b.Frame.ID, Ordinal: last.frames,
	})
}

// last is what is kept of a stream. Calls for one stream come one after the other.
func (p *Publisher) last(s *event.Stream) *published {
	if known, ok := p.open.Load(s); ok {
		return known.(*published)
	}
	begun := &published{stream: replay.Stream{Dialect: s.Dialect, Answer: s.Answer}}
	if s.Answer { // to one request of one client: nobody else hears it
		begun.stream.Nonce = s.Nonce
	}
	p.open.Store(s, begun)
	return begun
}

// Close says that a stream has ended to who reads it in another format: most protocols have no frame for that.
func (p *Publisher) Close(s *event.Stream, end event.End, _ time.Time) {
	known, ok := p.open.LoadAndDelete(s)
	if !ok {
		return
	}
	last := known.(*published)
	p.publish(replay.Entry{
		Source: s.Source, Run: last.run, Session: last.session, Stream: &last.stream, Over: true, End: end,
		Ordinal: last.frames + 1,
	})
}

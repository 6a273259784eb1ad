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

// Publisher is an event.Sink that publishes the filtered frames of all streams. The filter runs
// first: withheld frames are never stored and get no id.
type Publisher struct {
	publish  func(replay.Entry)
	withheld func(filter.Reason)       // called for each withheld frame
	filters  atomic.Pointer[sync.Pool] // of *filter.Filter, each used by one goroutine at a time
	streams  sync.Map                  // *event.Stream → *streamState
}

// streamState is the state of one agent stream.
type streamState struct {
	stream       replay.Stream
	run, session string // of the last published frame
	frames       uint64 // published ones
	workLeft     bool   // stated by the last frame, which may be withheld
	asksInside   bool   // the run waits for the answer to a question that readers do not see, so to them its end is no unfinished one
}

// NewPublisher returns a Publisher with the given filter settings. It calls withheld for each frame
// that is not published.
func NewPublisher(s filter.Settings, publish func(replay.Entry), withheld func(filter.Reason)) *Publisher {
	p := &Publisher{publish: publish, withheld: withheld}
	p.Configure(s)
	return p
}

// Configure replaces the filter settings, starting with the next frame.
func (p *Publisher) Configure(s filter.Settings) {
	p.filters.Store(&sync.Pool{New: func() any { return filter.New(s) }})
}

// Open does nothing: subscribers see a stream only through its frames.
func (p *Publisher) Open(*event.Stream) {}

// Consume publishes the filtered frame of a batch.
func (p *Publisher) Consume(b *event.Batch) {
	if b.Rejected == event.ReasonTruncated {
		return // not a complete frame
	}
	filters := p.filters.Load()
	f := filters.Get().(*filter.Filter)
	defer filters.Put(f)
	frame, why := f.Apply(b)
	if why != filter.Passed {
		p.state(b.Stream).observe(b, why)
		p.withheld(why)
		if frame = filter.FailureFrame(b, why); len(frame.Data) == 0 || f.Excludes(frame) {
			return
		}
	}
	state := p.state(b.Stream)
	state.observe(b, why)
	state.run, state.session = b.Run, cmp.Or(b.Session, b.Stream.Session)
	state.frames++
	p.publish(replay.Entry{
		Source: b.Stream.Source, Run: state.run, Session: state.session,
		Kinds: replay.Kinds(frame.Kinds), Name: frame.Name, Data: frame.Data, Stream: &state.stream,
		EventID: b.Frame.ID, Ordinal: state.frames,
	})
}

// observe records what a frame says about the end of the run, whether the frame leaves or not.
func (s *streamState) observe(b *event.Batch, why filter.Reason) {
	s.workLeft = b.WorkLeft
	s.asksInside = s.asksInside && !b.Has(event.KindRunStarted) || why == filter.ReasonInternal && b.Has(event.KindInputRequested)
}

// state returns the state of a stream. Calls for the same stream must not be concurrent.
func (p *Publisher) state(s *event.Stream) *streamState {
	if known, ok := p.streams.Load(s); ok {
		return known.(*streamState)
	}
	state := &streamState{stream: replay.Stream{Dialect: s.Dialect, SingleRun: s.SingleRun}}
	if s.SingleRun { // several sidecars may read any other stream, and each of them uses its own nonce
		state.stream.Nonce = s.Nonce
	}
	p.streams.Store(s, state)
	return state
}

// Close publishes the end of a stream, because most protocols have no frame for it. Only subscribers to
// other formats see it.
func (p *Publisher) Close(s *event.Stream, end event.End, _ time.Time) {
	known, ok := p.streams.LoadAndDelete(s)
	if !ok || known.(*streamState).frames == 0 {
		return
	}
	state := known.(*streamState)
	if end == event.EndOfStream && state.workLeft && !state.asksInside {
		end = event.EndUnfinished
	}
	p.publish(replay.Entry{
		Source: s.Source, Run: state.run, Session: state.session, Stream: &state.stream, StreamEnded: true, End: end,
		Ordinal: state.frames + 1,
	})
}

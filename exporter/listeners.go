package exporter

import (
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Bounds of what is remembered of runs with listeners. A run that is forgotten is another run to the next listener; a frame that is
// forgotten is news when a listener that far behind brings it.
const (
	maxShared    = 1000   // runs
	maxHeard     = 1000   // frames of each
	maxOver      = 64     // runs that are over
	maxStreams   = 10_000 // open streams of runs
	maxListeners = 1000   // of a run
)

// Losses counts what a limit took.
type Losses interface{ Evicted(kind string) }

// Listeners is an event.Sink before another, which hears each run and each frame once, however many streams bring them. The next sink
// hears a run as the stream that brought it first, until the last of its streams has ended.
type Listeners struct {
	next   event.Sink
	losses Losses

	mu      sync.Mutex
	runs    *simplelru.LRU[sharedKey, *sharedRun]
	over    *simplelru.LRU[sharedKey, *sharedRun] // a stream of theirs may have come and not have been heard yet
	streams map[*event.Stream]*listener
}

type sharedKey struct{ source, run string }

// sharedRun is a run that several streams may bring.
type sharedRun struct {
	key    sharedKey
	stream *event.Stream // as which the next sink hears it

	mu        sync.Mutex  // held while the next sink is called
	listeners []*listener // the one that has listened longest first
	heard     []heardFrame
	forgotten int       // frames before those
	over      time.Time // zero while a stream is open
	ended     time.Time // when the agent last ended one of the streams, if nothing new came since
}

type heardFrame struct {
	said uint64
	by   *listener
	at   time.Time
}

// listener is a stream that brings a run.
type listener struct {
	run    *sharedRun
	at     int  // the number of the first of the run's frames that it has yet to bring
	opened bool // whether the next sink has heard of the stream
	since  time.Time
}

// NewListeners passes everything on to the next sink.
func NewListeners(next event.Sink, losses Losses) *Listeners {
	runs, _ := simplelru.NewLRU[sharedKey, *sharedRun](maxShared, nil) // the only error is a size below one
	over, _ := simplelru.NewLRU[sharedKey, *sharedRun](maxOver, nil)
	return &Listeners{next: next, losses: losses, runs: runs, over: over, streams: map[*event.Stream]*listener{}}
}

// Open begins a stream. One that answers a message to a run that goes on brings that run, and begins none. One that listens to a run that
// goes on takes part in it from here on: the run does not end before it.
func (s *Listeners) Open(stream *event.Stream) {
	if s.joinAnswered(stream) {
		return
	}
	s.next.Open(stream)
	s.joinRequested(stream)
}

func (s *Listeners) joinAnswered(stream *event.Stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range stream.Answers {
		if run, goesOn := s.runs.Get(sharedKey{stream.Source, id}); goesOn && stream.Answer {
			return s.join(run, stream, false) != nil
		}
	}
	return false
}

func (s *Listeners) joinRequested(stream *event.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run, goesOn := s.runs.Get(sharedKey{stream.Source, stream.Joins}); goesOn && stream.Joins != "" {
		s.join(run, stream, true)
	}
}

// join adds a stream to a run, if there is room. The caller holds the lock.
func (s *Listeners) join(run *sharedRun, stream *event.Stream, opened bool) *listener {
	if len(s.streams) >= maxStreams {
		return nil
	}
	l := run.join(stream, opened)
	if l != nil {
		s.streams[stream] = l
	}
	return l
}

// Consume passes on a frame that is new.
func (s *Listeners) Consume(b *event.Batch) {
	l, lost := s.listener(b)
	switch {
	case lost != "":
		s.losses.Evicted(lost)
		if lost == tracker.LostStream {
			s.next.Consume(b)
		}
	case l != nil && b.Said != 0 && b.Run == l.run.key.run:
		if !l.run.consume(l, b, s.next) {
			s.begin(b)
			s.Consume(b)
		}
	case l != nil && !l.opened, b.Run == "" && b.Stream.Joins != "" && b.Rejected == "":
		// What the agent says to this listener alone, such as that it may not listen, is nothing of the run.
	default:
		s.next.Consume(b)
	}
}

// listener returns what is known of a frame's stream, or nil where no other stream can bring its run. lost is set if there is no room.
func (s *Listeners) listener(b *event.Batch) (l *listener, lost string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.streams[b.Stream]; l != nil || b.Said == 0 || b.Run == "" || !b.Stream.Answer && b.Stream.Joins == "" {
		return l, ""
	}
	key := sharedKey{b.Stream.Source, b.Run}
	run, known := s.runs.Get(key)
	past, _ := s.over.Get(key)
	lost = tracker.LostListener
	switch {
	case known && b.Stream.Answer:
		return nil, "" // its request did not say that the run goes on, so that another has begun
	case known:
	case past != nil && b.Stream.Joins != "" && b.Stream.Opened.Before(past.over):
		run = past
	default:
		run, lost = &sharedRun{key: key, stream: b.Stream}, tracker.LostStream
	}
	if l = s.join(run, b.Stream, true); l == nil {
		return nil, lost
	}
	if lost == tracker.LostStream && s.runs.Add(key, run) {
		s.losses.Evicted(tracker.LostStream)
	}
	return l, ""
}

// begin has the next frame of a stream begin another run, since it brings news of one that was over.
func (s *Listeners) begin(b *event.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, b.Stream)
	s.over.Remove(sharedKey{b.Stream.Source, b.Run})
}

// join adds a stream, or returns nil if the run has too many. The stream brings no frame that came before it was asked for.
func (r *sharedRun) join(stream *event.Stream, opened bool) *listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.listeners) >= maxListeners {
		return nil
	}
	first := slices.IndexFunc(r.heard, func(f heardFrame) bool { return !f.at.Before(stream.Opened) })
	if first < 0 {
		first = len(r.heard)
	}
	l := &listener{run: r, at: r.forgotten + first, opened: opened, since: stream.Opened}
	r.listeners = append(r.listeners, l)
	return l
}

// consume passes on what no other stream has brought. Others have heard what a snapshot repeats, and the first of them hears of errors.
// It reports false if the frame is new and the run is over.
func (r *sharedRun) consume(l *listener, b *event.Batch, next event.Sink) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	alone := len(r.listeners) == 1 && r.over.IsZero() && r.ended.IsZero()
	if b.Recap && !alone || b.Refusal && l != r.listeners[0] || r.isKnown(l, b) {
		return true
	}
	if !r.over.IsZero() {
		return false
	}
	behind := l.at < r.forgotten+len(r.heard)
	r.heard = append(r.heard, heardFrame{b.Said, l, b.Received})
	if len(r.heard) > maxHeard {
		r.heard = slices.Delete(r.heard, 0, maxHeard/2)
		r.forgotten += maxHeard / 2
	}
	if !behind {
		l.at = r.forgotten + len(r.heard)
	}
	r.ended = time.Time{}
	b.Stream = r.stream
	next.Consume(b)
	return true
}

// isKnown reports whether another stream has brought a frame that this one brings only now. None has if the frame came before the other was
// asked for.
func (r *sharedRun) isKnown(l *listener, b *event.Batch) bool {
	for i := max(l.at-r.forgotten, 0); i < len(r.heard); i++ {
		if f := r.heard[i]; f.said == b.Said && f.by != l && !b.Received.Before(f.by.since) {
			l.at = r.forgotten + i + 1
			return true
		}
	}
	return false
}

// Close ends a stream. A run ends with the last of its streams, but as the agent ended any of them if nothing new came after that.
func (s *Listeners) Close(stream *event.Stream, end event.End, at time.Time) {
	s.mu.Lock()
	l := s.streams[stream]
	if l == nil {
		s.mu.Unlock()
		s.next.Close(stream, end, at)
		return
	}
	delete(s.streams, stream)
	r := l.run
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners = slices.DeleteFunc(r.listeners, func(other *listener) bool { return other == l })
	last := len(r.listeners) == 0 && r.over.IsZero()
	if last {
		r.over = at
		if known, _ := s.runs.Peek(r.key); known == r {
			s.runs.Remove(r.key)
			s.over.Add(r.key, r)
		}
	}
	s.mu.Unlock()
	if l.opened && stream != r.stream {
		s.next.Close(stream, end, at)
	}
	if end == event.EndOfStream && at.After(r.ended) {
		r.ended = at
	}
	switch {
	case !last:
	case r.ended.IsZero():
		s.next.Close(r.stream, end, at)
	default:
		s.next.Close(r.stream, event.EndOfStream, r.ended)
	}
}

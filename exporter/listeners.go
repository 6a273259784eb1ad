package exporter

import (
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
)

// Bounds of what is remembered of runs with listeners. A run that is forgotten is another run to the next listener; a frame that is
// forgotten is news when a listener that far behind brings it.
const (
	maxShared = 1000 // runs
	maxHeard  = 1000 // frames of each
)

// Listeners is an event.Sink before another, which hears each run and each frame once, however many streams bring them. The next sink
// hears a run as the stream that brought it first, until the last of its streams has ended.
type Listeners struct {
	next event.Sink

	mu      sync.Mutex
	runs    *simplelru.LRU[sharedKey, *sharedRun]
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
}

// NewListeners passes everything on to the next sink.
func NewListeners(next event.Sink) *Listeners {
	runs, _ := simplelru.NewLRU[sharedKey, *sharedRun](maxShared, nil) // the only error is a size below one
	return &Listeners{next: next, runs: runs, streams: map[*event.Stream]*listener{}}
}

// Open begins a stream. One that answers a message to a run that goes on brings that run, and begins none.
func (s *Listeners) Open(stream *event.Stream) {
	if !s.joinAnswered(stream) {
		s.next.Open(stream)
	}
}

func (s *Listeners) joinAnswered(stream *event.Stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range stream.Answers {
		if run, goesOn := s.runs.Get(sharedKey{stream.Source, id}); goesOn && stream.Answer {
			s.streams[stream] = run.join(stream, false)
			return true
		}
	}
	return false
}

// Consume passes on a frame that is new.
func (s *Listeners) Consume(b *event.Batch) {
	l := s.listener(b)
	switch {
	case l != nil && b.Said != 0 && b.Run == l.run.key.run:
		l.run.consume(l, b, s.next)
	case l != nil && !l.opened, b.Run == "" && b.Stream.Joins != "" && b.Rejected == "":
		// What the agent says to this listener alone, such as that it may not listen, is nothing of the run.
	default:
		s.next.Consume(b)
	}
}

// listener returns what is known of a frame's stream, or nil where no other stream can bring its run.
func (s *Listeners) listener(b *event.Batch) *listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.streams[b.Stream]
	if l != nil || b.Said == 0 || b.Run == "" || !b.Stream.Answer && b.Stream.Joins == "" {
		return l
	}
	key := sharedKey{b.Stream.Source, b.Run}
	run, known := s.runs.Get(key)
	switch {
	case !known:
		run = &sharedRun{key: key, stream: b.Stream}
		s.runs.Add(key, run)
	case b.Stream.Answer:
		return nil // its request did not say that the run goes on, so that another has begun
	}
	l = run.join(b.Stream, true)
	s.streams[b.Stream] = l
	return l
}

// join adds a stream. It brings no frame that came before it was asked for.
func (r *sharedRun) join(stream *event.Stream, opened bool) *listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := slices.IndexFunc(r.heard, func(f heardFrame) bool { return !f.at.Before(stream.Opened) })
	if first < 0 {
		first = len(r.heard)
	}
	l := &listener{run: r, at: r.forgotten + first, opened: opened}
	r.listeners = append(r.listeners, l)
	return l
}

// consume passes on what no other stream has brought. Others have heard what a snapshot repeats, and the first of them hears of errors.
func (r *sharedRun) consume(l *listener, b *event.Batch, next event.Sink) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.Recap && len(r.listeners) > 1 || b.Refusal && l != r.listeners[0] || r.isKnown(l, b.Said) {
		return
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
}

// isKnown reports whether another stream has brought a frame that this one brings only now.
func (r *sharedRun) isKnown(l *listener, said uint64) bool {
	for i := max(l.at-r.forgotten, 0); i < len(r.heard); i++ {
		if r.heard[i].said == said && r.heard[i].by != l {
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
	over := len(r.listeners) == 0
	if known, ok := s.runs.Peek(r.key); over && ok && known == r {
		s.runs.Remove(r.key)
	}
	s.mu.Unlock()
	if l.opened && stream != r.stream {
		s.next.Close(stream, end, at)
	}
	if end == event.EndOfStream {
		r.ended = at
	}
	if !over {
		return
	}
	if !r.ended.IsZero() {
		end, at = event.EndOfStream, r.ended
	}
	s.next.Close(r.stream, end, at)
}

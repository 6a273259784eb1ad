package exporter

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Limits on what is remembered. A stream of a forgotten run starts a new run. A forgotten frame that
// another stream brings is counted again.
const (
	maxOpenRuns  = 1000   // runs in progress
	maxFrames    = 1000   // frames of each run
	maxEndedRuns = 64     // ended runs
	maxStates    = 1000   // states of ended runs
	maxStreams   = 10_000 // open streams
	maxListeners = 1000   // streams of a run
	maxDeparted  = 64     // runs that wait for a client to come back
)

// Losses counts what was dropped because of a limit.
type Losses interface{ CountEvicted(kind string) }

// Deduplicator is an event.Sink that passes each run and each frame on to another sink once,
// however many streams bring it. The next sink sees a run on the stream that brought it first,
// until the last of its streams has closed.
type Deduplicator struct {
	next   event.Sink
	losses Losses

	mu       sync.Mutex
	runs     *simplelru.LRU[sharedKey, *sharedRun]
	ended    *simplelru.LRU[sharedKey, *sharedRun] // ended runs: a stream that brings one of them may have brought no frame yet
	states   *simplelru.LRU[sharedKey, uint64]     // the last state of ended runs: event.Batch.StateHash
	streams  map[*event.Stream]*listener
	unnamed  map[*event.Stream]struct{} // answers to requests with a session that have not named their run yet
	requests map[sessionKey]int         // how many of them a session has
	departed map[*sharedRun]*departure  // runs that wait for a client to come back
}

type sessionKey struct{ source, session string }

type sharedKey struct{ source, run string }

// sharedRun is a run that several streams may bring.
type sharedRun struct {
	key    sharedKey
	stream *event.Stream // the stream that the next sink sees it on

	mu        sync.Mutex  // held while the next sink is called
	listeners []*listener // in the order in which they joined
	frames    []seenFrame
	forgotten int       // number of frames dropped from the front of frames
	closedAt  time.Time // when its last stream closed; zero while one is open
	state     uint64    // the last that a frame stated; of a listener's run, first that of the run before
	endedAt   time.Time // when the agent last ended one of the streams, if no new frame came since
	statedEnd bool      // a frame has stated the end of the run
	asks      bool      // a frame has asked for input: the agent ends its streams until the answer
}

// seenFrame is a frame that was passed on.
type seenFrame struct {
	hash uint64
	by   *listener
	at   time.Time
}

// listener is a stream that brings a run.
type listener struct {
	run    *sharedRun
	stream *event.Stream
	at     int  // number of the run's next frame that this stream will bring
	opened bool // the next sink has seen the stream open

	missedStart bool // it brought a piece of something that began before it
	isNew       bool // its last frame that is not a piece was new
}

// NewDeduplicator returns a sink before next.
func NewDeduplicator(next event.Sink, losses Losses) *Deduplicator {
	runs, _ := simplelru.NewLRU[sharedKey, *sharedRun](maxOpenRuns, nil) // the only error is a size below one
	ended, _ := simplelru.NewLRU[sharedKey, *sharedRun](maxEndedRuns, nil)
	states, _ := simplelru.NewLRU[sharedKey, uint64](maxStates, nil)
	return &Deduplicator{
		next: next, losses: losses, runs: runs, ended: ended, states: states, streams: map[*event.Stream]*listener{},
		unnamed: map[*event.Stream]struct{}{}, requests: map[sessionKey]int{}, departed: map[*sharedRun]*departure{},
	}
}

// Open opens a stream. A stream that answers a message to a run in progress joins that run and
// starts none. A stream that subscribes to a run in progress joins it: the run does not end before
// the stream.
func (s *Deduplicator) Open(stream *event.Stream) {
	if s.joinAnswered(stream) {
		return
	}
	s.await(stream)
	s.next.Open(stream)
	s.joinRequested(stream)
}

func (s *Deduplicator) joinAnswered(stream *event.Stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range stream.Answers {
		if run, isOpen := s.runs.Get(sharedKey{stream.Source, id}); isOpen && stream.SingleRun {
			return s.join(run, stream, false) != nil
		}
	}
	return false
}

func (s *Deduplicator) joinRequested(stream *event.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run, isOpen := s.runs.Get(sharedKey{stream.Source, stream.JoinedRun}); isOpen && stream.JoinedRun != "" {
		s.join(run, stream, true)
	}
}

// join adds a stream to a run if there is room. The caller holds the lock.
func (s *Deduplicator) join(run *sharedRun, stream *event.Stream, opened bool) *listener {
	if len(s.streams) >= maxStreams {
		return nil
	}
	l := run.join(stream, opened)
	if l != nil {
		s.streams[stream] = l
		s.cancelDeparture(run)
	}
	return l
}

// Consume passes on a frame unless another stream has brought it.
func (s *Deduplicator) Consume(b *event.Batch) {
	if b.Run != "" {
		s.stopAwaiting(b.Stream)
		s.leaveOther(b)
		if s.isOfAnother(b) {
			return // an answer brings the frame too, and starts the run under its own stream; or the frame was there before
		}
	}
	l, lost := s.listener(b)
	switch {
	case lost != "":
		s.losses.CountEvicted(lost)
		if lost == tracker.LostStream {
			s.next.Consume(b)
		}
	case l != nil && b.ContentHash != 0 && b.Run == l.run.key.run:
		if !l.run.consume(l, b, s.next) {
			s.leaveEnded(b)
			s.Consume(b)
		} else if l.stream.JoinedSession != "" && states(b, event.KindRunEnded) {
			s.leave(l, b.Received)
		}
	case l != nil && !l.opened, b.Run == "" && b.Stream.JoinedRun+b.Stream.JoinedSession != "" && b.Rejected == "":
		// A frame for this stream only, such as a refusal, does not belong to the run.
	default:
		s.next.Consume(b)
	}
}

// listener returns the state of a frame's stream, or nil if no other stream can bring its run. lost
// is the kind of loss if there is no room.
func (s *Deduplicator) listener(b *event.Batch) (l *listener, lost string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l = s.streams[b.Stream]
	brings := b.Stream.SingleRun || b.Stream.JoinedRun != "" || b.Stream.JoinedSession != ""
	if l != nil || b.ContentHash == 0 || b.Run == "" || !brings {
		return l, ""
	}
	key := sharedKey{b.Stream.Source, b.Run}
	run, known := s.runs.Get(key)
	past, _ := s.ended.Get(key)
	lost = tracker.LostListener
	switch {
	case known && b.Stream.SingleRun:
		return nil, "" // the request did not name the run, so that another has begun
	case known: // the stream joins an open run
	case past != nil && b.Stream.JoinedSession != "", past != nil && b.Stream.JoinedRun != "" && (b.Stream.ReplayedRun != "" || b.Stream.OpenedAt.Before(past.closedAt)):
		run = past // it was reported; the stream repeats it, or was opened before its end
	default: // the first stream of the run
		run, lost = &sharedRun{key: key, stream: b.Stream}, tracker.LostStream
		if b.Stream.JoinedRun != "" {
			run.state, _ = s.states.Get(key)
		}
	}
	if l = s.join(run, b.Stream, true); l == nil {
		return nil, lost
	}
	if lost == tracker.LostStream && s.runs.Add(key, run) {
		s.losses.CountEvicted(tracker.LostStream)
	}
	return l, ""
}

// leaveEnded removes a stream from its ended run, so that its next frame starts a new run.
func (s *Deduplicator) leaveEnded(b *event.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, b.Stream)
	s.ended.Remove(sharedKey{b.Stream.Source, b.Run})
}

// join adds a stream, or returns nil if the run has too many. The stream will bring no frame from
// before it was opened, unless it replays.
func (r *sharedRun) join(stream *event.Stream, opened bool) *listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.listeners) >= maxListeners {
		return nil
	}
	first := slices.IndexFunc(r.frames, func(f seenFrame) bool { return !f.at.Before(stream.OpenedAt) })
	switch {
	case stream.Replays:
		first = -r.forgotten
	case stream.ReplayedRun != "":
		first = 0
	case first < 0:
		first = len(r.frames)
	}
	l := &listener{run: r, stream: stream, at: r.forgotten + first, opened: opened}
	r.listeners = append(r.listeners, l)
	return l
}

// consume passes on a frame that no other stream has brought. A snapshot only repeats known frames, or the state in which
// the run before ended. An error of the stream is taken from the first stream only. A stream with pieces without their
// start brings nothing new while the stream that started the run is open: that one brings all frames, in order. It reports
// false if the frame is new and the run has ended.
func (r *sharedRun) consume(l *listener, b *event.Batch, next event.Sink) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	alone := len(r.listeners) == 1 && r.closedAt.IsZero() && r.endedAt.IsZero()
	repeats := b.Snapshot && (!alone || b.StateHash != 0 && b.StateHash == r.state)
	l.missedStart = l.missedStart || b.MissedStart
	if repeats || b.StreamError && l != r.listeners[0] || r.isRepeated(l, b) || l.missedStart && r.hasStarter(l) {
		return true
	}
	if !r.closedAt.IsZero() {
		return b.Stream.ReplayedRun != "" || b.Stream.JoinedSession != "" // the run was reported, and will not begin again
	}
	behind := l.at < r.forgotten+len(r.frames)
	r.frames = append(r.frames, seenFrame{b.ContentHash, l, b.Received})
	if len(r.frames) > maxFrames {
		r.frames = slices.Delete(r.frames, 0, maxFrames/2)
		r.forgotten += maxFrames / 2
	}
	if !behind {
		l.at = r.forgotten + len(r.frames)
	}
	r.endedAt = time.Time{}
	r.state, r.statedEnd = cmp.Or(b.StateHash, r.state), r.statedEnd || states(b, event.KindRunEnded)
	r.asks = r.asks || states(b, event.KindInputRequested)
	b.Stream = r.stream
	next.Consume(b)
	return true
}

// hasStarter reports whether another open stream than l started the run.
func (r *sharedRun) hasStarter(l *listener) bool {
	return slices.ContainsFunc(r.listeners, func(other *listener) bool { return other != l && other.stream.NewRun })
}

// isRepeated reports whether the run has the content of a frame. A stream that replays a session may bring all pieces of
// something in one. If the start of it is known, some of the pieces are known too.
func (r *sharedRun) isRepeated(l *listener, b *event.Batch) bool {
	known := r.isKnown(l, b)
	if !b.Partial {
		l.isNew = !known
	}
	return known || b.Partial && l.stream.Replays && !l.isNew && l.at < r.forgotten+len(r.frames)
}

// isKnown reports whether another stream has already brought the frame. A frame from before that
// stream was opened cannot have come from it.
func (r *sharedRun) isKnown(l *listener, b *event.Batch) bool {
	if l.at < r.forgotten && l.stream.Replays {
		l.at++
		return true
	}
	for i := max(l.at-r.forgotten, 0); i < len(r.frames); i++ {
		if f := r.frames[i]; f.hash == b.ContentHash && f.by != l && !b.Received.Before(f.by.stream.OpenedAt) {
			l.at = r.forgotten + i + 1
			return true
		}
	}
	return false
}

// Close closes a stream. A run ends with the last of its streams, but at the time at which the
// agent ended one of them if no new frame came after that. If the client of the last one left, or it broke off
// and the run is in the background, the run first waits for a client to come back.
func (s *Deduplicator) Close(stream *event.Stream, end event.End, at time.Time) {
	s.stopAwaiting(stream)
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
	last := s.remove(l, end, at)
	_, waits := s.departed[r]
	s.mu.Unlock()
	if l.opened && (stream != r.stream || !last && stream.JoinedSession != "") {
		s.next.Close(stream, end, at)
	}
	if end == event.EndOfStream && !waits && at.After(r.endedAt) {
		r.endedAt = at
	}
	switch {
	case !last:
	case r.endedAt.IsZero():
		s.next.Close(r.stream, end, at)
	default:
		s.next.Close(r.stream, event.EndOfStream, r.endedAt)
	}
}

// remove removes a stream from its run, and reports whether this ends the run. That is so if the run has no
// other stream or, if the agent has ended this one, only streams of its session. The caller holds both locks.
func (s *Deduplicator) remove(l *listener, end event.End, at time.Time) (last bool) {
	r := l.run
	r.listeners = slices.DeleteFunc(r.listeners, func(other *listener) bool { return other == l })
	others := slices.ContainsFunc(r.listeners, func(other *listener) bool { return end != event.EndOfStream || other.stream.JoinedSession == "" })
	if others || !r.closedAt.IsZero() || s.depart(r, l.stream, end, at) {
		return false
	}
	s.end(r, at)
	return true
}

// end marks a run as ended. The caller holds both locks.
func (s *Deduplicator) end(r *sharedRun, at time.Time) {
	if r.closedAt = at; r.state != 0 {
		s.states.Add(r.key, r.state)
	}
	if known, _ := s.runs.Peek(r.key); known == r {
		s.runs.Remove(r.key)
		s.ended.Add(r.key, r)
	}
}

// leave removes the stream of a session from a run that has ended. The stream continues.
func (s *Deduplicator) leave(l *listener, at time.Time) {
	s.mu.Lock()
	if s.streams[l.stream] == l {
		delete(s.streams, l.stream)
	}
	r := l.run
	r.mu.Lock()
	defer r.mu.Unlock()
	last := s.remove(l, event.EndOfStream, at)
	s.mu.Unlock()
	if last && r.stream != l.stream {
		s.next.Close(r.stream, event.EndOfStream, at)
	}
}

// leaveOther removes the stream of a session from its run if the frame belongs to the next one.
func (s *Deduplicator) leaveOther(b *event.Batch) {
	if b.Stream.JoinedSession == "" {
		return
	}
	s.mu.Lock()
	l := s.streams[b.Stream]
	s.mu.Unlock()
	if l != nil && l.run.key.run != b.Run {
		s.leave(l, b.Received)
	}
}

// states reports whether a frame has an event of a kind.
func states(b *event.Batch, kind event.Kind) bool {
	return slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind == kind })
}

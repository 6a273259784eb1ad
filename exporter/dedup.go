package exporter

import (
	"slices"
	"sync"
	"sync/atomic"
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
)

// Losses counts what was dropped because of a limit.
type Losses interface{ CountEvicted(kind string) }

// Deduplicator is an event.Sink that passes each run and each frame on to another sink once,
// however many streams bring it. The next sink sees a run on the stream that brought it first, which
// closes there only when the last stream of the run has closed.
type Deduplicator struct {
	next   event.Sink
	losses Losses

	mu       sync.Mutex
	runs     *simplelru.LRU[runKey, *sharedRun]
	ended    *simplelru.LRU[runKey, *sharedRun] // runs that have ended; a stream that was opened before the end may still repeat their frames
	states   *simplelru.LRU[runKey, uint64]     // the last state of ended runs: event.Batch.StateHash
	streams  map[*event.Stream]*listener
	carriers map[*event.Stream]*carrier // of open runs
	delayed  map[*sharedRun]*delayedEnd // of runs that wait for a client to come back; they are in runs

	unnamed          map[*event.Stream]struct{} // answers to requests with a session that have not named their run yet
	unnamedBySession map[sessionKey]int         // how many of them a session has
}

type sessionKey struct{ source, session string }

type runKey struct{ source, run string }

// NewDeduplicator returns a sink before next.
func NewDeduplicator(next event.Sink, losses Losses) *Deduplicator {
	runs, _ := simplelru.NewLRU[runKey, *sharedRun](maxOpenRuns, nil) // the only error is a size below one
	ended, _ := simplelru.NewLRU[runKey, *sharedRun](maxEndedRuns, nil)
	states, _ := simplelru.NewLRU[runKey, uint64](maxStates, nil)
	return &Deduplicator{
		next: next, losses: losses, runs: runs, ended: ended, states: states,
		streams: map[*event.Stream]*listener{}, carriers: map[*event.Stream]*carrier{}, delayed: map[*sharedRun]*delayedEnd{},
		unnamed: map[*event.Stream]struct{}{}, unnamedBySession: map[sessionKey]int{},
	}
}

// Open opens a stream. A stream that answers a message to a run in progress joins that run and
// starts none. A stream that subscribes to a run in progress joins it too, and the run does not end
// before that stream.
func (s *Deduplicator) Open(stream *event.Stream) {
	stream.Departed = &atomic.Pointer[event.Departure]{}
	if s.joinAnswered(stream) {
		return
	}
	s.addUnnamed(stream)
	s.next.Open(stream)
	s.joinRequested(stream)
}

func (s *Deduplicator) joinAnswered(stream *event.Stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range stream.Answers {
		if run, isOpen := s.runs.Get(runKey{stream.Source, id}); isOpen && stream.SingleRun {
			return s.join(run, stream, false) != nil
		}
	}
	return false
}

func (s *Deduplicator) joinRequested(stream *event.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run, isOpen := s.runs.Get(runKey{stream.Source, stream.JoinedRun}); isOpen && stream.JoinedRun != "" {
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
		s.cancelDelay(run)
	}
	return l
}

// Consume passes on a frame unless another stream has brought it.
func (s *Deduplicator) Consume(b *event.Batch) {
	if b.Run != "" {
		s.removeUnnamed(b.Stream)
		s.leavePrevious(b)
		if s.isOthersRun(b) {
			return
		}
	}
	l, lost := s.listener(b)
	switch {
	case lost != "":
		s.losses.CountEvicted(lost)
		if lost == tracker.LostStream {
			s.pass(b)
		}
	case l != nil && b.ContentHash != 0 && b.Run == l.run.key.run:
		if !l.run.consume(l, b, s.next) {
			s.leaveEnded(b)
			s.Consume(b)
		} else if l.endsWith(b) {
			s.leave(l, b.Received)
		}
	case l != nil && !l.opened:
	case b.Stream.JoinedRun+b.Stream.JoinedSession != "" && (b.Run == "" || b.ContentHash == 0):
		if b.Rejected != "" { // it is counted, but begins no run
			b.Events = b.Events[:0]
			s.pass(b)
		}
	default:
		s.pass(b)
	}
}

// listener returns the state of a frame's stream, or nil if no other stream can bring its run. If there is no
// room for the state, lost is the kind of the loss.
func (s *Deduplicator) listener(b *event.Batch) (l *listener, lost string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l = s.streams[b.Stream]
	canShare := b.Stream.SingleRun || b.Stream.JoinedRun != "" || b.Stream.JoinedSession != ""
	if l != nil || b.ContentHash == 0 || b.Run == "" || !canShare {
		return l, ""
	}
	key := runKey{b.Stream.Source, b.Run}
	run, known := s.runs.Get(key)
	past, _ := s.ended.Get(key)
	state, _ := s.states.Get(key)
	lost = tracker.LostListener
	switch {
	case known && b.Stream.SingleRun:
		return nil, "" // a request that does not name an open run begins another one
	case known: // the stream joins an open run
	case state == event.StateEnded && b.Stream.JoinedRun != "": // the run cannot continue
		run = &sharedRun{key: key, carrier: &carrier{}, ended: true, closedAt: b.Received, state: state}
	case past != nil && (b.Stream.JoinedSession != "" || b.Stream.JoinedRun != "" && (b.Stream.ReplayedRun != "" || b.Stream.OpenedAt.Before(past.closedAt))):
		run = past // the stream repeats a run that was reported, or was opened before its end
	default: // the first stream of the run
		run, lost = &sharedRun{key: key, carrier: s.carrierOf(b.Stream)}, tracker.LostStream
		if b.Stream.JoinedRun != "" {
			run.state = state
		}
	}
	if l = s.join(run, b.Stream, true); l == nil {
		return nil, lost
	}
	if lost == tracker.LostStream {
		s.carry(run, b.Stream)
		s.add(run)
	}
	return l, ""
}

// add adds an open run. If there is no room, the run that was silent longest is forgotten, and no longer waits for a client.
// The caller holds the lock.
func (s *Deduplicator) add(run *sharedRun) {
	if s.runs.Len() == maxOpenRuns {
		_, oldest, _ := s.runs.RemoveOldest()
		s.losses.CountEvicted(tracker.LostStream)
		if d := s.delayed[oldest]; d != nil {
			d.timer.Reset(0)
		}
	}
	s.runs.Add(run.key, run)
}

// leaveEnded removes a stream from its ended run, so that its next frame starts a new run.
func (s *Deduplicator) leaveEnded(b *event.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, b.Stream)
	s.ended.Remove(runKey{b.Stream.Source, b.Run})
}

// Close closes a stream. A run ends with the last of its streams. If the agent ended one of the streams and no new frame
// followed, the run ends at that time. Otherwise it ends when the last stream closes. If the client of the last stream left,
// or if the run is in the background, the run first waits for a client to come back.
func (s *Deduplicator) Close(stream *event.Stream, end event.End, at time.Time) {
	s.removeUnnamed(stream)
	s.mu.Lock()
	l, own := s.streams[stream], s.carriers[stream]
	if own != nil {
		own.closed = true
	}
	if l == nil {
		if s.mu.Unlock(); own == nil {
			s.next.Close(stream, end, at)
		}
		return
	}
	r := l.run
	r.mu.Lock()
	defer r.mu.Unlock()
	closes := s.remove(l, end, at)
	_, endDelayed := s.delayed[r]
	s.mu.Unlock()
	if l.opened && own == nil {
		s.next.Close(stream, end, at)
	}
	if end == event.EndOfStream && stream.JoinedSession == "" && !endDelayed && at.After(r.agentEndedAt) {
		r.agentEndedAt = at
	}
	if !closes {
		return
	}
	if !r.agentEndedAt.IsZero() {
		end, at = event.EndOfStream, r.agentEndedAt
	}
	if l.replaying && end != event.EndClientLeft {
		at = time.Time{} // the run may have ended when no stream of it was open
	}
	s.next.Close(r.stream, end, at)
}

// remove removes a stream from its run, and reports whether the next sink must see the run's carrier close, because this ends
// the run. Streams of a session do not keep a run open after the agent has ended it, unless the next sink sees the run on one
// of them: only that stream can end it there. The caller holds both locks.
func (s *Deduplicator) remove(l *listener, end event.End, at time.Time) (closes bool) {
	delete(s.streams, l.stream)
	r := l.run
	r.listeners = slices.DeleteFunc(r.listeners, func(other *listener) bool { return other == l })
	agentEnded := end == event.EndOfStream && (r.statedEnd || l.stream.JoinedSession == "")
	others := slices.ContainsFunc(r.listeners, func(other *listener) bool {
		return !agentEnded || other.stream.JoinedSession == "" || other.stream == r.stream
	})
	if others || r.ended || s.delayEnd(r, l.stream, end, at) {
		return false
	}
	return s.end(r, at)
}

// end marks a run as ended, and reports whether the next sink must see its carrier close. The caller holds both locks.
func (s *Deduplicator) end(r *sharedRun, at time.Time) (closes bool) {
	r.ended, r.closedAt = true, at
	if r.state != 0 {
		s.states.Add(r.key, r.state)
	}
	if known, _ := s.runs.Peek(r.key); known == r {
		s.runs.Remove(r.key)
		s.ended.Add(r.key, r)
	}
	return s.uncarry(r)
}

// leave removes the stream of a session from a run that has ended. The stream continues.
func (s *Deduplicator) leave(l *listener, at time.Time) {
	s.mu.Lock()
	r := l.run
	r.mu.Lock()
	defer r.mu.Unlock()
	closes := s.remove(l, event.EndOfStream, at)
	s.mu.Unlock()
	if closes {
		s.next.Close(r.stream, event.EndOfStream, at)
	}
}

// leavePrevious removes the stream of a session from its run if the frame belongs to the next one.
func (s *Deduplicator) leavePrevious(b *event.Batch) {
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

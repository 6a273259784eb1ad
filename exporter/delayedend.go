package exporter

import (
	"maps"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// returnTime is how long a run stays open after its last client has left, or after the last stream of a run in the
// background has ended. The agent may continue. A client that reloads its page, changes its network or resumes the stream
// comes back.
const returnTime = 30 * time.Second

// delayedEnd is the end of a run that takes effect unless a client comes back in time.
type delayedEnd struct {
	event.Departure
	timer *time.Timer
}

// delayEnd delays the end of a run whose last stream has ended, and reports whether it does. The run ends at once if the
// agent has stated its end, waits for input, or has ended another stream of it, or if no stream could find the run. The
// caller holds both locks.
func (s *Deduplicator) delayEnd(r *sharedRun, stream *event.Stream, end event.End, at time.Time) bool {
	mayReturn := end == event.EndClientLeft || stream.InBackground && (end == event.EndOfStream || end == event.EndBroken)
	known, _ := s.runs.Peek(r.key)
	if !mayReturn || r.statedEnd || r.awaitsInput || !r.agentEndedAt.IsZero() || known != r {
		return false
	}
	d := &delayedEnd{Departure: event.Departure{Run: r.key.run, End: end, At: at}}
	d.timer = time.AfterFunc(returnTime, func() { s.endDelayed(r, d) })
	s.delayed[r] = d
	r.stream.Departed.Store(&d.Departure)
	return true
}

// cancelDelay drops the delayed end of a run, if it has one. The caller holds the lock.
func (s *Deduplicator) cancelDelay(r *sharedRun) {
	if d := s.delayed[r]; d != nil {
		d.timer.Stop()
		delete(s.delayed, r)
		r.stream.Departed.CompareAndSwap(&d.Departure, nil)
	}
}

// endDelayed ends a run at the time at which its last stream ended, unless a client has come back.
func (s *Deduplicator) endDelayed(r *sharedRun, d *delayedEnd) {
	s.mu.Lock()
	if s.delayed[r] != d {
		s.mu.Unlock()
		return
	}
	s.cancelDelay(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	closes := s.end(r, d.At)
	s.mu.Unlock()
	if closes {
		s.next.Close(r.stream, d.End, d.At)
	}
}

// EndDelayed ends the runs that wait for a client to come back. It is for a shutdown.
func (s *Deduplicator) EndDelayed() {
	s.mu.Lock()
	all := maps.Clone(s.delayed)
	s.mu.Unlock()
	for r, d := range all {
		s.endDelayed(r, d)
	}
}

package exporter

import (
	"maps"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// returnTime is how long a run stays open after its last client left, or after the last stream of a run in the background
// broke off. The agent may go on, and a client that reloads its page, changes its network or resumes the stream comes back.
const returnTime = 30 * time.Second

// departure is the end of a run that waits for a client. It takes effect unless one comes back in time.
type departure struct {
	end   event.End
	at    time.Time
	timer *time.Timer
}

// depart makes a run wait for a client to come back after a stream of it has ended, and reports whether it does: not if the agent has
// stated the end of the run or ended its stream, or if too many wait. The caller holds both locks.
func (s *Deduplicator) depart(r *sharedRun, stream *event.Stream, end event.End, at time.Time) bool {
	mayReturn := end == event.EndClientLeft || stream.InBackground && !r.asks && (end == event.EndOfStream || end == event.EndBroken)
	if !mayReturn || r.statedEnd || !r.endedAt.IsZero() || r.stream.JoinedSession != "" || len(s.departed) >= maxDeparted {
		return false
	}
	d := &departure{end: end, at: at}
	d.timer = time.AfterFunc(returnTime, func() { s.endDeparted(r, d) })
	s.departed[r] = d
	return true
}

// cancelDeparture ends a run's wait, if it waits. The caller holds the lock.
func (s *Deduplicator) cancelDeparture(r *sharedRun) {
	if d := s.departed[r]; d != nil {
		d.timer.Stop()
		delete(s.departed, r)
	}
}

// endDeparted ends a run at the time at which its last stream ended, unless a client has come back.
func (s *Deduplicator) endDeparted(r *sharedRun, d *departure) {
	s.mu.Lock()
	if s.departed[r] != d {
		s.mu.Unlock()
		return
	}
	s.cancelDeparture(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	s.end(r, d.at)
	s.mu.Unlock()
	s.next.Close(r.stream, d.end, d.at)
}

// EndDeparted ends the runs that wait for a client to come back, for a shutdown.
func (s *Deduplicator) EndDeparted() {
	s.mu.Lock()
	all := maps.Clone(s.departed)
	s.mu.Unlock()
	for r, d := range all {
		s.endDeparted(r, d)
	}
}

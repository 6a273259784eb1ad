package exporter

import "github.com/delegraph/delegraph/collector/event"

// await remembers the answer to a request until it names its run.
func (s *Deduplicator) await(stream *event.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stream.SingleRun && stream.Session != "" && len(s.unnamed) < maxStreams {
		s.unnamed[stream] = struct{}{}
		s.requests[sessionKey{stream.Source, stream.Session}]++
	}
}

func (s *Deduplicator) stopAwaiting(stream *event.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, waits := s.unnamed[stream]; !waits {
		return
	}
	delete(s.unnamed, stream)
	key := sessionKey{stream.Source, stream.Session}
	if s.requests[key]--; s.requests[key] == 0 {
		delete(s.requests, key)
	}
}

// isOfAnother reports whether the stream of a session brings an unknown run that another stream brings or has brought.
// Either the answer to a request of the session has not named its run yet, or the stream replays the past.
func (s *Deduplicator) isOfAnother(b *event.Batch) bool {
	if b.Stream.JoinedSession == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sharedKey{b.Stream.Source, b.Run}
	return !s.runs.Contains(key) && !s.ended.Contains(key) && (b.Stream.Replays || s.requests[sessionKey{b.Stream.Source, b.Stream.JoinedSession}] > 0)
}

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

// isAwaited reports whether the stream of a session brings an unknown run while the answer to a request of the
// session has not named its run yet. The answer then brings the same run and its frames.
func (s *Deduplicator) isAwaited(b *event.Batch) bool {
	if b.Stream.JoinedSession == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sharedKey{b.Stream.Source, b.Run}
	return !s.runs.Contains(key) && !s.ended.Contains(key) && s.requests[sessionKey{b.Stream.Source, b.Stream.JoinedSession}] > 0
}

// isPast reports whether a stream that replays a session brings a run that is not remembered. The run is from the past,
// because another stream began it.
func (s *Deduplicator) isPast(b *event.Batch) bool {
	if !b.Stream.Replays {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sharedKey{b.Stream.Source, b.Run}
	return !s.runs.Contains(key) && !s.ended.Contains(key)
}

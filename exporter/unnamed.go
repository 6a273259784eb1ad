package exporter

import "github.com/delegraph/delegraph/collector/event"

// addUnnamed remembers an answer to a request with a session until the answer names its run.
func (s *Deduplicator) addUnnamed(stream *event.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stream.SingleRun && stream.Session != "" && len(s.unnamed) < maxStreams {
		s.unnamed[stream] = struct{}{}
		s.unnamedBySession[sessionKey{stream.Source, stream.Session}]++
	}
}

func (s *Deduplicator) removeUnnamed(stream *event.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.unnamed[stream]; !ok {
		return
	}
	delete(s.unnamed, stream)
	key := sessionKey{stream.Source, stream.Session}
	if s.unnamedBySession[key]--; s.unnamedBySession[key] == 0 {
		delete(s.unnamedBySession, key)
	}
}

// isOthersRun reports whether the stream of a session brings an unknown run that another stream reports. Either
// the stream replays runs of the past, or the run may be that of a request whose answer has not named it yet.
func (s *Deduplicator) isOthersRun(b *event.Batch) bool {
	if b.Stream.JoinedSession == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := runKey{b.Stream.Source, b.Run}
	return !s.runs.Contains(key) && !s.ended.Contains(key) && (b.Stream.Replays || s.unnamedBySession[sessionKey{b.Stream.Source, b.Stream.JoinedSession}] > 0)
}

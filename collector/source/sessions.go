package source

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Sessions keeps a stream open for each session that somebody names: at most so many, of which the one that was silent for
// longest makes room, and none that is silent for too long.
type Sessions struct {
	tail    *Tail
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex
	idle time.Duration
	open *simplelru.LRU[string, *sessionStream]
}

// sessionStream is one of them, until its timer ends it.
type sessionStream struct {
	end  context.CancelFunc
	idle *time.Timer
}

// NewSessions opens nothing yet. Close ends what it opens.
func NewSessions(t *Tail) *Sessions {
	s := &Sessions{tail: t, idle: t.settings.Idle}
	s.ctx, s.stop = context.WithCancel(context.Background())
	// The only error is a size below one, which configurations are checked for.
	s.open, _ = simplelru.NewLRU(max(t.settings.MaxSessions, 1), func(_ string, stream *sessionStream) { stream.end() })
	return s
}

// Open reads a session's stream, unless it is being read.
func (s *Sessions) Open(session string) {
	if session == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	if known, ok := s.open.Get(session); ok {
		known.idle.Reset(s.idle)
		return
	}
	ctx, end := context.WithCancel(s.ctx)
	stream := &sessionStream{end: end, idle: time.AfterFunc(s.idle, end)}
	if s.open.Add(session, stream) {
		s.tail.counters.SessionEvicted(s.tail.settings.Name)
	}
	s.running.Go(func() {
		s.tail.Run(ctx, session, func() { s.heard(session, stream) })
		stream.idle.Stop()
		s.forget(session, stream)
	})
}

func (s *Sessions) heard(session string, stream *sessionStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.open.Get(session); ok && known == stream {
		stream.idle.Reset(s.idle)
	}
}

func (s *Sessions) forget(session string, stream *sessionStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.open.Peek(session); ok && known == stream {
		s.open.Remove(session)
	}
}

// Configure replaces the bounds: of streams open at once now, of silence from the next frame or request of each on.
func (s *Sessions) Configure(most int, idle time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = idle
	for range s.open.Resize(max(most, 1)) {
		s.tail.counters.SessionEvicted(s.tail.settings.Name)
	}
}

// Names are the sessions that are being read, the one that was silent for longest first.
func (s *Sessions) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open.Keys()
}

// Close ends every stream and waits for them.
func (s *Sessions) Close() {
	s.stop()
	s.running.Wait()
}

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
	open *simplelru.LRU[string, *sessionStream]
}

// sessionStream is one of them, until its timer ends it.
type sessionStream struct {
	end  context.CancelFunc
	idle *time.Timer
}

// NewSessions opens nothing yet. Close ends what it opens.
func NewSessions(t *Tail) *Sessions {
	s := &Sessions{tail: t}
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
		known.idle.Reset(s.tail.settings.Idle)
		return
	}
	ctx, end := context.WithCancel(s.ctx)
	stream := &sessionStream{end: end, idle: time.AfterFunc(s.tail.settings.Idle, end)}
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
		stream.idle.Reset(s.tail.settings.Idle)
	}
}

func (s *Sessions) forget(session string, stream *sessionStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.open.Peek(session); ok && known == stream {
		s.open.Remove(session)
	}
}

// Close ends every stream and waits for them.
func (s *Sessions) Close() {
	s.stop()
	s.running.Wait()
}

package source

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Sessions reads one stream of a tail for each session that Open names. If there are too many, it ends the
// one that has been idle longest. It also ends streams that are idle for too long.
type Sessions struct {
	tail    *Tail
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex
	idle time.Duration
	open *simplelru.LRU[string, *openSession]
}

// openSession is the open stream of one session.
type openSession struct {
	end   context.CancelFunc
	idle  *time.Timer   // calls end
	ended chan struct{} // closed once the stream has been read to its end
}

// resetIdle restarts the idle timer. It reports false if the timer has fired or was stopped: then the stream ends.
func (o *openSession) resetIdle(idle time.Duration) bool {
	if !o.idle.Stop() {
		return false
	}
	o.idle.Reset(idle)
	return true
}

// NewSessions returns Sessions without streams. Call Close to release it.
func NewSessions(t *Tail) *Sessions {
	s := &Sessions{tail: t, idle: t.settings.IdleTimeout}
	s.ctx, s.stop = context.WithCancel(context.Background())
	// The only error is a size below one.
	s.open, _ = simplelru.NewLRU(max(t.settings.MaxSessions, 1), func(_ string, stream *openSession) { stream.end() })
	return s
}

// Open starts to read a session's stream. If it is being read already, Open resets its idle time. If it is just ending, Open starts to
// read it again after that.
func (s *Sessions) Open(session string) {
	if session == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	known, ok := s.open.Get(session)
	if ok && known.resetIdle(s.idle) {
		return
	}
	ctx, end := context.WithCancel(s.ctx)
	stream := &openSession{end: end, idle: time.AfterFunc(s.idle, end), ended: make(chan struct{})}
	if s.open.Add(session, stream) {
		s.tail.counters.CountEvictedSession(s.tail.settings.Name)
	}
	s.running.Go(func() {
		defer close(stream.ended)
		if ok {
			<-known.ended
		}
		s.tail.Run(ctx, session, func() { s.resetIdle(session, stream) })
		stream.idle.Stop()
		s.remove(session, stream)
	})
}

// resetIdle restarts the idle timer of a session. Call it when the session's stream has brought bytes.
func (s *Sessions) resetIdle(session string, stream *openSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, _ := s.open.Get(session); known == stream {
		stream.resetIdle(s.idle)
	}
}

func (s *Sessions) remove(session string, stream *openSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, _ := s.open.Peek(session); known == stream {
		s.open.Remove(session)
	}
}

// Configure replaces the limits. maxSessions takes effect now. idle takes effect for each stream with its next
// frame or request.
func (s *Sessions) Configure(maxSessions int, idle time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = idle
	for range s.open.Resize(max(maxSessions, 1)) {
		s.tail.counters.CountEvictedSession(s.tail.settings.Name)
	}
}

// Names returns the sessions that are being read, the one that has been idle longest first.
func (s *Sessions) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open.Keys()
}

// Close ends every stream and waits for them.
func (s *Sessions) Close() {
	s.mu.Lock()
	s.stop() // under the lock: otherwise Open could begin a stream that nothing waits for
	s.mu.Unlock()
	s.running.Wait()
}

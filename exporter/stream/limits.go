package stream

import "sync"

// SubscriberSize is the memory that is charged for a subscriber with a goroutine, in bytes.
const SubscriberSize = 28 << 10

// waitingSize is the memory that is charged for a subscriber that waits with a writer, as BenchmarkIdle measures it.
const waitingSize = 8 << 10

// slots counts subscribers and limits them in total and per token.
type slots struct {
	max, maxPerToken int
	observe          func(taken int)

	mu          sync.Mutex
	inUse       int
	byToken     map[string]int // entries with a count of 0 are deleted
	allReleased chan struct{}  // nil until close is called; closed when the last slot has then been released
}

func newSlots(all, perToken int, observe func(int)) *slots {
	return &slots{max: all, maxPerToken: perToken, observe: observe, byToken: map[string]int{}}
}

func (s *slots) acquire(token string) Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.allReleased != nil:
		return Draining
	case s.inUse >= s.max:
		return SubscriberLimit
	case token != "" && s.byToken[token] >= s.maxPerToken:
		return TokenLimit
	}
	s.inUse++
	if token != "" {
		s.byToken[token]++
	}
	s.observe(s.inUse)
	return NotRefused
}

func (s *slots) release(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inUse--
	if s.byToken[token]--; s.byToken[token] <= 0 {
		delete(s.byToken, token)
	}
	s.observe(s.inUse)
	if s.allReleased != nil && s.inUse == 0 {
		close(s.allReleased)
	}
}

// close refuses further subscribers and returns a channel that is closed once all slots are
// released. It must be called only once.
func (s *slots) close() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allReleased = make(chan struct{})
	if s.inUse == 0 {
		close(s.allReleased)
	}
	return s.allReleased
}

func (s *slots) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inUse
}

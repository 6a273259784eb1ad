package stream

import "sync"

// slots are the places of subscribers.
type slots struct {
	all, perToken int
	observe       func(taken int)

	mu      sync.Mutex
	open    int
	byToken map[string]int // none is 0, so it has at most open entries
	closed  chan struct{}  // closed when the last is free after close; nil before
}

func newSlots(all, perToken int, observe func(int)) *slots {
	return &slots{all: all, perToken: perToken, observe: observe, byToken: map[string]int{}}
}

func (s *slots) take(token string) Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed != nil:
		return Draining
	case s.open >= s.all:
		return Full
	case token != "" && s.byToken[token] >= s.perToken:
		return TokenFull
	}
	s.open++
	if token != "" {
		s.byToken[token]++
	}
	s.observe(s.open)
	return NotRefused
}

func (s *slots) free(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.byToken[token]--; s.byToken[token] <= 0 {
		delete(s.byToken, token)
	}
	s.observe(s.open)
	if s.closed != nil && s.open == 0 {
		close(s.closed)
	}
}

// close gives no place any more. What it returns is closed when all are free. It is called once.
func (s *slots) close() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = make(chan struct{})
	if s.open == 0 {
		close(s.closed)
	}
	return s.closed
}

func (s *slots) taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

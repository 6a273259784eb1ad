package event

import "sync"

// MaxStates is the minimum number of states that a full States keeps.
const MaxStates = 64

// States keeps what the decoders of ended streams know, for the streams that continue their runs and sessions. It holds the
// states that were used last, at least MaxStates of them and at most twice as many. It is safe for concurrent use. A nil
// *States keeps nothing.
type States struct {
	mu            sync.Mutex
	recent, older map[string]any // at most MaxStates each
}

// Update replaces the state with a key by the result of update, which gets the current one. Nil stands for no state. The
// dialect bounds the size of a state. update must not use s.
func (s *States) Update(key string, update func(state any) any) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state, isRecent := s.recent[key]
	if !isRecent {
		state = s.older[key]
	}
	delete(s.recent, key)
	delete(s.older, key)
	if state = update(state); state == nil {
		return
	}
	if s.recent == nil || len(s.recent) >= MaxStates {
		s.recent, s.older = make(map[string]any), s.recent
	}
	s.recent[key] = state
}

package event

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// MaxStates and MaxStatesSize limit what a States keeps: the number of states, and their size in bytes.
const (
	MaxStates     = 4096
	MaxStatesSize = 8 << 20
)

// KeptState is what a decoder knows. The dialect bounds its size.
type KeptState interface {
	Size() int // in bytes, approximately
}

// States keeps what the decoders of ended streams know, for the streams that continue their runs and sessions. It forgets
// the states that were not used for the longest time. It is safe for concurrent use. A nil *States keeps nothing.
type States struct {
	mu   sync.Mutex
	kept *simplelru.LRU[string, sizedState]
	size int // of all states, in bytes
}

type sizedState struct {
	KeptState
	size int // when it was kept
}

// Update replaces the state with a key by the result of update, which gets the current one. Nil stands for no state. update
// must not use s.
func (s *States) Update(key string, update func(KeptState) KeptState) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept, _ = simplelru.NewLRU(MaxStates, func(_ string, removed sizedState) { s.size -= removed.size })
	}
	current, _ := s.kept.Peek(key)
	s.kept.Remove(key)
	next := update(current.KeptState)
	if next == nil {
		return
	}
	size := len(key) + next.Size()
	s.size += size
	s.kept.Add(key, sizedState{next, size})
	for s.size > MaxStatesSize {
		s.kept.RemoveOldest()
	}
}

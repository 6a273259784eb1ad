package event

import (
	"container/list"
	"sync"
)

// MaxStates and MaxStatesSize limit what a States keeps: the number of states, and their size in bytes.
const (
	MaxStates     = 4096
	MaxStatesSize = 8 << 20
)

// KeptState is what a decoder knows about a run or a session. The dialect bounds its size.
type KeptState interface {
	Size() int // in bytes, approximately
}

// States keeps what the decoders of ended streams know, for the streams that continue their runs and sessions. If it is
// full, it forgets the least recently used states. It is safe for concurrent use. A nil *States keeps nothing.
type States struct {
	mu    sync.Mutex
	order list.List // of keptEntry, the last one used in front
	byKey map[string]*list.Element
	size  int // of all states, in bytes
}

type keptEntry struct {
	key   string
	state KeptState
	size  int // when it was kept
}

// Update calls update with the state of a key and replaces the state by the result. Nil stands for no state. update must
// not use s.
func (s *States) Update(key string, update func(KeptState) KeptState) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var current KeptState
	if at := s.byKey[key]; at != nil {
		current = s.remove(at)
	}
	next := update(current)
	if next == nil {
		return
	}
	if s.byKey == nil {
		s.byKey = make(map[string]*list.Element)
	}
	entry := keptEntry{key, next, len(key) + next.Size()}
	s.byKey[key] = s.order.PushFront(entry)
	s.size += entry.size
	for s.order.Len() > MaxStates || s.size > MaxStatesSize {
		s.remove(s.order.Back())
	}
}

func (s *States) remove(at *list.Element) KeptState {
	removed := s.order.Remove(at).(keptEntry)
	delete(s.byKey, removed.key)
	s.size -= removed.size
	return removed.state
}

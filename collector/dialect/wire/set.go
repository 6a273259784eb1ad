package wire

import (
	"iter"
	"maps"
)

// MaxSet bounds the keys of a Set.
const MaxSet = 1024

// Set is a set of at most MaxSet keys. It ignores further keys, so from then on it may contain any key (see
// MayContain), even after keys are removed. The zero value is an empty set.
type Set[K comparable] struct {
	keys   map[K]struct{}
	filled bool
}

// Add adds a key. If the set is full, it stays full for good.
func (s *Set[K]) Add(key K) {
	if s.Contains(key) {
		return
	}
	if s.IsFull() {
		s.filled = true
		return
	}
	if s.keys == nil {
		s.keys = make(map[K]struct{})
	}
	s.keys[key] = struct{}{}
}

// AddAll adds the keys of another set. If that one may contain any key, so may s.
func (s *Set[K]) AddAll(other *Set[K]) {
	for key := range other.keys {
		s.Add(key)
	}
	s.filled = s.filled || other.filled
}

// Remove removes a key.
func (s *Set[K]) Remove(key K) { delete(s.keys, key) }

// Contains reports whether a key was added.
func (s *Set[K]) Contains(key K) bool {
	_, contains := s.keys[key]
	return contains
}

// MayContain reports whether a key was added or the set is full.
func (s *Set[K]) MayContain(key K) bool { return s.Contains(key) || s.IsFull() }

// IsFull reports whether the set takes no more keys.
func (s *Set[K]) IsFull() bool { return s.filled || len(s.keys) >= MaxSet }

// Len returns the number of keys.
func (s *Set[K]) Len() int { return len(s.keys) }

// All returns the keys, in no order.
func (s *Set[K]) All() iter.Seq[K] { return maps.Keys(s.keys) }

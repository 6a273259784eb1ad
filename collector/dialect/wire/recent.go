package wire

import (
	"container/list"
	"iter"
	"maps"
)

// Recent holds the last MaxSet keys that were added. Unlike a Set, it always takes a new key, and forgets the oldest one instead. The zero
// value is empty.
type Recent[K comparable] struct {
	keys   map[K]*list.Element
	order  *list.List // of the keys, the oldest first; a copy of a Recent shares it, and the map
	forgot bool
}

// Add adds a key unless Recent contains it. It returns the key that it forgets, if any.
func (r *Recent[K]) Add(key K) (oldest K, forgets bool) {
	if r.Contains(key) {
		return oldest, false
	}
	if r.keys == nil {
		r.keys, r.order = make(map[K]*list.Element), list.New()
	}
	if forgets = len(r.keys) == MaxSet; forgets {
		oldest, _ = r.order.Front().Value.(K)
		r.Remove(oldest)
		r.forgot = true
	}
	r.keys[key] = r.order.PushBack(key)
	return oldest, forgets
}

// Remove removes a key.
func (r *Recent[K]) Remove(key K) {
	if at := r.keys[key]; at != nil {
		r.order.Remove(at)
		delete(r.keys, key)
	}
}

// Contains reports whether a key was added, and neither removed nor forgotten.
func (r *Recent[K]) Contains(key K) bool { return r.keys[key] != nil }

// All returns the keys, in no order.
func (r *Recent[K]) All() iter.Seq[K] { return maps.Keys(r.keys) }

// HasForgotten reports whether Recent has forgotten a key.
func (r *Recent[K]) HasForgotten() bool { return r.forgot }

// MayContain reports whether Recent contains a key, or has forgotten any.
func (r *Recent[K]) MayContain(key K) bool { return r.Contains(key) || r.forgot }

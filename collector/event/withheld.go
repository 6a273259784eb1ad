package event

import (
	"sync"
	"sync/atomic"
)

// MaxWithheld is the minimum number of keys that a full Withheld remembers.
const MaxWithheld = 16 << 10

// Withheld remembers what was withheld on the streams of an agent, because another stream may repeat it. For example,
// a client rejoins a run, or a later run has it in its history. Withheld holds the keys that were added or found
// last, at least MaxWithheld of them and at most twice as many. It is safe for concurrent use. A nil *Withheld is
// always empty.
type Withheld struct {
	revision      atomic.Uint64 // how many keys were added
	mu            sync.Mutex
	recent, older map[uint64]struct{} // at most MaxWithheld each
}

// IsEmpty reports whether no key was ever added. It takes no lock.
func (w *Withheld) IsEmpty() bool { return w.Revision() == 0 }

// Revision returns a number that grows with each key that is added. It takes no lock.
func (w *Withheld) Revision() uint64 {
	if w == nil {
		return 0
	}
	return w.revision.Load()
}

// Add adds a key. If there is no room, it forgets the keys that have not been added or found for the longest time.
func (w *Withheld) Add(key uint64) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(key)
	w.revision.Add(1)
}

func (w *Withheld) add(key uint64) {
	if len(w.recent) >= MaxWithheld {
		w.recent, w.older = nil, w.recent
	}
	if w.recent == nil {
		w.recent = make(map[uint64]struct{})
	}
	w.recent[key] = struct{}{}
}

// Remove removes a key.
func (w *Withheld) Remove(key uint64) {
	if w.IsEmpty() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.recent, key)
	delete(w.older, key)
}

// Contains reports whether a key is remembered.
func (w *Withheld) Contains(key uint64) bool {
	if w.IsEmpty() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, isRecent := w.recent[key]
	_, isOlder := w.older[key]
	if isOlder && !isRecent {
		w.add(key)
	}
	return isRecent || isOlder
}

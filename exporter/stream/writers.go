package stream

import (
	"slices"
	"sync"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// writerCapacity is the maximum number of subscribers of a writer.
const writerCapacity = 256

// writerKey says what the subscribers of a writer have in common: the same frames wake them, and they move to
// another shard together.
type writerKey struct {
	ring    *replay.Ring
	group   int  // Selection.Group
	selects bool // the subscribers have selections
	moved   <-chan struct{}
}

// writers holds the writers of a hub.
type writers struct {
	mu    sync.Mutex
	byKey map[writerKey][]*writer
}

// join returns a writer with room for a subscriber, and starts one if there is none. Call leave when the subscriber's
// stream ends.
func (w *writers) join(s *subscriber) *writer {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := writerKey{s.attachment.Ring, s.selection.Group(), s.selection != nil, s.attachment.Moved}
	for _, open := range w.byKey[key] {
		if open.subscribers < writerCapacity {
			open.subscribers++
			return open
		}
	}
	added := newWriter(s)
	added.key, added.subscribers = key, 1
	w.byKey[key] = append(w.byKey[key], added)
	go added.run()
	return added
}

// leave removes a subscriber from a writer, and ends the writer with its last subscriber.
func (w *writers) leave(left *writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if left.subscribers--; left.subscribers > 0 {
		return
	}
	close(left.unused)
	w.byKey[left.key] = slices.DeleteFunc(w.byKey[left.key], func(open *writer) bool { return open == left })
	if len(w.byKey[left.key]) == 0 {
		delete(w.byKey, left.key)
	}
}

package event_test

import (
	"sync"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestWithheld checks that the keys that were used last are remembered, and that the others are forgotten.
func TestWithheld(t *testing.T) {
	var w event.Withheld
	if !w.IsEmpty() || w.Contains(0) {
		t.Error("a new memory is not empty")
	}
	for key := range uint64(5 * event.MaxWithheld) {
		w.Add(key)
		w.Contains(7) // stays in use
	}
	for key, want := range map[uint64]bool{7: true, 8: false, 4*event.MaxWithheld + 1: true, 5*event.MaxWithheld - 1: true} {
		if got := w.Contains(key); got != want {
			t.Errorf("key %d is remembered: %v, want %v", key, got, want)
		}
	}
	if w.Remove(7); w.Contains(7) {
		t.Error("a removed key is remembered")
	}
}

// TestWithheldOfNoSource checks that a stream without a memory can use it.
func TestWithheldOfNoSource(t *testing.T) {
	var w *event.Withheld
	w.Add(1)
	if w.Remove(2); !w.IsEmpty() || w.Contains(1) {
		t.Error("nil remembers a key")
	}
}

// TestWithheldTogether uses a memory from several goroutines, for the race detector.
func TestWithheldTogether(t *testing.T) {
	var w event.Withheld
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for key := range uint64(1000) {
				w.Add(key)
				if !w.Contains(key) {
					t.Errorf("key %d is forgotten", key)
				}
			}
		})
	}
	all.Wait()
}

package wire_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
)

// TestSet checks that a set takes at most MaxSet keys, and that a full one may contain any key.
func TestSet(t *testing.T) {
	var s wire.Set[int]
	for key := range wire.MaxSet {
		if s.MayContain(key) {
			t.Fatalf("a set of %d keys may contain one that was not added", s.Len())
		}
		s.Add(key)
	}
	s.Add(0)
	s.Remove(1)
	if s.IsFull() || s.MayContain(1) {
		t.Error("a set that has ignored no key may contain one that was removed")
	}
	s.Add(1)
	s.Add(wire.MaxSet)
	if s.Len() != wire.MaxSet || s.Contains(wire.MaxSet) || !s.MayContain(wire.MaxSet) {
		t.Errorf("a full set has %d keys, want %d and that it may contain any", s.Len(), wire.MaxSet)
	}
	s.Remove(1)
	if !s.IsFull() || s.Contains(1) || !s.MayContain(wire.MaxSet) {
		t.Error("a set that has ignored a key does not count as one that may contain any key after one is removed")
	}
	for key := range s.All() {
		if !s.Contains(key) {
			t.Errorf("All() has %d, which the set does not contain", key)
		}
	}
}

package wire_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
)

// TestRecent adds more keys than Recent holds. It forgets only the oldest.
func TestRecent(t *testing.T) {
	var r wire.Recent[int]
	for i := range wire.MaxSet {
		r.Add(i)
	}
	r.Add(5)
	r.Remove(0)
	r.Remove(3)
	r.Add(0)
	r.Add(-1)
	moved := r
	if moved.HasForgotten() || moved.MayContain(3) || !moved.Contains(0) || !moved.Contains(1) {
		t.Error("it has forgotten a key before it was full")
	}
	if oldest, forgets := moved.Add(-2); oldest != 1 || !forgets || !moved.HasForgotten() {
		t.Errorf("it forgets %d, %v", oldest, forgets)
	}
	if moved.Contains(1) || !moved.MayContain(1) || !moved.Contains(0) || !moved.Contains(2) || !moved.Contains(-2) {
		t.Error("not the oldest key was forgotten")
	}
	n := -wire.MaxSet
	for i := range 10 * wire.MaxSet {
		moved.Add(i)
	}
	for i := range 10 * wire.MaxSet {
		if moved.Contains(i) {
			n++
		}
	}
	if n != 0 {
		t.Errorf("it holds %d keys more than it may", n)
	}
	n = wire.MaxSet
	for i := range moved.All() {
		if !moved.Contains(i) {
			t.Errorf("All() has %d, which it does not contain", i)
		}
		n--
	}
	if n != 0 {
		t.Errorf("All() lacks %d keys", n)
	}
}

package replay

import (
	"bytes"
	"testing"
)

// TestBudget fills rings that share a budget smaller than their own limits. Together they must stay within it after
// each ring was published to or its Stats were read, and no ring may become empty.
func TestBudget(t *testing.T) {
	const frame, all = 1000, 40_000
	s := roomy
	s.Bytes, s.Budget = 32_000, NewBudget(all)
	held := func(rings []*Ring) (n int) {
		for _, r := range rings {
			n += r.Stats().Bytes
		}
		return n
	}
	fill := func(r *Ring, n int) {
		for range n {
			publish(t, r, Entry{Data: bytes.Repeat([]byte("x"), frame)})
		}
	}
	alone, _ := newRing(t, s)
	fill(alone, 40)
	if n := alone.Stats().Bytes; n < 30_000 {
		t.Errorf("a single ring holds %d bytes", n)
	}
	rings := []*Ring{alone}
	for range 9 {
		r, _ := newRing(t, s)
		fill(r, 40)
		rings = append(rings, r)
	}
	if n := held(rings); n > all {
		t.Errorf("the rings hold %d bytes together", n)
	}
	if n := int(s.Budget.held.Load()); n != held(rings) {
		t.Errorf("the budget counts %d bytes, the rings hold %d", n, held(rings))
	}
	for _, r := range rings {
		publish(t, r, Entry{Data: bytes.Repeat([]byte("x"), 20_000)})
		if cursor, gap := r.Resume(r.ID(r.Head())); gap != nil || cursor != (Cursor{sequence: r.Head().sequence, number: r.Head().number, resumeView: cursor.resumeView}) {
			t.Error("the newest frame is evicted")
		}
		if n := r.Stats().Frames; n < 2 {
			t.Errorf("%d frames are left", n)
		}
	}
	for _, r := range rings {
		r.ReleaseBudget()
		r.ReleaseBudget()
		fill(r, 3)
	}
	if n, left := s.Budget.held.Load(), s.Budget.rings.Load(); n != 0 || left != 0 {
		t.Errorf("%d bytes of %d rings count when all have left", n, left)
	}
}

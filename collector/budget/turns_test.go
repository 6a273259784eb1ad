package budget

import (
	"math"
	"testing"
	"testing/synctest"
)

// TestTurns checks that large work is done one at a time and charged, that medium and small work does not wait for it,
// and that a turn ends once.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := New(100 << 20)
		turns := NewTurns(whole.Account("large_frames", 1, 1), 25<<20)
		taken := make(chan Turn, 4)
		for range cap(taken) {
			go func() { taken <- turns.Take(mediumWork + 1) }()
		}
		for range cap(taken) {
			synctest.Wait()
			if len(taken) != 1 {
				t.Fatalf("%d turns for large work at once, want 1", len(taken))
			}
			large := <-taken
			if used := whole.Usage()[0].Bytes; used != mediumWork+1 {
				t.Errorf("%d bytes are charged for one turn", used)
			}
			medium, small := turns.Take(mediumWork), turns.Take(smallWork)
			medium.End()
			small.End()
			large.End()
			large.End()
		}
		if used := whole.Usage()[0].Bytes; used != 0 {
			t.Errorf("%d bytes are charged after the last turn", used)
		}
		var none *Turns
		free := none.Take(math.MaxInt)
		free.End()
	})
}

// TestFitsRuntime checks that a garbage collection is due only if the limit of the runtime would be exceeded.
func TestFitsRuntime(t *testing.T) {
	if !fitsRuntime(1<<30, math.MaxInt64) || fitsRuntime(1<<20, 1<<20) {
		t.Error("an unlimited process must have room, one at its limit none")
	}
}

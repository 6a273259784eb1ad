package stream

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestTurns checks that at most half of the processors encode frames for subscribers at once, and that a panic ends the turn.
func TestTurns(t *testing.T) {
	hub := &Hub{turns: newTurns()}
	var busy, most atomic.Int64
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			s := &subscriber{hub: hub}
			defer func() { _ = recover() }()
			s.takeTurn(func() {
				if n := busy.Add(1); n > most.Load() {
					most.Store(n)
				}
				runtime.Gosched()
				busy.Add(-1)
				panic("of a format")
			})
		})
	}
	all.Wait()
	if limit := max(1, runtime.GOMAXPROCS(0)/2); most.Load() > int64(limit) || len(hub.turns) != 0 {
		t.Errorf("%d turns at once, want at most %d; %d turns have not ended", most.Load(), limit, len(hub.turns))
	}
}

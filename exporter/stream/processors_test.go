package stream

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestProcessors checks that at most half of the processors convert frames for subscribers at once, and that a panic
// frees its processor.
func TestProcessors(t *testing.T) {
	hub := &Hub{processors: newProcessors()}
	var busy, most atomic.Int64
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			defer func() { _ = recover() }()
			hub.withProcessor(func() {
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
	if limit := max(1, runtime.GOMAXPROCS(0)/2); most.Load() > int64(limit) || len(hub.processors) != 0 {
		t.Errorf("%d at once, want at most %d; %d are not free again", most.Load(), limit, len(hub.processors))
	}
}

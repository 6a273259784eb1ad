package source

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestBurst has frames come faster than an observer is to be woken: the first is observed at once, those after it together, within
// a moment; the next one after a pause at once again; and all of them at once where they fill the queue.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		q := newQueue[int](10, time.Now, unnoticed)
		var observed []time.Duration // since the beginning
		go func() {
			for _, ok := q.take(); ok; _, ok = q.take() {
				observed = append(observed, time.Since(begin))
			}
		}()
		synctest.Wait()
		var want []time.Duration
		for _, at := range []struct {
			come, observed time.Duration
			cost           int
		}{
			{0, 0, 1}, {moment / 4, moment * 5 / 4, 1}, {moment / 2, moment * 5 / 4, 1},
			{moment * 5, moment * 5, 1}, {moment * 21 / 4, moment * 11 / 2, 1}, {moment * 11 / 2, moment * 11 / 2, 8},
		} {
			time.Sleep(at.come - time.Since(begin))
			q.put(0, at.cost, 1)
			q.wake()
			synctest.Wait()
			want = append(want, at.observed)
		}
		q.close(0)
		synctest.Wait()
		if !slices.Equal(observed, want) {
			t.Errorf("observed at %v, want %v", observed, want)
		}
	})
}

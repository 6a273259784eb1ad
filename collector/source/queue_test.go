package source

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
)

// TestBurst has frames come faster than an observer is to be woken: the first is observed at once, those after it together, within
// a moment; the next one after a pause at once again; and all of them at once where they fill the queue.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		q := newQueue[int](10, nil, time.Now, unnoticed)
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

// TestObserverDoesNotWaitForTheClient has the client never take what was put: it is observed all the same, each time.
func TestObserverDoesNotWaitForTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[int](10, nil, time.Now, unnoticed)
		var observed atomic.Int64
		go func() {
			for _, ok := q.take(); ok; _, ok = q.take() {
				observed.Add(1)
			}
		}()
		for i := range 3 {
			synctest.Wait()
			q.put(0, 1, 1)
			synctest.Wait()
			if observed := int(observed.Load()); observed != i {
				t.Errorf("%d observed before the client had its time for %d", observed, i+1)
			}
			time.Sleep(patience)
			synctest.Wait()
			if observed := int(observed.Load()); observed != i+1 {
				t.Errorf("%d observed of %d", observed, i+1)
			}
		}
		q.close(0)
	})
}

// TestQueuesShareMemory fills the budget by one queue: another loses what it is given then, for that reason, and its later elements too;
// a third gets room when the first has let go of its own.
func TestQueuesShareMemory(t *testing.T) {
	memory := budget.New(100).Account("observe", 1, 1)
	var reasons []string
	lost := func(reason string, _ int) { reasons = append(reasons, reason) }
	first, second, third := newQueue[int](100, memory, time.Now, lost), newQueue[int](100, memory, time.Now, lost), newQueue[int](100, memory, time.Now, lost)
	first.put(1, 90, 1)
	second.put(1, 20, 1)
	first.take()
	second.put(1, 20, 1)
	third.put(1, 90, 1)
	third.abandon(UnobservedPanic, 0)
	if want := []string{UnobservedMemory, UnobservedMemory, UnobservedPanic}; !slices.Equal(reasons, want) {
		t.Errorf("lost for %q, want %q", reasons, want)
	}
	if left := memory.Left(); left != 100 {
		t.Errorf("%d of the budget are left", left)
	}
}

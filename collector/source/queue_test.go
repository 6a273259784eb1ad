package source

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
)

// TestBurst checks when a burst wakes the observer: the first frame at once, the following ones together after minWakeInterval, or at once
// if they fill half of the queue.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		q := newQueue[int](10, nil, time.Now, ignoreLoss)
		var observed []time.Duration // since the start
		go func() {
			for _, ok := q.next(); ok; _, ok = q.next() {
				observed = append(observed, time.Since(begin))
			}
		}()
		synctest.Wait()
		var want []time.Duration
		for _, at := range []struct {
			come, observed time.Duration
			cost           int
		}{
			{0, 0, 1}, {minWakeInterval / 4, minWakeInterval * 5 / 4, 1}, {minWakeInterval / 2, minWakeInterval * 5 / 4, 1},
			{minWakeInterval * 5, minWakeInterval * 5, 1}, {minWakeInterval * 21 / 4, minWakeInterval * 11 / 2, 1}, {minWakeInterval * 11 / 2, minWakeInterval * 11 / 2, 8},
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
			t.Errorf("the frames are observed at %v, want %v", observed, want)
		}
	})
}

// TestObserverDoesNotWaitForTheClient checks that elements are observed after maxObserveDelay even if the client never reads.
func TestObserverDoesNotWaitForTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[int](10, nil, time.Now, ignoreLoss)
		var observed atomic.Int64
		go func() {
			for _, ok := q.next(); ok; _, ok = q.next() {
				observed.Add(1)
			}
		}()
		for i := range 3 {
			synctest.Wait()
			q.put(0, 1, 1)
			synctest.Wait()
			if observed := int(observed.Load()); observed != i {
				t.Errorf("%d elements are observed before maxObserveDelay of number %d", observed, i+1)
			}
			time.Sleep(maxObserveDelay)
			synctest.Wait()
			if observed := int(observed.Load()); observed != i+1 {
				t.Errorf("%d elements are observed, want %d", observed, i+1)
			}
		}
		q.close(0)
	})
}

// TestQueuesShareMemory checks that a queue loses its stream while another queue uses up the budget. Once that memory
// is released, it must not.
func TestQueuesShareMemory(t *testing.T) {
	memory := budget.New(100).Account("observe", 1, 1)
	var reasons []string
	lost := func(reason string, _ int) { reasons = append(reasons, reason) }
	first, second, third := newQueue[int](100, memory, time.Now, lost), newQueue[int](100, memory, time.Now, lost), newQueue[int](100, memory, time.Now, lost)
	first.put(1, 90, 1)
	second.put(1, 20, 1)
	first.next()
	first.close(0)
	second.put(1, 20, 1)
	if left := memory.Remaining(); left != 10 {
		t.Errorf("%d bytes of the budget remain while the first element is observed, want 10", left)
	}
	first.next()
	third.put(1, 90, 1)
	third.abandon(UnobservedPanic, 0)
	if want := []string{UnobservedMemory, UnobservedMemory, UnobservedPanic}; !slices.Equal(reasons, want) {
		t.Errorf("streams are lost for %q, want %q", reasons, want)
	}
	if left := memory.Remaining(); left != 100 {
		t.Errorf("%d bytes of the budget remain", left)
	}
}

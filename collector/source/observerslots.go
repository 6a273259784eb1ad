package source

import (
	"runtime"
	"sync/atomic"
	"time"
)

// maxObserveSlice is how long an observer works while others wait for its slot.
const maxObserveSlice = time.Millisecond

// ObserverSlots limits how many observers of a process work at the same time. One processor is left to
// the relay. Otherwise a relay that has bytes for its client would wait in the scheduler's queue behind all
// observers with a backlog, each of which may run for 10 ms. Nil means no limit.
type ObserverSlots struct {
	slots   chan struct{}
	waiting atomic.Int32
}

// NewObserverSlots returns the slots of a process.
func NewObserverSlots() *ObserverSlots {
	return &ObserverSlots{slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))}
}

// observerSlot is the slot of one observer. Only the observer uses it.
type observerSlot struct {
	all   *ObserverSlots
	taken bool
	since time.Time
}

// take waits for a slot. If the observer already has one, it keeps it, unless it has worked longer than
// maxObserveSlice and others wait.
func (s *observerSlot) take() {
	if s.all == nil {
		return
	}
	if s.taken && s.all.waiting.Load() > 0 && time.Since(s.since) > maxObserveSlice {
		s.release()
	}
	if !s.taken {
		s.all.waiting.Add(1)
		s.all.slots <- struct{}{}
		s.all.waiting.Add(-1)
		s.taken, s.since = true, time.Now()
	}
}

// release gives the slot back if the observer has one.
func (s *observerSlot) release() {
	if s.taken {
		s.taken = false
		<-s.all.slots
	}
}

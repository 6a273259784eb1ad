package source

import (
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
)

// Reasons why bytes of a stream were not observed: the values of the label `reason`.
const (
	UnobservedQueueFull = "queue_full" // the queue of the stream was full
	UnobservedMemory    = "memory"     // the memory budget of the process was used up
	UnobservedPanic     = "panic"      // a panic ended the observation
	UnobservedEncoding  = "encoding"   // the content encoding is not supported, or the content is corrupt
)

// queue carries the elements of a relayed stream to its observer. put never blocks: if the queue is full,
// the observer loses the rest of the stream.
type queue[E any] struct {
	limit     int             // of the cost of all waiting elements, in bytes
	memory    *budget.Account // account that the waiting elements are charged to
	now       func() time.Time
	countLost func(reason string, bytes int) // called for each loss
	slot      observerSlot                   // held while the observer works on an element

	mu           sync.Mutex
	ready        sync.Cond
	waiting      []queued[E]
	current      queued[E] // the last element that next has returned
	cost         int
	closed       bool
	rest         int         // bytes of the stream after the last element
	lossReason   string      // why the rest of the stream is lost, or ""
	endedAt      time.Time   // when the stream ended, or its loss began
	asleep       bool        // the observer sleeps and has not been woken
	lastWake     time.Time   // the time of the last wake-up; in the future if one is planned
	overdueTimer *time.Timer // calls wakeOverdue
	timerRunning bool        // overdueTimer is running
	orderState
}

type queued[E any] struct {
	element E
	cost    int
	bytes   int // bytes of the stream that the element represents
	barrier *barrier
}

func newQueue[E any](limit int, memory *budget.Account, now func() time.Time, countLost func(reason string, bytes int)) *queue[E] {
	q := &queue[E]{limit: limit, memory: memory, now: now, countLost: countLost, orderState: newOrderState()}
	q.ready.L = &q.mu
	return q
}

// discard reports whether the rest of the stream is lost. If so, it counts the given bytes as lost, and
// the caller need not make an element of them.
func (q *queue[E]) discard(bytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lossReason == "" {
		return false
	}
	q.countLost(q.lossReason, bytes)
	return true
}

// put adds an element that represents the given number of bytes of the stream. It does not wake the
// observer: wake does, or a timer if the client does not read.
func (q *queue[E]) put(element E, cost, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.lossReason != "":
	case q.cost+cost > q.limit:
		q.lose(UnobservedQueueFull)
	case !q.memory.Reserve(cost):
		q.lose(UnobservedMemory)
	}
	if q.lossReason != "" {
		q.countLost(q.lossReason, bytes)
		return
	}
	q.waiting = append(q.waiting, queued[E]{element: element, cost: cost, bytes: bytes})
	q.cost += cost
	if q.asleep && !q.timerRunning {
		q.timerRunning = true
		if q.overdueTimer == nil {
			q.overdueTimer = time.AfterFunc(maxObserveDelay, q.wakeOverdue)
		} else {
			q.overdueTimer.Reset(maxObserveDelay)
		}
	}
}

// maxObserveDelay is how long an element waits for wake. A client that does not read must not keep it in
// memory.
const maxObserveDelay = 10 * time.Millisecond

// wakeOverdue wakes the observer for elements that the client has not received yet.
func (q *queue[E]) wakeOverdue() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.timerRunning = false
	if q.asleep && len(q.waiting) > 0 {
		q.asleep, q.lastWake = false, q.now()
		q.ready.Signal()
	}
}

// lose drops the rest of the stream. The caller holds the lock.
func (q *queue[E]) lose(reason string) {
	q.lossReason = reason
	if !q.closed {
		q.endedAt = q.now()
	}
}

// minWakeInterval is the shortest time between two wake-ups of the observer.
const minWakeInterval = time.Millisecond

// wake wakes the observer for the elements put so far. It is called when the client has received them. In a
// burst it wakes the observer once for many frames, unless the queue is half full. Waking a thread costs more
// than observing a frame, and takes a core that the client and the agent need.
func (q *queue[E]) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	urgent := q.lossReason != "" || q.cost > q.limit/2
	if !urgent && (!q.asleep || len(q.waiting) == 0) {
		return
	}
	q.asleep = false
	if q.timerRunning && q.overdueTimer.Stop() {
		q.timerRunning = false
	}
	if now := q.now(); urgent || now.Sub(q.lastWake) >= minWakeInterval {
		q.lastWake = now
		q.ready.Signal()
	} else {
		q.lastWake = now.Add(minWakeInterval)
		time.AfterFunc(minWakeInterval, q.ready.Signal)
	}
}

// close ends the queue. rest is the number of bytes at the end of the stream that belong to no element.
func (q *queue[E]) close(rest int) {
	if q.order == nil {
		q.finish(rest, nil)
		return
	}
	q.order.end(q, func(before []<-chan struct{}) { q.finish(rest, before) })
}

// finish closes the queue. The observation of the end waits for the given channels.
func (q *queue[E]) finish(rest int, before []<-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed, q.rest = true, rest
	q.awaited = append(q.awaited, before...)
	if q.lossReason == "" {
		q.endedAt = q.now()
	} else {
		q.countLost(q.lossReason, rest)
	}
	q.ready.Signal()
}

// next waits for the next element. By calling it, the observer states that it has observed all earlier
// ones. After a loss it returns only what was put before: frames after a gap could not be interpreted.
func (q *queue[E]) next() (element E, ok bool) {
	element, ok = q.awaitNext()
	q.slot.take()
	return element, ok
}

func (q *queue[E]) awaitNext() (element E, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.advance()
	q.memory.Release(q.current.cost) // the element stays in memory until the observer asks for the next one
	q.current = queued[E]{}
	for {
		for len(q.waiting) == 0 && !q.closed && q.lossReason == "" {
			q.asleep, q.idle = true, true
			q.slot.release()
			q.ready.Wait()
		}
		q.idle = false
		if len(q.waiting) == 0 {
			q.waitUnlocked(q.awaited)
			return element, false
		}
		next := q.waiting[0]
		q.waiting[0], q.waiting = queued[E]{}, q.waiting[1:]
		if next.barrier != nil {
			next.barrier.reach()
			q.waitUnlocked([]<-chan struct{}{next.barrier.after})
			continue
		}
		q.current = next
		q.cost -= next.cost
		return next.element, true
	}
}

// waitUnlocked waits for all channels. While it waits, it releases the caller's lock and the observer's slot.
func (q *queue[E]) waitUnlocked(all []<-chan struct{}) {
	q.mu.Unlock()
	defer q.mu.Lock()
	q.slot.release()
	awaitAll(all)
}

// abandon drops the rest of the stream after the observer has failed. unobserved is the number of bytes of
// the current element that it did not observe.
func (q *queue[E]) abandon(reason string, unobserved int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.waiting {
		unobserved += e.bytes
		if e.barrier != nil {
			e.barrier.reach()
		}
	}
	q.memory.Release(q.cost + q.current.cost)
	q.waiting, q.cost, q.current.cost = nil, 0, 0
	if q.lossReason == "" {
		unobserved += q.rest
		q.lose(reason)
	}
	q.countLost(reason, unobserved)
}

// ending returns the time of the end, and the reason why the observer does not get the whole stream, or "".
func (q *queue[E]) ending() (at time.Time, lossReason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.endedAt, q.lossReason
}

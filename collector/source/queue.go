package source

import (
	"sync"
	"time"
)

// queue carries what passes on the path to the client to whoever observes it. Putting never blocks: when the observer has fallen
// behind by the limit, it loses the rest of the stream.
type queue[E any] struct {
	limit int // of the costs of what waits
	now   func() time.Time

	mu       sync.Mutex
	ready    sync.Cond
	waiting  []queued[E]
	cost     int
	lost     int // bytes
	closed   bool
	overflow bool
	ended    time.Time // when no more came, or could be kept
	asleep   bool      // the observer, and nobody has called it
	called   time.Time // for when it was called last
}

type queued[E any] struct {
	element E
	cost    int
}

func newQueue[E any](limit int, now func() time.Time) *queue[E] {
	q := &queue[E]{limit: limit, now: now}
	q.ready.L = &q.mu
	return q
}

// put leaves an element, which stands for so many bytes of the stream, to the observer, who sleeps on until wake.
func (q *queue[E]) put(element E, cost, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.overflow:
		q.lost += bytes
	case q.cost+cost > q.limit:
		q.overflow, q.ended = true, q.now()
		q.lost += bytes
	default:
		q.waiting = append(q.waiting, queued[E]{element, cost})
		q.cost += cost
	}
}

// moment is how often the observer is called at most.
const moment = time.Millisecond

// wake has the observer look at what was put. It is called when the client has it. In a burst the observer is called for many frames
// at once, unless they are about to be too many: to wake a thread costs more than to observe a frame, and takes a core that client
// and agent want for the next.
func (q *queue[E]) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	full := q.overflow || q.cost > q.limit/2
	if !full && (!q.asleep || len(q.waiting) == 0) {
		return
	}
	q.asleep = false
	if now := q.now(); full || now.Sub(q.called) >= moment {
		q.called = now
		q.ready.Signal()
	} else {
		q.called = now.Add(moment)
		time.AfterFunc(moment, q.ready.Signal)
	}
}

// close says that nothing follows.
func (q *queue[E]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	if !q.overflow {
		q.ended = q.now()
	}
	q.ready.Signal()
}

// take waits for the next element. After an overflow there is none: what follows the gap could not be understood.
func (q *queue[E]) take() (element E, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && !q.closed && !q.overflow {
		q.asleep = true
		q.ready.Wait()
	}
	if len(q.waiting) == 0 {
		return element, false
	}
	first := q.waiting[0]
	q.waiting[0], q.waiting = queued[E]{}, q.waiting[1:]
	q.cost -= first.cost
	return first.element, true
}

// end is when no more came.
func (q *queue[E]) end() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ended
}

// unobserved is how many bytes the observer lost.
func (q *queue[E]) unobserved() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}

package source

import (
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
)

// Why bytes of a stream were not observed; the values of the label `reason`.
const (
	UnobservedQueueFull = "queue_full" // observation fell behind by more than the queue of the stream holds
	UnobservedMemory    = "memory"     // all that waits in the process left no room
	UnobservedPanic     = "panic"      // a fault of ours ended the observation
	UnobservedEncoding  = "encoding"   // a content encoding that cannot be undone
)

// UnobservedReasons lists the reasons.
func UnobservedReasons() []string {
	return []string{UnobservedQueueFull, UnobservedMemory, UnobservedPanic, UnobservedEncoding}
}

// queue carries what passes on the path to the client to the observer. Putting never blocks: when the observer has fallen behind by
// the limit, it loses the rest of the stream.
type queue[E any] struct {
	limit  int             // of the costs of what waits
	memory *budget.Account // which they are taken from
	now    func() time.Time
	unseen func(reason string, bytes int) // told of each loss

	mu      sync.Mutex
	ready   sync.Cond
	waiting []queued[E]
	taken   queued[E] // the element last taken
	cost    int
	closed  bool
	rest    int       // bytes of the stream that followed the last element
	loses   string    // why all that follows is lost, or ""
	ended   time.Time // when no more came, or could be kept
	asleep  bool      // the observer waits and has not been woken
	called  time.Time // for when it was called last
	late    *time.Timer
	pending bool // late runs
	turn
}

type queued[E any] struct {
	element E
	cost    int
	bytes   int // of the stream
	mark    *mark
}

func newQueue[E any](limit int, memory *budget.Account, now func() time.Time, unseen func(reason string, bytes int)) *queue[E] {
	q := &queue[E]{limit: limit, memory: memory, now: now, unseen: unseen, turn: newTurn()}
	q.ready.L = &q.mu
	return q
}

// skip reports whether all that follows is lost, and counts so many bytes of it. Then no element need be made of them.
func (q *queue[E]) skip(bytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.loses == "" {
		return false
	}
	q.unseen(q.loses, bytes)
	return true
}

// put leaves an element, which stands for so many bytes of the stream, to the observer, who sleeps on until wake, or until the
// client has kept it waiting for too long.
func (q *queue[E]) put(element E, cost, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.loses != "":
	case q.cost+cost > q.limit:
		q.lose(UnobservedQueueFull)
	case !q.memory.Reserve(cost):
		q.lose(UnobservedMemory)
	}
	if q.loses != "" {
		q.unseen(q.loses, bytes)
		return
	}
	q.waiting = append(q.waiting, queued[E]{element: element, cost: cost, bytes: bytes})
	q.cost += cost
	if q.asleep && !q.pending {
		q.pending = true
		if q.late == nil {
			q.late = time.AfterFunc(patience, q.overdue)
		} else {
			q.late.Reset(patience)
		}
	}
}

// patience is how long what was put waits for the client to have it: one that does not read must not keep it in memory.
const patience = 10 * time.Millisecond

// overdue has the observer look at what the client does not take.
func (q *queue[E]) overdue() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = false
	if q.asleep && len(q.waiting) > 0 {
		q.asleep, q.called = false, q.now()
		q.ready.Signal()
	}
}

// lose has all that follows be lost. The caller holds the lock.
func (q *queue[E]) lose(reason string) {
	q.loses = reason
	if !q.closed {
		q.ended = q.now()
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
	full := q.loses != "" || q.cost > q.limit/2
	if !full && (!q.asleep || len(q.waiting) == 0) {
		return
	}
	q.asleep = false
	if q.pending && q.late.Stop() {
		q.pending = false
	}
	if now := q.now(); full || now.Sub(q.called) >= moment {
		q.called = now
		q.ready.Signal()
	} else {
		q.called = now.Add(moment)
		time.AfterFunc(moment, q.ready.Signal)
	}
}

// close says that nothing follows but the rest, which is in no element.
func (q *queue[E]) close(rest int) {
	if q.order == nil {
		q.finish(rest, nil)
		return
	}
	q.order.end(q, func(before []<-chan struct{}) { q.finish(rest, before) })
}

// finish closes the queue. Observation of the end waits for what came before.
func (q *queue[E]) finish(rest int, before []<-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed, q.rest = true, rest
	q.last = append(q.last, before...)
	if q.loses == "" {
		q.ended = q.now()
	} else {
		q.unseen(q.loses, rest)
	}
	q.ready.Signal()
}

// take waits for the next element, by which everything before it has been observed. After an overflow there is none: what follows the gap
// could not be understood.
func (q *queue[E]) take() (element E, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.advance()
	for {
		for len(q.waiting) == 0 && !q.closed && q.loses == "" {
			q.asleep, q.idle = true, true
			q.ready.Wait()
		}
		q.taken, q.idle = queued[E]{}, false
		if len(q.waiting) == 0 {
			q.awaiting(q.last)
			return element, false
		}
		next := q.waiting[0]
		q.waiting[0], q.waiting = queued[E]{}, q.waiting[1:]
		if next.mark != nil {
			next.mark.pass()
			q.awaiting([]<-chan struct{}{next.mark.after})
			continue
		}
		q.taken = next
		q.cost -= next.cost
		q.memory.Release(next.cost)
		return next.element, true
	}
}

// awaiting waits without the lock, which the caller holds.
func (q *queue[E]) awaiting(all []<-chan struct{}) {
	q.mu.Unlock()
	defer q.mu.Lock()
	awaitAll(all)
}

// abandon loses the part of the element last taken that was not observed, and all after it.
func (q *queue[E]) abandon(reason string, unobserved int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.waiting {
		unobserved += e.bytes
		if e.mark != nil {
			e.mark.pass()
		}
	}
	q.memory.Release(q.cost)
	q.waiting, q.cost = nil, 0
	if q.loses == "" {
		unobserved += q.rest
		q.lose(reason)
	}
	q.unseen(reason, unobserved)
}

// end returns when no more came, and why the observer does not get all of it, or "".
func (q *queue[E]) end() (at time.Time, loses string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ended, q.loses
}

package jetstream

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// maxSubjectQueues bounds the subjects that are remembered. Publishing to a forgotten subject costs an
// extra request.
const maxSubjectQueues = 100_000

// queue holds messages to be published, bounded in bytes. The messages of a subject stay in order,
// and only one of them is in flight at a time.
type queue struct {
	limit   int
	dropped func(Drop)

	mu       sync.Mutex
	changed  sync.Cond // signals next that ready or stopped has changed
	drained  sync.Cond // signals drain that bytes is 0, or that givenUp may have changed
	subjects map[string]*subjectQueue
	ready    []*subjectQueue // subjects with messages, none of them in flight
	bytes    int
	stopped  bool
}

// subjectQueue holds the queued messages of one subject.
type subjectQueue struct {
	subject          string
	waiting          []*message
	busy             bool        // the subject is in ready, in flight or waiting for a retry
	stream           *connection // to the stream that held the subject's last message; nil: unknown
	last             uint64      // the number of that message; 0: unknown, or it was removed
	newest           uint64      // the number of the last message that was published, even if it was removed since; 0: unknown
	epoch            string      // the stream's epoch at that time
	unreportedLosses int         // frames dropped after the queued ones; the next message reports them
	failures         int         // consecutive failed attempts
}

// message is a queued message.
type message struct {
	*nats.Msg
	size       int
	lostBefore int // number of frames dropped right before the message
	queuedAt   time.Time
	move       *move // nil: the session is in the publisher's own stream
}

func newQueue(limit int, dropped func(Drop)) *queue {
	q := &queue{limit: limit, dropped: dropped, subjects: map[string]*subjectQueue{}}
	q.changed.L, q.drained.L = &q.mu, &q.mu
	return q
}

// add queues a message if there is room. If drop is not empty, it only records that the message was dropped.
func (q *queue) add(m *message, drop Drop) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case drop != "":
	case q.stopped:
		drop = Stopped
	case q.bytes+m.size > q.limit:
		drop = QueueFull
	}
	sq := q.subject(m.Subject)
	if drop != "" {
		sq.unreportedLosses++
		q.dropped(drop)
		return
	}
	m.lostBefore, sq.unreportedLosses = sq.unreportedLosses, 0
	sq.waiting = append(sq.waiting, m)
	q.bytes += m.size
	if !sq.busy {
		sq.busy = true
		q.ready = append(q.ready, sq)
		q.changed.Signal()
	}
}

// subject returns the queue of a subject. The caller holds the lock.
func (q *queue) subject(subject string) *subjectQueue {
	sq := q.subjects[subject]
	if sq != nil {
		return sq
	}
	if len(q.subjects) >= maxSubjectQueues {
		q.evictSubject()
	}
	sq = &subjectQueue{subject: subject}
	q.subjects[subject] = sq
	return sq
}

// evictSubject makes room for one subject. It never evicts a busy one, and prefers one without
// unreported losses.
func (q *queue) evictSubject() {
	var withLosses string // an idle subject with unreported losses
	checked := 0
	for subject, sq := range q.subjects {
		switch {
		case sq.busy:
		case sq.unreportedLosses == 0:
			delete(q.subjects, subject)
			return
		default:
			withLosses = subject
		}
		if checked++; checked > 100 && withLosses != "" {
			break
		}
	}
	delete(q.subjects, withLosses)
}

// next waits for a subject with a message to publish, and drops messages queued before oldest. It returns nil when the queue is stopped.
func (q *queue) next(oldest func() time.Time) (*subjectQueue, *message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.ready) == 0 {
			if q.stopped {
				return nil, nil
			}
			q.changed.Wait()
		}
		sq := q.ready[0]
		q.ready = q.ready[1:]
		q.expireSubject(sq, oldest())
		if len(sq.waiting) > 0 {
			return sq, sq.waiting[0]
		}
		sq.busy = false
	}
}

// done removes the first message of a subject, which was published or dropped, and requeues the
// subject.
func (q *queue) done(sq *subjectQueue, drop Drop) {
	q.mu.Lock()
	defer q.mu.Unlock()
	sq.failures = 0
	if len(sq.waiting) > 0 { // otherwise drain has dropped it
		q.removeFirst(sq, drop)
	}
	q.requeue(sq)
}

// removeFirst removes the first message of a subject. The caller holds the lock.
func (q *queue) removeFirst(sq *subjectQueue, drop Drop) {
	m := sq.waiting[0]
	sq.waiting[0] = nil
	sq.waiting = sq.waiting[1:]
	q.bytes -= m.size
	if drop != "" {
		q.dropped(drop)
		if lost := m.lostBefore + 1; len(sq.waiting) > 0 {
			sq.waiting[0].lostBefore += lost
		} else {
			sq.unreportedLosses += lost
		}
	}
	if q.bytes == 0 {
		q.drained.Broadcast()
	}
}

// requeue makes a subject available again. The caller holds the lock.
func (q *queue) requeue(sq *subjectQueue) {
	if len(sq.waiting) == 0 {
		sq.busy = false
		return
	}
	q.ready = append(q.ready, sq)
	q.changed.Signal()
}

// retry requeues a subject whose first message was not published.
func (q *queue) retry(sq *subjectQueue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.requeue(sq)
}

// expire drops messages queued before a time, except those of subjects that are in flight or wait for a retry.
func (q *queue) expire(before time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, sq := range q.ready {
		q.expireSubject(sq, before)
	}
}

// expireSubject drops the messages of a subject that were queued before a time. The caller holds the lock.
func (q *queue) expireSubject(sq *subjectQueue, before time.Time) {
	for len(sq.waiting) > 0 && sq.waiting[0].queuedAt.Before(before) {
		q.removeFirst(sq, TooOld)
	}
}

// drain blocks until the queue is empty, or givenUp returns true; call wake when that changes. It then drops
// the remaining messages and stops the queue.
func (q *queue) drain(givenUp func() bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > 0 && !givenUp() {
		q.drained.Wait()
	}
	q.stopped = true
	for _, sq := range q.subjects {
		for len(sq.waiting) > 0 {
			q.removeFirst(sq, Stopped)
		}
	}
	q.ready = nil
	q.changed.Broadcast()
}

// wake makes drain call givenUp again.
func (q *queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drained.Broadcast()
}

func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

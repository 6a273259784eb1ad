package jetstream

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// maxLanes bounds the subjects that are remembered. Which are forgotten costs a question when they are published to again.
const maxLanes = 100_000

// queue holds what waits to be published, bounded by bytes: in order for each subject, of which one message is under way at a time.
type queue struct {
	limit   int
	dropped func(Drop)

	mu      sync.Mutex
	change  sync.Cond
	lanes   map[string]*lane
	ready   []*lane // with something to publish that nobody is at
	bytes   int
	stopped bool
}

// lane is what is known of a subject.
type lane struct {
	subject string
	waiting []*message
	taken   bool   // it is ready, somebody is at its first message, or will be
	last    uint64 // the number of its last message, as far as we know; 0: none is known
	owed    int    // frames dropped behind what waits, of which its next message tells
	failed  int    // attempts in a row
}

// message is one that waits.
type message struct {
	*nats.Msg
	size int
	lost int // frames before it that were dropped
	came time.Time
}

func newQueue(limit int, dropped func(Drop)) *queue {
	q := &queue{limit: limit, dropped: dropped, lanes: map[string]*lane{}}
	q.change.L = &q.mu
	return q
}

// add takes a message in, if there is room. A drop that the caller has decided on already is noted like others.
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
	l := q.lane(m.Subject)
	if drop != "" {
		l.owed++
		q.dropped(drop)
		return
	}
	m.lost, l.owed = l.owed, 0
	l.waiting = append(l.waiting, m)
	q.bytes += m.size
	if !l.taken {
		l.taken = true
		q.ready = append(q.ready, l)
		q.change.Signal()
	}
}

// lane is that of a subject. The caller holds the lock.
func (q *queue) lane(subject string) *lane {
	l := q.lanes[subject]
	if l != nil {
		return l
	}
	if len(q.lanes) >= maxLanes {
		q.forget()
	}
	l = &lane{subject: subject}
	q.lanes[subject] = l
	return l
}

// forget makes room for one lane, if it can: not of one that is at work, and rather not of one that has a loss to tell.
func (q *queue) forget() {
	var owing string
	looked := 0
	for subject, l := range q.lanes {
		switch {
		case l.taken:
		case l.owed == 0:
			delete(q.lanes, subject)
			return
		default:
			owing = subject
		}
		if looked++; looked > 100 && owing != "" {
			break
		}
	}
	delete(q.lanes, owing)
}

// take waits for a lane with something to publish; nil at the end.
func (q *queue) take() (*lane, *message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.ready) == 0 {
			if q.stopped {
				return nil, nil
			}
			q.change.Wait()
		}
		l := q.ready[0]
		q.ready = q.ready[1:]
		if len(l.waiting) > 0 {
			return l, l.waiting[0]
		}
		l.taken = false
	}
}

// done lets go of a lane whose first message is dealt with: published, or dropped.
func (q *queue) done(l *lane, drop Drop) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.failed = 0
	if len(l.waiting) > 0 { // else we stop, and it was dropped
		q.shift(l, drop)
	}
	q.back(l)
}

// shift removes a lane's first message. The caller holds the lock.
func (q *queue) shift(l *lane, drop Drop) {
	m := l.waiting[0]
	l.waiting[0] = nil
	l.waiting = l.waiting[1:]
	q.bytes -= m.size
	if drop != "" {
		q.dropped(drop)
		if lost := m.lost + 1; len(l.waiting) > 0 {
			l.waiting[0].lost += lost
		} else {
			l.owed += lost
		}
	}
	if q.bytes == 0 {
		q.change.Broadcast()
	}
}

// back makes a lane ready for whoever is next. The caller holds the lock.
func (q *queue) back(l *lane) {
	if len(l.waiting) == 0 {
		l.taken = false
		return
	}
	q.ready = append(q.ready, l)
	q.change.Signal()
}

// again gives a lane back whose first message is to be tried once more.
func (q *queue) again(l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.back(l)
}

// expire drops what came before a time, but for what may be under way.
func (q *queue) expire(before time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.ready {
		for len(l.waiting) > 0 && l.waiting[0].came.Before(before) {
			q.shift(l, TooOld)
		}
	}
}

// drain returns when nothing waits, or, after a wake, when it is given up. Then nothing is taken in any more.
func (q *queue) drain(givenUp func() bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > 0 && !givenUp() {
		q.change.Wait()
	}
	q.stopped = true
	for _, l := range q.lanes {
		for len(l.waiting) > 0 {
			q.shift(l, Stopped)
		}
	}
	q.ready = nil
	q.change.Broadcast()
}

func (q *queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.change.Broadcast()
}

func (q *queue) held() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

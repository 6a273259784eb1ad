package jetstream

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// never is the time before which no message was queued.
func never() time.Time { return time.Time{} }

// TestOldMessages lets the messages of a subject become too old while the first one is in flight. None of them is published.
func TestOldMessages(t *testing.T) {
	dropped := map[Drop]int{}
	q := newQueue(100, func(d Drop) { dropped[d]++ })
	now := time.Now()
	add := func(age time.Duration) {
		q.add(&message{Msg: &nats.Msg{Subject: "a"}, size: 1, queuedAt: now.Add(-age)}, "")
	}
	for range 3 {
		add(2 * time.Second)
	}
	sq, _ := q.next(never)
	add(0)
	q.done(sq, TooOld)
	_, next := q.next(func() time.Time { return now.Add(-time.Second) })
	if next == nil || !next.queuedAt.Equal(now) || next.lostBefore != 3 || dropped[TooOld] != 3 {
		t.Errorf("the next message is %+v; dropped: %v", next, dropped)
	}
}

// TestUnansweredLogged checks that the log has an attempt that NATS did not answer until the message was too old.
func TestUnansweredLogged(t *testing.T) {
	for _, age := range []time.Duration{0, time.Hour} {
		var log strings.Builder
		seen := &tally{}
		p := &publisher{
			connection: &connection{log: newThrottledLogger(slog.New(slog.NewTextHandler(&log, nil)))}, observer: seen,
			queue: newQueue(100, seen.CountDropped), duplicateWindow: time.Minute,
		}
		p.ctx, p.stop = context.WithCancel(t.Context())
		p.connection.current, p.connection.replace = context.WithCancel(t.Context())
		m := &message{Msg: &nats.Msg{Subject: "a"}, size: 1, queuedAt: time.Now().Add(-age)}
		p.queue.add(m, "")
		sq, _ := p.queue.next(never)
		p.settle(sq, m, context.DeadlineExceeded)
		p.stop()
		p.work.Wait()
		p.connection.replace()
		if isDropped := seen.count("dropped too_old") == 1; isDropped != (age > 0) || strings.Count(log.String(), "full disk") != 1 {
			t.Errorf("after %s: dropped: %v; the log: %s", age, isDropped, log.String())
		}
	}
}

// TestQueue checks that the queue keeps the order of each subject and counts dropped messages.
func TestQueue(t *testing.T) {
	dropped := map[Drop]int{}
	q := newQueue(100, func(d Drop) { dropped[d]++ })
	now := time.Now()
	add := func(subject string, size int, age time.Duration) {
		q.add(&message{Msg: &nats.Msg{Subject: subject}, size: size, queuedAt: now.Add(-age)}, "")
	}
	add("a", 40, 3*time.Second)
	add("a", 40, time.Second)
	add("b", 40, 0) // no room
	l, first := q.next(never)
	if l.subject != "a" || len(q.ready) != 0 {
		t.Fatalf("the next queue is %+v", l)
	}
	q.expire(now) // a message in flight stays
	if q.size() != 80 {
		t.Errorf("%d bytes are held", q.size())
	}
	q.retry(l)
	q.expire(now.Add(-2 * time.Second))
	if dropped[TooOld] != 1 || q.size() != 40 {
		t.Errorf("dropped: %v; queued: %d bytes", dropped, q.size())
	}
	if _, next := q.next(never); next == first || next.lostBefore != 1 {
		t.Errorf("the next message reports %d lost frames", next.lostBefore)
	}
	q.done(l, "")
	add("b", 40, 0)
	if _, next := q.next(never); next.Subject != "b" || next.lostBefore != 1 {
		t.Errorf("the next message is %+v", next)
	}
	add("c", 40, 0)
	q.drain(func() bool { return true })
	add("c", 1, 0)
	if dropped[QueueFull] != 1 || dropped[Stopped] != 3 || q.size() != 0 {
		t.Errorf("dropped: %v; queued: %d bytes", dropped, q.size())
	}
	if l, _ := q.next(never); l != nil {
		t.Errorf("the queue has another message: %+v", l)
	}
	q.done(q.subjects["b"], "") // a late call for a message that was dropped
}

// TestQueueForgets checks that the number of subjects is bounded, and that subjects without unreported losses are
// evicted first.
func TestQueueForgets(t *testing.T) {
	q := newQueue(10, func(Drop) {})
	q.add(&message{Msg: &nats.Msg{Subject: "owes"}, size: 11}, "")
	for i := range maxSubjectQueues + 10 {
		q.mu.Lock()
		q.subject(fmt.Sprint(i))
		q.mu.Unlock()
	}
	if len(q.subjects) > maxSubjectQueues || q.subjects["owes"] == nil {
		t.Errorf("%d subjects are known, the one with unreported losses: %v", len(q.subjects), q.subjects["owes"])
	}
}

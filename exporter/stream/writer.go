package stream

import (
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// writer writes new frames to subscribers that have read every earlier one, so that a frame does not wake a
// goroutine for each subscriber. It never waits for a subscriber. If a socket does not take a batch at once, or a
// timer is due, the subscriber continues in its own goroutine (subscriber.run) until it waits again.
type writer struct {
	hub       *Hub
	ring      *replay.Ring
	selection *replay.Selection // of any of its subscribers, for Ring.Wait; nil if they have none
	notified  <-chan struct{}   // closed when there may be frames that deliver has not seen
	done      <-chan struct{}   // closed once the ring gets no more frames; nil: never
	unused    chan struct{}     // closed after the last subscriber has left

	key         writerKey
	subscribers int // guarded by writers.mu

	mu      sync.Mutex
	waiting []*subscriber
	timer   *time.Timer
	due     time.Time // when timer fires; no waiting subscriber has anything due earlier
}

func newWriter(s *subscriber) *writer {
	w := &writer{
		hub: s.hub, ring: s.attachment.Ring, selection: s.selection, done: s.attachment.Done,
		notified: s.attachment.Ring.Wait(s.selection), // before a subscriber waits, so that no frame is missed
		unused:   make(chan struct{}), timer: time.NewTimer(0),
	}
	w.timer.Stop()
	return w
}

// run serves the waiting subscribers until the writer is unused.
func (w *writer) run() {
	defer w.timer.Stop()
	done, moved, draining := w.done, w.key.moved, w.hub.drainStarted
	for {
		select {
		case <-w.notified:
			w.notified = w.ring.Wait(w.selection)
			if w.deliverOnce() {
				w.notified = closedChannel // continue after the other cases, which a loop here would delay
			}
		case <-w.timer.C:
			w.resumeDue(time.Now())
		case <-done:
			done = nil
			w.resumeAll()
		case <-moved:
			moved = nil
			w.resumeAll()
		case <-draining:
			draining = nil
			w.resume((*subscriber).mustDrain)
		case <-w.unused:
			return
		}
	}
}

// add makes a subscriber wait for its next frame. It returns false if the subscriber must do something else
// first.
func (w *writer) add(s *subscriber) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := s.nextTimer()
	if isClosed(s.socket.clientGone) || isClosed(s.attachment.Done) || isClosed(s.attachment.Moved) || s.mustDrain() || !due.After(time.Now()) {
		return false
	}
	next := w.ring.Read(s.cursor, s.selection, nil)
	if next.Frames > 0 || next.Lost || s.connection.SetWriteDeadline(time.Time{}) != nil {
		return false
	}
	s.advance(next)
	s.index = len(w.waiting)
	w.waiting = append(w.waiting, s)
	if len(w.waiting) == 1 || due.Before(w.due) {
		w.due = due
		w.timer.Reset(time.Until(due))
	}
	return true
}

// remove removes a subscriber if it is waiting, and reports whether it was.
func (w *writer) remove(s *subscriber) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.index >= len(w.waiting) || w.waiting[s.index] != s {
		return false
	}
	w.removeAt(s.index)
	return true
}

// resume starts a goroutine for each waiting subscriber for which due reports true.
func (w *writer) resume(due func(*subscriber) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := len(w.waiting) - 1; i >= 0; i-- {
		if due(w.waiting[i]) {
			w.resumeAt(i)
		}
	}
}

func (w *writer) resumeAll() { w.resume(func(*subscriber) bool { return true }) }

// resumeDue resumes the subscribers for which something is due. It does a due recheck of the grant itself, and
// resumes the subscriber only if the grant has become invalid. After a panic it resumes all subscribers, so that each
// checks its own grant.
func (w *writer) resumeDue(now time.Time) {
	defer w.hub.settings.Panics.Recover(recovery.Stream, w.resumeAll)
	w.resume(func(s *subscriber) bool { return !s.grantValid(now) || !s.nextTimer().After(now) })
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, s := range w.waiting {
		if due := s.nextTimer(); i == 0 || due.Before(w.due) {
			w.due = due
		}
	}
	if len(w.waiting) > 0 {
		w.timer.Reset(w.due.Sub(now))
	}
}

// deliverOnce writes a batch to each waiting subscriber and reports whether there may be more.
func (w *writer) deliverOnce() (more bool) {
	w.hub.settings.Panics.Do(recovery.Stream, func() {
		w.hub.withProcessor(func() { more = w.deliver(time.Now()) })
	})
	return more
}

func (w *writer) deliver(now time.Time) (more bool) {
	var scratch []byte // see subscriber.writeNext
	if w.selection != nil {
		var release func()
		scratch, release = w.hub.takeScratch()
		defer release()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	head, sent := w.ring.Head().Sequence(), 0
	var batch replay.Batch
	var after replay.Cursor // where batch begins; subscribers without a selection share the batch
	for i := len(w.waiting) - 1; i >= 0; i-- {
		s := w.waiting[i]
		if s.selection != nil || i == len(w.waiting)-1 || s.cursor != after {
			after, batch = s.cursor, w.ring.Read(s.cursor, s.selection, scratch)
		}
		frames, ok := s.offer(batch, now)
		sent += frames
		if !ok {
			w.resumeAt(i)
		} else if s.cursor.Sequence() < head {
			more = true
		}
	}
	if sent > 0 {
		w.hub.settings.Observer.CountSent(sent)
	}
	return more
}

// removeAt removes the waiting subscriber at an index, and moves the last one there. The caller holds the lock.
func (w *writer) removeAt(i int) {
	last := len(w.waiting) - 1
	w.waiting[i] = w.waiting[last]
	w.waiting[i].index = i
	w.waiting[last] = nil
	w.waiting = w.waiting[:last]
}

// resumeAt starts a goroutine for the waiting subscriber at an index. The caller holds the lock.
func (w *writer) resumeAt(i int) {
	s := w.waiting[i]
	w.removeAt(i)
	go s.run(nil)
}

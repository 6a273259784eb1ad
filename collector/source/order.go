package source

import (
	"slices"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// order observes the streams of a source in the order in which they were received, as far as streams that share a run need it. A client
// has each frame before it is observed, and may send the next request because of it. Therefore a stream that listens to a run, or answers
// one, is opened after everything received before it was observed, and before the close of any stream that ends later. The close of a
// stream comes between what a stream that listens received before and after it, and so does the close of one that listens among all others.
//
// Only observations wait: for the observation of what was received earlier, which cannot be a circle, and for at most headStart.
type order struct {
	mu        sync.Mutex
	streams   map[ordered]struct{} // those whose observation is not over
	listening map[ordered]struct{} // those of them that listen
	beginning map[*signal]struct{} // requests that may begin a run, by their first frames
}

func newOrder() order {
	return order{streams: map[ordered]struct{}{}, listening: map[ordered]struct{}{}, beginning: map[*signal]struct{}{}}
}

// signal is closed at most once.
type signal struct {
	done chan struct{}
	once sync.Once
}

func newSignal() *signal { return &signal{done: make(chan struct{})} }

func (s *signal) close() { s.once.Do(func() { close(s.done) }) }

// ordered is the queue of a stream.
type ordered interface {
	fence(after <-chan struct{}, atEnd bool) (reached <-chan struct{})
	part() *turn
	leave()
}

// headStart is how long a stream that listens waits for the first frame of requests that came before it. An agent may send it its first
// frame earlier than the request that began the run: A2A agents notify others of a task before they answer.
const headStart = time.Second

// begin notes a request that may begin a run. The signal is to be closed when its first frame was observed, or none will be.
func (o *order) begin() *signal {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := newSignal()
	o.beginning[first] = struct{}{}
	return first
}

// forget is called when a request is over without a stream.
func (o *order) forget(first *signal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.beginning, first)
	first.close()
}

// enter adds a stream with the signal of its request, and returns a function that waits until the stream may be opened.
func (o *order) enter(q ordered, s *event.Stream, own *signal) (await func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, listens := q.part(), s.Joins != ""
	t.order, t.heard = o, own
	if listens {
		delete(o.beginning, own)
		own.close()
	}
	var before, first []<-chan struct{}
	if listens || len(s.Answers) > 0 {
		for other := range o.streams {
			before = append(before, other.fence(t.opened, true))
		}
	}
	if listens {
		for other := range o.beginning {
			first = append(first, other.done)
		}
		o.listening[q] = struct{}{}
	}
	o.streams[q] = struct{}{}
	return func() {
		awaitFor(first, headStart)
		awaitAll(before)
	}
}

// end closes the queue of a stream that has ended. The close is observed after the given channels are closed.
func (o *order) end(q ordered, closes func(before []<-chan struct{})) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var before []<-chan struct{}
	if _, observed := o.streams[q]; observed {
		others := o.listening
		if _, listens := o.listening[q]; listens {
			others = o.streams
		}
		for other := range others {
			if other != q {
				before = append(before, other.fence(q.part().over, false))
			}
		}
	}
	closes(before)
}

// leave removes a stream whose close was observed.
func (o *order) leave(q ordered) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.streams, q)
	delete(o.listening, q)
	delete(o.beginning, q.part().heard)
	q.leave()
}

// turn is the part of a stream in the order. What changes is guarded by the lock of its queue.
type turn struct {
	order *order // nil where the stream takes no part

	opened, over chan struct{} // closed once the open, the close was observed
	heard        *signal       // closed once the first element was observed

	last  []<-chan struct{} // the close waits for these
	asked int               // how many elements the observer has asked for; no more than 2 are counted
	idle  bool              // the observer waits for the next one
}

func newTurn() turn {
	return turn{opened: make(chan struct{}), over: make(chan struct{})}
}

func (t *turn) part() *turn { return t }

// advance notes that the observer asks for an element: it has observed all before it.
func (t *turn) advance() {
	switch t.asked {
	case 0:
		close(t.opened)
	case 1:
		if t.heard != nil {
			t.heard.close()
		}
	}
	t.asked = min(t.asked+1, 2)
}

// mark stands between elements of a queue.
type mark struct {
	reached chan struct{}   // closed once the observer is here; nil where nothing waits for that
	after   <-chan struct{} // what follows waits for it; nil where it need not
}

func (m *mark) pass() {
	if m.reached != nil {
		close(m.reached)
	}
}

// fence returns a channel that is closed once everything put so far was observed; nil if it was already. What is put later is observed
// after the other channel is closed; with atEnd, only the end is.
func (q *queue[E]) fence(after <-chan struct{}, atEnd bool) (reached <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.loses != "" {
		return q.over // the end is observed next, and must not wait for what came after it
	}
	if atEnd {
		q.last, after = append(slices.DeleteFunc(q.last, isClosed), after), nil
	}
	m := &mark{after: after}
	if q.idle {
		q.waiting = slices.DeleteFunc(q.waiting, func(e queued[E]) bool { return e.mark != nil && isClosed(e.mark.after) })
	}
	if !q.idle || slices.ContainsFunc(q.waiting, func(e queued[E]) bool { return e.mark == nil }) {
		m.reached = make(chan struct{})
	}
	if m.reached != nil || m.after != nil {
		q.waiting = append(q.waiting, queued[E]{mark: m})
	}
	return m.reached
}

// leave is called once the close was observed, or the observation has failed.
func (q *queue[E]) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.asked < 2 {
		q.advance()
	}
	close(q.over)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func awaitAll(all []<-chan struct{}) {
	for _, c := range all {
		if c != nil {
			<-c
		}
	}
}

// awaitFor waits no longer than the given time for all together.
func awaitFor(all []<-chan struct{}, d time.Duration) {
	if len(all) == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	for _, c := range all {
		select {
		case <-c:
		case <-timer.C:
			return
		}
	}
}

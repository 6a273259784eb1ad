package source

import (
	"slices"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// order ensures that streams that share a run are observed in the order in which they were received. This
// matters because a client gets each frame before the frame is observed, and may then send a request that
// depends on it. A listening stream is one that joins the run of another request
// (event.Identity.JoinedRun). The rules are:
//   - When a listening stream opens, or a stream that answers a run's question, everything received earlier
//     is observed first. The ends of streams that end later are observed after the open.
//   - When any stream closes, the frames that listening streams received earlier are observed first. The
//     frames that they receive later are observed after the close.
//   - When a listening stream closes, the previous rule applies to the frames of all streams.
//   - The frames that a session's stream receives while a request of the session has no answer yet are
//     observed after the first frame of the answer, because they may be of the run that the request begins.
//     This holds for at most maxHolds streams of a request.
//
// Only observation waits, never the relay. It waits only for the observation of earlier data, so streams
// cannot wait for each other in a cycle. It waits for the first frames of other requests for at most
// maxRequestWait.
type order struct {
	mu        sync.Mutex
	streams   map[orderedQueue]struct{} // streams that are being observed
	listening map[orderedQueue]struct{} // the listening ones among them
	sessions  map[orderedQueue]struct{} // those of them that bring the runs of a session
	pending   map[*signal]struct{}      // the first-frame signals of requests that may begin a run
}

func newOrder() order {
	return order{
		streams: map[orderedQueue]struct{}{}, listening: map[orderedQueue]struct{}{}, sessions: map[orderedQueue]struct{}{},
		pending: map[*signal]struct{}{},
	}
}

// signal is a channel that may be closed more than once.
type signal struct {
	done chan struct{}
	once sync.Once

	session string                           // of the request whose first frame it stands for, or ""
	holds   map[orderedQueue]<-chan struct{} // streams of the session that wait for it: closed once what they received before was observed
	waited  chan struct{}                    // closed once these streams need not wait any longer; nil if there are none
}

// maxHolds limits the streams of a session that wait for one request.
const maxHolds = 16

func newSignal() *signal { return &signal{done: make(chan struct{})} }

func (s *signal) close() { s.once.Do(func() { close(s.done) }) }

// orderedQueue is the queue of a stream, with elements of any type.
type orderedQueue interface {
	fence(after <-chan struct{}, atEnd bool) (reached <-chan struct{})
	state() *orderState
	release()
}

// maxRequestWait is how long a listening stream waits for the first frames of earlier requests. An agent
// may send a listener its first frame before it answers the request that began the run: A2A agents
// notify subscribers of a task before they answer.
const maxRequestWait = time.Second

// expect registers a request that may begin a run, with its session if the request has named it so far. The
// caller closes the returned signal when the first frame of the answer has been observed, or when there will be none.
func (o *order) expect(session string) *signal {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := newSignal()
	first.session = session
	if session != "" {
		for q := range o.sessions {
			first.hold(q)
		}
	}
	o.pending[first] = struct{}{}
	return first
}

// hold makes a stream of the signal's session wait for the signal, but not after maxRequestWait since the first of them waits.
func (s *signal) hold(q orderedQueue) {
	if s.session == "" || q.state().session != s.session || len(s.holds) == maxHolds {
		return
	}
	if s.waited == nil {
		s.waited, s.holds = make(chan struct{}), map[orderedQueue]<-chan struct{}{}
		go func() {
			defer close(s.waited)
			awaitFor([]<-chan struct{}{s.done}, maxRequestWait)
		}()
	}
	s.holds[q] = q.fence(s.waited, false)
}

// abandon removes a request that has ended without a stream, and closes its signal.
func (o *order) abandon(first *signal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.pending, first)
	first.close()
}

// add adds a stream with the first-frame signal of its request. It returns a function that waits until
// the stream may be opened.
func (o *order) add(q orderedQueue, s *event.Stream, own *signal) (await func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, listens := q.state(), s.JoinedRun != ""
	t.order, t.firstFrame, t.session = o, own, s.JoinedSession
	if listens {
		delete(o.pending, own)
		own.close()
	}
	var before, first []<-chan struct{}
	if listens || len(s.Answers) > 0 {
		for other := range o.streams {
			reached := other.fence(t.openObserved, true)
			if earlier, holds := own.holds[other]; holds { // what it received since waits for this stream
				reached = earlier
			}
			before = append(before, reached)
		}
	}
	if t.session != "" {
		for other := range o.pending {
			other.hold(q)
		}
		o.sessions[q] = struct{}{}
	}
	if listens {
		for other := range o.pending {
			first = append(first, other.done)
		}
		o.listening[q] = struct{}{}
	}
	o.streams[q] = struct{}{}
	return func() {
		awaitFor(first, maxRequestWait)
		awaitAll(before)
	}
}

// end calls finish for a stream that has ended, with the channels that must be closed before the end of the
// stream is observed.
func (o *order) end(q orderedQueue, finish func(before []<-chan struct{})) {
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
				before = append(before, other.fence(q.state().closeObserved, false))
			}
		}
	}
	finish(before)
}

// remove removes a stream whose close has been observed.
func (o *order) remove(q orderedQueue) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.streams, q)
	delete(o.listening, q)
	delete(o.sessions, q)
	delete(o.pending, q.state().firstFrame)
	q.release()
}

// orderState is the state of a stream in the order. The lock of its queue guards it.
type orderState struct {
	order *order // nil if the stream takes no part

	openObserved, closeObserved chan struct{} // closed once the open and the close have been observed
	firstFrame                  *signal       // closed once the first element was observed
	session                     string        // whose runs the stream brings one after the other, or ""

	awaited   []<-chan struct{} // the observer waits for these channels before it observes the close
	requested int               // number of elements that the observer has asked for, at most 2
	idle      bool              // the observer waits for the next element
}

func newOrderState() orderState {
	return orderState{openObserved: make(chan struct{}), closeObserved: make(chan struct{})}
}

func (t *orderState) state() *orderState { return t }

// advance records that the observer asks for an element. It has then observed all earlier elements. Before
// it asks for the first one, it has observed the open.
func (t *orderState) advance() {
	switch t.requested {
	case 0:
		close(t.openObserved)
	case 1:
		if t.firstFrame != nil {
			t.firstFrame.close()
		}
	}
	t.requested = min(t.requested+1, 2)
}

// barrier is an entry between the elements of a queue.
type barrier struct {
	reached chan struct{}   // closed once the observer reaches the barrier; nil if nothing waits for it
	after   <-chan struct{} // the following elements wait until it is closed; nil if they need not wait
}

func (b *barrier) reach() {
	if b.reached != nil {
		close(b.reached)
	}
}

// fence returns a channel that is closed once all elements that were put so far have been observed. The
// channel is nil if they already have been. Elements that are put later wait until the channel after is
// closed. With atEnd they do not wait: only the end of the stream does.
func (q *queue[E]) fence(after <-chan struct{}, atEnd bool) (reached <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.lossReason != "" {
		return q.closeObserved // the end is observed next and must not wait for later data
	}
	if atEnd {
		q.awaited, after = append(slices.DeleteFunc(q.awaited, isClosed), after), nil
	}
	m := &barrier{after: after}
	if q.idle {
		q.waiting = slices.DeleteFunc(q.waiting, func(e queued[E]) bool { return e.barrier != nil && isClosed(e.barrier.after) })
	}
	if !q.idle || slices.ContainsFunc(q.waiting, func(e queued[E]) bool { return e.barrier == nil }) {
		m.reached = make(chan struct{})
	}
	if m.reached != nil || m.after != nil {
		q.waiting = append(q.waiting, queued[E]{barrier: m})
	}
	return m.reached
}

// release unblocks everything that waits for this stream. It is called once the close has been observed
// or the observation has failed.
func (q *queue[E]) release() {
	q.slot.release()
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.requested < 2 {
		q.advance()
	}
	close(q.closeObserved)
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

// awaitFor waits for all channels together, but no longer than d.
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

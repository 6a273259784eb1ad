package source

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// order ensures that streams that share a run are observed in the order in which they were received. This
// matters because a client gets each frame before the frame is observed, and may then send a request that
// depends on it. A listening stream is one that joins the run of another request
// (event.Identity.JoinedRun). A session stream is one that brings all runs of a session, which other requests begin
// (event.Identity.JoinedSession). The rules are:
//   - Before a listening stream is opened, everything received earlier is observed. The same applies to a stream whose
//     request answers a question of a run. If another stream ends after that stream was added, its end is observed
//     after the open.
//   - When any stream closes, the frames that listening streams received earlier are observed first. The
//     frames that they receive later are observed after the close.
//   - When a listening stream closes, the previous rule applies to the frames of all streams.
//   - When any other stream opens whose request names a session, everything that earlier streams of the session have
//     received is observed first, because the client may have waited for it. Earlier streams whose requests name no
//     session count too, because they may turn out to belong to this session. Only the latest maxEarlier streams of
//     each kind count.
//   - The frames that a session stream receives while another request of the session has no answer yet are
//     observed after the first frame of the answer, because they may be of the run that the request begins.
//     For each request, this applies to at most maxHeld session streams.
//
// Only observation waits, never the relay. It waits only for the observation of earlier data, so streams
// cannot wait for each other in a cycle. It waits for the first frames of other requests for at most
// maxRequestWait.
type order struct {
	mu             sync.Mutex
	streams        map[orderedQueue]struct{} // streams that are being observed
	listening      map[orderedQueue]struct{} // the listening ones among them
	sessionStreams map[orderedQueue]struct{} // the session streams among them
	bySession      map[string][]orderedQueue // all of them in order of their start, by the session that their request names, or ""
	pending        map[*firstFrame]struct{}  // of the requests that may begin a run
}

func newOrder() order {
	return order{
		streams: map[orderedQueue]struct{}{}, listening: map[orderedQueue]struct{}{}, sessionStreams: map[orderedQueue]struct{}{},
		bySession: map[string][]orderedQueue{}, pending: map[*firstFrame]struct{}{},
	}
}

// firstFrame is the first frame of the answer to a request.
type firstFrame struct {
	done chan struct{} // closed once the frame has been observed, or when there will be none
	once sync.Once     // for closing done

	session string // that the request has named, or ""

	// heldStreams maps each session stream that waits for the frame to a channel that is closed once everything that
	// the stream received before is observed, or to nil if it was observed already.
	heldStreams map[orderedQueue]<-chan struct{}
	waitEnded   chan struct{} // closed once these streams need not wait any longer; nil if there are none
}

// maxHeld limits the session streams that wait for one request.
const maxHeld = 16

// maxEarlier limits the earlier streams of a session that a stream waits for.
const maxEarlier = 64

func newFirstFrame() *firstFrame { return &firstFrame{done: make(chan struct{})} }

// close closes done. It may be called more than once.
func (f *firstFrame) close() { f.once.Do(func() { close(f.done) }) }

// orderedQueue is the queue of a stream, with elements of any type.
type orderedQueue interface {
	fence(after <-chan struct{}, atEnd bool) (reached <-chan struct{})
	state() *orderState
	release()
}

// maxRequestWait is how long a listening stream or a session stream waits for the first frames of the answers to
// requests. An agent may send a listener its first frame before it answers the request
// that began the run: A2A agents notify subscribers of a task before they answer.
const maxRequestWait = time.Second

// expect registers a request that may begin a run. session is the one that the request has named so far, or "". The
// caller closes the result when the first frame of the answer has been observed, or when there will be none.
func (o *order) expect(session string) *firstFrame {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := newFirstFrame()
	first.session = session
	if session != "" {
		for q := range o.sessionStreams {
			first.hold(q)
		}
	}
	o.pending[first] = struct{}{}
	return first
}

// hold makes a session stream wait for the first frame if both have the same session. All such streams stop waiting
// maxRequestWait after the first of them has begun to.
func (f *firstFrame) hold(q orderedQueue) {
	if f.session == "" || q.state().session != f.session || len(f.heldStreams) == maxHeld {
		return
	}
	if f.waitEnded == nil {
		f.waitEnded, f.heldStreams = make(chan struct{}), map[orderedQueue]<-chan struct{}{}
		go func() {
			defer close(f.waitEnded)
			awaitFor([]<-chan struct{}{f.done}, maxRequestWait)
		}()
	}
	f.heldStreams[q] = q.fence(f.waitEnded, false)
}

// abandon removes a request that has ended without a stream.
func (o *order) abandon(first *firstFrame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.pending, first)
	first.close()
}

// add adds a stream with the first frame of its request. It returns a function that waits until the stream
// may be opened.
func (o *order) add(q orderedQueue, s *event.Stream, own *firstFrame) (await func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, listens := q.state(), s.JoinedRun != ""
	t.order, t.firstFrame, t.session, t.joinsSession = o, own, cmp.Or(s.JoinedSession, s.Session), s.JoinedSession != ""
	if listens || t.joinsSession { // the request begins no run
		delete(o.pending, own)
		own.close()
	}
	var before, first []<-chan struct{}
	if listens || len(s.Answers) > 0 {
		for other := range o.streams {
			reached := other.fence(t.openObserved, true)
			// other waits for the first frame of this stream, so wait only for what other received before the request.
			if earlier, held := own.heldStreams[other]; held {
				reached = earlier
			}
			before = append(before, reached)
		}
	} else if t.session != "" {
		before = append(o.fenceSession(t.session, own), o.fenceSession("", own)...)
	}
	if t.joinsSession {
		for other := range o.pending {
			other.hold(q)
		}
		o.sessionStreams[q] = struct{}{}
	}
	if listens {
		for other := range o.pending {
			first = append(first, other.done)
		}
		o.listening[q] = struct{}{}
	}
	o.streams[q] = struct{}{}
	o.bySession[t.session] = append(o.bySession[t.session], q)
	return func() {
		awaitFor(first, maxRequestWait)
		awaitAll(before)
	}
}

// fenceSession returns channels that are closed once everything that the latest streams of a session have received is
// observed. A stream that is held until own counts only with what it received before the request of own.
func (o *order) fenceSession(session string, own *firstFrame) (observed []<-chan struct{}) {
	streams := o.bySession[session]
	for _, q := range streams[max(len(streams)-maxEarlier, 0):] {
		reached, held := own.heldStreams[q]
		if !held {
			reached = q.fence(nil, false)
		}
		observed = append(observed, reached)
	}
	return observed
}

// end calls finish for a stream that has ended. before are the channels that must be closed before the end of
// the stream is observed.
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
	delete(o.sessionStreams, q)
	session := q.state().session
	o.bySession[session] = slices.DeleteFunc(o.bySession[session], func(other orderedQueue) bool { return other == q })
	if len(o.bySession[session]) == 0 {
		delete(o.bySession, session)
	}
	delete(o.pending, q.state().firstFrame)
	q.release()
}

// orderState is the state of a stream in the order.
type orderState struct {
	// These fields do not change once the stream is observed.
	order                       *order        // nil if the stream takes no part
	openObserved, closeObserved chan struct{} // closed once the open and the close have been observed
	firstFrame                  *firstFrame   // closed once the first element has been observed
	session                     string        // that the request has named, or ""
	joinsSession                bool          // the stream is a session stream

	// The lock of the stream's queue guards these fields.
	awaited   []<-chan struct{} // the observer waits for these channels before it observes the close
	requested int               // number of elements that the observer has asked for, at most 2
	idle      bool              // the observer waits for the next element
}

func newOrderState() orderState {
	return orderState{openObserved: make(chan struct{}), closeObserved: make(chan struct{})}
}

func (t *orderState) state() *orderState { return t }

// advance records that the observer asks for an element: it has observed the open and all earlier elements.
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

// fence returns a channel that is closed once all elements put so far have been observed, or nil if they
// have been already. Elements that are put later wait until the channel after is closed. If atEnd is set, only
// the end of the stream waits.
func (q *queue[E]) fence(after <-chan struct{}, atEnd bool) (reached <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.lossReason != "" {
		return q.closeObserved // the end is observed next and must not wait for later data
	}
	if atEnd {
		q.awaited, after = append(slices.DeleteFunc(q.awaited, isClosed), after), nil
	}
	b := &barrier{after: after}
	if q.idle {
		q.waiting = slices.DeleteFunc(q.waiting, func(e queued[E]) bool { return e.barrier != nil && isClosed(e.barrier.after) })
	}
	if !q.idle || slices.ContainsFunc(q.waiting, func(e queued[E]) bool { return e.barrier == nil }) {
		b.reached = make(chan struct{})
	}
	if b.reached != nil || b.after != nil {
		q.waiting = append(q.waiting, queued[E]{barrier: b})
	}
	return b.reached
}

// release unblocks everything that waits for this stream. Call it once the close has been observed or the
// observation has failed.
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
	timeout := time.After(d)
	for _, c := range all {
		select {
		case <-c:
		case <-timeout:
			return
		}
	}
}

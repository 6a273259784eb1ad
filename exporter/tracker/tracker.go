// Package tracker turns events into runs and operations, and notifies observers of them. Every run and
// every operation ends, whatever the stream does.
//
// These terms add to those of package event:
//   - A node is an operation that runs others: an agent, a workflow or a step. The runner of an
//     operation is the nearest node above it.
//   - A container is a node that, according to a place (event.Place), only runs others.
//   - A lane is a sequence of nodes that follow one another. Nodes in different lanes may run in
//     parallel. In a protocol without places, the lane of an agent is its branch.
//   - A whole frame is one that is not partial. A final frame has an event.KindFinal.
//   - A task is a call that the protocol treats as the invocation of an agent.
//   - A stated end is one that the protocol reports, in contrast to the end of the stream.
package tracker

import (
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
)

// Observer is notified of runs and operations. It is called with the tracker's lock held: it must
// not block, and must not call the tracker.
type Observer interface {
	RunStarted(*Run)
	OperationEnded(*Run, *Operation)
	RunEnded(*Run)
}

// Losses counts what the tracker drops. Like an Observer, it is called with the tracker's lock held.
type Losses interface {
	// CountEvicted counts a run, an operation or a fact of a kind that was dropped because of a limit.
	CountEvicted(kind string)
	// CountExpired counts a run or an operation that the tracker ended after the idle timeout.
	CountExpired(kind string)
	// CountLateFrame counts a frame that was dropped in whole or in part, because its run or agent had ended.
	CountLateFrame(source string)
}

// Kinds of loss, in addition to the kinds of operations and events.
const (
	LostRun    = "run"
	LostInput  = "input"
	LostReport = "report" // an ended operation, dropped from the run's report only
	LostReply  = "reply"  // an expected reply: the run may count as completed without it
	// LostDepth is the true parent of an operation that is nested too deeply: an ancestor takes its place. It
	// is also counted when a chain of transfers is shortened. A loop back to a removed agent is not detected.
	LostDepth   = "depth"
	LostLink    = "link"
	LostOrphan  = "orphan"  // a run that was reported on its own, because its parent run came too late or had no room
	LostContent = "content" // content that was not kept because the limit was reached

	// exporter.Deduplicator counts these two. A listener is one of several streams that carry the same run.

	LostStream   = "stream"   // a frame or a run that is no longer deduplicated
	LostListener = "listener" // a frame of a listener beyond the limit on a run's streams
)

// Settings bound the tracker. All limits except those on content must be positive.
type Settings struct {
	MaxOpenRuns     int             // beyond it, the run that has been silent longest is evicted
	MaxOperations   int             // operations open at once in a run, and operations kept in its report
	MaxFacts        int             // confidences, transfers, inputs, artifacts and links kept for a run, each
	IdleTimeout     time.Duration   // a run times out after this long without a frame
	MaxContent      int             // bytes of content kept for an operation; 0 for none
	MaxContentTotal int             // bytes of content kept for all open operations
	Memory          *budget.Account // account that content is charged to; nil for no limit
	RunMemory       *budget.Account // account that open runs are charged to; nil for no limit
	IsAgentTool     func(source, tool string) bool
	Sample          func(*Run) bool    // decides, once per run, whether its spans are exported; Run.Parent has the decision of the parent span
	Panics          *recovery.Recorder // used by package exporter, which calls the tracker; the tracker itself recovers nothing
}

// Tracker follows the runs of all streams. It is safe for concurrent use.
type Tracker struct {
	settings  Settings
	losses    Losses
	observers []Observer

	mu               sync.Mutex
	streams          map[*event.Stream]*streamState
	open             *simplelru.LRU[*openRun, struct{}]
	endedRuns        *simplelru.LRU[streamRun, endedRuns] // runs that ended before their stream did; their later frames are late
	askers           *simplelru.LRU[questionKey, *asker]  // the runs that asked for input, by request
	waitingRuns      *simplelru.LRU[sessionKey, Link]     // by session, the last run that ended waiting for input
	transferSessions *simplelru.LRU[sessionKey, struct{}] // sessions in which an agent transferred control
	openStates       pool[openState]
	nodes            pool[node]
	contentBytes     int           // of all open operations
	outcomesPending  []*openRun    // runs whose end was stated and whose outcome may follow, earliest first
	due              chan struct{} // see Due
}

// streamState holds the open runs of a stream. Most streams have one run, a capture may have many.
type streamState struct {
	runWithoutID *openRun            // the run without an id, and always the run of a stream with a single run
	named        map[string]*openRun // the other runs by id
	runs         []*openRun          // in the order in which they began
	lastRun      *openRun            // the run of the last frame
	frames       int

	nonceKeys int // number of runs whose ids are derived from the stream's nonce, see runKey
}

// runByID returns the open run of an id, or nil.
func (s *streamState) runByID(id string) *openRun {
	if id == "" {
		return s.runWithoutID
	}
	r := s.named[id]
	if r != nil && r.Status != Running { // id is an alias of a run that has ended
		delete(s.named, id)
		return nil
	}
	return r
}

// setRun records a run under an id.
func (s *streamState) setRun(r *openRun, id string) {
	if id == "" {
		s.runWithoutID = r
		return
	}
	put(&s.named, id, r)
}

// streamRun identifies a run within a stream.
type streamRun struct {
	stream *event.Stream
	run    string
}

// endedRuns describes the ended runs with one id in a stream.
type endedRuns struct {
	count     int
	endStated bool // the protocol stated the end of the last one, and may state it again
}

// New returns a tracker without runs.
func New(settings Settings, losses Losses, observers ...Observer) *Tracker {
	size := max(settings.MaxOpenRuns, 1) // NewLRU fails only for smaller sizes
	settings.MaxOpenRuns = size
	t := &Tracker{settings: settings, losses: losses, observers: observers, streams: make(map[*event.Stream]*streamState), due: make(chan struct{}, 1)}
	t.open, _ = simplelru.NewLRU[*openRun, struct{}](size, nil)
	t.endedRuns, _ = simplelru.NewLRU[streamRun, endedRuns](size, nil)
	t.askers, _ = simplelru.NewLRU[questionKey, *asker](2*size, nil) // a request has up to two keys
	t.waitingRuns, _ = simplelru.NewLRU[sessionKey, Link](size, nil)
	t.transferSessions, _ = simplelru.NewLRU[sessionKey, struct{}](size, nil)
	return t
}

// Configure replaces the settings, except for MaxOpenRuns and RunMemory, which stay as
// New got them.
func (t *Tracker) Configure(settings Settings) {
	t.mu.Lock()
	defer t.mu.Unlock()
	settings.MaxOpenRuns, settings.RunMemory = t.settings.MaxOpenRuns, t.settings.RunMemory
	t.settings = settings
}

// Open begins a stream. A stream that answers a run request begins a run, even if no frame follows.
func (t *Tracker) Open(s *event.Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := &streamState{}
	t.streams[s] = state
	if s.SingleRun {
		r := newRun(t, s)
		r.isRequested = true
		r.Root.Started = Timestamp{At: s.OpenedAt}
		t.start(r, state, "", true)
	}
}

// Consume applies the events of one frame.
func (t *Tracker) Consume(b *event.Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := t.streams[b.Stream]
	if state == nil {
		return
	}
	state.frames++
	r := t.runOf(b, state)
	if len(t.outcomesPending) > 0 {
		t.endOverdue(b, state, r)
	}
	if r == nil {
		return
	}
	t.open.Get(r)
	r.apply(b)
	switch {
	case !r.endStated || b.Stream.SingleRun || r.Status != Running:
	case r.outcomePending:
		t.awaitOutcome(r, state)
	default:
		t.finish(r, ReasonStreamEnded, r.endStatedAt.At)
	}
}

// Close ends a stream and its runs.
func (t *Tracker) Close(s *event.Stream, end event.End, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := t.streams[s]
	if state == nil {
		return
	}
	delete(t.streams, s)
	for _, r := range state.runs {
		t.finish(r, endReason(end), at)
	}
}

// Expire ends the runs that have been idle for the idle timeout. It returns when to call it next.
func (t *Tracker) Expire(now time.Time) (next time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		r, _, ok := t.open.GetOldest()
		if !ok {
			return now.Add(t.settings.IdleTimeout)
		}
		if due := r.lastActivity.Add(t.settings.IdleTimeout); due.After(now) {
			return t.expireOverdue(now, due)
		}
		if left := r.departure(); left != nil { // not the agent was silent, but no client has come back
			t.finish(r, endReason(left.End), left.At)
		} else {
			t.finish(r, ReasonIdle, now)
		}
	}
}

// departure returns the end of the run's last stream if the run waits for a client to come back, else nil.
func (r *openRun) departure() *event.Departure {
	if r.stream.Departed == nil {
		return nil
	}
	if left := r.stream.Departed.Load(); left != nil && left.Run == r.ID {
		return left
	}
	return nil
}

// EndAll ends every run, for a shutdown.
func (t *Tracker) EndAll(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		r, _, ok := t.open.GetOldest()
		if !ok {
			return
		}
		t.finish(r, ReasonShutdown, now)
	}
}

// runOf finds or starts the run of a frame. It returns nil if the frame belongs to no open run and may not start one.
func (t *Tracker) runOf(b *event.Batch, state *streamState) *openRun {
	id := b.Run
	if b.Stream.SingleRun {
		id = ""
	}
	if first := state.runWithoutID; first != nil && len(state.runs) == 1 && !first.awaitsOutcome() && state.named[id] != first {
		// The first frames had no id: they belong to the run whose id is known now.
		state.runWithoutID = nil
		state.setRun(first, id)
	}
	r := state.runByID(id)
	startsRun := b.Has(event.KindRunStarted)
	if r != nil && r.endStated && startsRun && (r.ID != b.Run || r.awaitsOutcome()) {
		t.finish(r, ReasonStreamEnded, r.lastActivity)
		r = nil
	}
	earlier, hasEnded := t.endedRuns.Get(streamRun{b.Stream, id})
	switch {
	case r == nil && (b.Stream.SingleRun || hasEnded) && !startsRun:
		if !earlier.endStated || hasFacts(b) { // a frame without facts may state the end again
			t.losses.CountLateFrame(b.Stream.Source)
		}
		return nil
	case r == nil && b.Rejected != "" && len(b.Events) == 0:
		// An undecodable frame counts for the last run and starts none.
		if state.lastRun != nil {
			state.lastRun.ParseErrors++
		}
		return nil
	case r == nil:
		r = newRun(t, b.Stream)
		t.start(r, state, id, !b.Orphan)
	}
	state.lastRun = r
	return r
}

// start adds a run to a stream, and evicts another run at the limit. It notifies the observers if announce
// is set. Otherwise the run may still turn out to be an agent of another run.
func (t *Tracker) start(r *openRun, state *streamState, id string, announce bool) {
	if t.open.Len() >= t.settings.MaxOpenRuns {
		oldest, _, _ := t.open.RemoveOldest()
		defer t.finish(oldest, ReasonEvicted, oldest.lastActivity) // after the start of the new run
	}
	r.streamState = state
	state.setRun(r, id)
	state.runs = append(state.runs, r)
	t.open.Add(r, struct{}{})
	for _, answered := range r.stream.Answers {
		r.linkToAnswered(answered)
	}
	if announce {
		r.announce()
	}
}

// removeRun removes a run from its stream, which continues.
func (t *Tracker) removeRun(r *openRun) {
	t.outcomesPending = slices.DeleteFunc(t.outcomesPending, func(other *openRun) bool { return other == r })
	state := t.streams[r.stream]
	if state == nil {
		return
	}
	state.runs = slices.DeleteFunc(state.runs, func(other *openRun) bool { return other == r })
	if state.lastRun == r {
		state.lastRun = nil
	}
	if state.runWithoutID == r { // even if its id is known by now
		state.runWithoutID = nil
	}
	delete(state.named, r.ID)
	for _, alias := range r.aliases {
		delete(state.named, alias)
	}
}

// rememberEnd remembers a run that ended before its stream, and the runs that turned out to be agents of it.
func (t *Tracker) rememberEnd(r *openRun) {
	if r.stream.SingleRun || t.streams[r.stream] == nil {
		return
	}
	for _, id := range append(r.aliases, r.ID) {
		before, _ := t.endedRuns.Get(streamRun{r.stream, id})
		t.endedRuns.Add(streamRun{r.stream, id}, endedRuns{before.count + 1, r.endStated})
	}
}

func (t *Tracker) notify(call func(Observer)) {
	for _, o := range t.observers {
		call(o)
	}
}

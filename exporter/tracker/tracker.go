// Package tracker turns events into runs and operations, and ends every one of them, whatever the stream does.
package tracker

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
)

// Observer is told what happened. It is called under the tracker's lock: it must not block, and must not call the tracker.
type Observer interface {
	RunStarted(*Run)
	OperationEnded(*Run, *Operation)
	RunEnded(*Run)
}

// Losses counts what the tracker let go of; called as an Observer is.
type Losses interface {
	// Evicted: a run, an operation or a fact of this kind, because a limit was reached.
	Evicted(kind string)
	// Expired: a run or an operation, for idleness.
	Expired(kind string)
	// Late: a frame of a run that had already ended.
	Late(source string)
}

// Kinds of loss besides the kinds of operations and events.
const (
	LostRun    = "run"
	LostInput  = "input"
	LostReport = "report" // an ended operation, out of the run's report only
	LostPlace  = "place"  // a branch or an agent whose order of frames is no longer followed
)

// Settings bound the tracker; all must be positive.
type Settings struct {
	MaxOpen       int           // runs open at once; the one silent for longest goes
	MaxOperations int           // operations open at once in a run, and kept of it
	MaxFacts      int           // statements, transfers, inputs, artifacts kept of a run, each
	Idle          time.Duration // a run without a frame for that long has timed out
	AgentsAsTools func(source, tool string) bool
	Sample        func(*Run) bool // decides once, when a run's trace id is known, where no parent has decided
}

// Tracker follows the runs of all streams.
type Tracker struct {
	settings  Settings
	losses    Losses
	observers []Observer

	mu      sync.Mutex
	streams map[*event.Stream]*streamState
	open    *simplelru.LRU[*openRun, struct{}]
	evicted []*openRun
}

// streamState is what a connection's frames belong to. Most connections hold one run, a capture may hold many.
type streamState struct {
	runs  map[string]*openRun
	order []*openRun
	ended bool // a run was ended before the stream was: what still comes is late
}

// New follows nothing yet.
func New(settings Settings, losses Losses, observers ...Observer) *Tracker {
	t := &Tracker{settings: settings, losses: losses, observers: observers, streams: make(map[*event.Stream]*streamState)}
	// The only error is a size below one, which configurations are checked for.
	t.open, _ = simplelru.NewLRU(max(settings.MaxOpen, 1), func(r *openRun, _ struct{}) {
		if r.Status == Running {
			t.evicted = append(t.evicted, r)
		}
	})
	return t
}

// Configure replaces the settings for what comes. The number of open runs keeps its first limit.
func (t *Tracker) Configure(settings Settings) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settings = settings
}

// Open begins a stream. One that answers a run request begins a run, even if no frame ever comes.
func (t *Tracker) Open(s *event.Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := &streamState{runs: make(map[string]*openRun)}
	t.streams[s] = state
	if s.Answer {
		t.start(s, state, "")
	}
}

// Consume takes one frame's facts.
func (t *Tracker) Consume(b *event.Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := t.streams[b.Stream]
	if state == nil {
		return
	}
	r := t.runOf(b, state)
	if r == nil {
		return
	}
	t.open.Get(r)
	r.apply(b)
	t.endEvicted()
}

// Close ends a stream and every run on it.
func (t *Tracker) Close(s *event.Stream, end event.End, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := t.streams[s]
	if state == nil {
		return
	}
	delete(t.streams, s)
	for _, r := range state.order {
		t.finish(r, endReason(end), at)
	}
}

// Expire ends the runs that have been silent for the idle time, and returns when the next may be.
func (t *Tracker) Expire(now time.Time) (next time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		r, _, ok := t.open.GetOldest()
		if !ok {
			return now.Add(t.settings.Idle)
		}
		if due := r.touched.Add(t.settings.Idle); due.After(now) {
			return due
		}
		t.finish(r, Idle, now)
	}
}

// End ends everything: we stop.
func (t *Tracker) End(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		r, _, ok := t.open.GetOldest()
		if !ok {
			return
		}
		t.finish(r, Shutdown, now)
	}
}

// runOf finds or starts the run that a frame belongs to; nil where that run has already ended.
func (t *Tracker) runOf(b *event.Batch, state *streamState) *openRun {
	id := b.Run
	if b.Stream.Answer {
		id = ""
	}
	r := state.runs[id]
	if r == nil && id != "" && len(state.order) == 1 && state.runs[""] != nil {
		// Frames without an id came first: they are of the run whose id is now known.
		r = state.runs[""]
		delete(state.runs, "")
		state.runs[id] = r
	}
	switch {
	case r != nil && r.Status != Running:
		t.losses.Late(b.Stream.Source)
		return nil
	case r == nil && b.Rejected != "" && len(b.Events) == 0 && len(state.order) > 0:
		// A frame that cannot be read belongs to whatever went on last.
		r = state.order[len(state.order)-1]
		r.ParseErrors++
		return nil
	case r == nil && b.Rejected != "" && len(b.Events) == 0:
		return nil
	case r == nil && len(state.order) >= t.settings.MaxOpen:
		t.losses.Evicted(LostRun)
		return nil
	case r == nil:
		r = t.start(b.Stream, state, id)
	}
	return r
}

func (t *Tracker) start(s *event.Stream, state *streamState, id string) *openRun {
	r := newRun(t, s)
	state.runs[id] = r
	state.order = append(state.order, r)
	t.open.Add(r, struct{}{})
	t.each(func(o Observer) { o.RunStarted(&r.Run) })
	t.endEvicted()
	return r
}

// endEvicted ends the runs that the bound on open runs pushed out; the eviction callback itself must not touch the list.
func (t *Tracker) endEvicted() {
	for len(t.evicted) > 0 {
		r := t.evicted[0]
		t.evicted = t.evicted[1:]
		t.finish(r, Evicted, r.touched)
	}
}

func (t *Tracker) each(tell func(Observer)) {
	for _, o := range t.observers {
		tell(o)
	}
}

// Package tracker turns events into runs and operations, and ends every one of them, whatever the stream does.
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
	LostDepth  = "depth"  // the operation that an operation is part of, which stands too deep; one above it takes its place. Also agents that handed control over so long ago that a circle would not be seen
	LostLink   = "link"
	LostOrphan = "orphan" // a run whose parent was waited for in vain, because too much of it is held
	// LostContent is content that was not kept because too much is held.
	LostContent = "content"

	// These two are counted by what has each run heard once, however many streams bring it.

	LostStream   = "stream"   // a frame of a stream that is not compared with others of its run; or a run that no longer is
	LostListener = "listener" // a frame of a stream that is one too many for its run, which others bring
)

// Settings bound the tracker; all but those of content must be positive.
type Settings struct {
	MaxOpen        int             // runs open at once; the one silent for longest goes
	MaxOperations  int             // operations open at once in a run, and kept of it
	MaxFacts       int             // statements, transfers, inputs, artifacts, links kept of a run, each
	Idle           time.Duration   // a run without a frame for that long has timed out
	MaxContent     int             // bytes of content kept of an operation; 0 for none
	MaxContentHeld int             // bytes of content held for all open operations
	Memory         *budget.Account // which these are taken from; nil for no bound
	AgentsAsTools  func(source, tool string) bool
	Sample         func(*Run) bool    // decides once, when a run's trace id is known, whether its spans are delivered; a parent's decision is in Run.Parent
	Panics         *recovery.Recorder // for the tracker's callers; the tracker itself recovers nothing
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
	gone    *simplelru.LRU[place, past] // runs that ended before their stream, which may hold more: their frames are late
	asked   *simplelru.LRU[question, asker]
	waiting *simplelru.LRU[conversation, asker]    // who was left waiting last
	handed  *simplelru.LRU[conversation, struct{}] // sessions in which an agent handed control over
	held    int                                    // bytes of content
	waits   []*openRun                             // those over of whose end more may be said, the earliest first
	due     chan struct{}
}

// streamState is the open runs that a connection's frames belong to. Most connections hold one run, a capture may hold many.
type streamState struct {
	unnamed *openRun            // the run without an id; one that answers a request is always that, whatever its frames say
	named   map[string]*openRun // the others by their ids
	order   []*openRun          // as they began
	last    *openRun            // the run of the last frame
	frames  int
}

// run is the open run of an id.
func (s *streamState) run(id string) *openRun {
	if id == "" {
		return s.unnamed
	}
	r := s.named[id]
	if r != nil && r.Status != Running { // by a name that it got from another
		delete(s.named, id)
		return nil
	}
	return r
}

// name has a run found by an id.
func (s *streamState) name(r *openRun, id string) {
	if id == "" {
		s.unnamed = r
		return
	}
	put(&s.named, id, r)
}

// place is where a run's frames are found.
type place struct {
	stream *event.Stream
	run    string
}

// past is what is remembered of the runs of one id that a stream had.
type past struct {
	runs int
	over bool // the last of them by the protocol's word, which may be said twice
}

// New follows nothing yet.
func New(settings Settings, losses Losses, observers ...Observer) *Tracker {
	t := &Tracker{settings: settings, losses: losses, observers: observers, streams: make(map[*event.Stream]*streamState), due: make(chan struct{}, 1)}
	// The only error is a size below one, which configurations are checked for.
	size := max(settings.MaxOpen, 1)
	t.open, _ = simplelru.NewLRU(size, func(r *openRun, _ struct{}) {
		if r.Status == Running {
			t.evicted = append(t.evicted, r)
		}
	})
	t.gone, _ = simplelru.NewLRU[place, past](size, nil)
	t.asked, _ = simplelru.NewLRU[question, asker](size, nil)
	t.waiting, _ = simplelru.NewLRU[conversation, asker](size, nil)
	t.handed, _ = simplelru.NewLRU[conversation, struct{}](size, nil)
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
	state := &streamState{}
	t.streams[s] = state
	if s.Answer {
		r := newRun(t, s)
		r.answers = true
		r.Root.Started = Moment{At: s.Opened}
		t.start(r, state, "", true)
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
	state.frames++
	r := t.runOf(b, state)
	if len(t.waits) > 0 {
		t.endWaits(b, state, r)
	}
	if r == nil {
		return
	}
	t.open.Get(r)
	r.apply(b)
	switch {
	case !r.over || b.Stream.Answer || r.Status != Running:
	case r.awaits:
		t.wait(r, state)
	default:
		t.finish(r, StreamEnded, r.overAt.At)
	}
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
			return t.expireWaits(now, due)
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
	if first := state.unnamed; first != nil && len(state.order) == 1 && !first.awaitsOutcome() {
		// Frames without an id came first: they are of the run whose id is now known.
		state.unnamed = nil
		state.name(first, id)
	}
	r := state.run(id)
	another := states(b, event.KindRunStarted)
	if r != nil && r.over && another && (r.ID != b.Run || r.awaitsOutcome()) {
		t.finish(r, StreamEnded, r.touched)
		r = newRun(t, b.Stream)
		t.start(r, state, id, !b.Orphan)
	}
	before, gone := t.gone.Get(place{b.Stream, id})
	switch {
	case r == nil && (b.Stream.Answer || gone) && !another:
		if !before.over || saysSomething(b) {
			t.losses.Late(b.Stream.Source)
		}
		return nil
	case r == nil && b.Rejected != "" && len(b.Events) == 0:
		// A frame that cannot be read belongs to whatever went on last, and begins nothing.
		if state.last != nil {
			state.last.ParseErrors++
		}
		return nil
	case r == nil:
		r = newRun(t, b.Stream)
		r.again = before.runs
		t.start(r, state, id, !b.Orphan)
	}
	state.last = r
	return r
}

// start adds a run to a stream, and tells of it where it is known to be one.
func (t *Tracker) start(r *openRun, state *streamState, id string, known bool) {
	state.name(r, id)
	state.order = append(state.order, r)
	t.open.Add(r, struct{}{})
	for _, answered := range r.stream.Answers {
		r.resume(answered)
	}
	if known {
		r.announce()
	}
	t.endEvicted()
}

// leave takes a run from a stream that goes on.
func (t *Tracker) leave(r *openRun) {
	t.waits = slices.DeleteFunc(t.waits, func(other *openRun) bool { return other == r })
	state := t.streams[r.stream]
	if state == nil {
		return
	}
	state.order = slices.DeleteFunc(state.order, func(other *openRun) bool { return other == r })
	if state.last == r {
		state.last = nil
	}
	if state.unnamed == r { // even if it was called by the name of an agent of its own since
		state.unnamed = nil
	}
	if r.stream.Answer {
		return
	}
	delete(state.named, r.ID)
	for _, alias := range r.aliases {
		delete(state.named, alias)
	}
	before, _ := t.gone.Get(place{r.stream, r.ID})
	t.gone.Add(place{r.stream, r.ID}, past{before.runs + 1, r.over})
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

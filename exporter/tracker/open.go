package tracker

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// openRun is a run on its way, with what is needed to understand its next frame.
type openRun struct {
	Run
	tracker *Tracker
	stream  *event.Stream
	key     string // "" until something must be named by it
	touched time.Time

	now       Moment // of the frame at hand
	count     [3]int // of each kind, as they are ordered
	agents    map[speaker]*Operation
	places    map[string]*Operation  // the last agent of each branch
	arriving  map[string]*Operation  // agents that control was handed to and that have not spoken
	calls     map[string]*Operation  // the last call of each id
	elsewhere map[callKey]*Operation // the last call of each id in each branch that another has had since
	unnamed   unnamedCalls
	inputs    map[string]*Input
	partial   map[*Operation]*Operation // by agent: responses of which only partial frames came
	nodes     map[nodeKey]*Operation    // by their places
	lanes     map[laneKey]*Operation    // the last node of each lane
	owed      owed
	speaking  *Operation                // the agent in control: of the last frame that had one, unless that handed over
	settling  map[*Operation]*Operation // by agent: responses that are whole, and whose usage may follow
	asking    map[*Operation]request    // by agent: of models of whose response nothing was heard
	artifacts map[string]int            // by id, where they are in the report
	again     int                       // runs of the same id that the stream had before
	aliases   []string                  // runs that turned out to be agents of this one
	ended     []*Operation              // by the frame at hand, told of once it is read whole
	answers   bool                      // the request of the stream
	announced bool                      // to the observers
	rooted    bool                      // it is known what the run's own operation is,
	guessed   bool                      // as long as nothing runs beside it
	raised    bool                      // something ran beside it
	over      bool                      // by the protocol's word
	awaits    bool                      // it is over, and more may be said of its end
	overAt    Moment                    // when it was said to be over
	overSeen  int                       // frames of its stream by then
	forgot    bool                      // ended operations, and so how often call ids were used
	invoked   map[speaker]uint32        // how often a name was used, until operations were forgotten

	kept                 int              // operations that ended and are still in the report
	gone                 int              // operations in it that did not happen
	awaiting             int              // agents that are over and whose outcome may follow
	lastFinal, lastError int              // ordinals of frames
	failing              map[string]lapse // by lane: models that failed and that no final frame followed
	answer               answer
	lastReason           StatusReason
	lastFailure          failure
}

// lapse is a failure of a model that the run may still make up for.
type lapse struct {
	frame int // its ordinal
	code  string
}

// callKey is a call at its place: agents that work side by side may count their calls alike.
type callKey struct{ branch, id string }

// speaker is an agent at its place in a workflow.
type speaker struct{ agent, branch string }

func newRun(t *Tracker, s *event.Stream) *openRun {
	r := &openRun{
		Run: Run{
			Source: s.Source, Dialect: s.Dialect, Session: s.Session, App: s.App,
			Parent: s.Parent, Live: s.Live, Status: Running,
		},
		tracker: t, stream: s, touched: s.Opened,
	}
	r.Root = &Operation{Kind: InvokeAgent, Name: s.App, open: true, course: &course{node: &node{}}}
	if s.App != "" {
		r.Root.Kind = InvokeWorkflow // unless an agent of that name speaks
	}
	r.Operations = append(r.Operations, r.Root)
	return r
}

// put adds to a map, which is made at its first entry: a run has many, and most need few of theirs.
func put[K comparable, V any](to *map[K]V, key K, value V) {
	if *to == nil {
		*to = map[K]V{}
	}
	(*to)[key] = value
}

// apply takes the facts of one frame, then tells of the operations that it ended.
func (r *openRun) apply(b *event.Batch) {
	if r.Dialect == "" {
		r.Dialect = b.Stream.Dialect
	}
	r.now = Moment{Frame: r.now.Frame + 1}
	if r.Live {
		r.now.At, r.touched = b.Received, b.Received
	} else {
		r.now.At = b.Time
	}
	if b.Rejected != "" {
		r.ParseErrors++
	} else {
		r.Events++
	}
	if b.Internal {
		r.Internal++
	}
	if r.ID == "" {
		r.ID = b.Run
	}
	if r.Session == "" {
		r.Session = b.Session
	}
	if !b.Orphan {
		r.announce()
	}
	r.measureOffset(b)
	if agent := r.overAgent(b); agent != nil || r.awaitsOutcome() {
		r.enrich(b, agent)
		r.tellEnded()
		return
	}
	agent := r.agentOf(b) // before the root is stretched: the frame may put another above it
	r.Root.touch(r.now)
	if agent != nil {
		r.speaking = agent
		agent.touch(r.now)
		if !b.Partial {
			r.settleReplies(b.Branch, agent)
		}
	} else if states(b, event.KindModelEnded) || states(b, event.KindText) && !b.Partial {
		r.owed.settle(b.Branch) // the run's own agent, which has no name
	}
	r.applyEvents(b, agent)
	if !states(b, event.KindModelEnded) && !awaitsUsage(b) {
		r.settle(r.callerOf(b, agent))
	}
	if !b.Partial {
		r.passed(b, agent)
	}
	r.tellEnded()
}

// measureOffset compares the agent's clock with ours.
func (r *openRun) measureOffset(b *event.Batch) {
	if !r.Live || b.Time.IsZero() || b.Received.IsZero() {
		return
	}
	if offset := b.Received.Sub(b.Time); !r.OffsetKnown || offset < r.Offset {
		r.Offset, r.OffsetKnown = offset, true
	}
}

// settleReplies notes that an agent was heard of: its branch and the containers that run it wait for no reply.
func (r *openRun) settleReplies(branch string, agent *Operation) {
	if r.owed.count() == 0 {
		return
	}
	r.owed.settle(branch)
	for up := agent; up != nil; up = up.runner() {
		if up.node.handed {
			r.owed.settleOf(up)
		}
	}
}

// callerOf is the operation that a frame's facts are of: its agent's, else the run's own. An error that names no agent befell the one in
// control, unless that had given its final answer.
func (r *openRun) callerOf(b *event.Batch, agent *Operation) *Operation {
	switch {
	case agent != nil:
		return agent
	case states(b, event.KindError) && r.inControl() != nil:
		return r.speaking
	}
	return r.Root
}

// inControl is the agent in control, or nil if nobody knows of one.
func (r *openRun) inControl() *Operation {
	if at := r.speaking; at != nil && at.open && (at.node == nil || !at.node.answered || at.final <= at.failed) {
		return at
	}
	return nil
}

func (r *openRun) applyEvents(b *event.Batch, agent *Operation) {
	caller := r.callerOf(b, agent)
	var last *event.Event
	for i := range b.Events {
		e := &b.Events[i]
		r.applyEvent(e, b, caller)
		if e.Kind == event.KindAgentEnded {
			last = e
		}
	}
	r.rate(b)
	if last != nil {
		r.agentEnded(last, agent) // whatever else the frame says is of the agent too
	}
}

func (r *openRun) applyEvent(e *event.Event, b *event.Batch, caller *Operation) {
	switch e.Kind {
	case event.KindText:
		if r.FirstText.Frame == 0 {
			r.FirstText = r.now
		}
		r.say(e, b, caller)
	case event.KindThought:
		r.say(e, b, caller)
		r.think(e, b, caller)
	case event.KindModelStarted:
		r.modelStarted(e, b, caller)
	case event.KindModelEnded:
		r.modelEnded(e, b, caller)
	case event.KindToolStarted:
		r.toolStarted(e, b, caller)
		r.say(e, b, caller)
	case event.KindToolPaused:
		r.pause(e.CallID)
	case event.KindToolProgress:
		r.progress(e, b)
	case event.KindToolEnded:
		r.toolEnded(e, b, caller)
	case event.KindTransfer:
		r.transfer(e, b, caller)
	case event.KindInputRequested:
		r.requestInput(e, caller)
	case event.KindInputAnswered:
		if r.inputs[e.CallID] == nil {
			r.resume(e.CallID)
		}
		r.answerInput(e.CallID)
	case event.KindArtifact:
		r.write(e)
	case event.KindRunStarted:
		if e.Resumes {
			r.resumeSession()
		}
	case event.KindRunEnded:
		r.runEnded(e)
	case event.KindUsage:
		r.meter(e, b, caller)
	case event.KindPlan:
		r.Plan = e.Plan
	case event.KindOutcome:
		r.addOutcome(e, caller)
	case event.KindIteration:
		r.iterate(e, caller)
	case event.KindState:
		caller.details().State = e.State()
	case event.KindAdopted:
		r.adopt(e, caller)
	case event.KindFinal:
		r.lastFinal, caller.final = r.now.Frame, r.now.Frame
		r.recover(caller.laneOr(b.Branch))
		r.passInputs(caller)
	case event.KindError:
		r.fail(e, b, caller)
	case event.KindConfidence, event.KindCitation, event.KindReasoning:
		r.addProof(e, caller)
	}
}

// fail notes an error. An error frame names no agent: it befell the one that was in control.
func (r *openRun) fail(e *event.Event, b *event.Batch, caller *Operation) {
	r.denyAgent(e.Name)
	r.lastError, r.lastReason, r.lastFailure = r.now.Frame, ErrorFrame, failureOf(e)
	if e.FromCode {
		r.lastReason = ErrorCode
		befell := caller.befallenBy(e.Error)
		befell.failed, befell.code = r.now.Frame, e.Code
		if lane := caller.laneOr(b.Branch); len(r.failing) < r.tracker.settings.MaxOperations {
			put(&r.failing, lane, lapse{r.now.Frame, e.Code})
		}
		return
	}
	if at := r.inControl(); at != nil {
		at.failed, at.code = r.now.Frame, e.Code
	}
	if e.Error == event.FailureCanceled {
		r.lastReason = AgentCanceled
		return
	}
	for _, op := range r.takePartial() {
		op.parent.failed, op.parent.code = r.now.Frame, e.Code
		r.end(op, Error, failure{event.ModelError, e.Code})
	}
}

// befallenBy returns what an error befell. ADK puts the last author's name on the failure of a container that runs several: a step that
// has given its answer did not fail.
func (op *Operation) befallenBy(e event.Failure) *Operation {
	above := op.runner()
	if (e == event.AgentError || e == event.ModelError) && op.node != nil && op.node.answered && op.node.key.run == "" && above != nil && above.node.key.run != "" {
		return above
	}
	return op
}

// recover notes that a final frame made up for the errors in its lane and in those that began within it, but not for those of lanes
// beside it.
func (r *openRun) recover(lane string) {
	for failing := range r.failing {
		if lane == "" || failing == lane || strings.HasPrefix(failing, lane+".") {
			delete(r.failing, failing)
		}
	}
}

// states says whether a frame states a fact of a kind.
func states(b *event.Batch, kind event.Kind) bool {
	for i := range b.Events {
		if b.Events[i].Kind == kind {
			return true
		}
	}
	return false
}

// awaitsUsage reports whether a frame is a part of a response whose usage may still grow.
func awaitsUsage(b *event.Batch) bool {
	return slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindUsage && e.Unmetered })
}

// takePartial empties the responses of which only partial frames came, in the order in which they began.
func (r *openRun) takePartial() []*Operation {
	ops := slices.SortedFunc(maps.Values(r.partial), func(a, b *Operation) int { return a.ordinal - b.ordinal })
	clear(r.partial)
	return ops
}

// course is what is known of an operation until its end was told of, and wanted no longer.
type course struct {
	ordinal int
	failed  int    // ordinal of the last frame that said it failed
	code    string // of that failure, as the stream gives it
	final   int    // ordinal of its last final frame
	paused  int    // ordinal of the frame that said it waits for a human
	chunk   Moment // the first of a model's response
	spoke   bool
	unseen  bool // its beginning, which is put where the run's is

	undatedStart, undatedEnd bool // by its first and its last frame

	begun     bool           // by the protocol's word
	awaits    bool           // the operation is over, and more may be said of its end
	fault     event.Failure  // what the protocol says of its end
	took      event.Duration // by the protocol's word
	openBelow int            // operations that are part of it and open
	youngest  *Operation     // the one of them that was added last
	height    int            // levels of operations below it that run others; never less than there are
	node      *node          // of one that runs others
	first     bool           // it was taken for the run's own, and has the id of that
	from, to  time.Time      // of what is part of it and has ended

	older, younger *Operation // its neighbors among what is open below its parent
}

package tracker

import (
	"maps"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// openRun is an open run, with the state that is needed to interpret its next frame.
type openRun struct {
	Run
	tracker      *Tracker
	stream       *event.Stream
	streamState  *streamState
	key          string // see runKey; "" until an id is needed
	lastActivity time.Time
	lastReplayed int // the last frame with event.Batch.Replayed, before which frames may be missing

	now                Timestamp // of the current frame
	counts             [3]int    // of operations, by OperationKind.rank
	agents             map[agentKey]*Operation
	agentByBranch      map[string]*Operation  // the last agent of each branch
	silentTargets      map[string]*Operation  // open targets of transfers that have not spoken yet, by name
	calls              map[string]*Operation  // the last call of each id
	shadowedCalls      map[callKey]*Operation // the last call of an id in a branch, if another branch has used the id since
	callsWithoutID     callsWithoutID
	inputs             map[string]*InputRequest
	partialResponses   map[responseKey]*Operation // responses with only partial frames so far
	nodes              map[nodeKey]*Operation     // the last open one of each place
	lastInLane         map[laneKey]*Operation     // the last open node of each lane below an operation
	pendingReplies     map[string]*Operation      // by branch: the agent from which a model response is still expected
	tasks              map[string]task            // by event.Task.ID
	mostTasks          int                        // the largest size of tasks
	hasLostTasks       bool                       // there was no room for a task
	mostReplies        int                        // the largest size of pendingReplies
	current            *Operation                 // the open agent in control: the last frame's agent, or the target of a later transfer
	awaitingUsage      map[responseKey]*Operation // complete responses whose usage or agent may follow
	artifactIndex      map[string]int             // index in Artifacts, by id
	aliases            []string                   // ids of runs that turned out to be agents of this one
	ended              []*Operation               // operations that have ended, before observers are notified
	endedEarlier       int                        // how many of them ended in earlier frames; ended operations are kept until the run is announced
	endedResponse      *Operation                 // the model response that the current frame ended
	isRequested        bool                       // it answers the run request of its stream
	sharesClock        bool                       // the server's clock agrees with ours; see noteClock
	isAnnounced        bool                       // observers have been notified of its start
	rootDecided        bool                       // the kind of the root operation is decided
	orderUnknown       bool                       // event.Batch.OrderUnknown of the frame whose place is looked up
	rootGuessed        bool                       // the protocol does not say what the root is: something may still run beside it
	hasWork            bool                       // the run itself or a known speaker has begun an operation
	rootIsFirst        bool                       // the root is the first agent directly below the run; the run itself has not spoken
	firstCause         Timestamp                  // the last whole frame before that agent; frame 0 if there was none
	hasAddedRoot       bool                       // a workflow was put above the first root
	rootLane           string                     // the branch in which the first agent last spoke as the root
	hasInnerAgents     bool                       // a frame has stated what is around its speaker (event.Batch.Around), or that it works in an unknown call
	unnamedAgent       string                     // the root's name if no frame names it, or ""
	stepAgent          string                     // the agent that works in the steps directly below the run, or ""
	rootKeys           []agentKey                 // of the branches in which it spoke as the root, oldest first
	rootSpoke          Timestamp                  // the root's last frame, which is not one of the run itself
	lastWithoutSpeaker Timestamp                  // the last whole frame without a speaker, unless event.Batch.SameStep is set
	endStated          bool                       // the protocol stated its end
	outcomePending     bool                       // its end was stated, and its outcome may follow
	endCuts            bool                       // and it cuts what is open
	endStatedAt        Timestamp                  // when its end was stated
	framesAtEnd        int                        // number of frames of the stream at that time
	charged            int                        // bytes charged to Settings.RunMemory
	knowsAsker         bool                       // it is linked to the run that it answers, by what its request or an answer states
	hasForgotten       bool                       // it is unknown how often names and ids were used, mostly because makeRoom removed ended operations
	uses               map[useKey]uint32          // how often a name or a call id was used; nil if hasForgotten is set

	endedKept            int                     // ended operations still in the report
	dropped              int                     // operations that did not happen but are still in the report
	outcomesPending      int                     // agents whose end was stated and whose outcome may follow
	lastFinal, lastError int                     // frame numbers
	workLeft             bool                    // see event.Batch.WorkLeft
	unrecovered          map[string]modelFailure // by lane: model failures without a later final frame
	mostUnrecovered      int                     // the largest size of unrecovered
	lastText             lastText
	lastReason           StatusReason
	lastFailure          failure
}

// modelFailure is a failure of a model. A later final frame cancels it.
type modelFailure struct {
	frame int
	code  string
}

// callKey identifies a call within a branch: agents that run in parallel may use the same call ids.
type callKey struct{ branch, id string }

// agentKey identifies an agent within a branch.
type agentKey struct{ agent, branch string }

func newRun(t *Tracker, s *event.Stream) *openRun {
	r := &openRun{
		Run: Run{
			Source: s.Source, Dialect: s.Dialect, Session: s.Session, App: s.App,
			Parent: s.ParentSpan, Live: s.Live, Status: Running,
		},
		tracker: t, stream: s, lastActivity: s.OpenedAt,
	}
	r.Root = &Operation{Kind: InvokeAgent, Name: s.App, open: true, openState: t.openStates.take()}
	r.Root.node = t.nodes.take()
	if s.App != "" {
		r.Root.Kind = InvokeWorkflow // unless an agent of that name speaks
	}
	r.Operations = append(r.Operations, r.Root)
	r.charge(runSize + operationSize)
	return r
}

// put adds to a map and creates it at the first entry: a run has many maps, most of which stay
// empty.
func put[K comparable, V any](to *map[K]V, key K, value V) {
	if *to == nil {
		*to = map[K]V{}
	}
	(*to)[key] = value
}

// apply applies one frame, then notifies the observers of the operations that it ended.
func (r *openRun) apply(b *event.Batch) {
	r.applyHeader(b)
	r.workLeft = b.WorkLeft
	for one := range b.Turns() {
		r.applyTurn(one)
	}
}

// applyTurn applies the events of one speaker in a frame.
func (r *openRun) applyTurn(b *event.Batch) {
	r.endedEarlier, r.endedResponse = len(r.ended), nil
	if agent := r.endedAgent(b); agent != nil || r.awaitsOutcome() {
		r.applyAfterEnd(b, agent)
		r.flushEnded()
		return
	}
	known := len(r.Operations)
	r.noteArguments(b)
	agent := r.agentOf(b) // first, because it may put another root above the present one
	if agent == nil && b.Has(event.KindError) {
		r.addRootAboveFinished(b)
	}
	r.Root.extendTo(r.now)
	if agent != nil {
		agent.noteWork(b)
		if r.current = agent; !agent.mayHaveEnded(b) {
			agent.extendTo(r.now)
		}
		if agent == r.Root {
			r.rootSpoke = r.now
		}
		if !b.Partial {
			r.noteReply(b.Branch, agent)
		}
	} else if b.Has(event.KindModelEnded) || b.Has(event.KindText) && !b.Partial {
		r.clearReply(b.Branch) // the run's own agent, which has no name
	}
	if b.AgentWaits && agent != nil {
		agent.awaitsAnswer = true
	}
	if b.Sent != nil && agent != nil {
		r.attribute(b.Sent, agent)
	}
	r.applyEvents(b, agent)
	r.hasWork = r.hasWork || len(r.Operations) > known && !b.AgentUnknown
	if !b.Has(event.KindModelEnded) && !awaitsUsage(b) {
		r.endAwaitingUsage(responseKey{r.callerOf(b, agent), b.Response})
	}
	r.noteTasks(b)
	if !b.Partial {
		r.noteFrame(b, agent)
	} else if op := r.partialResponses[responseKey{r.callerOf(b, agent), b.Response}]; op != nil {
		op.lastPiece = r.now
	}
	r.flushEnded()
}

// callerOf returns the operation that a frame's events belong to: its agent's, else the root. An
// error without an agent belongs to the agent in control, unless that has given its final answer.
func (r *openRun) callerOf(b *event.Batch, agent *Operation) *Operation {
	switch {
	case agent != nil:
		return agent
	case b.Has(event.KindError) && r.agentInControl() != nil:
		return r.current
	}
	return r.Root
}

// agentInControl returns the agent in control, or nil if none is known, or if it has given its final answer or ended
// since its last failure.
func (r *openRun) agentInControl() *Operation {
	at := r.current
	if at == nil || at.node != nil && (at.node.gaveFinalAnswer || r.hasRootEnded(at)) && !at.hasFailed() {
		return nil
	}
	return at
}

// hasRootEnded reports whether an agent is taken for the root, and its last frame states its end.
func (r *openRun) hasRootEnded(at *Operation) bool {
	return at == r.Root && at.endFrame > 0 && at.endFrame == r.rootSpoke.Frame
}

func (r *openRun) applyEvents(b *event.Batch, agent *Operation) {
	caller := r.callerOf(b, agent)
	var last *event.Event
	for i := range b.Events {
		e := &b.Events[i]
		caller.noteDebt(e, b)
		r.applyEvent(e, b, caller)
		if e.Kind == event.KindAgentEnded {
			last = e
		}
	}
	r.countUnrated(b)
	if last != nil {
		r.agentEnded(last, agent) // after the frame's other events, which belong to the agent too
	}
}

func (r *openRun) applyEvent(e *event.Event, b *event.Batch, caller *Operation) {
	switch e.Kind {
	case event.KindText:
		if r.FirstText.Frame == 0 {
			r.FirstText = r.now
		}
		r.keepOutput(e, b, caller)
	case event.KindThought:
		r.keepOutput(e, b, caller)
		r.addThought(e, b, caller)
	case event.KindModelStarted:
		r.modelStarted(e, b, caller)
	case event.KindModelEnded:
		r.modelEnded(e, b, caller)
	case event.KindToolStarted:
		r.toolStarted(e, b, caller)
		r.keepOutput(e, b, caller)
	case event.KindToolPaused:
		r.pauseCall(b.Branch, e.CallID)
	case event.KindToolProgress:
		r.noteProgress(e, b)
	case event.KindToolEnded:
		r.toolEnded(e, b, caller)
	case event.KindTransfer:
		r.transfer(e, b, caller)
	case event.KindInputRequested:
		r.requestInput(e, caller)
	case event.KindInputAnswered:
		if r.inputs[e.CallID] == nil {
			r.linkToAnswered(e.CallID)
		}
		r.answerInput(e.CallID)
	case event.KindArtifact:
		r.addArtifact(e)
	case event.KindRunStarted:
		r.noteClock(e.Asked)
		if r.unnamedAgent = e.Name; e.Resumes {
			r.linkToWaiting()
		}
	case event.KindRunEnded:
		r.runEnded(e)
	case event.KindUsage:
		r.addUsage(e, b, caller)
	case event.KindPlan:
		r.Plan = e.Plan
	case event.KindOutcome:
		r.addOutcome(e, caller)
	case event.KindIteration:
		r.noteIteration(e, caller)
	case event.KindState:
		caller.details().State = e.State()
	case event.KindChildRun:
		r.adopt(e, caller)
	case event.KindFinal:
		by := caller
		if response := r.awaitingUsage[responseKey{caller, b.Response}]; response != nil && b.AgentUnknown {
			by = response // of the agent that a later frame names
		}
		r.lastFinal, by.finalFrame = r.now.Frame, r.now.Frame
		by.noteAnswerer()
		r.noteRetry(caller)
		r.clearFailures(caller.laneOr(b.Branch))
		r.abandonInputs(caller)
	case event.KindError:
		r.applyError(e, b, caller)
	case event.KindConfidence, event.KindCitation, event.KindReasoning:
		r.addProof(e, b, caller)
	}
}

// awaitsUsage reports whether a frame states a part of a response's usage, to which later frames may add.
func awaitsUsage(b *event.Batch) bool {
	return slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindUsage && e.UsageIncomplete })
}

// responseKey identifies a model's response among those that arrive at the same time.
type responseKey struct {
	agent    *Operation
	response string // Batch.Response
}

func (op *Operation) responseKey() responseKey { return responseKey{op.parent, op.response} }

// takePartial removes and returns the responses with only partial frames, in the order in
// which they began.
func (r *openRun) takePartial() []*Operation {
	ops := slices.SortedFunc(maps.Values(r.partialResponses), byOrdinal)
	clear(r.partialResponses)
	return ops
}

func byOrdinal(a, b *Operation) int { return a.ordinal - b.ordinal }

// openState is bookkeeping of an operation. It is dropped once the observers have seen the operation end.
type openState struct {
	ordinal         int       // position among the operations of the run with the same OperationKind.rank
	failedFrame     int       // the last frame that states a failure
	failureCode     string    // code of that failure in the stream
	lastCallFailure failure   // of its call that ended last; empty if that call did not fail
	finalFrame      int       // its last final frame
	endFrame        int       // the last frame that states its end
	retryFrame      int       // the first frame of an invocation that follows it (event.Batch.Follows), if that has answered
	pausedFrame     int       // the frame that paused it until an answer comes from outside
	firstChunk      Timestamp // of a model's response
	response        string    // of a model's response: Batch.Response
	task            string    // of a model's response: event.Task.ID
	lastPiece       Timestamp // of a model's response: its last partial frame
	runsAgain       bool      // such an invocation is of the same agent
	worked          bool      // a frame of it, or of an operation below it, shows more than that it begins
	spoke           bool      // a frame of it, or of an operation below it, was seen
	assumed         bool      // see mayBecome
	startUnknown    bool      // Started is only a lower bound
	askerUnknown    bool      // of a model's response: each of several agents may have asked, so Started may be the cause of another one
	causeUnknown    bool      // of a model's response: event.Event.Uncertain of its start
	isAsked         bool      // of a model's response: the server has stated its start
	endUnknown      bool      // Ended is only an upper bound, or may be the end of another response (event.Event.Uncertain)
	endsTurn        bool      // of a call: the agent's turn may end with it
	inUnknownCall   bool      // of an agent: see Batch.InUnknownCall

	callMayHaveFailed bool // of an agent: a call has failed that may be the one in which it works
	debt              debt // of an agent

	undatedStart bool      // its first frame has no time
	undatedEnd   bool      // its last frame has no time, or a time before the first frame's
	firstTime    time.Time // its start as first set, before later frames or children changed it

	startStated          bool           // the protocol stated its start
	outcomePending       bool           // its end was stated, and its outcome may follow
	statedFailure        event.Failure  // failure that the protocol states with its end
	statedDuration       event.Duration // duration that the protocol states
	ratedWithin          []float64      // of a call: the confidences that agents within it have stated
	openChildren         int            // number of open children
	lastChild            *Operation     // the open child that was added last
	height               int            // an upper bound on the levels of invocations below it
	node                 *node          // nil if it does not run others
	wasRoot              bool           // it was the root at first, and keeps the root's id
	innerStart, innerEnd time.Time      // time range of its ended children
	innerFrame           int            // last frame of its ended children
	request              *request       // of an agent: its request to a model whose response has not begun

	prevSibling, nextSibling *Operation // neighbors among its parent's open children
}

package tracker

import (
	"cmp"
	"maps"
	"slices"
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

	now      Moment // of the frame at hand
	count    map[OperationKind]int
	agents   map[speaker]*Operation
	arriving map[string]*Operation // agents that control was handed to and that have not spoken
	calls    map[string]*Operation // the last call of each id
	unnamed  []*Operation          // open calls without an id, first in, first out by name
	inputs   map[string]*Input
	partial  map[speaker]*Operation // responses of which only partial frames came
	whole    map[string]Moment      // the last whole frame of each branch; of the run under ""
	control  map[string]Moment      // when control was handed to an agent
	owed     map[string]*Operation  // by branch: the agent whose model must answer to a tool's response
	speaking *Operation             // the agent in control: of the last frame that had one, unless that handed over
	ended    []*Operation           // by the frame at hand, told of once it is read whole

	kept                 int // operations that ended and are still in the report
	lastFinal, lastError int // ordinals of frames
	lastReason           StatusReason
	forgot               bool // ended operations, and so how often call ids were used
}

// speaker is an agent at its place in a workflow.
type speaker struct{ agent, branch string }

func newRun(t *Tracker, s *event.Stream) *openRun {
	r := &openRun{
		Run: Run{
			Source: s.Source, Dialect: s.Dialect, Session: s.Session, App: s.App,
			Parent: s.Parent, Live: s.Live, Status: Running, Unrated: map[string]int{},
		},
		tracker: t, stream: s, touched: s.Opened,
		count:    map[OperationKind]int{},
		agents:   map[speaker]*Operation{},
		arriving: map[string]*Operation{},
		calls:    map[string]*Operation{},
		inputs:   map[string]*Input{},
		partial:  map[speaker]*Operation{},
		whole:    map[string]Moment{},
		control:  map[string]Moment{},
		owed:     map[string]*Operation{},
	}
	r.Root = &Operation{Kind: InvokeAgent, Name: s.App, Agent: s.App, open: true}
	if s.Answer {
		r.Root.Started = Moment{At: s.Opened}
	}
	r.Operations = append(r.Operations, r.Root)
	return r
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
	r.measureOffset(b)
	r.Root.touch(r.now)
	agent := r.agentOf(b)
	if agent != nil {
		r.speaking = agent
		agent.touch(r.now)
		if !b.Partial {
			delete(r.owed, b.Branch)
		}
	}
	r.applyEvents(b, agent)
	if !b.Partial {
		r.whole[""] = r.now
		r.follow(r.whole, b.Branch)
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

// follow notes that the frame at hand was the last of a place.
func (r *openRun) follow(places map[string]Moment, place string) {
	if _, known := places[place]; !known && len(places) >= r.tracker.settings.MaxOperations {
		r.tracker.losses.Evicted(LostPlace)
		return
	}
	places[place] = r.now
}

func (r *openRun) applyEvents(b *event.Batch, agent *Operation) {
	caller := agent
	if caller == nil {
		caller = r.Root
	}
	rated, text, final := false, false, false
	for i := range b.Events {
		e := &b.Events[i]
		r.applyEvent(e, b, caller)
		rated = rated || e.Kind == event.KindConfidence && e.Confidence.Origin != event.OriginThought
		text = text || e.Kind == event.KindText && !b.Partial
		final = final || e.Kind == event.KindFinal
	}
	if final && text && !rated && agent != nil {
		r.countUnrated(agent.Name)
	}
}

func (r *openRun) countUnrated(agent string) {
	if r.Unrated[agent] > 0 {
		r.Unrated[agent]++
		return
	}
	r.keepFact(len(r.Unrated), event.KindFinal.String(), func() { r.Unrated[agent] = 1 })
}

func (r *openRun) applyEvent(e *event.Event, b *event.Batch, caller *Operation) {
	switch e.Kind {
	case event.KindText:
		if r.FirstText.Frame == 0 {
			r.FirstText = r.now
		}
		r.say(e, b)
	case event.KindThought:
		r.say(e, b)
	case event.KindModelStarted:
		r.modelStarted(e, b, caller)
	case event.KindModelEnded:
		r.modelEnded(e, b, caller)
	case event.KindToolStarted:
		r.toolStarted(e, caller)
		r.say(e, b)
	case event.KindToolPaused:
		r.pause(e.CallID)
	case event.KindToolEnded:
		r.toolEnded(e, b, caller)
	case event.KindTransfer:
		r.transfer(e, b, caller)
	case event.KindInputRequested:
		r.requestInput(e.CallID, e.Input, caller)
	case event.KindInputAnswered:
		if r.inputs[e.CallID] == nil {
			r.resume(e.CallID)
		}
		r.answerInput(e.CallID)
	case event.KindArtifact:
		r.keepFact(len(r.Artifacts), "artifact", func() {
			r.Artifacts = append(r.Artifacts, Artifact{e.Name, e.Artifact})
		})
	case event.KindFinal:
		r.lastFinal, caller.final = r.now.Frame, r.now.Frame
	case event.KindError:
		r.fail(e, caller)
	case event.KindConfidence, event.KindCitation, event.KindReasoning:
		r.addProof(e, caller)
	}
}

// fail notes an error. An error frame names no agent: it befell the one that was in control.
func (r *openRun) fail(e *event.Event, caller *Operation) {
	r.lastError, r.lastReason = r.now.Frame, ErrorFrame
	if e.FromCode {
		r.lastReason = ErrorCode
		caller.failed = r.now.Frame
		return
	}
	if r.speaking != nil {
		r.speaking.failed = r.now.Frame
	}
	if e.Error == event.FailureCanceled {
		r.lastReason = AgentCanceled
		return
	}
	for _, op := range r.takePartial() {
		op.parent.failed = r.now.Frame
		r.end(op, Error, event.ModelError)
	}
}

// takePartial empties the responses of which only partial frames came, in the order in which they began.
func (r *openRun) takePartial() []*Operation {
	ops := slices.SortedFunc(maps.Values(r.partial), func(a, b *Operation) int { return a.ordinal - b.ordinal })
	clear(r.partial)
	return ops
}

// agentOf finds or begins the operation of the frame's author. The first author names the run where its request did not.
func (r *openRun) agentOf(b *event.Batch) *Operation {
	if b.Agent == "" {
		return nil
	}
	if r.Agent == "" {
		r.Agent = b.Agent
		if r.Root.Name == "" {
			r.Root.Name = cmp.Or(b.Workflow, b.Agent)
			r.Root.Agent = r.Root.Name
		}
	}
	if b.Agent == r.Root.Name {
		return r.Root
	}
	key := speaker{b.Agent, b.Branch}
	op := r.agents[key]
	if op == nil {
		if op = r.arriving[b.Agent]; op != nil {
			r.arrive(op, b.Branch)
		} else if op = r.begin(InvokeAgent, b.Agent, r.Root); op != nil {
			op.Agent, op.Branch = b.Agent, b.Branch
			r.agents[key] = op
		}
	}
	if op == nil {
		return nil
	}
	delete(r.arriving, b.Agent)
	if !op.spoke {
		op.spoke, op.Started = true, r.now // a transfer shows an agent before its own first frame does
	}
	return op
}

// arrive gives an agent that control was handed to the branch in which it speaks.
func (r *openRun) arrive(op *Operation, branch string) {
	delete(r.agents, speaker{op.Name, op.Branch})
	if r.owed[op.Branch] == op {
		delete(r.owed, op.Branch)
		r.owe(branch, op)
	}
	op.Branch = branch
	r.agents[speaker{op.Name, branch}] = op
}

// begin opens an operation below a parent; nil where the run has too many open.
func (r *openRun) begin(kind OperationKind, name string, parent *Operation) *Operation {
	if len(r.Operations) >= r.tracker.settings.MaxOperations && !r.makeRoom() {
		r.tracker.losses.Evicted(string(kind))
		return nil
	}
	op := &Operation{Kind: kind, Name: name, parent: parent, Started: r.now, shown: r.now, open: true, ordinal: r.count[kind]}
	r.count[kind]++
	r.Operations = append(r.Operations, op)
	return op
}

// makeRoom forgets the older half of what has ended: its spans are out, only the report loses it.
func (r *openRun) makeRoom() bool {
	if r.kept < r.tracker.settings.MaxOperations/16 {
		return false // else each new operation would look through all that are open
	}
	excess := len(r.Operations) / 2
	before := len(r.Operations)
	r.Operations = slices.DeleteFunc(r.Operations, func(op *Operation) bool {
		if op.open || excess == 0 {
			return false
		}
		excess--
		r.forgot = true
		if r.calls[op.CallID] == op {
			delete(r.calls, op.CallID)
		}
		return true
	})
	r.kept -= before - len(r.Operations)
	for range before - len(r.Operations) {
		r.tracker.losses.Evicted(LostReport)
	}
	return len(r.Operations) < before
}

// end closes an operation at the frame at hand.
func (r *openRun) end(op *Operation, status OperationStatus, failure event.Failure) {
	op.open, op.Status, op.Error = false, status, failure
	r.kept++
	if op.Kind != InvokeAgent {
		op.Ended = r.now
	}
	r.ended = append(r.ended, op)
}

// tellEnded hands over what the frame ended, children before parents since only tools and responses end before their run does.
func (r *openRun) tellEnded() {
	for _, op := range r.ended {
		r.seal(op)
		r.tracker.each(func(o Observer) { o.OperationEnded(&r.Run, op) })
		r.release(op)
	}
	r.ended = r.ended[:0]
}

// name fixes the run's trace and its root's id at the first need, when the run's id is as known as it will be.
func (r *openRun) name() {
	if r.key != "" {
		return
	}
	r.key = runKey(r)
	r.Trace = r.Parent.Trace
	r.Sampled = r.Parent.Sampled
	if !r.Parent.Valid() {
		r.Trace = traceID(r.key)
		r.Sampled = r.tracker.settings.Sample == nil || r.tracker.settings.Sample(&r.Run)
	}
	r.Root.ID = r.identify(r.Root)
}

// seal gives an operation its ids and the worth of its times, and stretches its agent to hold it.
func (r *openRun) seal(op *Operation) {
	r.name()
	op.ID = r.identify(op)
	if op.parent != nil {
		op.Parent = r.identify(op.parent)
	}
	if op.Ended.At.Before(op.Started.At) && !op.Ended.At.IsZero() {
		op.Ended.At = op.Started.At
	}
	op.Ended.Frame = max(op.Ended.Frame, op.Started.Frame)
	switch {
	case op.unseen || op.Started.At.IsZero() || op.Ended.At.IsZero():
		op.Timing = Unknown
	case r.Live:
		op.Timing = Observed
	default:
		op.Timing = Reported
	}
	if op.parent != nil {
		op.parent.hold(op)
	}
}

// touch stretches an operation to a frame that belongs to it.
func (op *Operation) touch(m Moment) {
	if op.Started.At.IsZero() || m.At.Before(op.Started.At) && !m.At.IsZero() {
		if op.Started.At = m.At; op.Started.Frame == 0 {
			op.Started.Frame = m.Frame
		}
	}
	if op.Ended.Frame = m.Frame; m.At.After(op.Ended.At) {
		op.Ended.At = m.At
	}
}

// hold stretches an agent's operation around a child's.
func (op *Operation) hold(child *Operation) {
	if at := child.Started.At; !at.IsZero() && (op.Started.At.IsZero() || at.Before(op.Started.At)) {
		op.Started.At = at
	}
	if child.Ended.At.After(op.Ended.At) {
		op.Ended.At = child.Ended.At
	}
	op.Started.Frame = min(op.Started.Frame, child.Started.Frame)
	op.Ended.Frame = max(op.Ended.Frame, child.Ended.Frame)
}

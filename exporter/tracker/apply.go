package tracker

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// modelStarted notes the first partial frame of a response, in case no whole one follows.
func (r *openRun) modelStarted(e *event.Event, b *event.Batch, agent *Operation) {
	agent = agent.firstOpen()
	if r.partial[agent] == nil {
		if op := r.chat(e.Model, b, agent); op != nil {
			op.chunk = r.now
			put(&r.partial, agent, op)
		}
	}
}

func (r *openRun) modelEnded(e *event.Event, b *event.Batch, agent *Operation) {
	agent = agent.befallenBy(e.Error).firstOpen()
	r.settle(agent)
	op := r.partial[agent]
	if op == nil {
		op = r.chat(e.Model, b, agent)
	}
	delete(r.partial, agent)
	r.Usage = r.Usage.Add(e.Usage)
	if op == nil {
		return
	}
	op.Name, op.Response = cmp.Or(e.Model, op.Name), &Response{e.FinishReason, e.Usage, op.chunk}
	status := OK
	if e.Error != event.NoFailure {
		status = Error
	}
	if e.Unmetered {
		op.Status, op.Error, op.Code, op.Ended = status, e.Error, e.Code, r.now
		put(&r.settling, agent, op)
		return
	}
	r.end(op, status, failureOf(e))
}

// chat begins a model's response. The request went out when the agent last had something to send: after the last whole
// frame of its branch, or when control came to it. Where a run's request was not seen, when it was sent first nobody knows.
func (r *openRun) chat(model string, b *event.Batch, agent *Operation) *Operation {
	op := r.begin(Chat, model, agent)
	if op == nil {
		return nil
	}
	op.Agent, op.Branch = agent.agentName(), b.Branch
	r.keepRequest(op, agent)
	op.Started, op.unseen = r.Root.Started, !r.answers
	if cause := agent.causeOf(agent.laneOr(b.Branch)); cause.Frame > 0 {
		op.unseen = agent.pausedUntil(cause)
		if cause.Frame > op.Started.Frame {
			op.Started = cause
		}
	}
	return op
}

func (r *openRun) toolStarted(e *event.Event, b *event.Batch, caller *Operation) {
	if last := r.callIn(b.Branch, e.CallID); last != nil && last.open && e.CallID != "" {
		return // the same call again
	}
	op := r.beginTool(e, b, caller)
	if op == nil {
		return
	}
	if e.CallID == "" {
		r.unnamed.add(op)
	}
	r.given(op, e)
	if e.LongRunning {
		op.waits = true
		r.requestInput(&event.Event{CallID: e.CallID, Input: event.InputTool}, caller)
	}
}

func (r *openRun) beginTool(e *event.Event, b *event.Batch, caller *Operation) *Operation {
	op := r.begin(ExecuteTool, e.Name, caller)
	if op == nil {
		return nil
	}
	op.Agent, op.CallID, op.Branch = caller.agentName(), e.CallID, b.Branch
	if b.Step != "" {
		op.Agent = b.Agent
	}
	if known := r.tracker.settings.AgentsAsTools; known != nil {
		op.AgentTool = known(r.Source, e.Name)
	}
	if e.CallID == "" {
		return op
	}
	r.numberCall(op)
	r.keepCall(op)
	return op
}

func (r *openRun) toolEnded(e *event.Event, b *event.Batch, caller *Operation) {
	op := r.callOf(e, b)
	paused := op != nil && op.course != nil && op.paused == r.now.Frame // what stands there as its response is only a word of that
	switch {
	case paused:
	case e.Pending:
		r.acknowledgeInput(e.CallID)
	default:
		r.answerInput(e.CallID)
	}
	if op == nil {
		// Its call stood in an earlier run that was paused: when it was made is not known here.
		r.resume(e.CallID)
		if op = r.beginTool(e, b, caller); op == nil {
			return
		}
		op.Started.At = time.Time{}
	}
	if !op.open {
		return
	}
	if op.Kind.Invokes() {
		r.taskEnded(op, e, b)
		return
	}
	r.gave(op, e)
	op.took, op.unseen = e.Took, op.unseen || op.Started.Frame == r.now.Frame // how long it took within a frame is not known
	if e.NoAgent {
		r.denyWithin(op)
	}
	answered := r.answeredWithin(op)
	r.endWithin(op)
	switch {
	case paused:
		r.end(op, OperationInterrupted, failure{})
	case e.Error != event.NoFailure:
		r.end(op, Error, failureOf(e))
	default:
		r.end(op, OK, failure{})
	}
	if answered.Frame > 0 && answersSeveral(b) {
		op.Ended = answered
	}
	if !e.Settled {
		r.owe(b.Branch, op.parent)
	}
}

// answeredWithin returns the last frame of the agent that gave its final answer within a call, or zero.
func (r *openRun) answeredWithin(call *Operation) (at Moment) {
	for op := call.youngest; op != nil; op = op.older {
		if op.node != nil && op.node.answered {
			at = latest(at, op.node.below)
		}
	}
	return at
}

// answersSeveral reports whether a frame has the responses of several calls: it came when the last of them had ended.
func answersSeveral(b *event.Batch) bool {
	responses := 0
	for i := range b.Events {
		if b.Events[i].Kind == event.KindToolEnded {
			responses++
		}
	}
	return responses > 1
}

// taskEnded ends an agent whose invocation was the call, and gives control back to its caller.
func (r *openRun) taskEnded(op *Operation, e *event.Event, b *event.Batch) {
	r.endWithin(op)
	if op.over, op.code = true, e.Code; e.Error != event.NoFailure {
		op.fault = event.AgentError
	}
	r.endOver(op)
	caller := op.runner()
	caller.node.returned, caller.node.task = true, r.now
	r.owe(b.Branch, caller)
}

// owe notes that an agent must be heard of again in its branch, or the run is not complete.
func (r *openRun) owe(branch string, agent *Operation) {
	if agent == nil {
		agent = r.Root
	}
	if r.owed.by(branch) == nil && r.owed.count() >= r.tracker.settings.MaxOperations {
		r.tracker.losses.Evicted(LostPlace)
		return
	}
	r.owed.add(branch, agent)
}

// callOf joins a response to its call: by id, or, where the wire has no ids, by name in order, first to a call of the same branch.
func (r *openRun) callOf(e *event.Event, b *event.Batch) *Operation {
	if e.CallID != "" {
		return r.call(b.Branch, e.CallID)
	}
	op := cmp.Or(r.unnamed.in(b.Branch, e.Name), r.unnamed.of(e.Name))
	if op != nil {
		op.Inferred = true
	}
	return op
}

// transfer hands control over. The target's operation begins here, as a child of the agent that gave control away.
func (r *openRun) transfer(e *event.Event, b *event.Batch, from *Operation) {
	var givers *giver
	if from.node != nil {
		givers = from.node.givers
	}
	if b.Agent != "" {
		before := givers
		if givers = givers.and(b.Agent); before != nil && givers.count < before.count {
			r.tracker.losses.Evicted(LostDepth)
		}
	}
	r.keepFact(len(r.Transfers), "transfer", func() {
		r.Transfers = append(r.Transfers, Transfer{From: b.Agent, To: e.Name, Event: e.ID, Loop: givers.has(e.Name)})
	})
	for up := from.runner(); up != nil; up = up.runner() {
		up.node.chats = up.node.chats || up.Name == e.Name // control goes to no workflow
	}
	target := r.target(e.Name, b, from)
	if from.node != nil {
		from.node.left = true
	}
	r.owe(b.Branch, target)
	if target != nil {
		r.speaking, target.node.givers = target, givers
	}
	call := r.transferCall(e)
	if call == nil {
		return
	}
	ends := call.details()
	ends.HandoffSource, ends.HandoffTarget = b.Agent, e.Name
	if target != nil && len(target.Details.OrNone().Links) < r.tracker.settings.MaxFacts {
		r.name()
		into := target.details()
		into.Links = append(into.Links, r.identify(call))
	}
}

// transferCall is the call by which control is handed over; where it has no id, the one without that the frame ends.
func (r *openRun) transferCall(e *event.Event) *Operation {
	if e.CallID != "" {
		return r.calls[e.CallID]
	}
	unnamed := func(op *Operation) bool { return op.Kind == ExecuteTool && op.CallID == "" }
	i := slices.IndexFunc(r.ended, unnamed)
	if i < 0 || slices.ContainsFunc(r.ended[i+1:], unnamed) {
		return nil // none, or nobody knows which
	}
	return r.ended[i]
}

// target begins the operation of the agent that control is handed to. By the ADK's places that is a new invocation, even of an agent
// that had control before.
func (r *openRun) target(name string, b *event.Batch, from *Operation) *Operation {
	branch := b.Branch
	key := speaker{name, branch}
	last := r.agents[key]
	switch arriving := r.arriving[name]; {
	case b.Place != nil && arriving != nil && arriving.open:
		return arriving
	case b.Place != nil:
	case name == r.Root.Name:
		return r.Root
	case last != nil && last.open:
		return last
	}
	op := r.begin(InvokeAgent, name, from)
	if op == nil {
		return nil
	}
	op.Agent, op.Branch = name, branch
	op.node = &node{lane: branch, cause: r.now, handed: true}
	put(&r.arriving, name, op)
	r.number(op)
	put(&r.agents, key, op)
	return op
}

func (r *openRun) requestInput(e *event.Event, owner *Operation) {
	if in := r.inputs[e.CallID]; in != nil && in.Status == InputOpen {
		return
	}
	r.keepFact(len(r.Inputs), LostInput, func() {
		in := &Input{ID: e.CallID, Kind: e.Input, Routing: e.Routing, Status: InputOpen, Requested: r.now, Question: r.questionOf(e), expires: e.Expires, owner: owner}
		put(&r.inputs, e.CallID, in)
		r.Inputs = append(r.Inputs, in)
		owner.asks++
		r.ask(e.CallID)
	})
}

func (r *openRun) answerInput(id string) {
	if in := r.inputs[id]; in != nil && in.Status == InputOpen {
		in.Status, in.Answered = InputAnswered, r.now
		in.settle()
	}
}

// acknowledgeInput notes that the agent itself has responded to its long-running call, which answers nothing.
func (r *openRun) acknowledgeInput(id string) {
	if in := r.inputs[id]; in != nil && in.Status == InputOpen {
		in.pending = true
	}
}

// passInputs notes that an agent has given a final answer without those that it has acknowledged.
func (r *openRun) passInputs(owner *Operation) {
	for _, in := range r.Inputs {
		if owner.asks == 0 {
			return // most agents ask for nothing
		}
		if in.owner == owner && in.pending && in.Status == InputOpen {
			in.settle()
			in.passed = true
		}
	}
}

// settle notes that a request has its owner wait no longer.
func (in *Input) settle() {
	if !in.passed {
		in.owner.asks--
	}
}

func (r *openRun) pause(id string) {
	if op := r.calls[id]; op != nil && op.open {
		op.waits, op.paused = true, r.now.Frame
		r.ask(id)
	}
}

// addProof keeps what an answer says of its own worth, at the run and at the operation that gave the answer.
func (r *openRun) addProof(e *event.Event, caller *Operation) {
	op := caller
	if call := r.calls[e.CallID]; call != nil {
		op = call
	}
	d := op.details()
	d.Dropped += e.More
	for range e.More {
		r.tracker.losses.Evicted(e.Kind.String())
	}
	limit := r.tracker.settings.MaxFacts
	if len(d.Confidence)+len(d.Citations) >= limit {
		d.Dropped++
		r.tracker.losses.Evicted(e.Kind.String())
		return
	}
	switch e.Kind {
	case event.KindConfidence:
		s := Statement{Agent: e.Name, Confidence: e.Confidence, Restated: op.Kind.Invokes() && r.restates(e)}
		d.Confidence = append(d.Confidence, s)
		r.keepFact(len(r.Confidence), "confidence", func() { r.Confidence = append(r.Confidence, s) })
	case event.KindCitation:
		d.Citations = append(d.Citations, e.Citation)
		r.keepFact(len(r.Citations), "citation", func() { r.Citations = append(r.Citations, Source{e.Name, e.Citation}) })
	case event.KindReasoning:
		d.ReasoningStep = event.Count{N: int64(e.Steps), Known: true}
		r.keepFact(len(r.Reasoning), "reasoning", func() { r.Reasoning = append(r.Reasoning, Reasoning{e.Name, e.Steps}) })
	}
}

// restates says whether a value in an agent's text only repeats what another had given before; the overall one never does.
func (r *openRun) restates(e *event.Event) bool {
	if e.Confidence.Overall || !e.Confidence.Known || e.Confidence.Origin != event.OriginText {
		return false
	}
	return slices.ContainsFunc(r.Confidence, func(s Statement) bool {
		return s.Known && s.Agent != e.Name && math.Abs(s.Value-e.Confidence.Value) < sameValue
	})
}

// sameValue allows for "33.3%" being divided where "0.333" is not.
const sameValue = 1e-9

func (r *openRun) keepFact(have int, kind string, keep func()) {
	if have < r.tracker.settings.MaxFacts {
		keep()
		return
	}
	r.tracker.losses.Evicted(kind)
}

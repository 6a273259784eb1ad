package tracker

import (
	"cmp"

	"github.com/delegraph/delegraph/collector/event"
)

// agentOf finds or begins the operation of the frame's author. The first author names the run where its request did not.
func (r *openRun) agentOf(b *event.Batch) *Operation {
	if b.Place != nil {
		return r.placed(b)
	}
	part := b.Within != "" || b.Parent != ""
	if worker(b) == "" && !part && !states(b, event.KindAgentStarted) {
		if known := r.places[b.Branch]; known == nil || known.Name != "" {
			return nil
		}
	}
	r.nameBy(b)
	if b.Agent == r.Root.Name && b.Agent != "" && !part && isOwn(b) {
		return r.Root
	}
	op := r.agents[speaker{worker(b), b.Branch}]
	switch {
	case op != nil && op.open:
	case b.Step == "" && r.arriving[b.Agent] != nil && r.arriving[b.Agent].open:
		op = r.arriving[b.Agent]
		r.arrive(op, b.Branch)
	default:
		op = r.beginAgent(b)
	}
	if op == nil {
		return nil
	}
	if b.Step == "" {
		delete(r.arriving, b.Agent)
	}
	if !op.spoke && !op.node.works {
		op.Started = r.now // a transfer shows an agent before its own first frame does
	}
	if op.spoke = true; op.Kind == InvokeNode && b.Step == "" {
		op.Kind, op.Agent = InvokeAgent, b.Agent // a step that turns out to be an agent
	}
	return op
}

// nameBy names the run by its first author, who is not one of those that work for it.
func (r *openRun) nameBy(b *event.Batch) {
	if r.Agent != "" || !isOwn(b) || r.arriving[b.Agent] != nil || r.agents[speaker{b.Agent, b.Branch}] != nil {
		return
	}
	if r.Agent = b.Agent; r.Root.Name == "" {
		r.Root.Name = b.Agent
	}
	if b.Agent != "" {
		r.Root.Kind = InvokeAgent
		r.nameRoot()
	}
}

// isOwn reports whether a frame's author may be the run itself: one with a branch of its own works for it.
func isOwn(b *event.Batch) bool { return b.Branch == "" }

// worker is the name of the operation that a frame is of: the step's, where the agent works in one.
func worker(b *event.Batch) string { return cmp.Or(b.Step, b.Agent) }

// beginAgent begins an author's operation.
func (r *openRun) beginAgent(b *event.Batch) *Operation {
	above := r.above(b).firstOpen()
	kind := InvokeAgent
	if b.Step != "" {
		kind = InvokeNode
	}
	op := r.begin(kind, worker(b), above)
	if op == nil {
		return nil
	}
	op.node = &node{lane: b.Branch, cause: above.causeOf(b.Branch)}
	op.Branch, op.begun = b.Branch, states(b, event.KindAgentStarted)
	if b.Step == "" {
		op.Agent = b.Agent
	}
	r.number(op)
	put(&r.agents, speaker{op.Name, b.Branch}, op)
	if b.Branch != "" {
		put(&r.places, b.Branch, op)
	}
	return op
}

// number tells an operation from the run's others of one name and branch, unless its id is already known to observers.
func (r *openRun) number(op *Operation) {
	key := speaker{op.Name, op.Branch}
	number := r.invoked[key]
	if put(&r.invoked, key, number+1); r.forgot {
		number = uint32(op.ordinal) // no less than how often the name was used
	}
	if op.ID == (SpanID{}) {
		op.repeat = number
	}
}

// numberCall tells a call from the last one of its id, which may have been forgotten.
func (r *openRun) numberCall(op *Operation) {
	switch last := r.calls[op.CallID]; {
	case last != nil:
		op.repeat = last.repeat + 1
	case r.forgot:
		op.repeat = uint32(op.ordinal)
	}
}

// keepCall makes a call the last of its id.
func (r *openRun) keepCall(op *Operation) {
	if last := r.calls[op.CallID]; last != nil && last.Branch != op.Branch {
		put(&r.elsewhere, callKey{last.Branch, op.CallID}, last)
	}
	delete(r.elsewhere, callKey{op.Branch, op.CallID})
	put(&r.calls, op.CallID, op)
}

// callIn is the last call of an id in a branch.
func (r *openRun) callIn(branch, id string) *Operation {
	if op := r.calls[id]; op != nil && op.Branch == branch {
		return op
	}
	return r.elsewhere[callKey{branch, id}]
}

// call is the last call of an id: that of a branch, else of any.
func (r *openRun) call(branch, id string) *Operation {
	if op := r.callIn(branch, id); op != nil {
		return op
	}
	return r.calls[id]
}

// above is what an author's operation belongs to: the tool call in which it works, the agent for which it works, else the run.
func (r *openRun) above(b *event.Batch) *Operation {
	if call := r.call(b.Parent, b.Within); call != nil && b.Within != "" {
		if call.open {
			return call
		}
		return call.parent
	}
	if agent := r.places[b.Parent]; agent != nil && agent.open {
		return agent
	}
	return r.Root
}

// arrive gives an agent that control was handed to the branch in which it speaks.
func (r *openRun) arrive(op *Operation, branch string) {
	delete(r.agents, speaker{op.Name, op.Branch})
	if r.owed.by(op.Branch) == op {
		r.owed.settle(op.Branch)
		r.owe(branch, op)
	}
	op.Branch = branch
	r.number(op)
	put(&r.agents, speaker{op.Name, branch}, op)
}

// agentEnded ends an agent by the protocol's word: at once, or with the last of what it has open.
func (r *openRun) agentEnded(e *event.Event, agent *Operation) {
	if agent == nil || agent == r.Root || agent.over {
		return
	}
	agent.over, agent.fault, agent.code, agent.took = true, e.Error, e.Code, e.Took
	if agent.awaits = e.AwaitsOutcome; agent.awaits {
		r.awaiting++
	}
	agent.keepIterations(e)
	r.endAwaiting(agent)
	r.endOver(agent)
}

// endOver ends an agent that is over and has nothing open.
func (r *openRun) endOver(agent *Operation) {
	switch {
	case !agent.over || !agent.open || agent.openBelow > 0 || agent.awaits:
	case agent.fault != event.NoFailure:
		r.end(agent, Error, failure{agent.fault, agent.code})
	default:
		r.end(agent, OK, failure{})
	}
}

// endWithin ends what goes on within a call whose response has come.
func (r *openRun) endWithin(call *Operation) {
	if call.openBelow == 0 {
		return
	}
	r.settleAll()
	r.endAwaiting(call)
	r.endInner(call)
}

// laneOr returns the lane of an operation that runs others, else the given one.
func (op *Operation) laneOr(lane string) string {
	if op.node == nil {
		return lane
	}
	return op.node.lane
}

package tracker

import (
	"cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// agentOf finds or begins the operation of a frame's speaker. It returns nil if the frame belongs to the
// run itself, or if the run has no room. It may name the run after the speaker, see nameAfterSpeaker.
func (r *openRun) agentOf(b *event.Batch) *Operation {
	if b.Place != nil {
		return r.operationAt(b)
	}
	if op, decided := r.rootAgentOf(b); decided {
		return op
	}
	if op, isNone := r.writerOf(b); isNone {
		return op
	}
	if b.AgentUnknown && b.Agent == "" && b.ParentBranch != "" { // one of the agents below this one
		above := r.agentByBranch[b.ParentBranch]
		if above != nil {
			above = above.firstOpen()
		}
		return above
	}
	worksForAnother := b.EnclosingCall != "" || b.ParentBranch != ""
	if operationName(b) == "" && !worksForAnother && !b.Has(event.KindAgentStarted) {
		if known := r.agentByBranch[b.Branch]; known == nil || known.Name != "" {
			return nil
		}
	}
	r.nameAfterSpeaker(b)
	if b.Agent == r.Root.Name && b.Agent != "" && !worksForAnother && b.Branch == "" {
		return r.Root
	}
	op := r.agents[agentKey{operationName(b), b.Branch}]
	if op.startsAgain(b) {
		op.endStated = true
		r.endIfDone(op)
		op = nil
	}
	switch {
	case op != nil && op.open:
	case b.Step == "" && r.silentTargets[b.Agent] != nil:
		op = r.silentTargets[b.Agent]
		r.moveToBranch(op, b.Branch)
	case b.Step == "" && r.mayBecome(b):
		op = r.agentByBranch[b.Branch]
		removeEntry(r.agents, agentKey{op.Name, op.Branch}, op)
		op.Name = b.Agent
		r.indexInvocation(op)
	default:
		if op = r.beginAgent(b); op != nil && !hasFacts(b) { // the frame only shows that the agent begins
			op.startUnknown = false
		}
	}
	if op == nil {
		return nil
	}
	if b.Step == "" {
		delete(r.silentTargets, b.Agent)
	}
	if op.spoke = true; op.Kind == InvokeNode && b.Step == "" {
		op.becomeAgent(b.Agent)
	}
	return op
}

// startsAgain reports whether a frame starts an agent again that is open, but has given its final answer or failed. The
// agent may be nil.
func (op *Operation) startsAgain(b *event.Batch) bool {
	return op != nil && op.open && (op.finalFrame > 0 || op.statedFailure != event.NoFailure) && b.Has(event.KindAgentStarted)
}

// nameAfterSpeaker names the run after its first speaker, unless that speaker has a branch or got control
// by a transfer. The root operation keeps the name of the application, if it has one. A configured name is replaced.
func (r *openRun) nameAfterSpeaker(b *event.Batch) {
	if r.Agent != "" && r.Agent != b.Renames || r.hasAddedRoot || b.Branch != "" || r.silentTargets[b.Agent] != nil || r.agents[agentKey{b.Agent, b.Branch}] != nil {
		return
	}
	if r.Agent = b.Agent; r.rootHasNoName(b) {
		r.Root.Name = b.Agent
	}
	if b.Agent != "" {
		r.Root.Kind = InvokeAgent
		r.nameRoot()
		r.Root.eachBelow(func(op *Operation) { // calls that the agent made before its name was known
			if op.parent == r.Root && !op.Kind.Invokes() && r.Root.Name == b.Agent {
				if !op.senderUnknown && (op.Agent == "" || op.Agent == b.Renames) {
					op.Agent = b.Agent
				}
			}
		})
	}
}

// operationName returns the name of the operation that a frame belongs to: the step, if there is
// one, else the agent.
func operationName(b *event.Batch) string { return cmp.Or(b.Step, b.Agent) }

// beginAgent begins the operation of a frame's speaker.
func (r *openRun) beginAgent(b *event.Batch) *Operation {
	r.hasInnerAgents = r.hasInnerAgents || b.Around != nil || b.InUnknownCall
	above := r.parentOf(b).firstOpen()
	kind := InvokeAgent
	if b.Step != "" {
		if kind = InvokeNode; above == r.Root {
			r.stepAgent = b.Agent
		}
	}
	op := r.begin(kind, operationName(b), above)
	if op == nil {
		return nil
	}
	cause, delayUnknown := r.causeOfAgent(b, above)
	op.node = r.tracker.newNode(node{lane: b.Branch, follows: b.Follows, cause: cause, delayUnknown: delayUnknown || r.mayLackCause(cause)})
	op.startUnknown = op.node.delayUnknown
	op.Branch, op.startStated, op.inUnknownCall = b.Branch, b.Has(event.KindAgentStarted), b.InUnknownCall
	if b.Step == "" {
		op.Agent = b.Agent
	}
	r.indexInvocation(op)
	if b.Branch != "" {
		put(&r.agentByBranch, b.Branch, op)
	}
	return op
}

// indexInvocation records an invocation as the last one of its name and branch, and sets earlierUses.
func (r *openRun) indexInvocation(op *Operation) {
	put(&r.agents, agentKey{op.Name, op.Branch}, op)
	r.countUse(op, useKey{op.Name, op.Branch, false})
}

// indexCall records a call as the last one with its call id, which is never "".
func (r *openRun) indexCall(op *Operation) {
	if last := r.calls[op.CallID]; last != nil && last.Branch != op.Branch {
		put(&r.shadowedCalls, callKey{last.Branch, op.CallID}, last)
	}
	delete(r.shadowedCalls, callKey{op.Branch, op.CallID})
	put(&r.calls, op.CallID, op)
}

// callIn returns the last call of an id in a branch, or nil.
func (r *openRun) callIn(branch, id string) *Operation {
	if op := r.calls[id]; op != nil && op.Branch == branch {
		return op
	}
	return r.shadowedCalls[callKey{branch, id}]
}

// call returns the last call of an id in a branch, else in any branch.
func (r *openRun) call(branch, id string) *Operation {
	return cmp.Or(r.callIn(branch, id), r.calls[id])
}

// parentOf returns the parent of a speaker's operation: the tool call in which it works, else the
// agent for which it works, else the root.
func (r *openRun) parentOf(b *event.Batch) *Operation {
	if call := r.call(b.ParentBranch, b.EnclosingCall); call != nil {
		if call.open {
			return call
		}
		return call.parent
	}
	if agent := r.agentByBranch[b.ParentBranch]; agent != nil && agent.open {
		return agent
	} else if agent == nil && b.Around != nil {
		return cmp.Or(r.beginAround(b.Around), r.Root)
	}
	return r.Root
}

// beginAround begins the agent or step that encloses a speaker and has not spoken yet. If it is the target of a
// transfer, the transfer has begun it.
func (r *openRun) beginAround(at *event.Around) *Operation {
	if target := r.silentTargets[at.Agent]; at.Step == "" && target != nil {
		delete(r.silentTargets, at.Agent)
		r.moveToBranch(target, at.Branch)
		target.spoke = true
		return target
	}
	silent := event.Batch{Agent: at.Agent, Step: at.Step, Branch: at.Branch, EnclosingCall: at.EnclosingCall, Follows: at.Follows, MayBeBeside: at.MayBeBeside, OrderUnknown: at.OrderUnknown, Around: at.Above}
	if at.Above != nil {
		silent.ParentBranch = at.Above.Branch
	}
	op := r.beginAgent(&silent)
	if op == nil {
		return nil
	}
	op.spoke, op.assumed = true, at.Step != "" // an operation within it has spoken
	if cause := op.node.cause; cause.Frame > 0 && !op.startUnknown {
		op.startAt(cause) // it may have begun before the operation within it
	}
	return op
}

// becomeAgent turns a step, and the maker of its open calls, into an agent.
func (op *Operation) becomeAgent(name string) {
	op.Kind, op.Agent = InvokeAgent, name
	for child := op.lastChild; child != nil; child = child.prevSibling {
		if child.Kind == ExecuteTool {
			child.Agent = name
		}
	}
}

// mayBecome reports whether the open step of a branch turns out to be the agent of a frame: either beginAround began the step, so that its first
// frame may name an agent, or the agent is the first one there that asks a model.
func (r *openRun) mayBecome(b *event.Batch) bool {
	op := r.agentByBranch[b.Branch]
	return op != nil && op.open && (op.assumed || op.Kind == InvokeNode && (b.Has(event.KindModelStarted) || b.Has(event.KindModelEnded)))
}

// moveToBranch moves the target of a transfer to the branch in which it speaks.
func (r *openRun) moveToBranch(op *Operation, branch string) {
	removeEntry(r.agents, agentKey{op.Name, op.Branch}, op)
	removeEntry(r.agentByBranch, op.Branch, op)
	if r.pendingReplies[op.Branch] == op {
		r.clearReply(op.Branch)
		r.expectReply(branch, op)
	}
	op.Branch = branch
	r.indexInvocation(op)
	if branch != "" {
		put(&r.agentByBranch, branch, op)
	}
}

// agentEnded records that the protocol states an agent's end. The agent ends once it has no open children and
// no longer waits for an outcome.
func (r *openRun) agentEnded(e *event.Event, agent *Operation) {
	if agent == nil {
		return
	}
	if agent.endFrame = r.now.Frame; e.Error == event.NoFailure {
		agent.debt = noDebt
	}
	if agent == r.Root && r.rootIsFirst && e.Error != event.NoFailure { // it may turn out not to be the root
		agent.statedFailure, agent.failedFrame, agent.failureCode = e.Error, r.now.Frame, e.Code
	}
	if agent == r.Root || agent.endStated {
		return
	}
	agent.endStated, agent.statedFailure, agent.failureCode, agent.statedDuration = true, e.Error, e.Code, e.Duration
	if agent.outcomePending = e.AwaitsOutcome; agent.outcomePending {
		r.outcomesPending++
	}
	agent.keepIterations(e)
	r.endWithoutOutcomes(agent)
	if agent.Kind == InvokeNode && e.Error == event.NoFailure {
		r.leaveCalls(agent)
	}
	r.endIfDone(agent)
}

// leaveCalls moves the open calls of a step that has ended to what is around the step: a graph runs the calls of a model in another step.
func (r *openRun) leaveCalls(step *Operation) {
	above := step.parent
	for above.Kind == InvokeNode && above.endStated {
		above = above.parent
	}
	for call := step.lastChild; call != nil; {
		older := call.prevSibling
		if call.Kind == ExecuteTool {
			r.reparent(call, above)
		}
		call = older
	}
}

// endIfDone ends an agent whose end was stated, unless it has open children or its outcome may
// follow.
func (r *openRun) endIfDone(agent *Operation) {
	switch {
	case !agent.endStated || !agent.open || agent.openChildren > 0 || agent.outcomePending:
	case agent.statedFailure != event.NoFailure:
		r.end(agent, OperationError, failure{agent.statedFailure, agent.failureCode})
	case agent.callMayHaveFailed && agent.finalFrame == 0 && agent.lastCallFailure != failure{}:
		r.end(agent, OperationUnfinished, failure{}) // the statement does not say how it ended
	default:
		r.end(agent, OperationOK, failure{})
	}
}

// markUnfinishedWithin marks the agents in a failed call as unfinished, unless they have given a final answer. If the last call of such
// an agent failed with the same code, the agent has failed too, because the exception has passed through it.
func (r *openRun) markUnfinishedWithin(call *Operation, code string) {
	call.noteFailureBelow(call.parent)
	if call.parent.parent != nil {
		call.noteFailureBelow(call.parent.parent)
	}
	for op := call.lastChild; op != nil; op = op.prevSibling {
		if !op.Kind.Invokes() || op.finalFrame > 0 {
			continue
		}
		if op.hasUnfinished = true; code != "" && op.lastCallFailure == (failure{event.ToolError, code}) {
			op.failedFrame, op.failureCode = r.now.Frame, code
		}
	}
}

// judgeWithin applies what the response of a call shows about the agents in it: that they do not exist, or that they have not answered.
func (r *openRun) judgeWithin(call *Operation, e *event.Event) {
	response := e.Payload()
	switch {
	case e.AgentNotFound:
		r.dropMissingWithin(call)
	case response.Kind() == strictjson.String && len(response.Text()) == 0:
		call.markSilentWithin()
	}
}

// markSilentWithin marks the agents in a call as unfinished if they have only begun. The call has an empty response, so they have not
// answered in it either.
func (op *Operation) markSilentWithin() {
	for agent := op.lastChild; agent != nil; agent = agent.prevSibling {
		agent.hasUnfinished = agent.hasUnfinished || agent.hasOnlyBegun()
	}
}

// noteFailureBelow marks the agents directly below above that may work in op, a call that has failed.
func (op *Operation) noteFailureBelow(above *Operation) {
	for agent := above.lastChild; agent != nil; agent = agent.prevSibling {
		if agent.inUnknownCall && agent.firstFrame > op.firstFrame {
			agent.callMayHaveFailed = true
		}
	}
}

// endWithin ends the open operations below a call whose response has arrived.
func (r *openRun) endWithin(call *Operation) {
	if call.openChildren == 0 {
		return
	}
	r.endAllAwaitingUsage()
	r.endWithoutOutcomes(call)
	r.endInner(call)
}

// laneOr returns the lane of an operation. It returns the given lane if the operation is nil or no node.
func (op *Operation) laneOr(lane string) string {
	if op == nil || op.node == nil {
		return lane
	}
	return op.node.lane
}

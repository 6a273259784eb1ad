package tracker

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// enclosingInvocation returns the outer invocation of an agent, if control has returned to it, else nil. For
// example, agent a transfers to b, and b transfers back to a. Then b is below the outer invocation of a, and an
// inner invocation of a is below b:
//   - If a speaks and the inner a is below the agent in control, the speaker is the outer a.
//   - If b speaks, and its place puts it below the inner a, where it has no invocation, the speaker is the b above
//     the inner a.
//
// If the protocol numbers invocations, their places differ, and the result is nil.
func (r *openRun) enclosingInvocation(above, last *Operation, n *event.Node) *Operation {
	from := r.current
	switch {
	case n.Run != "":
		return nil
	case last == nil && n.Kind == event.NodeDescendant:
		from = above
	case last == nil || !last.isBelow(from):
		return nil
	}
	for up := from; up != nil; up = up.parent {
		if up.node != nil && up.Name == n.Name && up.node.lane == n.Lane {
			return up
		}
	}
	return nil
}

// isNewInvocation reports whether a node speaks in a new invocation:
//   - A parallel agent has one frame in each invocation, which says that it runs other agents. A second such frame
//     starts a new invocation.
//   - If the protocol numbers invocations, only an agent that continues after a task that it called gets a new
//     invocation under the same number.
//   - A remote agent that works on another task after another agent has spoken starts a new invocation.
//   - Otherwise a model that answers again after its final answer, after a transfer or after another agent has
//     spoken starts a new invocation.
//
// In ADK for JavaScript, control may return from a transfer without a new invocation. Then a frame of the agent
// that is no response comes first, and noteAnswer clears node.transferred.
//
// Source: google/adk/agents/parallel_agent.py of google-adk 2.13.
func (r *openRun) isNewInvocation(op *Operation, n *event.Node, b *event.Batch) bool {
	switch {
	case n.Kind == event.NodeContainer && n.Run == "" && op.lastChild != nil && r.runsLaneInParallel(op, op.lastChild.laneOr(op.node.lane)):
		return op.node.claimsChildren
	case b.NewTask && n.Run == "" && op.anotherSpoke():
		return true
	case !b.Has(event.KindModelStarted) && !b.Has(event.KindModelEnded):
		return false
	case op.node.taskReturned:
		return op.node.usedModel
	case n.Run != "":
		return false
	}
	goesOn := op.debt > noDebt && op.runner().runsSeveralIn(op.node.lane)
	return op.node.gaveFinalAnswer || op.node.transferred || op.node.usedModel && op.anotherSpoke() && !goesOn
}

// anotherSpoke reports whether another agent in the lane of a node has spoken since the node did.
func (op *Operation) anotherSpoke() bool {
	above := op.runner()
	return above != nil && above.node.lane == op.node.lane && above.node.lastActive != op
}

// failureIn returns the failure that a frame's error code states.
func failureIn(b *event.Batch) event.Failure {
	i := slices.IndexFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindError && e.Inline })
	if i < 0 {
		return event.NoFailure
	}
	return b.Events[i].Error
}

// hasUnknownDelay reports whether cause is the cause of an operation's start, and the time between the two is unknown.
func (op *Operation) hasUnknownDelay(cause Timestamp) bool {
	return op.node != nil && op.node.delayUnknown && op.node.cause == cause
}

// spokeAfter reports whether an operation or a descendant, in any lane, has a whole frame after cause.
func (op *Operation) spokeAfter(cause Timestamp) bool {
	return op.node != nil && op.node.lastBelow.Frame > cause.Frame
}

// turnIntoNode turns a task's call into the invocation of the agent that it names. The protocol identifies
// the invocation by the call's id, so both are one operation.
func (r *openRun) turnIntoNode(call *Operation, key nodeKey) *Operation {
	r.releaseContent(call)
	call.Kind, call.Agent, call.Branch = InvokeAgent, call.Name, key.lane
	hasWork := call.innerFrame > 0 // something in it has run before
	if !hasWork {
		call.startAt(call.taskStart())
	}
	call.node = r.tracker.newNode(node{lane: key.lane, cause: call.Started, hasOwnWork: hasWork})
	r.reparent(call, call.parent)
	r.setOrdinal(call)
	r.indexInvocation(call)
	r.setPlace(call, key)
	r.setLastInLane(call)
	return call
}

// taskStart returns the frame after which the agents within a call start. ADK runs the tasks of one model response one after the
// other, and after all other calls.
func (op *Operation) taskStart() Timestamp {
	return latest(op.Started, op.runner().node.lastTaskAnswer)
}

// taskInControl returns the invocation of the task that a response to a call ends, or nil. It merges the call into that
// invocation, because the protocol may say only with the response that the call is a task. ADK runs tasks one after the other,
// so the task's agent is in control or is above the agent in control.
func (r *openRun) taskInControl(id string) *Operation {
	for up := r.current; up != nil && id != ""; up = up.runner() {
		if up.node == nil || up.node.key.run != id {
			continue
		}
		if up == r.Root && r.rootGuessed && r.hasRoom(InvokeWorkflow) {
			r.addRoot() // something called it
		}
		if r.mergeTask(up) {
			return up
		}
	}
	return nil
}

// mergeOpenTasks merges the calls of a completed run that have no response with the agents that work in them: such a
// call is a task, whose agent has asked the user and continues with the next message.
func (r *openRun) mergeOpenTasks() {
	if r.Status != Completed {
		return
	}
	for _, op := range r.Operations {
		if op.open && op.node != nil && op != r.Root && op.parent.Kind == ExecuteTool {
			r.mergeTask(op)
		}
	}
}

// mergeTask merges the operation of a task's call into that of the agent that works in it, because both are one invocation. If
// an earlier run made the call, the agent only gets the call's id. mergeTask returns false if op is not the task's agent, if
// the call has other open children, or if the call's id is fixed.
func (r *openRun) mergeTask(op *Operation) bool {
	call, id := op.parent, op.node.key.run
	switch {
	case op == r.Root || op.Kind != InvokeAgent || op.CallID != "":
		return false
	case call == nil || call.Kind != ExecuteTool: // an earlier run made the call
	case call.CallID != id || call.Name != op.Name || call.openChildren != 1 || call.ID != SpanID{}:
		return false
	default:
		r.releaseContent(call)
		r.reparent(op, call.parent)
		for _, ended := range r.ended {
			if ended.parent == call {
				ended.parent = op
			}
		}
		r.drop(call)
	}
	op.CallID = id
	r.indexCall(op)
	return true
}

package tracker

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// enclosingInvocation returns the invocation to which control has returned, or nil. An agent may have an
// invocation within another one, as after transfers from a to b and back to a. If its last invocation is
// below the agent in control, the enclosing invocation speaks.
func (r *openRun) enclosingInvocation(last *Operation, n *event.Node) *Operation {
	if last == nil || n.Kind != event.NodeDescendant || r.current == nil || !last.isBelow(r.current) {
		return nil
	}
	for up := r.current; up != nil; up = up.parent {
		if up.node != nil && up.open && up.Kind == InvokeAgent && up.Name == n.Name && up.node.lane == n.Lane {
			return up
		}
	}
	return nil
}

// isNewInvocation reports whether a node speaks in a new invocation. If the protocol numbers invocations,
// only a retry after an error must be recognized, because it keeps its number. Otherwise a model that
// answers again after its final answer, or after another agent has spoken, starts a new invocation.
func (r *openRun) isNewInvocation(op *Operation, n *event.Node, b *event.Batch) bool {
	responds := hasEvent(b, event.KindModelStarted) || hasEvent(b, event.KindModelEnded)
	if op.node.taskReturned {
		return op.node.usedModel && responds
	}
	if n.Run != "" {
		return op.node.key.above != nil && op.failedFrame > 0
	}
	if op.node.transferred && responds && (b.Place.Root != event.RootUnknown || r.answeredFor(op)) {
		return true // unlike in ADK for JavaScript, control does not come back by itself
	}
	if !op.node.usedModel && !op.node.gaveFinalAnswer || !responds {
		return false
	}
	above := op.runner()
	return op.node.gaveFinalAnswer || above != nil && above.node.lane == op.node.lane && above.node.lastChild != op
}

// answeredFor reports whether an agent below op is in control and has given its final answer, which is
// also that of op.
func (r *openRun) answeredFor(op *Operation) bool {
	at := r.current
	return at != nil && at.node != nil && at.node.gaveFinalAnswer && at.isBelow(op)
}

// failureIn returns the failure that a frame's error code states.
func failureIn(b *event.Batch) event.Failure {
	i := slices.IndexFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindError && e.Inline })
	if i < 0 {
		return event.NoFailure
	}
	return b.Events[i].Error
}

// isRetryStart reports whether cause is the frame before a retry. The pause before a retry has an unknown
// length, so the retry did not start at cause.
func (op *Operation) isRetryStart(cause Timestamp) bool {
	return op.node != nil && op.node.isRetry && op.node.cause == cause
}

// turnIntoNode turns a task's call into the invocation of the agent that it names. The protocol identifies
// the invocation by the call's id, so both are one operation.
func (r *openRun) turnIntoNode(call *Operation, key nodeKey) *Operation {
	r.releaseContent(call)
	call.Kind, call.Agent, call.Branch = InvokeAgent, call.Name, key.lane
	call.Started = latest(call.Started, call.runner().node.lastTaskAnswer) // ADK runs the tasks of one answer one after the other
	call.node = &node{key: key, lane: key.lane, cause: call.Started}
	r.reparent(call, call.parent)
	call.ordinal = r.counts[InvokeAgent.order()]
	r.counts[InvokeAgent.order()]++
	r.indexInvocation(call)
	put(&r.nodes, key, call)
	put(&r.lastInLane, laneKey{call.runner(), key.lane}, call)
	return call
}

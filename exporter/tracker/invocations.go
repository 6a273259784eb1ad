package tracker

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// backTo returns the invocation of a speaker that control came back to, or nil: the last one, if what it is part of had its turn again
// since, is over, and one that this is part of goes on.
func (r *openRun) backTo(last *Operation, n *event.Node) *Operation {
	if last == nil || n.Kind != event.NodeLoose || r.speaking == nil || !last.isBelow(r.speaking) {
		return nil
	}
	for up := r.speaking; up != nil; up = up.parent {
		if up.node != nil && up.open && up.Kind == InvokeAgent && up.Name == n.Name && up.node.lane == n.Lane {
			return up
		}
	}
	return nil
}

// isNext reports whether a node speaks in another invocation than before. Where the protocol counts invocations, it counts what it
// tries again after an error only once. Elsewhere a model answers again after it gave a final answer, or after another agent had its
// turn.
func (r *openRun) isNext(op *Operation, n *event.Node, b *event.Batch) bool {
	responds := states(b, event.KindModelStarted) || states(b, event.KindModelEnded)
	if op.node.returned {
		return op.node.asked && responds
	}
	if n.Run != "" {
		return op.node.key.above != nil && op.failed > 0
	}
	if op.node.left && responds && (b.Place.Root != event.RootUnknown || r.answeredFor(op)) {
		return true // the agent does not get control back by itself, as in JavaScript
	}
	if !op.node.asked && !op.node.answered || !responds {
		return false
	}
	above := op.runner()
	return op.node.answered || above != nil && above.node.lane == op.node.lane && above.node.last != op
}

// answeredFor reports whether the agent that op handed control to has just given its final answer, which ends both.
func (r *openRun) answeredFor(op *Operation) bool {
	at := r.speaking
	return at != nil && at.node != nil && at.node.answered && at.isBelow(op)
}

// failureIn returns the failure that a frame's error code states.
func failureIn(b *event.Batch) event.Failure {
	i := slices.IndexFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindError && e.FromCode })
	if i < 0 {
		return event.NoFailure
	}
	return b.Events[i].Error
}

// pausedUntil reports whether what a moment caused began only after the pause before an operation was tried again.
func (op *Operation) pausedUntil(cause Moment) bool {
	return op.node != nil && op.node.retried && op.node.cause == cause
}

// countInvocation tells an invocation from the run's others of one name and lane.
func (r *openRun) countInvocation(op *Operation) {
	r.number(op)
	put(&r.agents, speaker{op.Name, op.Branch}, op)
}

// becomeNode makes a call the invocation of the agent that it names: the protocol calls the invocation by the call's id.
func (r *openRun) becomeNode(call *Operation, key nodeKey) *Operation {
	r.release(call)
	call.Kind, call.Agent, call.Branch = InvokeAgent, call.Name, key.lane
	call.Started = latest(call.Started, call.runner().node.task) // ADK runs the tasks of one answer one after the other
	call.node = &node{key: key, lane: key.lane, cause: call.Started}
	r.reparent(call, call.parent)
	call.ordinal = r.count[InvokeAgent.order()]
	r.count[InvokeAgent.order()]++
	r.countInvocation(call)
	put(&r.nodes, key, call)
	put(&r.lanes, laneKey{call.runner(), key.lane}, call)
	return call
}

package tracker

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
)

// applyError applies an error. An error code in an ordinary frame belongs to the frame's agent. An error
// frame belongs to the agent that made the failed call, else to the agent in control, if there is one.
func (r *openRun) applyError(e *event.Event, b *event.Batch, caller *Operation) {
	r.dropMissingTarget(e.Name)
	r.lastError, r.lastReason, r.lastFailure = r.now.Frame, ReasonErrorFrame, failureOf(e)
	if e.Inline {
		r.lastReason = ReasonErrorCode
		op := caller.failingOperation(e.Error)
		op.failedFrame, op.failureCode = r.now.Frame, e.Code
		if lane := caller.laneOr(b.Branch); r.reserveEntry(len(r.unrecovered), &r.mostUnrecovered) {
			put(&r.unrecovered, lane, modelFailure{r.now.Frame, e.Code})
		}
		return
	}
	if e.Elsewhere && !e.Beside {
		return
	}
	isCanceled := e.Error == event.FailureCanceled
	caller = r.callerFailedNow()
	switch op := cmp.Or(caller, r.runnerOfSeveral(r.agentInControl()), r.agentInControl(), r.runningParallel()); {
	case !isCanceled && (e.Beside || op == nil && !r.hasOwnWorkLeft(r.Root)):
		r.separateFirst()
	case op != nil:
		if op.failedFrame, op.failureCode = r.now.Frame, e.Code; op.debt == owesReply {
			op.extendTo(r.now) // its model has failed
		}
	}
	if isCanceled {
		r.lastReason = ReasonAgentCanceled
		return
	}
	if e.Elsewhere || caller != nil {
		return
	}
	if op := r.onlyOpenResponse(); op != nil && r.runnerOfSeveral(op.parent) == nil {
		delete(r.partialResponses, op.responseKey())
		op.parent.failedFrame, op.parent.failureCode = r.now.Frame, e.Code
		r.end(op, OperationError, failure{event.ModelError, e.Code})
	}
}

// callerFailedNow returns the agent of the last call that failed in the current frame, or nil.
func (r *openRun) callerFailedNow() *Operation {
	for _, op := range slices.Backward(r.endedNow()) {
		if op.Kind == ExecuteTool && op.Failure == event.ToolError {
			return op.parent
		}
	}
	return nil
}

// failingOperation returns the operation that failed: op, or the container above it. When a container
// fails, ADK names the agent that spoke last. That agent did not fail if it has given its final answer.
// ADK numbers the invocations of the container (nodeKey.run), but not those of its agents.
func (op *Operation) failingOperation(e event.Failure) *Operation {
	above := op.runner()
	if (e == event.AgentError || e == event.ModelError) && op.node != nil && op.node.gaveFinalAnswer && op.node.key.run == "" && above != nil && above.node.key.run != "" {
		return above
	}
	return op
}

// clearFailures removes the failures that a final frame cancels: those in its lane and in lanes below
// it, but not in parallel lanes.
func (r *openRun) clearFailures(lane string) {
	maps.DeleteFunc(r.unrecovered, func(failing string, _ modelFailure) bool {
		return lane == "" || failing == lane || strings.HasPrefix(failing, lane+".")
	})
}

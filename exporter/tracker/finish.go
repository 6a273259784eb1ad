package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// endReason returns the reason for runs that end with their stream.
func endReason(e event.End) StatusReason {
	switch e {
	case event.EndClientLeft:
		return ReasonClientLeft
	case event.EndShutdown:
		return ReasonShutdown
	case event.EndBroken:
		return ReasonBrokenOff
	case event.EndUnobserved:
		return ReasonEvicted
	}
	return ReasonStreamEnded
}

// finish ends a run and everything in it, children before parents.
func (t *Tracker) finish(r *openRun, why StatusReason, at time.Time) {
	defer r.release()
	leftAtEnd := why == ReasonClientLeft && r.endStatedAt.Frame == r.now.Frame // a client may leave once it has the end
	if r.endStated && (!r.isRequested || leftAtEnd) {                          // later frames do not change a stated end
		why, at, r.now = ReasonStreamEnded, r.endStatedAt.At, r.endStatedAt
	}
	if r.Live {
		r.now.At = at
	}
	r.announce()
	r.settleUnnamedRoot()
	r.Agent = cmp.Or(r.Agent, r.Root.Name) // if no agent spoke
	r.endAllAwaitingUsage()
	if r.Status, r.Reason = r.runStatus(why); r.Status == Completed && r.firstHasFailed() && r.hasRoom(InvokeWorkflow) {
		r.addRootAboveFirst()
	}
	r.countUnratedLast()
	t.open.Remove(r)
	r.endWithoutOutcomes(r.Root)
	t.countLosses(r, why)
	r.fixTrace()
	t.removeRun(r)
	t.rememberEnd(r)
	r.mergeOpenTasks()
	r.markWaitingCalls()
	r.endCalls()
	r.dropUninvoked()
	r.compact()
	r.endInner(r.Root)
	r.flushEnded()
	r.endRoot(why)
	r.notifyEnded(r.Root)
	r.forgetQuestions()
	if failed := r.Status == Failed || r.Status == TimedOut; failed && r.stream.RunFailed != nil {
		r.stream.RunFailed(r.Root.ErrorType())
	}
	for _, in := range r.Inputs {
		in.Operation = r.idOf(in.owner)
	}
	t.notify(func(o Observer) { o.RunEnded(&r.Run) })
}

func (t *Tracker) countLosses(r *openRun, why StatusReason) {
	for _, op := range r.Operations {
		if !op.open {
			continue
		}
		kind := string(op.Kind)
		if op == r.Root {
			kind = LostRun
		}
		switch why {
		case ReasonIdle:
			t.losses.CountExpired(kind)
		case ReasonEvicted:
			t.losses.CountEvicted(kind)
		}
	}
}

// runStatus derives a run's status from its last frames and from what is left open.
func (r *openRun) runStatus(why StatusReason) (Status, StatusReason) {
	failed := r.lastError > 0 && (r.lastFinal <= r.lastError || len(r.unrecovered) > 0)
	waiting := slices.ContainsFunc(r.Inputs, func(in *InputRequest) bool { return in.Status == InputOpen && !in.abandoned })
	switch {
	case why == ReasonClientLeft:
		return Canceled, ReasonClientLeft
	case failed && r.lastReason == ReasonAgentCanceled:
		return Canceled, ReasonAgentCanceled
	case failed:
		return Failed, r.lastReason
	case why == ReasonIdle:
		return TimedOut, ReasonIdle
	case waiting:
		return Interrupted, ReasonAwaitingInput
	case why != ReasonStreamEnded && (why != ReasonBrokenOff || !r.endStated):
		return Incomplete, why
	case r.lastFinal == 0 || r.pending() && (!r.endStated || r.endCuts):
		return Incomplete, ReasonStreamEnded
	}
	return Completed, NoReason
}

// pending reports whether a call, a response, an expected reply or stated work is still open.
func (r *openRun) pending() bool {
	open := slices.ContainsFunc(r.Operations, func(op *Operation) bool {
		return op.open && !op.Kind.Invokes() && !r.isSuperseded(op) && !op.isReplaced() && !r.isInAnsweredCall(op)
	})
	for _, agent := range r.pendingReplies {
		open = open || !r.isInAnsweredCall(agent) && !agent.isRetried(agent.Ended.Frame)
	}
	return open || r.workLeft
}

// isSuperseded reports whether later frames show that an open call or response no longer needs an end:
//   - A call that may end its agent's turn (endsTurn) needs no response once any agent has sent a final frame after it.
//   - A response was cut off, and needs none, if its agent or one above gave a final answer or ended after the
//     response's last piece.
//   - A later invocation of the agent gave a final answer (noteRetry).
func (r *openRun) isSuperseded(op *Operation) bool {
	if op.isCutOff() {
		return true
	}
	if op.endsTurn {
		return r.lastFinal > int(op.firstFrame)
	}
	for up := op.parent; up != nil && op.lastPiece.Frame > 0; up = up.parent {
		if up.openState != nil && max(up.finalFrame, up.endFrame) > op.lastPiece.Frame {
			return true
		}
	}
	return false
}

// endCalls ends the calls and responses that no frame ended.
func (r *openRun) endCalls() {
	for _, op := range r.takePartial() {
		r.endUnfinished(op)
	}
	for _, op := range r.Operations {
		if !op.Kind.Invokes() && op.open && op.openChildren == 0 {
			r.endUnfinished(op)
		}
	}
	for _, in := range r.Inputs {
		if in.Status == InputOpen && (r.Status == TimedOut || in.isExpired(r.now.At)) {
			in.Status = InputExpired
		}
	}
}

// endUnfinished ends a call or a response that no frame ended.
func (r *openRun) endUnfinished(op *Operation) {
	status, why := r.unfinishedStatus(op)
	superseded, isCutOff := r.isSuperseded(op), op.isCutOff()
	r.end(op, status, why)
	op.Ended, op.endUnknown = r.openUntil(op), true
	if superseded && op.Kind == Chat {
		op.Ended = op.lastPiece
	}
	switch {
	case isCutOff:
		op.parent.hasUnfinished, op.parent.endUnknown = true, true
	case superseded: // unless only an agent above has answered since
		op.parent.hasUnfinished = op.parent.hasUnfinished || op.Kind == Chat && max(op.parent.finalFrame, op.parent.endFrame) <= op.lastPiece.Frame
	case status == OperationInterrupted:
		op.Ended.At = time.Time{} // no answer has ended it
		// Its agent waits too, unless it has gone on.
		op.parent.awaitsAnswer = op.parent.awaitsAnswer || op.parent.finalFrame <= int(op.firstFrame)
	default: // unless its agent has answered since
		op.parent.hasUnfinished = op.parent.hasUnfinished || op.parent.finalFrame <= int(op.firstFrame)
	}
}

// openUntil returns the latest time at which an operation that no frame ended was open. It is the last frame of an agent or step
// around it that has ended since, else the current frame.
func (r *openRun) openUntil(op *Operation) Timestamp {
	for up := op.parent; up != nil && up != r.Root; up = up.parent {
		// A failure after up ended comes from an error frame that names no agent, so it says nothing about up.
		failed := up.hasFailed() && up.failedFrame <= up.Ended.Frame
		if up.endStated || failed || up.finalFrame > int(op.firstFrame) {
			return up.Ended
		}
	}
	return r.now
}

// unfinishedStatus returns the status of an operation that nothing has ended. It depends on the status of the run.
func (r *openRun) unfinishedStatus(op *Operation) (OperationStatus, failure) {
	switch {
	case op.awaitsAnswer && r.Status == Interrupted:
		return OperationInterrupted, failure{}
	case r.Status == TimedOut:
		return OperationUnfinished, failure{class: event.FailureTimeout}
	case r.Status == Canceled:
		return OperationUnfinished, failure{class: event.FailureCanceled}
	}
	return OperationUnfinished, failure{}
}

// endInner ends the open operations below an operation, at the end of the run or of a call.
func (r *openRun) endInner(within *Operation) {
	within.eachBelow(func(op *Operation) {
		if !op.Kind.Invokes() {
			key := op.responseKey()
			if r.awaitingUsage[key] == op { // complete but for its usage
				r.endAwaitingUsage(key)
				return
			}
			if r.partialResponses[key] == op {
				delete(r.partialResponses, key)
			}
			r.endUnfinished(op)
			return
		}
		inOpenCall := r.Status == Running && op.parent != within && op.parent.Kind == ExecuteTool
		op.awaitsAnswer = op.awaitsAnswer || op.openInputs > 0
		op.hasUnfinished = op.hasUnfinished || op.repliesDue > 0 || inOpenCall && op.hasOnlyBegun()
		r.clearReplies(op)
		status, why := r.agentStatus(op)
		op.endUnknown = op.endUnknown || status == OperationUnfinished && (op.debt > mayOweReply || op.debt > noDebt && op.isRepeated()) || op.hasOnlyBegun() || r.lacksEnd(op) && op.finalFrame == 0
		r.end(op, status, why)
		r.propagateStatus(op)
	})
}

// hasOnlyBegun reports whether the stream shows of an agent only that it begins, so that it may have worked until the end of the run.
func (op *Operation) hasOnlyBegun() bool {
	return op.Kind == InvokeAgent && op.spoke && !op.worked && !op.endStated
}

// propagateStatus applies the status of an ended child to its container. A container has no frames of
// its own from which its status could be derived. A call, or the caller of a task, waits if the agent
// that it runs waits.
func (r *openRun) propagateStatus(op *Operation) {
	above := op.parent
	if op.Status == OperationInterrupted && (above.Kind == ExecuteTool || op.CallID != "") {
		above.awaitsAnswer = true
	}
	if above.node == nil || !above.node.isContainer || above == r.Root {
		return
	}
	switch op.Status {
	case OperationError:
		if r.Status == Failed {
			above.failedFrame, above.failureCode = max(r.lastError, 1), op.ErrorCode
		}
		// If the run goes on, a call around the container has ended. The container failed if nothing in it ran after the failure.
		if r.Status == Running && op.failedFrame >= above.node.lastBelow.Frame {
			above.failedFrame, above.failureCode = op.failedFrame, op.ErrorCode
		}
	case OperationInterrupted:
		above.awaitsAnswer = true
	case OperationUnfinished:
		above.hasUnfinished = true
	}
}

// hasFailed reports whether an operation has failed, and no final frame of its own followed.
func (op *Operation) hasFailed() bool { return op.failedFrame > 0 && op.finalFrame <= op.failedFrame }

// agentStatus derives an agent's status from its own frames.
func (r *openRun) agentStatus(op *Operation) (OperationStatus, failure) {
	failed := op.hasFailed()
	switch {
	case failed && r.Reason != ReasonAgentCanceled:
		return OperationError, failure{event.AgentError, op.failureCode}
	case failed || op.awaitsAnswer || op.hasUnfinished || !op.spoke || r.lacksEnd(op) || r.isUnanswered(op) || r.isIndebted(op):
		return r.unfinishedStatus(op)
	}
	return OperationOK, failure{}
}

// lacksEnd reports whether the protocol stated the beginning of an agent or step but not its end, in a run that is not complete.
func (r *openRun) lacksEnd(op *Operation) bool {
	return op.startStated && !op.endStated && r.Status != Completed
}

// isUnanswered reports whether an agent works in a call without a response, or in one that may have failed, and nothing else shows
// that it is done.
func (r *openRun) isUnanswered(op *Operation) bool {
	inOpenCall := r.Status != Running && op.parent.Kind == ExecuteTool
	return (inOpenCall || op.callMayHaveFailed) && !op.endStated && op.finalFrame == 0
}

// endRoot sets the status and times of the root operation. It ends with the last frame of the run. If the
// run answers a request, it ends with the stream instead, unless the tracker dropped the run earlier.
func (r *openRun) endRoot(why StatusReason) {
	root := r.Root
	switch r.Status {
	case Completed:
		root.Status = OperationOK
	case Failed:
		root.Status, root.Failure, root.ErrorCode = OperationError, event.AgentError, r.errorCode()
		if r.lastFailure.class == event.FailureTimeout {
			root.Failure = event.FailureTimeout
		}
	case Interrupted:
		root.Status = OperationInterrupted
		r.rememberWaiting()
	case TimedOut:
		root.Status, root.Failure = OperationError, event.FailureTimeout
	case Canceled:
		root.Status, root.Failure = OperationUnfinished, event.FailureCanceled
	default:
		root.Status = OperationUnfinished
	}
	droppedEarly := why == ReasonIdle || why == ReasonEvicted
	if r.isRequested && (!droppedEarly || root.Ended.At.IsZero()) {
		root.extendTo(r.now)
	}
	r.finalize(root)
	root.keepReportedDuration(r.ReportedDuration)
	slices.SortStableFunc(r.Operations[1:], reportOrder)
}

// failure is the class of a failure and its code in the stream.
type failure struct {
	class event.Failure
	code  string
}

func failureOf(e *event.Event) failure { return failure{e.Error, e.Code} }

// errorCode returns the code of the error that failed the run. This is the code of the last error. If a
// final frame came after it, it is the code of the last model failure that has no later final frame in
// its lane.
func (r *openRun) errorCode() string {
	if r.lastFinal <= r.lastError {
		return r.lastFailure.code
	}
	var last modelFailure
	for _, f := range r.unrecovered {
		if f.frame > last.frame {
			last = f
		}
	}
	return last.code
}

// reportOrder orders operations by the first frame that shows them. Within a frame, an agent comes
// before its response, and the response before its calls.
func reportOrder(a, b *Operation) int {
	return cmp.Or(cmp.Compare(a.firstFrame, b.firstFrame), a.Kind.rank()-b.Kind.rank())
}

// onlyOpenResponse returns the open response that an error frame ends. It returns nil if there are several, or if a
// call that began earlier is open. It is then unknown which of them the error ended.
func (r *openRun) onlyOpenResponse() (only *Operation) {
	for _, op := range r.partialResponses {
		switch {
		case r.isSuperseded(op):
		case only != nil:
			return nil
		default:
			only = op
		}
	}
	if only == nil || slices.ContainsFunc(r.Operations, func(op *Operation) bool {
		return op.open && op.Kind == ExecuteTool && op.openChildren == 0 && !op.awaitsAnswer && op.firstFrame < only.firstFrame
	}) {
		return nil
	}
	return only
}

package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

func endReason(e event.End) StatusReason {
	switch e {
	case event.EndClientLeft:
		return ClientLeft
	case event.EndShutdown:
		return Shutdown
	case event.EndBroken:
		return BrokenOff
	case event.EndUnobserved:
		return Evicted
	}
	return StreamEnded
}

// finish ends a run and everything in it, children before parents.
func (t *Tracker) finish(r *openRun, why StatusReason, at time.Time) {
	if r.over && !r.answers { // whatever has come since
		why, at, r.now = StreamEnded, r.overAt.At, r.overAt
	}
	if r.Live {
		r.now.At = at
	}
	r.announce()
	r.Agent = cmp.Or(r.Agent, r.Root.Name) // of a run in which no agent spoke
	r.settleAll()
	r.Status, r.Reason = r.verdict(why)
	r.rateLast()
	t.open.Remove(r)
	r.endAwaiting(func(*Operation) bool { return true })
	t.count(r, why)
	t.leave(r)
	r.endCalls()
	r.dissolve()
	r.endAgents()
	r.tellEnded()
	r.endRoot(why)
	r.tell(r.Root)
	t.each(func(o Observer) { o.RunEnded(&r.Run) })
}

func (t *Tracker) count(r *openRun, why StatusReason) {
	for _, op := range r.Operations {
		if !op.open {
			continue
		}
		kind := string(op.Kind)
		if op == r.Root {
			kind = LostRun
		}
		switch why {
		case Idle:
			t.losses.Expired(kind)
		case Evicted:
			t.losses.Evicted(kind)
		}
	}
}

// verdict judges a run by its last frames and by what is left open.
func (r *openRun) verdict(why StatusReason) (Status, StatusReason) {
	failed := r.lastError > 0 && (r.lastFinal <= r.lastError || len(r.failing) > 0)
	waiting := slices.ContainsFunc(r.Inputs, func(in *Input) bool { return in.Status == InputOpen && !in.passed })
	switch {
	case why == ClientLeft:
		return Canceled, ClientLeft
	case failed && r.lastReason == AgentCanceled:
		return Canceled, AgentCanceled
	case failed:
		return Failed, r.lastReason
	case why == Idle:
		return TimedOut, Idle
	case waiting:
		return Interrupted, AwaitingInput
	case why != StreamEnded && (why != BrokenOff || !r.over):
		return Incomplete, why
	case r.lastFinal == 0 || r.pending() && !r.over:
		return Incomplete, StreamEnded
	}
	return Completed, NoReason
}

// pending says whether something was begun that no frame ended.
func (r *openRun) pending() bool {
	open := slices.ContainsFunc(r.Operations, func(op *Operation) bool { return op.open && !op.Kind.Invokes() })
	return open || r.owed.count() > 0
}

// endCalls ends the calls and responses that no frame ended.
func (r *openRun) endCalls() {
	for _, op := range r.takePartial() {
		r.endAs(op, r.cutShort)
	}
	for _, op := range r.Operations {
		if !op.Kind.Invokes() && op.open && op.openBelow == 0 {
			r.endAs(op, r.cutShort)
		}
	}
	for _, in := range r.Inputs {
		if in.Status == InputOpen && (r.Status == TimedOut || in.isLate(r.now.At)) {
			in.Status = InputExpired
		}
	}
}

func (r *openRun) endAs(op *Operation, judge func(*Operation) (OperationStatus, failure)) {
	status, why := judge(op)
	r.end(op, status, why)
	if status == OperationInterrupted && !op.Kind.Invokes() {
		op.Ended.At = time.Time{} // an answer that has not come ends nothing
	}
}

func (r *openRun) cutShort(op *Operation) (OperationStatus, failure) {
	switch {
	case op.waits && r.Status == Interrupted:
		return OperationInterrupted, failure{}
	case r.Status == TimedOut:
		return Unfinished, failure{class: event.FailureTimeout}
	case r.Status == Canceled:
		return Unfinished, failure{class: event.FailureCanceled}
	}
	return Unfinished, failure{}
}

// endAgents ends the agents below the root, and the calls in which some worked.
func (r *openRun) endAgents() {
	r.markUndone()
	r.endInner(func(op *Operation) bool { return op != r.Root })
}

// endInner ends the operations that are open and wanted, what an operation is part of after it, and else the last begun first.
func (r *openRun) endInner(wanted func(*Operation) bool) {
	for again := true; again; {
		again = false
		for _, op := range slices.Backward(r.Operations) {
			switch {
			case !op.open || !wanted(op):
			case op.openBelow > 0:
				again = true
			case op.Kind.Invokes():
				r.endAs(op, r.agentVerdict)
				r.burden(op)
			default:
				op.parent.owes = true
				r.endAs(op, r.cutShort)
			}
		}
	}
}

// burden has what only runs others end as they did.
func (r *openRun) burden(op *Operation) {
	above := op.parent
	if above.node == nil || !above.node.silent || above == r.Root {
		return
	}
	switch op.Status {
	case Error:
		if r.Status == Failed {
			above.failed, above.code = max(r.lastError, 1), op.Code
		}
		if r.Status == Running && op.failed >= above.node.below.Frame { // within a call, and nothing was tried again
			above.failed, above.code = op.failed, op.Code
		}
	case OperationInterrupted:
		above.waits = true
	case Unfinished:
		above.owes = true
	}
}

// markUndone notes at each agent what it had left to do.
func (r *openRun) markUndone() {
	r.owed.mark()
	for _, in := range r.Inputs {
		if in.Status != InputAnswered && !in.passed {
			in.owner.waits = true
		}
	}
	for _, op := range r.Operations {
		if op.Status == Unfinished { // a call or a response: no agent has ended
			op.parent.owes = true
		}
	}
}

// agentVerdict judges an agent by its own frames.
func (r *openRun) agentVerdict(op *Operation) (OperationStatus, failure) {
	failed := op.failed > 0 && op.final <= op.failed
	switch {
	case failed && r.Reason != AgentCanceled:
		return Error, failure{event.AgentError, op.code}
	case failed || op.waits || op.owes || !op.spoke || op.begun && !op.over && r.Status != Completed:
		return r.cutShort(op)
	}
	return OK, failure{}
}

// endRoot gives the run's own operation the run's verdict and its times: of a request, to the end of its stream, or to its
// last frame where we let go of it before; of anything else, from its first frame to its last.
func (r *openRun) endRoot(why StatusReason) {
	root := r.Root
	switch r.Status {
	case Completed:
		root.Status = OK
	case Failed:
		root.Status, root.Error, root.Code = Error, event.AgentError, r.code()
		if r.lastFailure.class == event.FailureTimeout {
			root.Error = event.FailureTimeout
		}
	case Interrupted:
		root.Status = OperationInterrupted
		r.leftWaiting()
	case TimedOut:
		root.Status, root.Error = Error, event.FailureTimeout
	case Canceled:
		root.Status, root.Error = Unfinished, event.FailureCanceled
	default:
		root.Status = Unfinished
	}
	letGo := why == Idle || why == Evicted
	if r.answers && (!letGo || root.Ended.At.IsZero()) {
		root.touch(r.now)
	}
	r.seal(root)
	slices.SortStableFunc(r.Operations[1:], reportOrder)
}

// code returns the code of the error that failed the run: the last one, else the last that a final frame in another lane left as it was.
func (r *openRun) code() string {
	if r.lastFinal <= r.lastError {
		return r.lastFailure.code
	}
	var last lapse
	for _, l := range r.failing {
		if l.frame > last.frame {
			last = l
		}
	}
	return last.code
}

// reportOrder is by the first frame that shows an operation; a frame shows an agent before its response before its calls.
func reportOrder(a, b *Operation) int {
	return cmp.Or(cmp.Compare(a.shown, b.shown), a.Kind.order()-b.Kind.order())
}

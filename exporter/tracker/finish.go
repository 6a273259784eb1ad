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
	r.endAwaiting(r.Root)
	t.count(r, why)
	t.leave(r)
	r.endCalls()
	r.dissolve()
	r.compact()
	r.endInner(r.Root)
	r.tellEnded()
	r.endRoot(why)
	r.tell(r.Root)
	r.forgetQuestions()
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
	if status == Unfinished && !op.Kind.Invokes() {
		op.parent.owes = true
	}
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

// endInner ends what is open below an operation: agents, and the calls in which some worked.
func (r *openRun) endInner(within *Operation) {
	within.eachBelow(func(op *Operation) {
		if !op.Kind.Invokes() {
			op.parent.owes = true
			if r.partial[op.parent] == op {
				delete(r.partial, op.parent)
			}
			r.endAs(op, r.cutShort)
			return
		}
		op.waits, op.owes = op.waits || op.asks > 0, op.owes || op.owing > 0
		r.endAs(op, r.agentVerdict)
		r.burden(op)
	})
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

// agentVerdict judges an agent by its own frames.
func (r *openRun) agentVerdict(op *Operation) (OperationStatus, failure) {
	failed := op.failed > 0 && op.final <= op.failed
	switch {
	case failed && r.Reason != AgentCanceled:
		return Error, failure{event.AgentError, op.code}
	case failed || op.waits || op.owes || !op.spoke || op.begun && !op.over && r.Status != Completed || r.isUnanswered(op):
		return r.cutShort(op)
	}
	return OK, failure{}
}

// isUnanswered reports whether an agent works in a call that got no response, and nothing else says that it is done.
func (r *openRun) isUnanswered(op *Operation) bool {
	return r.Status != Running && op.parent.Kind == ExecuteTool && !op.over && op.final == 0
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
	root.last(r.Took)
	slices.SortStableFunc(r.Operations[1:], reportOrder)
}

// failure is what went wrong.
type failure struct {
	class event.Failure
	code  string // as the stream gives it
}

func failureOf(e *event.Event) failure { return failure{e.Error, e.Code} }

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

package tracker

import (
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
	case event.EndUnobserved:
		return Evicted
	}
	return StreamEnded
}

// finish ends a run and everything in it, children before parents.
func (t *Tracker) finish(r *openRun, why StatusReason, at time.Time) {
	if r.Status != Running {
		return
	}
	if r.Live {
		r.now.At = at
	}
	r.Status, r.Reason = r.verdict(why)
	t.open.Remove(r)
	t.count(r, why)
	if state := t.streams[r.stream]; state != nil {
		state.ended = true
	}
	r.endCalls()
	r.tellEnded()
	r.endAgents()
	r.tellEnded()
	r.endRoot(why)
	t.each(func(o Observer) {
		o.OperationEnded(&r.Run, r.Root)
		o.RunEnded(&r.Run)
	})
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
	waiting := slices.ContainsFunc(r.Inputs, func(in *Input) bool { return in.Status == InputOpen })
	switch {
	case why == ClientLeft:
		return Canceled, ClientLeft
	case r.lastError > 0 && r.lastFinal <= r.lastError:
		return Failed, r.lastReason
	case waiting:
		return Interrupted, AwaitingInput
	case why == Idle:
		return TimedOut, Idle
	case why != StreamEnded:
		return Incomplete, why
	case r.lastFinal == 0 || r.pending():
		return Incomplete, StreamEnded
	}
	return Completed, NoReason
}

// pending says whether something was begun that no frame ended.
func (r *openRun) pending() bool {
	open := slices.ContainsFunc(r.Operations, func(op *Operation) bool { return op.open && op.Kind != InvokeAgent })
	return open || len(r.owed) > 0
}

// endCalls ends the calls and responses that no frame ended.
func (r *openRun) endCalls() {
	for _, op := range r.takePartial() {
		r.endAs(op, r.cutShort)
	}
	for _, op := range r.Operations {
		if op.Kind != InvokeAgent && op.open {
			r.endAs(op, r.cutShort)
		}
	}
	for _, in := range r.Inputs {
		if in.Status == InputOpen && r.Status == TimedOut {
			in.Status = InputExpired
		}
	}
}

func (r *openRun) endAs(op *Operation, judge func(*Operation) (OperationStatus, event.Failure)) {
	status, failure := judge(op)
	r.end(op, status, failure)
}

func (r *openRun) cutShort(op *Operation) (OperationStatus, event.Failure) {
	switch {
	case op.paused && r.Status == Interrupted:
		return OperationInterrupted, event.NoFailure
	case r.Status == TimedOut:
		return Unfinished, event.FailureTimeout
	case r.Status == Canceled:
		return Unfinished, event.FailureCanceled
	}
	return Unfinished, event.NoFailure
}

// endAgents ends the agents below the root, the last begun first: a parent begins before its children.
func (r *openRun) endAgents() {
	for _, op := range slices.Backward(r.Operations) {
		if op.Kind == InvokeAgent && op != r.Root && op.open {
			r.endAs(op, r.agentVerdict)
			r.tellEnded()
		}
	}
}

// agentVerdict judges an agent by its own frames.
func (r *openRun) agentVerdict(op *Operation) (OperationStatus, event.Failure) {
	waits := slices.ContainsFunc(r.Inputs, func(in *Input) bool { return in.owner == op && in.Status == InputOpen })
	owes := false
	for _, o := range r.owed {
		owes = owes || o == op
	}
	left := slices.ContainsFunc(r.Operations, func(child *Operation) bool {
		return child.parent == op && child.Kind != InvokeAgent && child.Status == Unfinished
	})
	switch {
	case op.failed > 0 && op.final <= op.failed:
		return Error, event.AgentError
	case waits:
		return OperationInterrupted, event.NoFailure
	case owes || left || !op.spoke:
		return r.cutShort(op)
	}
	return OK, event.NoFailure
}

// endRoot gives the run's own operation the run's verdict and its times: of a request, to the end of its stream; of a capture,
// from its first frame to its last.
func (r *openRun) endRoot(why StatusReason) {
	root := r.Root
	root.open = false
	switch r.Status {
	case Completed:
		root.Status = OK
	case Failed:
		root.Status, root.Error = Error, event.AgentError
	case Interrupted:
		root.Status = OperationInterrupted
	case TimedOut:
		root.Status, root.Error = Error, event.FailureTimeout
	case Canceled:
		root.Status, root.Error = Unfinished, event.FailureCanceled
	default:
		root.Status = Unfinished
	}
	if r.stream.Answer && why != Idle && why != Evicted {
		root.touch(r.now)
	}
	r.seal(root)
	slices.SortStableFunc(r.Operations[1:], reportOrder)
}

// reportOrder is by the first frame that shows an operation; a frame shows an agent before its response before its calls.
func reportOrder(a, b *Operation) int {
	if a.shown.Frame != b.shown.Frame {
		return a.shown.Frame - b.shown.Frame
	}
	return kindOrder[a.Kind] - kindOrder[b.Kind]
}

var kindOrder = map[OperationKind]int{InvokeAgent: 0, Chat: 1, ExecuteTool: 2}

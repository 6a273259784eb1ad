package tracker

import (
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// A protocol may state twice that a run or an agent has ended, first briefly and then with its outcome: the answer, how long it took.
// Until the outcome comes, a run on a stream that goes on, and an agent of any run, are over but not yet reported. Their end is the
// first statement. What comes after it adds facts; it moves no time and begins nothing.

// How long a run waits for its outcome. Agents send the two statements in one go. The bound in frames is for captures, which may have
// no times.
const (
	outcomeWait   = time.Second
	outcomeFrames = 64
)

func (r *openRun) awaitsOutcome() bool { return r.awaits && !r.answers }

// Due receives a value when Expire should be called earlier than it has said.
func (t *Tracker) Due() <-chan struct{} { return t.due }

// wait keeps a run that is over until its outcome has come.
func (t *Tracker) wait(r *openRun, state *streamState) {
	if slices.Contains(t.waits, r) {
		return
	}
	r.overSeen = state.frames
	t.waits = append(t.waits, r)
	if r.Live {
		select {
		case t.due <- struct{}{}:
		default:
		}
	}
}

// endWaits ends the runs of a stream whose outcome has not come by the time of a frame of another run.
func (t *Tracker) endWaits(b *event.Batch, state *streamState, of *openRun) {
	for _, r := range slices.Clone(t.waits) {
		at := b.Time
		if r.Live {
			at = b.Received
		}
		late := state.frames-r.overSeen > outcomeFrames || !at.IsZero() && !r.overAt.At.IsZero() && at.Sub(r.overAt.At) >= outcomeWait
		if r != of && r.stream == b.Stream && late {
			t.finish(r, StreamEnded, r.overAt.At)
		}
	}
}

// expireWaits ends the live runs whose outcome is overdue. It returns the earlier of next and the time at which another one is due.
func (t *Tracker) expireWaits(now, next time.Time) time.Time {
	for _, r := range slices.Clone(t.waits) {
		due := r.overAt.At.Add(outcomeWait)
		switch {
		case !r.Live:
		case !due.After(now):
			t.finish(r, StreamEnded, r.overAt.At)
		case due.Before(next):
			next = due
		}
	}
	return next
}

// overAgent returns the operation of a frame's agent if that has ended by the protocol's word, or with the call in which it worked and
// the frame says no more than that it has, unless the frame begins it again. Agents with a place are told apart by that.
func (r *openRun) overAgent(b *event.Batch) *Operation {
	if b.Place != nil || states(b, event.KindAgentStarted) {
		return nil
	}
	at := speaker{worker(b), b.Branch}
	op := r.agents[at]
	if op != nil && (op.over || !op.open && states(b, event.KindAgentEnded)) {
		return op
	}
	return nil
}

// enrich takes what a frame says of a run, or of an agent of it, that is over. A fact that would begin something or
// change the outcome is dropped, and the frame counted as late.
func (r *openRun) enrich(b *event.Batch, agent *Operation) {
	op, late := r.Root, false
	if agent != nil {
		op = agent
	}
	for i := range b.Events {
		if !r.add(&b.Events[i], b, op) {
			late = true
		}
	}
	if late {
		r.tracker.losses.Late(r.Source)
	}
	r.rate(b)
}

// add adds a fact to an operation that is over. It reports whether it could.
func (r *openRun) add(e *event.Event, b *event.Batch, op *Operation) bool {
	switch e.Kind {
	case event.KindToolEnded:
		if !r.isOpenCall(e, b) {
			return false
		}
		r.applyEvent(e, b, op)
		r.owed.settle(b.Branch) // nothing more is expected
	case event.KindModelEnded:
		if r.partial[op] == nil {
			return false
		}
		r.applyEvent(e, b, op)
	case event.KindText, event.KindThought, event.KindArtifact, event.KindUsage, event.KindPlan, event.KindState, event.KindIteration,
		event.KindConfidence, event.KindCitation, event.KindReasoning, event.KindInputAnswered, event.KindToolProgress, event.KindOutcome:
		r.applyEvent(e, b, op)
	case event.KindToolStarted, event.KindToolPaused, event.KindModelStarted, event.KindTransfer, event.KindInputRequested,
		event.KindAgentStarted, event.KindRunStarted, event.KindError:
		return false
	}
	return true // the others say again that it has ended, and how
}

// isOpenCall reports whether a response is that of a call that is open.
func (r *openRun) isOpenCall(e *event.Event, b *event.Batch) bool {
	if e.CallID == "" {
		return r.unnamed.of(e.Name) != nil
	}
	call := r.call(b.Branch, e.CallID)
	return call != nil && call.open
}

// addOutcome takes what a protocol says of an end that it has stated before.
func (r *openRun) addOutcome(e *event.Event, op *Operation) {
	op.keepIterations(e)
	if op == r.Root {
		if r.awaits = false; !r.Took.Known {
			r.Took = e.Took
		}
		return
	}
	if op.open {
		op.took = e.Took
		r.endAwaited(op)
	}
}

// endAwaiting ends the agents below an operation whose outcome has not come.
func (r *openRun) endAwaiting(within *Operation) {
	if r.awaiting > 0 {
		within.eachBelow(func(op *Operation) {
			if op.awaits {
				r.endAwaited(op)
			}
		})
	}
}

// endAwaited ends an agent that waits for no outcome any longer.
func (r *openRun) endAwaited(op *Operation) {
	if op.awaits {
		op.awaits = false
		r.awaiting--
	}
	r.endOver(op)
}

// saysSomething reports whether a frame states anything that a signal needs.
func saysSomething(b *event.Batch) bool {
	return slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind != event.KindOther })
}

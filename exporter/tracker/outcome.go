package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// A protocol may state the end of a run or an agent twice: first alone, then with its outcome, such as
// the answer and the duration. The first statement sets the time of the end. Until the outcome comes,
// the run or agent is not reported. Frames in between only add facts.

// How long a run waits for its outcome. Agents send both statements together. The limit in frames is
// for captures, which may have no times.
const (
	outcomeWait   = time.Second
	outcomeFrames = 64
)

func (r *openRun) awaitsOutcome() bool { return r.outcomePending && !r.isRequested }

// Due returns a channel that receives a value when Expire should be called before the time that its last call
// returned.
func (t *Tracker) Due() <-chan struct{} { return t.due }

// awaitOutcome keeps a run whose end was stated open until its outcome comes.
func (t *Tracker) awaitOutcome(r *openRun, state *streamState) {
	if slices.Contains(t.outcomesPending, r) {
		return
	}
	r.framesAtEnd = state.frames
	t.outcomesPending = append(t.outcomesPending, r)
	if r.Live {
		select {
		case t.due <- struct{}{}:
		default:
		}
	}
}

// endOverdue ends runs of a frame's stream that have waited too long for their outcome, or can no longer get one.
// It does not end own, the run of the frame.
func (t *Tracker) endOverdue(b *event.Batch, state *streamState, own *openRun) {
	for _, r := range slices.Clone(t.outcomesPending) {
		at := b.Time
		if r.Live {
			at = b.Received
		}
		late := state.frames-r.framesAtEnd > outcomeFrames || !at.IsZero() && !r.endStatedAt.At.IsZero() && at.Sub(r.endStatedAt.At) >= outcomeWait
		follows := r.Session == b.Session && b.Has(event.KindRunStarted) // an outcome comes before the session's next run
		if r != own && r.stream == b.Stream && (late || follows) {
			t.finish(r, ReasonStreamEnded, r.endStatedAt.At)
		}
	}
}

// expireOverdue ends the live runs whose outcome is overdue. It returns the earlier of next and the
// time at which another one is due.
func (t *Tracker) expireOverdue(now, next time.Time) time.Time {
	for _, r := range slices.Clone(t.outcomesPending) {
		due := cmp.Or(r.endStatedAt.At, r.lastActivity).Add(outcomeWait)
		switch {
		case !r.Live:
		case !due.After(now):
			t.finish(r, ReasonStreamEnded, r.endStatedAt.At)
		case due.Before(next):
			next = due
		}
	}
	return next
}

// EndAwaiting ends the runs of captures that wait for their outcome.
func (t *Tracker) EndAwaiting() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range slices.Clone(t.outcomesPending) {
		if !r.Live {
			t.finish(r, ReasonStreamEnded, r.endStatedAt.At)
		}
	}
}

// endedAgent returns the operation of a frame's agent if that has ended and the frame does not
// start it again, else nil. An agent has ended if the protocol stated so, or if its call has ended
// and the frame only states the agent's end. Agents with a place are distinguished by the place
// instead.
func (r *openRun) endedAgent(b *event.Batch) *Operation {
	if b.Place != nil || b.Has(event.KindAgentStarted) {
		return nil
	}
	at := agentKey{operationName(b), b.Branch}
	op := r.agents[at]
	if op != nil && (op.endStated || !op.open && b.Has(event.KindAgentEnded)) {
		return op
	}
	return nil
}

// applyAfterEnd applies a frame to a run or an agent whose end was stated. Events that would begin
// something or change the outcome are dropped, and the frame is counted as late.
func (r *openRun) applyAfterEnd(b *event.Batch, agent *Operation) {
	op, late := r.Root, false
	if agent != nil {
		op = agent
	}
	for i := range b.Events {
		if !r.applyFactAfterEnd(&b.Events[i], b, op) {
			late = true
		}
	}
	if late {
		r.tracker.losses.CountLateFrame(r.Source)
	}
	r.countUnrated(b)
}

// applyFactAfterEnd applies an event to an operation whose end was stated. It returns false if the event
// comes too late.
func (r *openRun) applyFactAfterEnd(e *event.Event, b *event.Batch, op *Operation) bool {
	switch e.Kind {
	case event.KindToolEnded:
		if call := r.callOf(e, b); call == nil || !call.open {
			return false
		}
		r.applyEvent(e, b, op)
		r.clearReply(b.Branch) // nothing more is expected
	case event.KindModelEnded:
		if r.partialResponses[responseKey{op, b.Response}] == nil {
			return false
		}
		r.applyEvent(e, b, op)
	case event.KindText, event.KindThought, event.KindArtifact, event.KindUsage, event.KindPlan, event.KindState, event.KindIteration,
		event.KindConfidence, event.KindCitation, event.KindReasoning, event.KindInputAnswered, event.KindToolProgress, event.KindOutcome:
		r.applyEvent(e, b, op)
	case event.KindError:
		if op != r.Root || !b.EndsInFailure() {
			return false
		}
		r.applyEvent(e, b, op)
	case event.KindTransfer: // the result of its call may come after the agent's end
		if op == r.Root || !op.open {
			return false
		}
		r.applyEvent(e, b, op)
	case event.KindToolStarted, event.KindToolPaused, event.KindModelStarted, event.KindInputRequested, event.KindAgentStarted, event.KindRunStarted:
		return false
	}
	return true // the remaining kinds state the end again or are ignored
}

// addOutcome applies the outcome of an end that was stated before.
func (r *openRun) addOutcome(e *event.Event, op *Operation) {
	op.keepIterations(e)
	if op == r.Root {
		if r.outcomePending = false; !r.ReportedDuration.Known {
			r.ReportedDuration = e.Duration
		}
		return
	}
	if op.open {
		op.statedDuration = e.Duration
		r.endWithoutOutcome(op)
	}
}

// endWithoutOutcomes ends the agents below an operation that still wait for their outcome.
func (r *openRun) endWithoutOutcomes(within *Operation) {
	if r.outcomesPending > 0 {
		within.eachBelow(func(op *Operation) {
			if op.outcomePending {
				r.endWithoutOutcome(op)
			}
		})
	}
}

// endWithoutOutcome stops an agent from waiting for its outcome, and ends it if nothing else is
// open.
func (r *openRun) endWithoutOutcome(op *Operation) {
	if op.outcomePending {
		op.outcomePending = false
		r.outcomesPending--
	}
	r.endIfDone(op)
}

// hasFacts reports whether a frame has an event of a known kind that shows more than the beginning of an agent's round.
func hasFacts(b *event.Batch) bool {
	return slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind != event.KindOther && !beginsRound(&e) })
}

// noteWork records whether a frame shows more of an agent than that it begins.
func (op *Operation) noteWork(b *event.Batch) {
	if !op.worked && slices.ContainsFunc(b.Events, showsWork) {
		for up := op; up != nil && !up.worked; up = up.parent {
			up.worked = true
		}
	}
}

// showsWork reports whether an event shows more of an agent than that it begins, or that the run ends.
func showsWork(e event.Event) bool {
	switch e.Kind {
	case event.KindOther, event.KindAgentStarted, event.KindRunStarted, event.KindRunEnded:
		return false
	}
	return true
}

// beginsRound reports whether an event only shows that the next round of an agent's loop begins.
func beginsRound(e *event.Event) bool {
	return e.Kind == event.KindIteration && !e.CallsModel && e.Loop == event.Loop{}
}

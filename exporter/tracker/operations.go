package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// begin opens an operation below a parent, or returns nil if the run has no room for it.
func (r *openRun) begin(kind OperationKind, name string, parent *Operation) *Operation {
	if !r.hasRoom(kind) {
		return nil
	}
	parent = parent.firstOpen()
	switch {
	case kind.Invokes():
		parent = r.limitDepth(parent, 0)
	case parent.node != nil:
		parent.node.hasOwnWork = true
	}
	op := &Operation{
		Kind: kind, Name: name, firstFrame: uint32(r.now.Frame), open: true,
		openState: r.tracker.openStates.take(),
	}
	op.startAt(r.now)
	r.setOrdinal(op)
	op.attach(parent)
	if kind.Invokes() {
		op.updateHeights()
	}
	r.Operations = append(r.Operations, op)
	return op
}

// setOrdinal gives an operation the next ordinal of its kind.
func (r *openRun) setOrdinal(op *Operation) {
	count := &r.counts[op.Kind.rank()]
	op.ordinal = *count
	*count++
}

// hasRoom reports whether the run has room for one more operation, and counts a loss if not.
func (r *openRun) hasRoom(kind OperationKind) bool {
	fits := func() bool { return len(r.Operations) < r.tracker.settings.MaxOperations && r.reserve(operationSize) }
	if fits() || r.makeRoom() && fits() {
		return true
	}
	if r.endWithoutOutcomes(r.Root); r.makeRoom() && fits() {
		return true
	}
	r.tracker.losses.CountEvicted(string(kind))
	return false
}

// firstOpen returns the operation itself if it is open, else its nearest open ancestor. A frame may
// end the operation that its events belong to. The root is always open.
func (op *Operation) firstOpen() *Operation {
	for !op.open {
		op = op.parent
	}
	return op
}

// makeRoom removes the oldest ended operations from the run, at most half of all its operations, and
// reports whether it removed any. Observers are notified of them all the same. Only the run's report loses them. Such a run is
// too large to become an agent of another run.
func (r *openRun) makeRoom() bool {
	if r.endedKept+r.dropped < max(len(r.Operations)/16, 1) {
		return false // otherwise each new operation would scan all open ones
	}
	r.hasForgotten, r.uses = true, nil
	if r.dropped > 0 {
		r.compact()
		return true
	}
	if !r.isAnnounced {
		r.tracker.losses.CountEvicted(LostOrphan)
		r.announce()
	}
	before := len(r.Operations)
	excess := before / 2
	r.Operations = slices.DeleteFunc(r.Operations, func(op *Operation) bool {
		if op.open || excess == 0 {
			return false
		}
		excess--
		r.forget(op)
		return true
	})
	removed := before - len(r.Operations)
	r.endedKept -= removed
	r.charge(-removed * operationSize)
	for range removed {
		r.tracker.losses.CountEvicted(LostReport)
	}
	return removed > 0
}

// forget removes an ended operation from the indexes of calls, agents and branches.
func (r *openRun) forget(op *Operation) {
	removeEntry(r.calls, op.CallID, op)
	removeEntry(r.shadowedCalls, callKey{op.Branch, op.CallID}, op)
	removeEntry(r.agents, agentKey{op.Name, op.Branch}, op)
	removeEntry(r.agentByBranch, op.Branch, op)
}

// end closes an operation at the current frame.
func (r *openRun) end(op *Operation, status OperationStatus, why failure) {
	op.open, op.Status, op.Failure, op.ErrorCode = false, status, why.class, why.code
	r.endedKept++
	r.unindex(op)
	if !op.Kind.Invokes() {
		op.Ended = r.now
		op.undatedEnd = !r.now.At.IsZero() && r.now.At.Before(cmp.Or(op.firstTime, op.Started.At))
	}
	r.ended = append(r.ended, op)
	if op.parent != nil {
		op.detach()
		r.endIfDone(op.parent)
	}
}

// endedNow returns the operations that the current frame ended.
func (r *openRun) endedNow() []*Operation { return r.ended[r.endedEarlier:] }

// flushEnded notifies the observers of the operations that have ended, if they know the run. Children come before their parents.
func (r *openRun) flushEnded() {
	if !r.isAnnounced {
		return
	}
	for _, op := range r.ended {
		r.finalize(op)
		r.notifyEnded(op)
	}
	r.ended, r.endedEarlier = r.ended[:0], 0
}

// notifyEnded notifies the observers of an ended operation and drops its open state.
func (r *openRun) notifyEnded(op *Operation) {
	r.tracker.notify(func(o Observer) { o.OperationEnded(&r.Run, op) })
	r.releaseContent(op)
	r.tracker.dropOpenState(op)
}

// fixTrace sets the run's trace id, sampling decision and root id. It is called as late as
// possible, so that the run's own id is known.
func (r *openRun) fixTrace() {
	if r.key != "" {
		return
	}
	if r.key = runKey(r); r.needsNonce() {
		r.streamState.nonceKeys++
	}
	r.Trace = r.Parent.Trace
	if !r.Parent.IsValid() {
		r.Trace = traceID(r.key)
	}
	r.Sampled = r.tracker.settings.Sample == nil || r.tracker.settings.Sample(&r.Run)
	r.identify(r.Root)
}

// finalize sets an ended operation's ids and Timing, and extends its parent to contain it.
func (r *openRun) finalize(op *Operation) {
	r.fixTrace()
	r.identify(op)
	if above := op.parent; above != nil {
		if op.Parent = r.identify(above); above.node != nil {
			above.node.hasOwnWork = true
		}
	}
	if op.Ended.At.Before(op.Started.At) {
		op.Ended.At = time.Time{} // the agent's clock was set back, or its frames are out of order: how long it took is unknown
	}
	if op.Ended.At.Before(op.innerEnd) && !op.Ended.At.IsZero() {
		op.Ended.At = op.innerEnd // children that ended earlier have set it, but the function end replaced it
	}
	op.Ended.Frame = max(op.Ended.Frame, op.Started.Frame, op.innerFrame)
	op.clearUndated()
	isReported := op.statedDuration.Known && r.applyReportedDuration(op)
	switch {
	case isReported:
		op.Timing = TimingReported
	case op.startUnknown || op.askerUnknown || op.Started.At.IsZero() || op.Ended.At.IsZero() || op.endUnknown || r.mayLackEnd(op):
		op.Timing = TimingUnknown
		op.keepReportedDuration(op.statedDuration)
	case r.Live:
		op.Timing = TimingObserved
	default:
		op.Timing = TimingReported
	}
	r.passUnknownEnd(op)
	op.estimateTimes()
	if op.parent != nil {
		op.parent.extendAround(op)
	}
}

// passUnknownEnd marks the end of an agent or step as unknown if it would end with a call or response whose end is unknown. The
// end of the run is known.
func (r *openRun) passUnknownEnd(op *Operation) {
	if above := op.parent; op.endUnknown && above != nil && above != r.Root && above.Kind.Invokes() && op.Ended.At.After(above.Ended.At) {
		above.endUnknown = true
	}
}

// keepReportedDuration keeps the duration that the protocol reports for an operation whose own
// times are unknown.
func (op *Operation) keepReportedDuration(took event.Duration) {
	if op.Timing == TimingUnknown && took.Known {
		op.details().ReportedDuration = took
	}
}

// estimateTimes estimates the times of an operation whose start or end is unknown. The estimate spans its
// children and its one known time. If neither exists, it is the start of the nearest ancestor whose start is
// known. The parent grows to contain the estimate.
func (op *Operation) estimateTimes() {
	if op.Timing != TimingUnknown {
		return
	}
	op.noteInnerTimes(op.Started.At, op.Ended.At)
	for above := op.parent; above != nil && op.innerStart.IsZero(); above = above.parent {
		op.noteInnerTimes(above.Started.At, above.Started.At)
	}
	if op.innerStart.IsZero() {
		return
	}
	details := op.details()
	details.EstimatedStart, details.EstimatedEnd = op.innerStart, op.innerEnd
	if above := op.parent; above != nil {
		above.noteInnerTimes(op.innerStart, op.innerEnd)
		above.firstTime = cmp.Or(above.firstTime, above.Started.At)
		if op.innerStart.Before(above.Started.At) {
			above.Started.At = op.innerStart
		}
		if !above.Ended.At.IsZero() {
			above.Ended.At = later(above.Ended.At, op.innerEnd)
		}
	}
}

// applyReportedDuration sets the times from the duration that the protocol reports. It returns false if the
// end is unknown. The operation ends with its last frame, or earlier if its start is known and the duration is
// shorter. Its start is its end minus the duration, but not before the start of the run. Finally, the operation
// is extended to contain its children.
func (r *openRun) applyReportedDuration(op *Operation) bool {
	if op.Ended.At.IsZero() {
		return false
	}
	if !op.Started.At.IsZero() {
		if end := op.Started.At.Add(op.statedDuration.D); end.Before(op.Ended.At) {
			op.Ended.At = end
		}
	}
	op.Started.At = op.Ended.At.Add(-op.statedDuration.D)
	if first := r.Root.Started.At; op.Started.At.Before(first) && !first.After(op.Ended.At) {
		op.Started.At = first
		op.details().ReportedDuration = op.statedDuration
	}
	if !op.innerStart.IsZero() && op.innerStart.Before(op.Started.At) {
		op.Started.At = op.innerStart
	}
	op.Ended.At = later(op.innerEnd, op.Ended.At)
	return true
}

// startAt sets the start of an operation. If it has no time, no later frame or child gives it one.
func (op *Operation) startAt(at Timestamp) { op.Started, op.undatedStart = at, at.At.IsZero() }

// extendTo extends an operation to a frame of its own. If its first or last frame has no time, its
// start or end is unknown. If the last frame is before the first, the agent's clock was set back, and the end is
// unknown too.
func (op *Operation) extendTo(frame Timestamp) {
	if op.Started.Frame == 0 && op.Started.At.IsZero() {
		op.startAt(frame)
	}
	op.firstTime = cmp.Or(op.firstTime, op.Started.At, frame.At)
	op.Ended.Frame, op.undatedEnd = frame.Frame, frame.At.IsZero() || frame.At.Before(op.firstTime)
	if op.Started.At.IsZero() || frame.At.Before(op.Started.At) && !frame.At.IsZero() {
		op.Started.At = frame.At
	}
	op.Ended.At = later(op.Ended.At, frame.At)
}

// clearUndated clears the start if the first frame has no time. It clears the end if the last frame has no time, or a time before the
// first frame's. The values it clears are those of other frames.
func (op *Operation) clearUndated() {
	if !op.undatedStart && !op.undatedEnd {
		return
	}
	op.noteInnerTimes(op.Started.At, op.Ended.At)
	var never time.Time
	if op.undatedStart {
		op.Started.At = never
	}
	if op.undatedEnd {
		op.Ended.At = never
	}
}

// extendAround extends an operation to contain a child.
func (op *Operation) extendAround(child *Operation) {
	op.noteInnerTimes(child.Started.At, child.Ended.At)
	op.firstTime = cmp.Or(op.firstTime, op.Started.At)
	if at := child.Started.At; !at.IsZero() && (op.Started.At.IsZero() || at.Before(op.Started.At)) {
		op.Started.At = at
	}
	if op.Kind.Invokes() || op.endUnknown { // the end of a call is stated
		op.Ended.At = later(child.Ended.At, op.Ended.At)
	}
	op.Started.Frame = min(op.Started.Frame, child.Started.Frame)
	op.innerFrame = max(op.innerFrame, child.Ended.Frame)
	op.Ended.Frame = max(op.Ended.Frame, op.innerFrame)
}

// noteInnerTimes extends the known time range of an operation's children. Zero times are ignored.
func (op *Operation) noteInnerTimes(from, to time.Time) {
	if from.IsZero() {
		from = to
	}
	op.innerEnd = later(later(from, to), op.innerEnd)
	if !from.IsZero() && (op.innerStart.IsZero() || from.Before(op.innerStart)) {
		op.innerStart = from
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

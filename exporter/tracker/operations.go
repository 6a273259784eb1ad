package tracker

import (
	"maps"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// begin opens an operation below a parent; nil where the run has too many open.
func (r *openRun) begin(kind OperationKind, name string, parent *Operation) *Operation {
	if !r.hasRoom(kind) {
		return nil
	}
	parent = parent.firstOpen()
	switch {
	case kind.Invokes():
		parent = r.fitBelow(parent, 0)
	case parent.node != nil:
		parent.node.works = true
	}
	count := &r.count[kind.order()]
	op := &Operation{
		Kind: kind, Name: name, Started: r.now, shown: uint32(r.now.Frame), open: true,
		course: &course{ordinal: *count},
	}
	*count++
	op.join(parent)
	if kind.Invokes() {
		op.raise()
	}
	r.Operations = append(r.Operations, op)
	return op
}

// hasRoom reports whether the run may have one more operation, and counts it as lost if not.
func (r *openRun) hasRoom(kind OperationKind) bool {
	if len(r.Operations) < r.tracker.settings.MaxOperations || r.makeRoom() {
		return true
	}
	if r.endAwaiting(r.Root); r.makeRoom() {
		return true
	}
	r.tracker.losses.Evicted(string(kind))
	return false
}

// firstOpen is an operation, or the first above it that is open, as the run's own always is: a frame may end what it speaks of.
func (op *Operation) firstOpen() *Operation {
	for !op.open {
		op = op.parent
	}
	return op
}

// makeRoom forgets the older half of what has ended: its spans are out, only the report loses it.
func (r *openRun) makeRoom() bool {
	if r.kept+r.gone < r.tracker.settings.MaxOperations/16 {
		return false // else each new operation would look through all that are open
	}
	r.forgot, r.invoked = true, nil
	if r.gone > 0 {
		r.compact()
		return true
	}
	excess := len(r.Operations) / 2
	before := len(r.Operations)
	defer r.forgetEnded()
	r.Operations = slices.DeleteFunc(r.Operations, func(op *Operation) bool {
		if op.open || excess == 0 {
			return false
		}
		excess--
		r.forget(op)
		return true
	})
	r.kept -= before - len(r.Operations)
	for range before - len(r.Operations) {
		r.tracker.losses.Evicted(LostReport)
	}
	return len(r.Operations) < before
}

// forget lets go of what an ended operation is found by.
func (r *openRun) forget(op *Operation) {
	if r.calls[op.CallID] == op {
		delete(r.calls, op.CallID)
	}
	if at := (callKey{op.Branch, op.CallID}); r.elsewhere[at] == op {
		delete(r.elsewhere, at)
	}
	if key := (speaker{op.Name, op.Branch}); r.agents[key] == op {
		delete(r.agents, key)
	}
	if r.places[op.Branch] == op {
		delete(r.places, op.Branch)
	}
}

// forgetEnded lets go of ended operations where they are found by more than their own names and places.
func (r *openRun) forgetEnded() {
	maps.DeleteFunc(r.arriving, func(_ string, op *Operation) bool { return !op.open })
	maps.DeleteFunc(r.nodes, func(_ nodeKey, op *Operation) bool { return !op.open })
	maps.DeleteFunc(r.lanes, func(_ laneKey, op *Operation) bool { return !op.open })
}

// end closes an operation at the frame at hand.
func (r *openRun) end(op *Operation, status OperationStatus, why failure) {
	op.open, op.Status, op.Error, op.Code = false, status, why.class, why.code
	r.kept++
	if op.node != nil && r.nodes[op.node.key] == op {
		delete(r.nodes, op.node.key)
	}
	if op.node != nil {
		r.leave(op)
	}
	if !op.Kind.Invokes() {
		op.Ended = r.now
	}
	r.ended = append(r.ended, op)
	if op.parent != nil {
		op.part()
		r.endOver(op.parent)
	}
}

// leave lets go of a node as the last of its lane.
func (r *openRun) leave(op *Operation) {
	if at := (laneKey{op.runner(), op.node.lane}); r.lanes[at] == op {
		delete(r.lanes, at)
	}
}

// tellEnded hands over what the frame ended, children before parents since only tools and responses end before their run does.
func (r *openRun) tellEnded() {
	if !r.announced {
		if len(r.ended) < r.tracker.settings.MaxOperations {
			return
		}
		r.tracker.losses.Evicted(LostOrphan)
		r.announce()
	}
	for _, op := range r.ended {
		r.seal(op)
		r.tell(op)
	}
	r.ended = r.ended[:0]
}

// tell hands over an operation, of whose course nobody will ask again.
func (r *openRun) tell(op *Operation) {
	r.tracker.each(func(o Observer) { o.OperationEnded(&r.Run, op) })
	r.release(op)
	op.course = nil
}

// name fixes the run's trace and its root's id at the first need, when the run's id is as known as it will be.
func (r *openRun) name() {
	if r.key != "" {
		return
	}
	r.key = runKey(r)
	r.Trace = r.Parent.Trace
	if !r.Parent.Valid() {
		r.Trace = traceID(r.key)
	}
	r.Sampled = r.tracker.settings.Sample == nil || r.tracker.settings.Sample(&r.Run)
	r.identify(r.Root)
}

// seal gives an operation its ids and the worth of its times, and stretches its agent to hold it.
func (r *openRun) seal(op *Operation) {
	r.name()
	r.identify(op)
	if above := op.parent; above != nil {
		if op.Parent = r.identify(above); above.node != nil {
			above.node.works = true
		}
	}
	if op.Ended.At.Before(op.Started.At) && !op.Ended.At.IsZero() {
		op.Ended.At = op.Started.At
	}
	op.Ended.Frame = max(op.Ended.Frame, op.Started.Frame)
	op.undate()
	fitted := op.took.Known && r.fit(op)
	switch {
	case fitted:
		op.Timing = Reported
	case op.unseen || op.Started.At.IsZero() || op.Ended.At.IsZero():
		op.Timing = Unknown
		op.last(op.took)
	case r.Live:
		op.Timing = Observed
	default:
		op.Timing = Reported
	}
	op.place()
	if op.parent != nil {
		op.parent.hold(op)
	}
}

// last notes how long the protocol says that an operation took whose own times are not known.
func (op *Operation) last(took event.Duration) {
	if op.Timing == Unknown && took.Known {
		op.details().Took = took
	}
}

// place puts an operation of which an end is not known beside what is: around what is part of it, else at the beginning of what
// it is part of.
func (op *Operation) place() {
	if op.Timing != Unknown {
		return
	}
	op.reach(op.Started.At, op.Ended.At)
	for above := op.parent; above != nil && op.from.IsZero(); above = above.parent {
		op.reach(above.Started.At, above.Started.At)
	}
	if op.from.IsZero() {
		return
	}
	put := op.details()
	put.From, put.To = op.from, op.to
	if above := op.parent; above != nil {
		above.reach(op.from, op.to)
		if op.from.Before(above.Started.At) {
			above.Started.At = op.from
		}
		if !above.Ended.At.IsZero() {
			above.Ended.At = later(above.Ended.At, op.to)
		}
	}
}

// fit gives an operation the duration that the protocol says it took. Its beginning stands where that is known; it ends no later
// than we heard of it, begins no earlier than its run, and holds what is part of it.
func (r *openRun) fit(op *Operation) bool {
	if op.Ended.At.IsZero() {
		return false
	}
	if !op.Started.At.IsZero() {
		if end := op.Started.At.Add(op.took.D); end.Before(op.Ended.At) {
			op.Ended.At = end
		}
	}
	op.Started.At = op.Ended.At.Add(-op.took.D)
	if first := r.Root.Started.At; op.Started.At.Before(first) && !first.After(op.Ended.At) {
		op.Started.At = first
	}
	if !op.from.IsZero() && op.from.Before(op.Started.At) {
		op.Started.At = op.from
	}
	if op.to.After(op.Ended.At) {
		op.Ended.At = op.to
	}
	return true
}

// touch stretches an operation to a frame that belongs to it. Where the first or the last of them has no time, nobody knows that
// end.
func (op *Operation) touch(m Moment) {
	if op.Started.Frame == 0 && op.Started.At.IsZero() {
		op.Started.Frame, op.undatedStart = m.Frame, m.At.IsZero()
	}
	if op.Started.At.IsZero() || m.At.Before(op.Started.At) && !m.At.IsZero() {
		op.Started.At = m.At
	}
	op.Ended.Frame, op.undatedEnd = m.Frame, m.At.IsZero()
	op.Ended.At = later(op.Ended.At, m.At)
}

// undate takes the times away that only other frames than its first and its last have given an operation.
func (op *Operation) undate() {
	if !op.undatedStart && !op.undatedEnd {
		return
	}
	op.reach(op.Started.At, op.Ended.At)
	var never time.Time
	if op.undatedStart {
		op.Started.At = never
	}
	if op.undatedEnd {
		op.Ended.At = never
	}
}

// hold stretches an operation around a child's.
func (op *Operation) hold(child *Operation) {
	op.reach(child.Started.At, child.Ended.At)
	if at := child.Started.At; !at.IsZero() && (op.Started.At.IsZero() || at.Before(op.Started.At)) {
		op.Started.At = at
	}
	if child.Ended.At.After(op.Ended.At) {
		op.Ended.At = child.Ended.At
	}
	op.Started.Frame = min(op.Started.Frame, child.Started.Frame)
	op.Ended.Frame = max(op.Ended.Frame, child.Ended.Frame)
}

// reach notes the times of what is part of an operation, as far as they are known.
func (op *Operation) reach(from, to time.Time) {
	if from.IsZero() {
		from = to
	}
	to = later(from, to)
	if !from.IsZero() && (op.from.IsZero() || from.Before(op.from)) {
		op.from = from
	}
	if to.After(op.to) {
		op.to = to
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

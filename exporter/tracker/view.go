package tracker

import (
	"iter"
	"slices"
)

// RunView gives access to an open run during Tracker.ViewOpen.
type RunView struct{ run *openRun }

// ViewOpen calls see with the open runs that observers know, the one that has been silent longest
// first. It holds the tracker's lock during the call.
func (t *Tracker) ViewOpen(see func([]RunView)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var open []RunView
	for _, r := range t.open.Keys() {
		if r.isAnnounced {
			open = append(open, RunView{r})
		}
	}
	see(open)
}

// Run returns the run that the observers were notified of. It must not be used after ViewOpen has
// returned. Use Operations instead of its list.
func (v RunView) Run() *Run { return &v.run.Run }

// Operations yields the operations of the run, without those that turned out not to have happened. The list of an open run may
// still contain these.
func (v RunView) Operations() iter.Seq[*Operation] {
	return func(yield func(*Operation) bool) {
		for _, op := range v.run.Operations {
			if !op.dropped && !yield(op) {
				return
			}
		}
	}
}

// Copy returns a copy of the run as it is now, without content. Open operations have no end and are
// unfinished. The ids are those of the later spans, unless the run's id or session is not known
// yet.
func (v RunView) Copy() *Run {
	r := v.run
	defer r.setProvisionalKey()()
	view := r.Run
	view.Trace = r.traceOf()
	ops := make([]Operation, 0, len(r.Operations))
	view.Operations = make([]*Operation, 0, len(r.Operations))
	for op := range v.Operations() {
		ops = append(ops, *op)
		c := &ops[len(ops)-1]
		if view.Operations = append(view.Operations, c); op == r.Root {
			view.Root = c
		}
		if op.open {
			if c.ID = r.idOf(op); op.parent != nil {
				c.Parent = r.idOf(op.parent)
			}
			c.Ended, c.Status, c.Timing = Timestamp{}, OperationUnfinished, TimingUnknown
		}
		if c.openState, c.parent = nil, nil; op.Details != nil {
			details := *op.Details
			details.Content = nil
			c.Details = &details
		}
	}
	view.Inputs = make([]*InputRequest, len(r.Inputs))
	for i, in := range r.Inputs {
		c := *in
		c.Operation = r.idOf(in.owner)
		c.owner, c.Question = nil, nil
		view.Inputs[i] = &c
	}
	view.Artifacts, view.Transfers = slices.Clone(r.Artifacts), slices.Clone(r.Transfers)
	view.Confidence, view.Citations = slices.Clone(r.Confidence), slices.Clone(r.Citations)
	view.Reasoning, view.Links, view.UnattributedUsage = slices.Clone(r.Reasoning), slices.Clone(r.Links), slices.Clone(r.UnattributedUsage)
	view.Thoughts = slices.Clone(r.Thoughts)
	view.UnratedAnswers = nil
	return &view
}

// Trace returns the id of the run's trace, as Copy has it.
func (v RunView) Trace() [16]byte {
	defer v.run.setProvisionalKey()()
	return v.run.traceOf()
}

// RootSpan returns the id of the root operation, as Copy has it.
func (v RunView) RootSpan() SpanID {
	defer v.run.setProvisionalKey()()
	return v.run.idOf(v.run.Root)
}

// HasSpan reports whether an operation has the id of a span, as Copy has it.
func (v RunView) HasSpan(id SpanID) bool {
	r := v.run
	defer r.setProvisionalKey()()
	for op := range v.Operations() {
		if op.ID == id || op.open && r.idOf(op) == id {
			return true
		}
	}
	return false
}

// setProvisionalKey sets the key that the run would have now, unless the key is fixed. The caller must
// call the returned function, which removes the key: the run's id may still arrive and change it.
func (r *openRun) setProvisionalKey() (reset func()) {
	if r.key != "" {
		return func() {}
	}
	r.key = runKey(r)
	return func() { r.key = "" }
}

// traceOf returns the id that the run's trace has or would have.
func (r *openRun) traceOf() [16]byte {
	switch {
	case r.Trace != [16]byte{}:
		return r.Trace
	case r.Parent.IsValid():
		return r.Parent.Trace
	}
	return traceID(r.key)
}

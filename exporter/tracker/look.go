package tracker

import "slices"

// Open is a run on its way, to be read within Tracker.Look.
type Open struct{ run *openRun }

// Look shows the runs that are open and that observers were told of, the one silent for longest first. It is called under the
// tracker's lock, like an Observer.
func (t *Tracker) Look(see func([]Open)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var open []Open
	for _, r := range t.open.Keys() {
		if r.announced {
			open = append(open, Open{r})
		}
	}
	see(open)
}

// Run is the run that the observers were told of. It changes once Look has returned.
func (o Open) Run() *Run { return &o.run.Run }

// Copy is the run as it stands: what has not ended has no end and is unfinished, and no content. Its ids are those that the
// spans will have, unless the run's id or session is still to come.
func (o Open) Copy() *Run {
	r := o.run
	if r.key == "" {
		// To look must not name the run, whose id may be still to come.
		r.key = runKey(r)
		defer func() { r.key = "" }()
	}
	whole := r.Run
	if whole.Trace = r.Trace; whole.Trace == ([16]byte{}) {
		if whole.Trace = r.Parent.Trace; !r.Parent.Valid() {
			whole.Trace = traceID(r.key)
		}
	}
	ops := make([]Operation, 0, len(r.Operations))
	whole.Operations = make([]*Operation, 0, len(r.Operations))
	for _, op := range r.Operations {
		if op.gone {
			continue
		}
		ops = append(ops, *op)
		c := &ops[len(ops)-1]
		if whole.Operations = append(whole.Operations, c); op == r.Root {
			whole.Root = c
		}
		if op.open {
			if c.ID = r.idOf(op); op.parent != nil {
				c.Parent = r.idOf(op.parent)
			}
			c.Ended, c.Status, c.Timing = Moment{}, Unfinished, Unknown
		}
		if c.course, c.parent = nil, nil; op.Details != nil {
			details := *op.Details
			details.Content = nil
			c.Details = &details
		}
	}
	whole.Inputs = make([]*Input, len(r.Inputs))
	for i, in := range r.Inputs {
		c := *in
		c.owner, c.Question = nil, nil
		whole.Inputs[i] = &c
	}
	whole.Artifacts, whole.Transfers = slices.Clone(r.Artifacts), slices.Clone(r.Transfers)
	whole.Confidence, whole.Citations = slices.Clone(r.Confidence), slices.Clone(r.Citations)
	whole.Reasoning, whole.Links, whole.Metered = slices.Clone(r.Reasoning), slices.Clone(r.Links), slices.Clone(r.Metered)
	whole.Thoughts = slices.Clone(r.Thoughts)
	whole.Unrated = nil
	return &whole
}

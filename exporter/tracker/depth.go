package tracker

// maxDepth bounds how many operations that run others stand below each other. A frame concerns all that its speaker is part of, so
// that without a bound a chain of n delegations would cost n² steps.
const maxDepth = 128

// depth returns how many operations an operation is part of.
func (op *Operation) depth() (n int) {
	for up := op.parent; up != nil; up = up.parent {
		n++
	}
	return n
}

// fitBelow returns what an operation with so many levels below it is part of: the parent, or the lowest above that leaves room for it.
func (r *openRun) fitBelow(parent *Operation, height int) *Operation {
	excess := parent.depth() + 1 + height - maxDepth
	if excess > 0 {
		r.tracker.losses.Evicted(LostDepth)
	}
	for ; excess > 0 && parent.parent != nil; excess-- {
		parent = parent.parent
	}
	return parent
}

// raise notes how many levels an operation puts below all that it is part of.
func (op *Operation) raise() {
	for at := op; at.parent != nil && at.parent.height <= at.height; at = at.parent {
		at.parent.height = at.height + 1
	}
}

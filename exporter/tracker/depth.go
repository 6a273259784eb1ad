package tracker

// maxDepth bounds the nesting of invocations. Each frame updates all ancestors of its speaker. Without a
// bound, a chain of n delegations would cost n² steps.
const maxDepth = 128

// depth returns the number of an operation's ancestors.
func (op *Operation) depth() (n int) {
	for up := op.parent; up != nil; up = up.parent {
		n++
	}
	return n
}

// limitDepth returns the parent for an operation with the given number of levels below it: parent,
// or the nearest ancestor of parent that leaves room for these levels.
func (r *openRun) limitDepth(parent *Operation, height int) *Operation {
	excess := parent.depth() + 1 + height - maxDepth
	if excess > 0 {
		r.tracker.losses.CountEvicted(LostDepth)
	}
	for ; excess > 0 && parent.parent != nil; excess-- {
		parent = parent.parent
	}
	return parent
}

// updateHeights updates the heights of an operation's ancestors.
func (op *Operation) updateHeights() {
	for at := op; at.parent != nil && at.parent.height <= at.height; at = at.parent {
		at.parent.height = at.height + 1
	}
}

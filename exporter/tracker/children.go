package tracker

// An operation lists its open children, so that the cost of ending it depends only on the
// operations that end, not on the number of operations in the run.

// attach makes an open operation a child of another.
func (op *Operation) attach(above *Operation) {
	op.parent, op.prevSibling, op.nextSibling = above, above.lastChild, nil
	if op.prevSibling != nil {
		op.prevSibling.nextSibling = op
	}
	above.lastChild = op
	above.openChildren++
}

// detach removes an operation from its parent's open children. The parent stays its parent.
func (op *Operation) detach() {
	if op.nextSibling != nil {
		op.nextSibling.prevSibling = op.prevSibling
	} else {
		op.parent.lastChild = op.prevSibling
	}
	if op.prevSibling != nil {
		op.prevSibling.nextSibling = op.nextSibling
	}
	op.prevSibling, op.nextSibling = nil, nil
	op.parent.openChildren--
}

// eachBelow visits all open descendants, children before parents and siblings in reverse order. A
// visit may end the operation and its ancestors.
func (op *Operation) eachBelow(visit func(*Operation)) {
	for at := op.lastChild; at != nil; {
		older := at.prevSibling
		at.eachBelow(visit)
		if at.open {
			visit(at)
		}
		at = older
	}
}

// isBelow reports whether an operation is a descendant of another.
func (op *Operation) isBelow(above *Operation) bool {
	for up := op.parent; up != nil; up = up.parent {
		if up == above {
			return true
		}
	}
	return false
}

package tracker

// An operation lists the open ones that are part of it, so that its end costs as much as what it ends, however many others the run has.

// join makes an open operation part of another.
func (op *Operation) join(above *Operation) {
	op.parent, op.older, op.younger = above, above.youngest, nil
	if op.older != nil {
		op.older.younger = op
	}
	above.youngest = op
	above.openBelow++
}

// part takes an operation out of what is open below its parent, which stays its parent.
func (op *Operation) part() {
	if op.younger != nil {
		op.younger.older = op.older
	} else {
		op.parent.youngest = op.older
	}
	if op.older != nil {
		op.older.younger = op.younger
	}
	op.older, op.younger = nil, nil
	op.parent.openBelow--
}

// eachBelow visits all that is open below an operation, children before parents and else the last one first. A visit may end the
// operation and what it is part of.
func (op *Operation) eachBelow(visit func(*Operation)) {
	for at := op.youngest; at != nil; {
		older := at.older
		at.eachBelow(visit)
		if at.open {
			visit(at)
		}
		at = older
	}
}

// isBelow says whether an operation is part of another.
func (op *Operation) isBelow(above *Operation) bool {
	for up := op.parent; up != nil; up = up.parent {
		if up == above {
			return true
		}
	}
	return false
}

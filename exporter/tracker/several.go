package tracker

// An agent with code of its own may run several agents at the same time in one lane, or handle the failure of one and run another. The
// stream says neither.

// maxSiblings bounds the operations that are searched for what is unfinished.
const maxSiblings = 64

// followsUnfinished reports whether an agent begins while the one before it in its lane is unfinished.
func (r *openRun) followsUnfinished(op *Operation) bool {
	before := op.prevSibling
	for n := 0; n < maxSiblings && before != nil; n, before = n+1, before.prevSibling {
		if before.node != nil && before.node.lane == op.node.lane {
			return r.isUnfinished(before)
		}
	}
	return false
}

// isUnfinished reports whether an open call or response of an agent has no end yet, or the agent has to answer to the results of its calls.
func (r *openRun) isUnfinished(agent *Operation) bool {
	child := agent.lastChild
	for n := 0; n < maxSiblings && child != nil; n, child = n+1, child.prevSibling {
		if isCall := child.Kind == ExecuteTool && !child.awaitsAnswer && !child.endsTurn; isCall || r.partialResponses[child.responseKey()] == child {
			return true
		}
	}
	return agent.repliesDue > 0
}

// runsSeveralIn reports whether an operation, which may be nil, has begun a child in its own lane while another one there was unfinished. It
// is then unknown after what its children begin.
func (op *Operation) runsSeveralIn(lane string) bool {
	return op != nil && op.node != nil && op.node.lane == lane && op.node.runsSeveral
}

// runnerOfSeveral returns the outermost operation around an agent that also runs others at the same time, or may, or nil. An error that
// names no agent may be of any of them, so only that operation is known to have failed.
func (r *openRun) runnerOfSeveral(agent *Operation) (outermost *Operation) {
	for at := agent; at != nil; at = at.runner() {
		up := at.runner()
		if at.node != nil && (r.runsLaneInParallel(up, at.node.lane) || up.runsSeveralIn(at.node.lane) && r.hasUnfinishedBeside(up, at)) {
			outermost = up
		}
	}
	return outermost
}

// hasUnfinishedBeside reports whether an operation has an unfinished child, or too many to know, in the lane of another child.
func (r *openRun) hasUnfinishedBeside(above, child *Operation) bool {
	n := 0
	for op := above.lastChild; op != nil; op = op.prevSibling {
		if n++; n > maxSiblings || op != child && op.node != nil && op.node.lane == child.node.lane && r.isUnfinished(op) {
			return true
		}
	}
	return false
}

// noteAnswerer records that an agent has given a final answer.
func (op *Operation) noteAnswerer() {
	if above := op.runner(); op.node != nil && above != nil && above.node.lane == op.node.lane {
		above.node.lastAnswerer = max(above.node.lastAnswerer, op.firstFrame)
	}
}

// isReplaced reports whether an agent that began after the last frame of an open call or response has answered instead of its agent.
func (op *Operation) isReplaced() bool {
	last := max(int(op.firstFrame), op.lastPiece.Frame)
	for at := op.parent; at != nil && !op.awaitsAnswer && !op.endsTurn; at = at.runner() {
		above := at.runner()
		if above != nil && at.node != nil && above.node.lane == at.node.lane && int(above.node.lastAnswerer) > last {
			return true
		}
	}
	return false
}

package tracker

// noteRetry records that an agent has given a final answer. What the invocations left open that the agent or those around it follow
// (event.Batch.Follows) needs no end then, unless it went on meanwhile: a node has run its agent again after a failure, or handled that.
func (r *openRun) noteRetry(agent *Operation) {
	for up := agent; up != nil; up = up.parent {
		begun := int(up.firstFrame)
		for last := up; last.node != nil && last.node.follows != ""; {
			earlier := r.agentByBranch[last.node.follows]
			if earlier == nil || !earlier.open || earlier.retryFrame == begun {
				break
			}
			earlier.retryFrame = begun
			earlier.runsAgain = earlier.runsAgain || earlier.Name == up.Name
			last = earlier
		}
	}
}

// isRetried reports whether an answered invocation, which followed an agent or one around it, began after a frame.
func (op *Operation) isRetried(frame int) bool {
	for up := op; up != nil; up = up.parent {
		if up.openState != nil && up.retryFrame > frame {
			return true
		}
	}
	return false
}

// isRepeated reports whether the same agent was invoked again, and answered, after the last frame of this invocation.
func (op *Operation) isRepeated() bool {
	return op.openState != nil && op.runsAgain && op.retryFrame > op.Ended.Frame
}

// isCutOff reports whether a call or response was left open by an agent that was invoked again since.
func (op *Operation) isCutOff() bool {
	return op.parent.isRetried(max(op.lastPiece.Frame, int(op.firstFrame)))
}

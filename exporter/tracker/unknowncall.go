package tracker

// An agent may work in one of several calls, of which the stream does not say which (event.Batch.InUnknownCall). Then it is beside them in
// the tree, or beside the agent that made them.

// unknownCaller returns the innermost agent around an operation, or the operation itself, that works in one of several calls, or nil.
func (op *Operation) unknownCaller() *Operation {
	for ; op != nil; op = op.parent {
		if op.openState != nil && op.inUnknownCall {
			return op
		}
	}
	return nil
}

// callsAround returns how many of the calls in which an agent may work are open, the last of these, and whether one was answered after
// the agent began. Calls of earlier runs do not count.
func (r *openRun) callsAround(agent *Operation) (open int, last *Operation, isAnswered bool) {
	for _, call := range r.Operations {
		switch {
		case call.Kind != ExecuteTool || call.firstFrame >= agent.firstFrame || call.parent != agent.parent && call.parent.parent != agent.parent:
		case call.open:
			open, last = open+1, call
		case call.Ended.Frame > int(agent.firstFrame):
			isAnswered = true
		}
	}
	return open, last, isAnswered
}

// isInAnsweredCall reports whether an operation is within an agent that works in one of several calls, all of which have been answered
// since. What is within a known call ends with its response.
func (r *openRun) isInAnsweredCall(op *Operation) bool {
	agent := op.unknownCaller()
	if agent == nil {
		return false
	}
	open, _, isAnswered := r.callsAround(agent)
	return open == 0 && isAnswered
}

// markWaitingCalls marks the calls that wait, at the end of a run that waits, for an agent that works in one of several calls: the only
// call that is open.
func (r *openRun) markWaitingCalls() {
	if r.Status != Interrupted {
		return
	}
	for _, op := range r.Operations {
		if !op.open || !op.awaitsAnswer && op.openInputs == 0 {
			continue
		}
		if agent := op.unknownCaller(); agent != nil {
			if open, call, _ := r.callsAround(agent); open == 1 {
				call.awaitsAnswer = true
			}
		}
	}
}

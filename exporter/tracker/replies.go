package tracker

import "github.com/delegraph/delegraph/collector/event"

// expectReply records that the run is incomplete unless an agent speaks again in a branch. A nil agent
// means the root.
func (r *openRun) expectReply(branch string, agent *Operation) {
	if agent == nil {
		agent = r.Root
	}
	if r.pendingReplies[branch] == nil && !r.reserveEntry(len(r.pendingReplies), &r.mostReplies) {
		r.tracker.losses.CountEvicted(LostReply)
		return
	}
	r.clearReply(branch)
	agent.repliesDue++
	put(&r.pendingReplies, branch, agent)
}

// noteReply records that an agent spoke, which clears the pending reply of the branch. If a transfer gave it control, its replies in
// all branches are cleared, because it may have got control in another branch. The same holds for agents above it that got control
// and have no model.
func (r *openRun) noteReply(branch string, agent *Operation) {
	if len(r.pendingReplies) == 0 {
		return
	}
	r.clearReply(branch)
	for up := agent; up != nil; up = up.runner() {
		if up.node.receivedControl && (up == agent || !up.node.usedModel) {
			r.clearReplies(up)
		}
	}
}

// clearReply removes the pending reply of a branch.
func (r *openRun) clearReply(branch string) {
	if agent := r.pendingReplies[branch]; agent != nil {
		agent.repliesDue--
		delete(r.pendingReplies, branch)
	}
}

// clearReplies removes all pending replies of an agent.
func (r *openRun) clearReplies(agent *Operation) {
	for branch, other := range r.pendingReplies {
		if agent.repliesDue == 0 {
			return // most agents owe no reply, and there may be many branches
		}
		if other == agent {
			r.clearReply(branch)
		}
	}
}

// debt says what an agent still has to do. Unlike a pending reply, it does not leave the run incomplete.
type debt uint8

const (
	noDebt      debt = iota
	mayOweReply      // the result of a call was its last fact: it mostly goes on, but its turn may end with the call
	goesOn           // its next round has begun: it mostly asks its model, but may end without
	owesReply        // a model was asked, and has not answered
)

// oweReply records that the result of an agent's call has arrived. A call that transferred control needs no reply.
func (op *Operation) oweReply(call *Operation) {
	if !call.endsTurn && call.Details.OrZero().HandoffTarget == "" {
		op.debt = max(op.debt, mayOweReply)
	}
}

// noteDebt updates an agent's debt with a fact of the agent.
func (op *Operation) noteDebt(e *event.Event, b *event.Batch) {
	switch e.Kind {
	case event.KindIteration:
		switch {
		case e.CallsModel:
			op.debt = owesReply
		case beginsRound(e):
			op.debt = goesOn
		}
	case event.KindText, event.KindModelEnded, event.KindToolStarted, event.KindTransfer, event.KindFinal:
		if !b.Partial {
			op.debt = noDebt
		}
	}
}

// isIndebted reports whether an agent that has not stated its end has something left to do. In a run that is complete or waits, an agent may
// end with the result of a call. But if it is invoked again after that, it counts as retried by its node.
func (r *openRun) isIndebted(op *Operation) bool {
	switch r.Status {
	case Running, Completed, Interrupted:
		return (op.debt == owesReply || op.debt > noDebt && op.isRepeated()) && !op.endStated
	}
	return op.debt > noDebt && !op.endStated
}

// hasOwnWorkLeft reports whether an agent owes a reply, or one of its own calls or responses is open.
func (r *openRun) hasOwnWorkLeft(op *Operation) bool {
	for child := op.lastChild; child != nil; child = child.prevSibling {
		if !child.Kind.Invokes() && !r.isSuperseded(child) {
			return true
		}
	}
	return op.debt > noDebt
}

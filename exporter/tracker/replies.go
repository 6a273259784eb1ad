package tracker

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

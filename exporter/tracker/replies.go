package tracker

// pendingReplies maps a branch to the agent from which a model response is still expected. Most
// runs have none, or one without a branch.
type pendingReplies struct {
	unbranched *Operation // the agent of frames without a branch
	byBranch   map[string]*Operation
}

// agentIn returns the agent that is expected to reply in a branch, or nil.
func (o *pendingReplies) agentIn(branch string) *Operation {
	if branch == "" {
		return o.unbranched
	}
	return o.byBranch[branch]
}

// branches returns the number of branches with a pending reply.
func (o *pendingReplies) branches() int {
	if o.unbranched == nil {
		return len(o.byBranch)
	}
	return len(o.byBranch) + 1
}

func (o *pendingReplies) add(branch string, agent *Operation) {
	o.remove(branch)
	agent.repliesDue++
	if branch == "" {
		o.unbranched = agent
		return
	}
	put(&o.byBranch, branch, agent)
}

func (o *pendingReplies) remove(branch string) {
	agent := o.agentIn(branch)
	if agent == nil {
		return
	}
	agent.repliesDue--
	if branch == "" {
		o.unbranched = nil
		return
	}
	delete(o.byBranch, branch)
}

// removeAgent removes the agent from all branches.
func (o *pendingReplies) removeAgent(agent *Operation) {
	if o.unbranched == agent {
		o.remove("")
	}
	for branch, other := range o.byBranch {
		if agent.repliesDue == 0 {
			return // few agents reply, and there may be many branches
		}
		if other == agent {
			o.remove(branch)
		}
	}
}

package tracker

// owed are the agents whose models must answer to a tool's response, by branch. Most runs have none, and few more than that of
// the frames without a branch.
type owed struct {
	here  *Operation // where there is no branch
	among map[string]*Operation
}

// by is who must be heard of again in a branch, or nil.
func (o *owed) by(branch string) *Operation {
	if branch == "" {
		return o.here
	}
	return o.among[branch]
}

// count is in how many branches somebody must.
func (o *owed) count() int {
	if o.here == nil {
		return len(o.among)
	}
	return len(o.among) + 1
}

func (o *owed) add(branch string, agent *Operation) {
	o.settle(branch)
	agent.owing++
	if branch == "" {
		o.here = agent
		return
	}
	put(&o.among, branch, agent)
}

func (o *owed) settle(branch string) {
	agent := o.by(branch)
	if agent == nil {
		return
	}
	agent.owing--
	if branch == "" {
		o.here = nil
		return
	}
	delete(o.among, branch)
}

// settleOf is settle in whichever branch the agent is.
func (o *owed) settleOf(agent *Operation) {
	if o.here == agent {
		o.settle("")
	}
	for branch, other := range o.among {
		if agent.owing == 0 {
			return // few agents reply, and there may be many branches
		}
		if other == agent {
			o.settle(branch)
		}
	}
}

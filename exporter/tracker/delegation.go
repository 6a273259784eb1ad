package tracker

// DelegationDepth returns the largest number of agent invocations above an agent invocation, or
// above a call of a tool that the configuration names as an agent. It is known if the run shows an
// agent.
func (r *Run) DelegationDepth() (depth int, known bool) {
	for _, op := range r.Operations {
		if op.Kind != InvokeAgent && !op.AgentTool {
			continue
		}
		above := 0
		for up := op.parent; up != nil; up = up.parent {
			if up.Kind == InvokeAgent {
				above++
			}
		}
		depth, known = max(depth, above), true
	}
	return depth, known
}

// transferChain is a linked list of the agents that transferred control on the way to an agent,
// newest first. It holds no name twice and at most maxDepth names, so that loops up to that length
// are detected.
type transferChain struct {
	name   string
	before *transferChain
	count  int // length of the chain
}

func (c *transferChain) contains(name string) bool {
	for ; c != nil; c = c.before {
		if c.name == name {
			return true
		}
	}
	return false
}

// with returns the chain extended by a name.
func (c *transferChain) with(name string) *transferChain {
	switch {
	case c == nil:
		return &transferChain{name, nil, 1}
	case c.contains(name):
		return c
	case c.count == maxDepth:
		c = c.last(maxDepth / 2)
	}
	return &transferChain{name, c, c.count + 1}
}

// last returns the newest n names of the chain.
func (c *transferChain) last(n int) *transferChain {
	if n == 1 {
		return &transferChain{c.name, nil, 1}
	}
	return &transferChain{c.name, c.before.last(n - 1), n}
}

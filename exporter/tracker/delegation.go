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

func (g *transferChain) contains(name string) bool {
	for ; g != nil; g = g.before {
		if g.name == name {
			return true
		}
	}
	return false
}

// with returns the chain extended by a name.
func (g *transferChain) with(name string) *transferChain {
	switch {
	case g == nil:
		return &transferChain{name, nil, 1}
	case g.contains(name):
		return g
	case g.count == maxDepth:
		g = g.last(maxDepth / 2)
	}
	return &transferChain{name, g, g.count + 1}
}

// last returns the newest n names of the chain.
func (g *transferChain) last(n int) *transferChain {
	if n == 1 {
		return &transferChain{g.name, nil, 1}
	}
	return &transferChain{g.name, g.before.last(n - 1), n}
}

package tracker

// Depth returns how deep a run delegates: the most invocations of agents that stand above one that is invoked, or above a tool that the
// configuration names as an agent. It is known of runs that show an agent.
func (r *Run) Depth() (depth int, known bool) {
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

// giver is an agent that handed control over on the way to another. No name stands twice in a chain of them, and a chain has at most
// maxDepth, so that hand-overs in circles are seen up to that length.
type giver struct {
	name   string
	before *giver
	count  int // of the chain
}

func (g *giver) has(name string) bool {
	for ; g != nil; g = g.before {
		if g.name == name {
			return true
		}
	}
	return false
}

// and returns the chain with another name.
func (g *giver) and(name string) *giver {
	switch {
	case g == nil:
		return &giver{name, nil, 1}
	case g.has(name):
		return g
	case g.count == maxDepth:
		g = g.newest(maxDepth / 2)
	}
	return &giver{name, g, g.count + 1}
}

// newest returns the last n of a chain.
func (g *giver) newest(n int) *giver {
	if n == 1 {
		return &giver{g.name, nil, 1}
	}
	return &giver{g.name, g.before.newest(n - 1), n}
}

package tracker

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

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
// newest first. It holds no name twice and at most maxDepth names. A longer chain loses its older half,
// so loops of up to maxDepth/2 agents are always detected.
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

// transfer transfers control. The target's operation begins here, as a child of the agent that had
// control.
func (r *openRun) transfer(e *event.Event, b *event.Batch, from *Operation) {
	var chain *transferChain
	if from.node != nil {
		chain = from.node.chain
	}
	source := r.transferSource(b, from)
	if source != "" {
		before := chain
		if chain = chain.with(source); before != nil && chain.count < before.count {
			r.tracker.losses.CountEvicted(LostDepth)
		}
	}
	keepFact(r, &r.Transfers, event.KindTransfer.String(), Transfer{From: source, To: e.Name, EventID: e.ID, Loop: chain.contains(e.Name)})
	for up := from.runner(); up != nil; up = up.runner() {
		up.node.looksLikeAgent = up.node.looksLikeAgent || up.Name == e.Name // an agent, not a workflow: control goes only to agents
	}
	target := r.transferTarget(e.Name, b, from)
	r.expectReply(b.Branch, target)
	if target != nil {
		r.current, target.node.chain, target.node.receivedControl = target, chain, true
	}
	call := r.transferCall(e, b)
	if call == nil {
		return
	}
	details := call.details()
	details.HandoffSource, details.HandoffTarget = source, e.Name
	if target != nil && len(target.Details.OrZero().Links) < r.tracker.settings.MaxFacts {
		r.fixTrace()
		details := target.details()
		details.Links = append(details.Links, r.identify(call))
	}
}

// transferSource returns the name of the agent that transfers control, or "". If the frame names none, it is the root agent, unless
// another agent is in control.
func (r *openRun) transferSource(b *event.Batch, from *Operation) string {
	if b.Agent == "" && from == r.Root && (r.current == nil || r.current == r.Root) {
		return r.Root.agentName()
	}
	return b.Agent
}

// transferCall returns the call that transfers control, or nil. If the transfer names no call, it is the
// call without an id that the frame ends, if there is exactly one.
func (r *openRun) transferCall(e *event.Event, b *event.Batch) *Operation {
	if e.CallID != "" {
		return r.call(b.Branch, e.CallID)
	}
	withoutID := func(op *Operation) bool { return op.Kind == ExecuteTool && op.CallID == "" }
	ended := r.endedNow()
	i := slices.IndexFunc(ended, withoutID)
	if i < 0 || slices.ContainsFunc(ended[i+1:], withoutID) {
		return nil // none, or more than one
	}
	return ended[i]
}

// transferTarget begins or finds the operation of a transfer's target. In a protocol with places, each
// transfer begins a new invocation, unless the last target of that name has not spoken yet. In other
// protocols, an agent above the one that transfers gets control back.
func (r *openRun) transferTarget(name string, b *event.Batch, from *Operation) *Operation {
	last := r.agents[agentKey{name, b.Branch}]
	switch silent := r.silentTargets[name]; {
	case b.Place != nil && silent != nil:
		return silent
	case b.Place != nil:
	case name == r.Root.Name:
		return r.Root
	case last != nil && last.open:
		return last
	default:
		if above := from.enclosingAgent(name); above != nil {
			put(&r.silentTargets, name, above) // it may speak in another branch
			return above
		}
	}
	op := r.begin(InvokeAgent, name, from)
	if op == nil {
		return nil
	}
	op.Agent, op.Branch = name, b.Branch
	op.node = r.tracker.newNode(node{lane: from.laneOr(b.Branch), cause: r.now})
	put(&r.silentTargets, name, op)
	r.indexInvocation(op)
	return op
}

// enclosingAgent returns the nearest agent of a name above an operation, or nil. It skips agents that have
// ended, because they cannot get control back.
func (op *Operation) enclosingAgent(name string) *Operation {
	for up := op.runner(); up != nil; up = up.runner() {
		if up.Kind == InvokeAgent && up.Name == name && up.open && !up.endStated {
			return up
		}
	}
	return nil
}

package tracker

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// decideRoot decides, at the run's first event.Place, what the root operation is: the root agent, if it has the
// application's name or no application is known; else a workflow named after the application. A
// root that never speaks is represented by the workflow.
func (r *openRun) decideRoot(kind event.RootKind, first *event.Node) {
	if r.rootDecided {
		return
	}
	r.rootDecided = true
	silent := kind == event.RootSilent || kind == event.RootUnknown && first.Kind == event.NodeContainer
	speaks := first.Kind == event.NodeSpeaker || first.Kind == event.NodeDescendant
	takes := first.Name == r.App || r.App == "" && !(silent && speaks)
	if takes {
		r.Root.Name = first.Name
		r.Root.node.key = nodeKey{nil, first.Name, invocationOf(first), first.Lane}
		put(&r.nodes, r.Root.node.key, r.Root)
	}
	r.Root.Kind = InvokeAgent
	if !takes || silent && !speaks || first.Kind == event.NodeWorkflow {
		r.Root.Kind = InvokeWorkflow
	}
	r.rootGuessed = takes && kind == event.RootUnknown
	if r.Agent = first.Name; silent {
		r.Agent = r.Root.Name
	}
	r.nameRoot()
}

// speaksForRoot turns a workflow root into an agent when an author with the application's name
// speaks. It was a workflow only because it had not spoken.
func (r *openRun) speaksForRoot(nodes []event.Node) {
	n := &nodes[0]
	key := nodeKey{nil, n.Name, "", n.Lane}
	if len(nodes) > 1 || n.Kind != event.NodeDescendant || n.Name != r.Root.Name || r.Root.Kind != InvokeWorkflow || r.rootRaised || r.handoffTargets[n.Name] != nil {
		return
	}
	if r.nodes[key] == nil {
		r.Root.node.key, r.Root.Kind = key, InvokeAgent
		put(&r.nodes, key, r.Root)
		r.nameRoot()
	}
}

// nameRoot sets the root operation's agent: its own name, or none if it is a workflow.
func (r *openRun) nameRoot() {
	r.Root.Agent = r.Root.agentName()
}

// agentName returns the agent name under which an operation's calls and responses are counted. A
// workflow is not an agent and has none.
func (op *Operation) agentName() string {
	if op.Kind == InvokeWorkflow {
		return ""
	}
	return op.Name
}

// raiseRoot puts a workflow above the first root, because something runs beside it.
func (r *openRun) raiseRoot() {
	below := r.Root
	above := &Operation{
		Kind: InvokeWorkflow, Name: r.App, Started: below.Started, Ended: below.Ended, open: true,
		openState: &openState{spoke: true, openChildren: 1, lastChild: below, height: below.height + 1, undatedStart: below.undatedStart, undatedEnd: below.undatedEnd, failedFrame: below.failedFrame, failureCode: below.failureCode, finalFrame: below.finalFrame, node: &node{
			lane: below.node.lane, cause: below.node.cause, lastBelow: below.node.lastBelow, lastInLane: below.node.lastInLane, lastChild: below,
		}},
	}
	below.parent, below.wasRoot = above, true
	below.Kind, below.Agent = InvokeAgent, below.Name
	r.Root, r.rootGuessed, r.rootRaised, r.Agent = above, false, true, r.App
	r.Operations = slices.Insert(r.Operations, 0, above)
	r.indexInvocation(below)
}

// dropUninvoked removes workflows that appear only in the places of a run's agents and were not
// invoked in this run. A run that continues after a transfer in an earlier run names the agents
// above its own agent. Unlike workflows, those agents get no output.
func (r *openRun) dropUninvoked() {
	goesOn := r.continuesHandoff()
	var out []*Operation
	for _, op := range r.Operations[1:] {
		agent := op.open && op.Kind == InvokeWorkflow && op.node.isContainer && (op.node.childIsAgent || goesOn)
		if agent && op.failedFrame == 0 && !op.node.childHasOutput && !op.node.hasOwnWork {
			op.dropped, out = true, append(out, op)
		}
	}
	if len(out) > 0 {
		r.reattachChildren()
	}
	for _, op := range out {
		r.drop(op)
	}
}

// reattachChildren moves the children of operations that did not happen to the next ancestor that
// did.
func (r *openRun) reattachChildren() {
	for _, op := range r.Operations[1:] {
		above := op.parent
		for above.dropped {
			above = above.parent
		}
		switch {
		case op.dropped || above == op.parent:
		case op.open:
			r.reparent(op, above)
		default: // ended, and observers not yet notified
			op.parent = above
		}
	}
}

// drop removes an operation that turned out not to have happened.
func (r *openRun) drop(op *Operation) {
	op.open, op.dropped = false, true
	r.dropped++
	op.detach()
	r.forget(op)
	r.leaveLane(op)
	delete(r.nodes, op.node.key)
}

// compact removes the dropped operations from the report.
func (r *openRun) compact() {
	if r.dropped > 0 {
		r.dropped, r.Operations = 0, slices.DeleteFunc(r.Operations, func(op *Operation) bool { return op.dropped })
	}
}

// denyAgent removes the target of a transfer, because an error says that it does not exist.
func (r *openRun) denyAgent(name string) {
	op := r.handoffTargets[name]
	if name == "" || op == nil || !op.open || op.openChildren > 0 || op.spoke || op.node.hasOwnWork {
		return
	}
	delete(r.handoffTargets, name)
	if r.current == op {
		r.current = op.parent
	}
	r.drop(op)
}

// denyWithin removes the agents that a call was to run, because its response says that they do not
// exist.
func (r *openRun) denyWithin(call *Operation) {
	var older *Operation
	for op := call.lastChild; op != nil; op = older {
		older = op.prevSibling
		if op.node == nil || op.openChildren > 0 || op.node.hasOwnWork {
			continue
		}
		if r.current == op {
			r.current = call.parent
		}
		r.drop(op)
	}
}

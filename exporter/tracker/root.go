package tracker

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// decideRoot decides at the run's first place what the root operation is. The root is the first node in two
// cases: the node has the application's name; or no application is known, except if the first node speaks and
// the root never does. In all other cases the root is a workflow named after the application, above the first
// node. A root that never speaks is a workflow too.
func (r *openRun) decideRoot(kind event.RootKind, first *event.Node) {
	if r.rootDecided {
		return
	}
	r.rootDecided = true
	isSilent := kind == event.RootSilent || kind == event.RootUnknown && first.Kind == event.NodeContainer
	firstSpeaks := first.Kind == event.NodeSpeaker || first.Kind == event.NodeDescendant
	isFirst := first.Name == r.App || r.App == "" && !(isSilent && firstSpeaks)
	if isFirst {
		r.Root.Name = first.Name
		r.Root.node.lane, r.Root.node.isContainer = first.Lane, first.Kind == event.NodeContainer
		r.setPlace(r.Root, keyBelow(nil, first))
	}
	r.Root.Kind = InvokeAgent
	if !isFirst || isSilent && !firstSpeaks || first.Kind == event.NodeWorkflow {
		r.Root.Kind = InvokeWorkflow
	}
	r.rootGuessed = isFirst && kind != event.RootFirst
	if r.Agent = first.Name; isSilent {
		r.Agent = r.Root.Name
	}
	r.nameRoot()
}

// makeRootAgent turns a root that was taken for a workflow into an agent when it speaks. It speaks if a frame's
// only node has its name.
func (r *openRun) makeRootAgent(nodes []event.Node) {
	n := &nodes[0]
	key := nodeKey{nil, n.Name, "", n.Lane}
	if len(nodes) > 1 || n.Kind != event.NodeDescendant || n.Name != r.Root.Name || r.Root.Kind != InvokeWorkflow || r.hasAddedRoot || r.silentTargets[n.Name] != nil {
		return
	}
	if r.nodes[key] == nil {
		before := r.Root.node.key
		if r.setPlace(r.Root, key); before != (nodeKey{}) {
			r.addPlace(r.Root, before)
		}
		r.Root.Kind = InvokeAgent
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

// addRootAboveFinished puts a workflow above the agent that was taken for the root, because an error names no agent and that agent has
// given its final answer, or because it says so itself (Beside): something else failed. If the protocol marks final answers, it does nothing, because a callback of the
// agent may have failed after its answer.
func (r *openRun) addRootAboveFinished(b *event.Batch) {
	at := r.Root
	isBeside := at.node.gaveFinalAnswer && at.node.finalsUnmarked || slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Beside })
	if r.rootGuessed && r.current == at && at.Name != r.App && isBeside && !at.hasFailed() && r.hasRoom(InvokeWorkflow) {
		r.addRoot()
	}
}

// addRoot puts a workflow above the first root as the new root, because something runs beside the first one. The first one has ended
// with its own last frame, or ends with its children.
func (r *openRun) addRoot() {
	below := r.Root
	above := &Operation{
		Kind: InvokeWorkflow, Name: r.App, Started: below.Started, Ended: below.Ended, open: true,
		openState: &openState{
			spoke: true, openChildren: 1, lastChild: below, height: below.height + 1,
			undatedStart: below.undatedStart, undatedEnd: below.undatedEnd, firstTime: below.firstTime,
			failedFrame: below.failedFrame, failureCode: below.failureCode, finalFrame: below.finalFrame,
			node: &node{cause: below.node.cause, lastBelow: below.node.lastBelow},
		},
	}
	if below.node.lane == "" {
		above.node.lastInLane, above.node.lastActive = below.node.lastInLane, below
	}
	below.parent, below.wasRoot = above, true
	below.Kind, below.Agent = InvokeAgent, below.Name
	if last := r.rootSpoke; last.Frame > 0 {
		below.Ended, below.undatedEnd = last, last.At.IsZero() || last.At.Before(below.firstTime)
	}
	r.Root, r.rootGuessed, r.hasAddedRoot, r.Agent = above, false, true, r.App
	r.Operations = slices.Insert(r.Operations, 0, above)
	r.indexInvocation(below)
	if r.key != "" { // fixTrace has fixed the id of the first root
		r.identify(above)
	}
}

// settleUnnamedRoot settles the kind and the name of a root without a name at the end of the run. If no frame names the agent, it has the
// name that the start of the run states.
func (r *openRun) settleUnnamedRoot() {
	if r.Root.Name == "" && r.Root.Kind == InvokeAgent && (r.stepAgent != "" || r.hasInnerAgents) {
		r.settleRootAbove()
	}
	if r.Root.Name == "" && r.Root.Kind == InvokeAgent {
		r.Root.Name = r.unnamedAgent
		r.nameRoot()
	}
}

// settleRootAbove settles a root without a name that is above other agents or steps. If one of its steps has called a model or a tool,
// the root has the name of the agent that works in its steps. If only agents in graphs within graphs, or in calls of an earlier run, have, it is
// a workflow.
func (r *openRun) settleRootAbove() {
	for _, op := range r.Operations[1:] {
		by := op.parent
		for by.Kind == InvokeNode {
			by = by.parent
		}
		switch {
		case op.Kind == InvokeAgent && r.hasInnerAgents:
			r.Root.Kind = InvokeWorkflow
		case !op.Kind.Invokes() && by == r.Root:
			r.Root.Kind, r.Root.Name = InvokeAgent, r.stepAgent
			r.nameRoot()
			return
		}
	}
}

// dropUninvoked removes operations that appear only in the places of the run's agents and were not
// invoked in this run. If control was transferred to an agent in an earlier run of the session, its
// places still name the agents above it, which look like workflows. A workflow that really ran shows an
// output of its children, work of its own, or a failure.
func (r *openRun) dropUninvoked() {
	afterTransfer := r.noteSessionTransfer()
	var uninvoked []*Operation
	for _, op := range r.Operations[1:] {
		mayBeAgent := op.open && op.Kind == InvokeWorkflow && op.node.isContainer && (op.node.looksLikeAgent || afterTransfer)
		if mayBeAgent && op.failedFrame == 0 && !op.node.childHasOutput && !op.node.hasOwnWork {
			op.dropped, uninvoked = true, append(uninvoked, op)
		}
	}
	if len(uninvoked) > 0 {
		r.reattachChildren()
	}
	for _, op := range uninvoked {
		r.drop(op)
	}
}

// reattachChildren moves the children of dropped operations to their nearest ancestor that is not dropped.
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

// drop marks an operation that turned out not to have happened. compact removes it from the run.
func (r *openRun) drop(op *Operation) {
	op.open, op.dropped = false, true
	r.dropped++
	op.detach()
	r.forget(op)
	r.unindex(op)
}

// compact removes the dropped operations from the run.
func (r *openRun) compact() {
	if r.dropped > 0 {
		r.charge(-r.dropped * operationSize)
		r.dropped, r.Operations = 0, slices.DeleteFunc(r.Operations, func(op *Operation) bool { return op.dropped })
	}
}

// dropMissingTarget removes the target of a transfer, because an error says that it does not exist.
func (r *openRun) dropMissingTarget(name string) {
	op := r.silentTargets[name]
	if name == "" || op == nil || op.openChildren > 0 || op.spoke || op.node.hasOwnWork {
		return
	}
	if r.current == op {
		r.current = op.parent
	}
	r.drop(op)
}

// dropMissingWithin removes the agents that a call was to run, because its response says that they do not
// exist.
func (r *openRun) dropMissingWithin(call *Operation) {
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

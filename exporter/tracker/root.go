package tracker

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// decideRoot settles at the first place what the run's own operation is: the root agent, where that has the name of the application
// or no application is known; else the application's workflow. If the root never speaks, the workflow stands for it.
func (r *openRun) decideRoot(kind event.RootKind, first *event.Node) {
	if r.rooted {
		return
	}
	r.rooted = true
	silent := kind == event.RootSilent || kind == event.RootUnknown && first.Kind == event.NodeContainer
	speaks := first.Kind == event.NodeSpeaker || first.Kind == event.NodeLoose
	takes := first.Name == r.App || r.App == "" && !(silent && speaks)
	if takes {
		r.Root.Name = first.Name
		r.Root.node.key = nodeKey{nil, first.Name, runOf(first), first.Lane}
		put(&r.nodes, r.Root.node.key, r.Root)
	}
	r.Root.Kind = InvokeAgent
	if !takes || silent && !speaks || first.Kind == event.NodeWorkflow {
		r.Root.Kind = InvokeWorkflow
	}
	r.guessed = takes && kind == event.RootUnknown
	if r.Agent = first.Name; silent {
		r.Agent = r.Root.Name
	}
	r.nameRoot()
}

// speaksForRoot finds the root agent behind an author that has the application's name, where only its silence made it a workflow.
func (r *openRun) speaksForRoot(nodes []event.Node) {
	n := &nodes[0]
	key := nodeKey{nil, n.Name, "", n.Lane}
	if len(nodes) > 1 || n.Kind != event.NodeLoose || n.Name != r.Root.Name || r.Root.Kind != InvokeWorkflow || r.raised || r.arriving[n.Name] != nil {
		return
	}
	if r.nodes[key] == nil {
		r.Root.node.key, r.Root.Kind = key, InvokeAgent
		put(&r.nodes, key, r.Root)
		r.nameRoot()
	}
}

// nameRoot makes the run's own operation's agent its own name, or none if it is no agent.
func (r *openRun) nameRoot() {
	r.Root.Agent = r.Root.agentName()
}

// agentName returns the name under which an operation's calls and responses are counted: a workflow is no agent.
func (op *Operation) agentName() string {
	if op.Kind == InvokeWorkflow {
		return ""
	}
	return op.Name
}

// raiseRoot puts a workflow above what was taken for the root, since something runs beside that.
func (r *openRun) raiseRoot() {
	below := r.Root
	above := &Operation{
		Kind: InvokeWorkflow, Name: r.App, Started: below.Started, Ended: below.Ended, open: true,
		course: &course{spoke: true, openBelow: 1, youngest: below, height: below.height + 1, undatedStart: below.undatedStart, undatedEnd: below.undatedEnd, failed: below.failed, code: below.code, final: below.final, node: &node{
			lane: below.node.lane, cause: below.node.cause, below: below.node.below, trunk: below.node.trunk, last: below,
		}},
	}
	below.parent, below.first = above, true
	below.Kind, below.Agent = InvokeAgent, below.Name
	r.Root, r.guessed, r.raised, r.Agent = above, false, true, r.App
	r.Operations = slices.Insert(r.Operations, 0, above)
	r.countInvocation(below)
}

// dissolve takes out what the places of a run's agents name and what was not invoked in this run. A run that goes on where an earlier one
// handed control over names the agents above its own; unlike a workflow, they get no output.
func (r *openRun) dissolve() {
	goesOn := r.goesOn()
	var out []*Operation
	for _, op := range r.Operations[1:] {
		agent := op.open && op.Kind == InvokeWorkflow && op.node.silent && (op.node.chats || goesOn)
		if agent && op.failed == 0 && !op.node.outputs && !op.node.works {
			op.gone, out = true, append(out, op)
		}
	}
	if len(out) > 0 {
		r.lift()
	}
	for _, op := range out {
		r.drop(op)
	}
}

// lift makes what is below operations that did not happen part of what these are part of.
func (r *openRun) lift() {
	for _, op := range r.Operations[1:] {
		above := op.parent
		for above.gone {
			above = above.parent
		}
		switch {
		case op.gone || above == op.parent:
		case op.open:
			r.reparent(op, above)
		default: // ended, and not told of yet
			op.parent = above
		}
	}
}

// drop takes an operation out that turned out not to have happened.
func (r *openRun) drop(op *Operation) {
	op.open, op.gone = false, true
	r.gone++
	op.part()
	r.forget(op)
	r.leave(op)
	delete(r.nodes, op.node.key)
}

// compact takes out of the report what did not happen.
func (r *openRun) compact() {
	if r.gone > 0 {
		r.gone, r.Operations = 0, slices.DeleteFunc(r.Operations, func(op *Operation) bool { return op.gone })
	}
}

// denyAgent takes an agent out that control was handed to and that there is not, by the error's word.
func (r *openRun) denyAgent(name string) {
	op := r.arriving[name]
	if name == "" || op == nil || !op.open || op.openBelow > 0 || op.spoke || op.node.works {
		return
	}
	delete(r.arriving, name)
	if r.speaking == op {
		r.speaking = op.parent
	}
	r.drop(op)
}

// denyWithin takes the agents out that a call was to run and that there are not, by the word of its response.
func (r *openRun) denyWithin(call *Operation) {
	for op, older := call.youngest, (*Operation)(nil); op != nil; op = older {
		older = op.older
		if op.node == nil || op.openBelow > 0 || op.node.works {
			continue
		}
		if r.speaking == op {
			r.speaking = call.parent
		}
		r.drop(op)
	}
}

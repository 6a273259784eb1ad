package tracker

import (
	"github.com/delegraph/delegraph/collector/event"
)

// node is bookkeeping of an open operation that runs others.
type node struct {
	key  nodeKey
	lane string // nodes of one lane take turns

	cause Moment     // what made it begin; frame 0 if only the run's request did, or if that is not known
	below Moment     // the last whole frame of it and of all that it runs
	trunk Moment     // likewise, in its own lane only
	last  *Operation // the node that it ran last in its own lane
	task  Moment     // the last answer to a task that it gave

	givers *giver // agents that handed control over on the way to it

	silent   bool // named as something that runs others
	works    bool // has calls or responses of its own
	runs     bool // says itself that it runs others
	outputs  bool // something that it runs had an output or is a function
	chats    bool // something that it runs showed that it is an agent: an answer that is no output, or control handed back
	left     bool // handed control over
	returned bool // control came back to it from a task
	retried  bool // it was tried again, after a pause of which no frame says how long it was
	handed   bool // control was handed to it by name
	asked    bool // a model answered for it
	answered bool // its model's last answer was final
}

// nodeKey names a node by the node that its place names above it.
type nodeKey struct {
	above           *Operation // nil at the top of the run
	name, run, lane string
}

// laneKey names a lane below an operation.
type laneKey struct {
	above *Operation
	lane  string
}

// placed finds or begins the operation of a frame's speaker by its place, and those that the place names above it. It returns nil if
// the run has too many open.
func (r *openRun) placed(b *event.Batch) *Operation {
	nodes := b.Place.Nodes
	if len(nodes) == 0 {
		return nil
	}
	r.decideRoot(b.Place.Root, &nodes[0])
	r.speaksForRoot(nodes)
	var at *Operation
	for i := range nodes {
		n := &nodes[i]
		if n.Kind == event.NodeLoose {
			at, n = r.leaveLane(at, n)
		}
		if at = r.child(at, n, i == len(nodes)-1, b); at == nil {
			return nil
		}
	}
	at.noteSpeaker(b, nodes[len(nodes)-1].Kind)
	return at
}

// noteSpeaker notes that an operation and all that it is part of have spoken, and what that says of what runs it.
func (op *Operation) noteSpeaker(b *event.Batch, kind event.NodeKind) {
	for up := op; up != nil && !up.spoke; up = up.parent {
		up.spoke = true
	}
	op.node.runs = op.node.runs || kind == event.NodeContainer
	above := op.runner()
	if above == nil {
		return
	}
	if b.Output || kind == event.NodeFunction {
		for at := op; at.parent != nil && at.parent.node != nil && at.CallID == ""; at = at.parent { // what a call invoked answers that
			at.parent.node.outputs = true
		}
	}
	above.node.chats = above.node.chats || !b.Output && states(b, event.KindModelEnded) && states(b, event.KindFinal)
}

// runOf is what tells the invocations of a node apart.
func runOf(n *event.Node) string {
	if n.Call != "" {
		return n.Call
	}
	return n.Run
}

// leaveLane takes a speaker out of the lane of an agent that did not run it. ADK leaves the branch of the last parallel agent on what
// follows that; an agent with a model runs others only by calls and transfers.
func (r *openRun) leaveLane(at *Operation, n *event.Node) (*Operation, *event.Node) {
	if at == nil || n.Lane == "" || !at.node.asked || r.arriving[n.Name] != nil || r.nodes[nodeKey{at, n.Name, "", n.Lane}] != nil {
		return at, n
	}
	up := at
	for up != nil && up.node.lane == n.Lane {
		up = up.node.key.above
	}
	if up == nil || !up.node.silent {
		return at, n
	}
	left := *n
	left.Lane = up.node.lane // of the parallel agent, which takes its turn with what follows
	return up.node.key.above, &left
}

// child finds or begins the operation of a node below another.
func (r *openRun) child(above *Operation, n *event.Node, speaks bool, b *event.Batch) *Operation {
	key := nodeKey{above, n.Name, runOf(n), n.Lane}
	op := r.nodes[key]
	switch arriving := r.arriving[n.Name]; {
	case arriving != nil && arriving.open:
		op = r.arriveAt(arriving, key, n)
	case speaks && r.backTo(op, n) != nil:
		op = r.backTo(op, n)
		put(&r.nodes, key, op)
	case op == nil || !op.open, !speaks && above != nil && n.Run != "" && op.failed > 0: // the protocol does not count retries
		op = r.beginNode(key, n)
	case speaks && failureIn(b) != event.NoFailure && op.befallenBy(failureIn(b)) != op: // it names the step before the one that failed
	case speaks && r.isNext(op, n, b):
		if n.Run == "" && above != nil && above.node.silent && above.node.lane != n.Lane { // it runs each child once: it runs again too
			if above = r.beginNode(above.node.key, above.asNode()); above == nil {
				return nil
			}
			key.above = above
		}
		op = r.beginNode(key, n)
	}
	if op == nil {
		return nil
	}
	if speaks {
		op.identifyKind(n, b)
		r.keepTask(op, n)
	}
	return op
}

// keepTask makes an invocation end with the answer to its call.
func (r *openRun) keepTask(op *Operation, n *event.Node) {
	if n.Task && op.CallID == "" {
		op.CallID = n.Call
		r.keepCall(op)
	}
}

// identifyKind corrects what a node was taken for before it spoke.
func (op *Operation) identifyKind(n *event.Node, b *event.Batch) {
	switch {
	case n.Kind == event.NodeFunction && !op.node.asked && !op.node.handed && !states(b, event.KindModelEnded):
		op.Kind, op.Agent = InvokeNode, ""
	case op.Kind != InvokeAgent && op.Kind != InvokeNode && n.Kind == event.NodeContainer:
		op.Kind, op.Agent = InvokeAgent, op.Name
	case op.Kind != InvokeAgent && (states(b, event.KindModelStarted) || states(b, event.KindModelEnded) || states(b, event.KindText)):
		op.Kind, op.Agent = InvokeAgent, op.Name
	}
}

// runner is the node that runs an operation, or nil.
func (op *Operation) runner() *Operation {
	for up := op.parent; up != nil; up = up.parent {
		if up.node != nil {
			return up
		}
	}
	return nil
}

// asNode is the node that a silent operation is of.
func (op *Operation) asNode() *event.Node {
	return &event.Node{Name: op.Name, Run: op.node.key.run, Lane: op.node.lane, Kind: event.NodeContainer}
}

// beginNode begins the operation of a node's next invocation.
func (r *openRun) beginNode(key nodeKey, n *event.Node) *Operation {
	call := r.calls[n.Call]
	if n.Call == "" || call == nil || !call.open {
		call = nil
	}
	if call != nil && call.Kind == ExecuteTool && n.Task && call.Name == n.Name {
		return r.becomeNode(call, key)
	}
	if call != nil && call.Kind.Invokes() {
		call = nil // the call became an earlier invocation
	}
	parent, cause := r.runs(key.above, n), Moment{}
	if call != nil {
		parent, cause = call, call.Started
	} else {
		cause = r.causeIn(parent, n.Lane)
	}
	op := r.begin(kindOf(n), n.Name, parent)
	if op == nil {
		return nil
	}
	if op.Branch = n.Lane; op.Kind == InvokeAgent {
		op.Agent = n.Name
	}
	switch {
	case cause.Frame > 0:
		op.Started = cause
	case r.answers:
		op.Started = r.Root.Started
	}
	r.keepTask(op, n)
	again := r.nodes[key]
	op.node = &node{key: key, lane: n.Lane, cause: cause, silent: n.Kind == event.NodeContainer || n.Kind == event.NodeWorkflow}
	op.node.retried = n.Run != "" && again != nil && again.failed > 0 || parent.pausedUntil(cause)
	op.unseen = op.node.retried
	put(&r.nodes, key, op)
	put(&r.lanes, laneKey{op.runner(), n.Lane}, op)
	r.countInvocation(op)
	return op
}

func kindOf(n *event.Node) OperationKind {
	switch n.Kind {
	case event.NodeFunction:
		return InvokeNode
	case event.NodeWorkflow:
		return InvokeWorkflow
	}
	return InvokeAgent
}

// runs returns what runs a new node. A node whose place says no more than what stands somewhere above it is run by the container or
// the agent without a model that control was handed to last.
func (r *openRun) runs(above *Operation, n *event.Node) *Operation {
	if (n.Kind == event.NodeLoose || n.Kind == event.NodeContainer) && r.speaking != nil && (above == nil || r.speaking.isBelow(above)) {
		for up := r.speaking; up != nil && up != above; up = up.parent {
			holds := up.open && up.node != nil && up.node.lane == n.Lane && (up.node.handed || up.node.runs) && !up.node.asked
			if holds && up != r.Root {
				return up
			}
		}
	}
	if above != nil {
		return above
	}
	if r.guessed && (r.Root.node.asked || r.Root.Name != r.App) && r.hasRoom(InvokeWorkflow) {
		r.raiseRoot()
	}
	if n.Kind == event.NodeLoose && r.Root.node.last != nil && r.Root.Kind == InvokeWorkflow {
		r.Agent = r.Root.Name // its agents follow one another: what runs them never speaks
	}
	return r.Root
}

// arriveAt gives an agent that control was handed to the place at which it turns out to work.
func (r *openRun) arriveAt(op *Operation, key nodeKey, n *event.Node) *Operation {
	delete(r.arriving, n.Name)
	if n.Kind != event.NodeLoose && (key.above != nil || n.Kind != event.NodeContainer) { // a branch does not say what runs its container
		above := key.above
		if above == nil {
			above = r.Root
		}
		if n.Run != "" || !op.isBelow(above) { // a branch names only the container, which may run who handed over
			r.reparent(op, above)
		}
	}
	op.node.key, op.node.lane = key, n.Lane
	op.node.silent = n.Kind == event.NodeContainer || n.Kind == event.NodeWorkflow
	put(&r.nodes, key, op)
	return op
}

// reparent moves an open operation below another.
func (r *openRun) reparent(op, above *Operation) {
	if op == above || above.isBelow(op) {
		return
	}
	above = r.fitBelow(above, op.height)
	op.part()
	op.join(above)
	op.raise()
}

// causeOf returns the earliest moment at which an operation runs something in a lane, by the frames so far: in its own lane one thing
// follows another; a new lane begins beside what the others have to say.
func (op *Operation) causeOf(lane string) Moment {
	if op.node == nil {
		return op.Started
	}
	if op.node.lane != lane {
		return latest(op.node.cause, op.node.trunk)
	}
	top := op
	for up := op.runner(); up != nil && up.node.lane == lane; up = up.runner() {
		top = up
	}
	return latest(op.node.cause, top.node.below)
}

// causeIn returns the earliest moment at which an operation runs the next thing in a lane: where the lane has begun, after what the
// operation ran in it last.
func (r *openRun) causeIn(above *Operation, lane string) Moment {
	if last := r.lanes[laneKey{above.firstOpen(), lane}]; last != nil && last.node.below.Frame > 0 && above.laneOr("") != lane {
		return last.node.below
	}
	return above.causeOf(lane)
}

func latest(a, b Moment) Moment {
	if a.Frame > b.Frame {
		return a
	}
	return b
}

// passed notes a whole frame at all that it is part of.
func (r *openRun) passed(b *event.Batch, speaker *Operation) {
	lane := b.Branch
	if speaker == nil {
		speaker = r.Root
	}
	if speaker.node != nil {
		lane = speaker.node.lane
		speaker.node.follow(b)
	}
	below := speaker
	for up := speaker; up != nil; up = up.runner() {
		n := up.node
		if n == nil {
			continue
		}
		if n.below = r.now; n.lane == lane {
			n.trunk, n.last = r.now, below
		}
		below = up
	}
}

// follow notes whether an agent has given its final answer: of its model or of a callback, or a model's failure.
func (n *node) follow(b *event.Batch) {
	answers, final := states(b, event.KindModelEnded), states(b, event.KindFinal)
	n.asked = n.asked || answers
	switch {
	case !final:
		n.answered = false
	case answers || states(b, event.KindText):
		n.answered = !states(b, event.KindToolStarted)
	}
}

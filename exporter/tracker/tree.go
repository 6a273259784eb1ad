package tracker

import (
	"github.com/delegraph/delegraph/collector/event"
)

// operationAt finds or begins the operation of a frame's speaker, and those of the nodes above it in its
// place. It returns nil if the run has no room for one of them.
func (r *openRun) operationAt(b *event.Batch) *Operation {
	nodes := b.Place.Nodes
	if len(nodes) == 0 {
		return nil
	}
	r.orderUnknown = b.OrderUnknown
	r.decideRoot(b.Place.Root, &nodes[0])
	r.makeRootAgent(nodes)
	if !r.repeatEndedParallel(b.Place) {
		return nil
	}
	if at := r.recordedAt(nodes, b); at != nil {
		return at
	}
	var at *Operation
	for i := range nodes {
		n := &nodes[i]
		if n.Kind == event.NodeDescendant && b.Place.Root == event.RootFirst {
			at, n = r.exitStaleLane(at, n)
		}
		if at = r.childNode(at, n, i == len(nodes)-1, b); at == nil {
			return nil
		}
	}
	at.noteSpeaker(b, nodes[len(nodes)-1].Kind)
	return at
}

// recordedAt returns the known invocation at a numbered place if a frame has no facts and another agent has got control. Otherwise it returns
// nil. Such a frame, for example a checkpoint at the end of an agent, may follow a transfer to an agent above, which has not spoken again.
//
// Source: google/adk/agents/base_agent.py of google-adk 2.13, _create_agent_state_event.
func (r *openRun) recordedAt(nodes []event.Node, b *event.Batch) (at *Operation) {
	if last := &nodes[len(nodes)-1]; len(r.silentTargets) == 0 || hasFacts(b) || last.Run == "" || r.silentTargets[last.Name] != nil {
		return nil
	}
	for i := range nodes {
		if at = r.nodes[keyBelow(at, &nodes[i])]; at == nil {
			return nil
		}
	}
	return at
}

// noteSpeaker records that an operation and its ancestors have spoken. It also records what the frame shows
// about the nodes above: that the runner is an agent, or that these are workflows whose children have outputs.
func (op *Operation) noteSpeaker(b *event.Batch, kind event.NodeKind) {
	for up := op; up != nil && !up.spoke; up = up.parent {
		up.spoke = true
	}
	op.node.claimsChildren = op.node.claimsChildren || kind == event.NodeContainer
	above := op.runner()
	if above == nil {
		return
	}
	if b.Output || kind == event.NodeFunction {
		for at := op; at.parent != nil && at.parent.node != nil && at.CallID == ""; at = at.parent { // an agent that a call invoked answers the call
			at.parent.node.childHasOutput = true
		}
	}
	above.node.looksLikeAgent = above.node.looksLikeAgent || !b.Output && b.Has(event.KindModelEnded) && b.Has(event.KindFinal)
}

// exitStaleLane corrects a place whose lane is out of date: it returns the node above the speaker, and
// the speaker with its true lane. After a parallel agent within a path, ADK leaves the branch of its last
// agent on the frames of the nodes that follow. Such a place puts the speaker below that agent. This is
// wrong, because an agent with a model runs others only by calls and transfers.
func (r *openRun) exitStaleLane(at *Operation, n *event.Node) (*Operation, *event.Node) {
	if at == nil || !at.node.usedModel || r.nodes[nodeKey{at, n.Name, "", n.Lane}] != nil || r.runnerOf(at, n) != at {
		return at, n
	}
	up := at
	for up != nil && up.node.lane == n.Lane {
		up = up.abovePlace()
	}
	if !r.runsLaneInParallel(up, n.Lane) {
		return at, n
	}
	left := *n
	left.Lane = up.node.lane // of the parallel agent, which does not run in parallel with the nodes that follow
	return up.abovePlace(), &left
}

// childNode finds or begins the operation of a node below another.
func (r *openRun) childNode(above *Operation, n *event.Node, speaks bool, b *event.Batch) *Operation {
	key := keyBelow(above, n)
	op := r.nodes[key]
	switch silent := r.silentTargets[n.Name]; {
	case silent != nil:
		op = r.placeTarget(silent, key, n)
	case speaks && r.enclosingInvocation(above, op, n) != nil:
		op = r.enclosingInvocation(above, op, n)
		r.addPlace(op, key)
	case op == nil, n.Run != "" && above != nil && op.failedFrame > 0: // a retry has the number of the failed invocation
		op = r.beginNode(key, n)
	case !speaks: // only the speaker can run again
	case failureIn(b) != event.NoFailure && op.failingOperation(failureIn(b)) != op: // the frame names the last speaker, but its container failed
	case r.isNewInvocation(op, n, b):
		if n.Run == "" && r.runsLaneInParallel(above, n.Lane) { // a parallel agent runs each child once, so it runs again too
			if above = r.repeatFor(op, above); above == nil {
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
		op.correctKind(n, b)
		r.linkTaskCall(op, n)
	}
	return op
}

// linkTaskCall links an invocation to its call, so that the response ends it. It does not link the root, which ends with the run.
func (r *openRun) linkTaskCall(op *Operation, n *event.Node) {
	if n.Task && op.CallID == "" && op != r.Root {
		op.CallID = n.Call
		r.indexCall(op)
	}
}

// correctKind corrects the kind that a node was given before it spoke.
func (op *Operation) correctKind(n *event.Node, b *event.Batch) {
	switch {
	case n.Kind == event.NodeFunction && !op.node.usedModel && !op.node.receivedControl && !b.Has(event.KindModelEnded):
		op.Kind, op.Agent = InvokeNode, ""
	case op.Kind != InvokeAgent && n.Kind != event.NodeWorkflow && (n.Kind == event.NodeContainer || b.Has(event.KindModelStarted) || b.Has(event.KindModelEnded) || b.Has(event.KindText)):
		op.Kind, op.Agent = InvokeAgent, op.Name
	}
}

// runner returns the nearest node above an operation, or nil.
func (op *Operation) runner() *Operation {
	for up := op.parent; up != nil; up = up.parent {
		if up.node != nil {
			return up
		}
	}
	return nil
}

// beginNode begins the operation of a node's next invocation.
func (r *openRun) beginNode(key nodeKey, n *event.Node) *Operation {
	call := r.call(key.above.laneOr(""), n.Call)
	inCall := call != nil && call.open && call.Kind == ExecuteTool // otherwise it may have become an earlier invocation
	if inCall && n.Task && call.Name == n.Name {
		return r.turnIntoNode(call, key)
	}
	var parent *Operation
	var cause Timestamp
	if inCall {
		parent, cause = call, call.taskStart()
	} else {
		parent = r.runnerOf(key.above, n)
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
		op.startAt(cause)
	case r.isRequested:
		op.startAt(r.Root.Started)
	}
	r.linkTaskCall(op, n)
	previous := r.nodes[key]
	op.node = r.tracker.newNode(node{lane: n.Lane, cause: cause, isContainer: n.Kind == event.NodeContainer || n.Kind == event.NodeWorkflow})
	op.node.delayUnknown = n.Run != "" && previous != nil && previous.failedFrame > 0 || r.orderUnknown || parent.hasUnknownDelay(cause)
	if parent.node != nil && parent.node.lane == n.Lane && r.followsUnfinished(op) {
		parent.node.runsSeveral = true
	}
	op.node.delayUnknown = op.node.delayUnknown || parent.runsSeveralIn(n.Lane)
	op.startUnknown = op.node.delayUnknown || r.mayLackCause(cause)
	r.setPlace(op, key)
	r.setLastInLane(op)
	r.indexInvocation(op)
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

// runnerOf returns the parent of a new node. above is the node before it in its place, or nil for the run.
// If the place may leave out nodes between the two, the parent is the first suitable one on the way up from
// the agent in control. It is suitable if it is in the same lane, has no model, and has got control by a
// transfer or states that it runs others.
func (r *openRun) runnerOf(above *Operation, n *event.Node) *Operation {
	if n.Run == "" && (n.Kind == event.NodeDescendant || n.Kind == event.NodeContainer) {
		for up := r.controlBelow(above); up != nil && up != above; up = up.parent {
			if up.node != nil && up.node.lane == n.Lane && (up.node.receivedControl || up.node.claimsChildren) && !up.node.usedModel {
				return up
			}
		}
	}
	if above != nil {
		return above
	}
	isBesideParallel := r.Root.node.isContainer && !r.Root.node.hasOwnWork && r.Root.node.lane == n.Lane
	if r.rootGuessed && (r.Root.node.usedModel || r.Root.Name != r.App || isBesideParallel) && r.hasRoom(InvokeWorkflow) {
		r.addRoot()
	}
	if n.Run == "" && r.Root.node.lastActive != nil {
		r.Agent = r.Root.Name // several agents follow one another directly below it: the root is a container that never speaks
	}
	return r.Root
}

// controlBelow returns the agent in control if it is below an operation. Otherwise control may be in another
// lane, and the result is the last node that began below the operation. above is nil for the run.
func (r *openRun) controlBelow(above *Operation) *Operation {
	if above == nil || r.current != nil && r.current.isBelow(above) {
		return r.current
	}
	at := above
	for at.lastChild != nil && at.lastChild.node != nil {
		at = at.lastChild
	}
	return at
}

// placeTarget moves the target of a transfer to the place where it speaks.
func (r *openRun) placeTarget(op *Operation, key nodeKey, n *event.Node) *Operation {
	delete(r.silentTargets, n.Name)
	if n.Run != "" { // without a path, the place does not say what runs the node
		above := key.above
		if above == nil {
			above = r.Root
		}
		r.reparent(op, above)
	}
	r.setPlace(op, key)
	op.node.lane, op.node.isContainer = n.Lane, n.Kind == event.NodeContainer || n.Kind == event.NodeWorkflow
	return op
}

// reparent moves an open operation below another.
func (r *openRun) reparent(op, above *Operation) {
	if op == above || above.isBelow(op) {
		return
	}
	above = r.limitDepth(above, op.height)
	op.detach()
	op.attach(above)
	op.updateHeights()
}

// causeOf returns the frame after which an operation can run something in a lane. In its own lane that is
// the last whole frame in the lane or below it, because operations follow one another there. In another
// lane it is the last whole frame in the operation's own lane, because lanes run in parallel.
func (op *Operation) causeOf(lane string) Timestamp {
	if op.node == nil {
		return op.Started
	}
	if op.node.lane != lane {
		return latest(op.node.cause, op.node.lastInLane)
	}
	top := op
	for up := op.runner(); up != nil && up.node.lane == lane; up = up.runner() {
		top = up
	}
	return latest(op.node.cause, top.node.lastBelow)
}

// causeOfChat returns the frame after which an agent can ask a model. delayUnknown reports whether it asked at an unknown time after
// that frame. If the order of agents is unknown and the agent's last frame is its final answer, its runner has invoked it again. The
// cause may then be a later frame of the runner.
func (op *Operation) causeOfChat(b *event.Batch) (cause Timestamp, delayUnknown bool) {
	cause = op.causeOf(op.laneOr(b.Branch))
	above := op.runner()
	if b.OrderUnknown && above != nil && above.node.lane != op.node.lane && op.finalFrame > 0 && op.finalFrame == op.node.lastBelow.Frame {
		cause = latest(cause, above.node.lastInLane)
		return cause, above.spokeAfter(cause)
	}
	isOfOther := above.runsSeveralIn(op.laneOr("")) && op.node != nil && cause.Frame != op.node.lastBelow.Frame
	return cause, op.hasUnknownDelay(cause) || isOfOther
}

// causeIn returns the frame after which an operation can run the next node in a lane. In a lane other than the
// operation's own, it is the last frame of the previous node there. Without such a node, and in its own lane, it is the
// result of causeOf.
func (r *openRun) causeIn(above *Operation, lane string) Timestamp {
	if last := r.lastInLane[laneKey{above.firstOpen(), lane}]; last != nil && last.node.lastBelow.Frame > 0 && above.laneOr("") != lane {
		return last.node.lastBelow
	}
	return above.causeOf(lane)
}

func latest(a, b Timestamp) Timestamp {
	if a.Frame > b.Frame {
		return a
	}
	return b
}

// noteFrame records a whole frame for its speaker and the nodes above it. It skips a frame that may be the first piece of
// a response in the speaker's next invocation.
func (r *openRun) noteFrame(b *event.Batch, speaker *Operation) {
	if speaker.mayHaveEnded(b) {
		return
	}
	lane, isOfRun := b.Branch, speaker == nil
	if isOfRun {
		switch speaker = r.Root; {
		case !b.SameStep:
			r.lastWithoutSpeaker = r.now
		case r.rootIsFirst && r.rootLane != "": // the frame may be of something beside the first agent
			return
		}
	}
	if speaker.node != nil {
		if lane = speaker.node.lane; !isOfRun || !r.rootIsFirst {
			speaker.node.noteAnswer(b)
		}
	}
	if lane == b.Branch && b.Task.Step != "" {
		speaker.enterStep(b.Task.Step)
	}
	below := speaker
	for up := speaker; up != nil; up = up.runner() {
		n := up.node
		if n == nil {
			continue
		}
		if n.lastBelow = r.now; n.lane == lane && !b.SameStep {
			n.lastInLane, n.lastActive = r.now, below
		}
		below = up
	}
}

// noteAnswer records whether an agent has transferred control, and whether it has given its final answer. A
// final answer comes from its model or from a callback, or is a failure of its model.
func (n *node) noteAnswer(b *event.Batch) {
	answers := b.Has(event.KindModelEnded)
	n.finalsUnmarked = b.Place != nil && b.Place.FinalsUnmarked
	final := b.Has(event.KindFinal) || n.finalsUnmarked && answers && !asksForMore(b)
	n.usedModel, n.transferred = n.usedModel || answers, b.Has(event.KindTransfer)
	switch {
	case !hasFacts(b):
	case !final:
		n.gaveFinalAnswer = false
	case answers || b.Has(event.KindText):
		n.gaveFinalAnswer = !b.Has(event.KindToolStarted)
	}
}

// mayHaveEnded reports whether a frame may belong to the agent's next invocation instead of this one. This is so if
// the agent has given its final answer, the protocol does not mark final answers, and the frame has neither the end of a response,
// nor a final answer, nor anything that asksForMore finds.
func (op *Operation) mayHaveEnded(b *event.Batch) bool {
	return op != nil && op.node != nil && op.node.gaveFinalAnswer && b.Place != nil && b.Place.FinalsUnmarked &&
		!b.Has(event.KindModelEnded) && !b.Has(event.KindFinal) && !asksForMore(b)
}

// asksForMore reports whether a frame shows that its agent's turn continues: it has a call, the response to one, or a
// request for input.
func asksForMore(b *event.Batch) bool {
	return b.Has(event.KindToolStarted) || b.Has(event.KindToolEnded) || b.Has(event.KindInputRequested)
}

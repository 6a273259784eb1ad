package tracker

import (
	"cmp"

	"github.com/delegraph/delegraph/collector/event"
)

// The indexes of open nodes (openRun.nodes, lastInLane, silentTargets and current) must not hold an operation that has ended, because
// it has no openState. So each node records its keys, and unindex removes it under all of them. Other indexes, such as those of
// calls and agents, may hold ended operations.

// node is bookkeeping of an open node.
type node struct {
	key      nodeKey
	otherKey nodeKey // see addPlace; the zero value if there is none
	lane     string
	follows  string  // event.Batch.Follows
	inLane   laneKey // its key in openRun.lastInLane, which stays if the node moves

	cause          Timestamp  // the frame that caused its start; frame 0 if that is the run request or unknown
	lastBelow      Timestamp  // the last whole frame of the node or of a descendant
	lastInLane     Timestamp  // the last whole frame in its own lane, of the node or of a descendant, unless event.Batch.SameStep is set
	lastActive     *Operation // the child from or below which lastInLane came, or this node itself
	lastTaskAnswer Timestamp  // the last response to one of its tasks

	step             string    // the last event.Task.Step
	stepCause        Timestamp // the frame after which that step began
	stepDelayUnknown bool      // it began at an unknown time after that frame

	chain *transferChain // agents that transferred control on the way to it

	lastAnswerer uint32 // the last child in its own lane that has given a final answer, by Operation.firstFrame
	runsSeveral  bool   // a child has begun in its own lane while another one had a response to come

	isContainer     bool // the place names it as a container or workflow
	hasOwnWork      bool // a call or response of its own has begun, or an operation directly below it has ended
	claimsChildren  bool // states that it runs others
	childHasOutput  bool // a child had an output or is a function
	looksLikeAgent  bool // a child gave a final answer that is not an output, or control was transferred to its name
	transferred     bool // its last frame transferred control
	taskReturned    bool // got control back from a task
	delayUnknown    bool // started at an unknown time after its cause: it is a retry, or the order of agents is unknown
	receivedControl bool // got control by a transfer
	usedModel       bool // a model answered for it
	gaveFinalAnswer bool // its model's last answer was final
	finalsUnmarked  bool // see event.Place
}

// nodeKey identifies a node by its place. above may end before the node: use Operation.abovePlace or Operation.keyForNext.
type nodeKey struct {
	above           *Operation // nil at the top of the run
	name, run, lane string     // run is the number of the invocation, or the id of its call
}

func keyBelow(above *Operation, n *event.Node) nodeKey {
	return nodeKey{above, n.Name, cmp.Or(n.Call, n.Run), n.Lane}
}

// laneKey identifies a lane below an operation.
type laneKey struct {
	above *Operation
	lane  string
}

// setPlace records the place of a node.
func (r *openRun) setPlace(op *Operation, key nodeKey) {
	removeEntry(r.nodes, op.node.key, op)
	op.node.key = key
	put(&r.nodes, key, op)
}

// addPlace records another place of a node, which replaces the last such place.
func (r *openRun) addPlace(op *Operation, key nodeKey) {
	if key != op.node.key {
		removeEntry(r.nodes, op.node.otherKey, op)
		op.node.otherKey = key
	}
	put(&r.nodes, key, op)
}

// setLastInLane records a node as the last one of its lane below its runner.
func (r *openRun) setLastInLane(op *Operation) {
	removeEntry(r.lastInLane, op.node.inLane, op)
	op.node.inLane = laneKey{op.runner(), op.node.lane}
	put(&r.lastInLane, op.node.inLane, op)
}

// unindex removes an operation that is no longer open from the indexes of open nodes.
func (r *openRun) unindex(op *Operation) {
	if r.current == op {
		r.current = nil
	}
	if op.node == nil {
		return
	}
	removeEntry(r.silentTargets, op.Name, op)
	removeEntry(r.nodes, op.node.key, op)
	removeEntry(r.nodes, op.node.otherKey, op)
	removeEntry(r.lastInLane, op.node.inLane, op)
}

// removeEntry removes an operation from an index, unless the entry is another operation.
func removeEntry[K comparable](from map[K]*Operation, key K, op *Operation) {
	if from[key] == op {
		delete(from, key)
	}
}

// abovePlace returns the node above a node in its place. It returns nil if there is none or if it has ended: the parent of a
// transfer's target may be another node.
func (op *Operation) abovePlace() *Operation {
	if above := op.node.key.above; above != nil && above.open {
		return above
	}
	return nil
}

// keyForNext returns the key with which a node can begin again.
func (op *Operation) keyForNext() nodeKey {
	key := op.node.key
	if key.above != nil && !key.above.open {
		key.above = op.runner()
	}
	return key
}

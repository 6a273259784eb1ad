package tracker

import (
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// runsLaneInParallel reports whether an operation, which may be nil, is a parallel agent around a lane. The lane is that of a node
// below the operation. A guessed root (rootGuessed) also counts: a parallel agent that is taken for the root gets the kind
// InvokeWorkflow.
func (r *openRun) runsLaneInParallel(op *Operation, lane string) bool {
	return op != nil && (op.Kind == InvokeAgent || op == r.Root && r.rootGuessed) && op.node.isContainer && op.node.lane != lane
}

// runningParallel returns the innermost parallel agent around the agent in control of which the frames prove that it still runs, or
// nil. This is so if no other child is open: the others have not begun. It is also so if another child has used its model and given
// no final answer.
func (r *openRun) runningParallel() *Operation {
	for at := r.current; at != nil; at = at.runner() {
		if up := at.runner(); at.node != nil && r.runsLaneInParallel(up, at.node.lane) {
			others := 0
			for op := up.lastChild; op != nil; op = op.prevSibling {
				if op == at || op.node == nil {
					continue
				}
				if others++; op.node.usedModel && !op.node.gaveFinalAnswer {
					return up
				}
			}
			if others == 0 {
				return up
			}
		}
	}
	return nil
}

// repeatEndedParallel begins the outermost ended parallel agent of a place again, if there is one. It returns false if the run
// has no room for it.
func (r *openRun) repeatEndedParallel(p *event.Place) bool {
	var above, ended *Operation
	for i := range p.Nodes {
		n := &p.Nodes[i]
		op := r.nodes[keyBelow(above, n)]
		if op == nil {
			return true // it has not run before, or the branch is out of date, see exitStaleLane
		}
		isParallel := n.Kind == event.NodeContainer && n.Run == "" && i+1 < len(p.Nodes) && r.runsLaneInParallel(op, p.Nodes[i+1].Lane)
		if ended == nil && isParallel && op.hasSuccessor() {
			ended = op
		}
		above = op
	}
	return ended == nil || r.beginNode(ended.keyForNext(), ended.asContainer()) != nil
}

// hasSuccessor reports whether another node has spoken in the operation's own lane since it began. Nodes of a lane follow
// one another, so the operation has ended.
func (op *Operation) hasSuccessor() bool {
	above := op.runner()
	if above == nil || above.node.lane != op.node.lane || above.node.lastInLane.Frame <= int(op.firstFrame) {
		return false
	}
	last := above.node.lastActive
	return last != op && (last != above || above.node.claimsChildren)
}

// repeatFor begins the next invocation of a parallel agent, because a child of it runs again. It returns nil if the run has no room
// for it. A parallel agent runs again only after all its children have ended. So an agent whose response is open, and which began
// after the child's last frame, belongs to the next invocation. repeatFor moves it there and starts it no earlier than that frame.
func (r *openRun) repeatFor(child, earlier *Operation) *Operation {
	next := r.beginNode(earlier.keyForNext(), earlier.asContainer())
	if next == nil {
		return nil
	}
	for _, response := range slices.SortedFunc(maps.Values(r.partialResponses), byOrdinal) {
		if agent := response.parent; int(agent.firstFrame) > child.node.lastBelow.Frame && r.moveToNext(agent, earlier, next) {
			for up := response; up != next; up = up.parent {
				up.startAt(latest(up.Started, child.node.lastBelow))
			}
		}
	}
	return next
}

// moveToNext moves an agent from one invocation of a parallel agent to the next, with the containers above it that began in the
// same frame. It begins the containers again that began earlier. It returns false if the agent is elsewhere, or if the run has no
// room for a container.
func (r *openRun) moveToNext(agent, from, to *Operation) bool {
	var path []*Operation // from the agent up to the node below the parallel agent
	for up := agent; up != from; up = up.abovePlace() {
		if up == nil {
			return false
		}
		path = append(path, up)
	}
	for i, op := range slices.Backward(path) {
		if i == 0 || !op.node.isContainer || op.firstFrame == path[i-1].firstFrame {
			key := op.node.key
			key.above = to
			r.reparent(op, to)
			r.setPlace(op, key)
			r.setLastInLane(op)
			return true
		}
		n := op.asContainer()
		key := keyBelow(to, n)
		if r.nodes[key] == nil && r.beginNode(key, n) == nil {
			return false
		}
		to = r.nodes[key]
	}
	return false
}

// asContainer returns the event.Node with which a container can begin again.
func (op *Operation) asContainer() *event.Node {
	return &event.Node{Name: op.Name, Run: op.node.key.run, Lane: op.node.lane, Kind: event.NodeContainer}
}

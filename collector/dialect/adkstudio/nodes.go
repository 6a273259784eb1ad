package adkstudio

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// node is one execution of a node of the workflow. A loop executes the same name again in another
// step.
type node struct{ name, branch string }

// maxNodes limits the open nodes, and the open calls. Frames beyond the limit are decoded without
// that context.
const maxNodes = 256

// nodes holds the nodes that have started and not ended, the most recently active last.
type nodes struct {
	open    []node
	started int
}

// begin adds a node. If its step is unknown, the number of started nodes replaces it.
func (n *nodes) begin(name string, step event.Count) node {
	if name == "" {
		return node{}
	}
	n.started++
	if !step.Known {
		step = event.Count{N: int64(n.started), Known: true}
	}
	started := node{name, branchOf(name, step)}
	if n.touch(started.branch) == (node{}) && len(n.open) < maxNodes {
		n.open = append(n.open, started)
	}
	return started
}

// end removes a node and returns it. It is the node of the step or, if there is none, the latest with the name. Ends may
// come late, in any order, and without a start.
func (n *nodes) end(name string, step event.Count) node {
	ended := node{name, branchOf(name, step)}
	i := slices.Index(n.open, ended)
	if i < 0 {
		i = n.latest(name)
	}
	if i < 0 {
		return ended
	}
	ended = n.open[i]
	n.open = slices.Delete(n.open, i, i+1)
	return ended
}

// activate is touch for the latest open node with a name.
func (n *nodes) activate(name string) node {
	if i := n.latest(name); i >= 0 {
		return n.touch(n.open[i].branch)
	}
	return node{}
}

// current returns the most recently active node. A frame that names no node belongs to this node.
func (n *nodes) current() node {
	if len(n.open) == 0 {
		return node{}
	}
	return n.open[len(n.open)-1]
}

// touch returns the open node with a branch, and makes it the most recently active one. It returns the zero node if there
// is none.
func (n *nodes) touch(branch string) node {
	i := slices.IndexFunc(n.open, func(o node) bool { return o.branch == branch })
	if i < 0 {
		return node{}
	}
	touched := n.open[i]
	n.open = append(slices.Delete(n.open, i, i+1), touched)
	return touched
}

func (n *nodes) latest(name string) int {
	for i, o := range slices.Backward(n.open) {
		if o.name == name {
			return i
		}
	}
	return -1
}

// branchOf returns the branch of a node's execution. The step makes the branch unique.
func branchOf(name string, step event.Count) string {
	if !step.Known {
		return name
	}
	return wire.NumberedBranch(name, step.N)
}

// calls holds the tool calls without results. The protocol has no ids for them: results come in the
// order of the calls.
type calls []call

type call struct {
	tool   string
	caller node
}

func (c *calls) begin(tool string, caller node) {
	if len(*c) < maxNodes {
		*c = append(*c, call{tool, caller})
	}
}

// end removes the oldest call of a tool and returns the node that made it.
func (c *calls) end(tool string) node {
	i := slices.IndexFunc(*c, func(open call) bool { return open.tool == tool })
	if i < 0 {
		return node{}
	}
	caller := (*c)[i].caller
	*c = slices.Delete(*c, i, i+1)
	return caller
}

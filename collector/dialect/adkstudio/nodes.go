package adkstudio

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// node is one execution of a node of the workflow. A loop executes the same name again in another
// step.
type node struct{ name, branch string }

// maxNodes limits the open nodes, those that have started last, the open calls and the open questions.
const maxNodes = 256

// nodes holds the nodes that have started and not ended, the most recently active last. Beyond the limit, the
// one that was active least recently is dropped.
type nodes struct {
	open    []node
	recent  []node // the last that have started, in order
	started int
	agent   node // of the last agent frame, which only one version has
}

// forget drops all nodes, because a frame that cannot be read may have changed them.
func (n *nodes) forget() { n.open, n.recent, n.agent = nil, nil, node{} }

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
	if n.touch(started.branch) == (node{}) {
		n.open, n.recent = appendNode(n.open, started), appendNode(n.recent, started)
	}
	return started
}

// end removes a node and returns it. It is the node of the step or, if there is none, the latest with the name. Ends may
// come late, in any order, and without a start.
func (n *nodes) end(name string, step event.Count) node {
	ended := node{name, branchOf(name, step)}
	i := slices.Index(n.open, ended)
	if i < 0 && (!step.Known || n.started <= maxNodes) { // else the node of the step may have been dropped
		i = latest(n.open, name)
	}
	if i < 0 {
		return ended
	}
	ended = n.open[i]
	n.open = slices.Delete(n.open, i, i+1)
	return ended
}

// activate returns the latest open node with a name, and makes it the most recently active one. If there is none, it returns
// the latest node with the name, as far as that is known: the server reports the end of a parallel node too early.
func (n *nodes) activate(name string) node {
	if i := latest(n.open, name); i >= 0 {
		return n.touch(n.open[i].branch)
	}
	if i := latest(n.recent, name); i >= 0 {
		return n.recent[i]
	}
	if slices.Contains(placeholders, name) {
		return node{}
	}
	return node{name: name}
}

// placeholders are the names that the server sends for a node that it does not know.
//
// Source: src/server/sse.rs of adk-studio 1.0.1.
var placeholders = []string{"system", "unknown"}

// current returns the most recently active node or, if none is open, the agent of the last agent frame. A frame that names no
// node belongs to it.
func (n *nodes) current() node {
	if len(n.open) == 0 {
		return n.agent
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

// appendNode appends a node and drops the first if there are more than maxNodes.
func appendNode(list []node, added node) []node {
	return append(list[max(len(list)-maxNodes+1, 0):], added)
}

// latest returns the index of the last node with a name, or -1.
func latest(list []node, name string) int {
	for i, n := range slices.Backward(list) {
		if n.name == name {
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
type calls struct {
	open         []call
	missed       bool // a call or a result is not known, so a result may be of any call
	lostWithheld bool // a withheld call is not in open
}

type call struct {
	tool     string
	caller   node
	withheld bool
}

func (c *calls) begin(begun call) {
	if len(c.open) == maxNodes {
		c.missed, c.lostWithheld = true, c.lostWithheld || begun.withheld
		return
	}
	c.open = append(c.open, begun)
}

// mayBeOfWithheld reports whether a result of a tool may be that of a withheld call. Without the tool, it may be that of any call.
func (c *calls) mayBeOfWithheld(tool string) bool {
	known := false
	for _, open := range c.open {
		if open.tool == tool || tool == "" {
			if known = true; open.withheld {
				return true
			}
		}
	}
	return !known && c.lostWithheld
}

// end removes the oldest call of a tool. It returns the node that made it, or the zero node if that is not known.
func (c *calls) end(tool string) node {
	i := slices.IndexFunc(c.open, func(open call) bool { return open.tool == tool })
	if i < 0 {
		return node{}
	}
	caller := c.open[i].caller
	if c.open = slices.Delete(c.open, i, i+1); c.missed {
		return node{}
	}
	return caller
}

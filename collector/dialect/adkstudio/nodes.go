package adkstudio

import (
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// node is one execution of a node of the workflow: a loop comes back to the same name in another step.
type node struct{ name, branch string }

// maxNodes bounds the nodes, and the calls, that are open at once. Beyond it a frame is judged by itself.
const maxNodes = 256

// nodes are those that have begun and not ended, in the order in which they were last heard of.
type nodes struct {
	open  []node
	begun int
}

// begin adds a node.
func (n *nodes) begin(name string, step event.Count) node {
	if name == "" {
		return node{}
	}
	n.begun++
	begun := node{name, place(name, step)}
	if !step.Known {
		begun.branch = place(name, event.Count{N: int64(n.begun), Known: true})
	}
	if n.hear(begun.branch) == (node{}) && len(n.open) < maxNodes {
		n.open = append(n.open, begun)
	}
	return begun
}

// end removes a node: that of the step, else the latest of the name. Ends come late, in any order, and perhaps without a beginning.
func (n *nodes) end(name string, step event.Count) node {
	ended := node{name, place(name, step)}
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

// named is the latest open node of the name, from which was just heard; the zero node where there is none.
func (n *nodes) named(name string) node {
	if i := n.latest(name); i >= 0 {
		return n.hear(n.open[i].branch)
	}
	return node{}
}

// speaking is the node that is believed to speak where a frame names none: the one heard of last.
func (n *nodes) speaking() node {
	if len(n.open) == 0 {
		return node{}
	}
	return n.open[len(n.open)-1]
}

func (n *nodes) hear(branch string) node {
	i := slices.IndexFunc(n.open, func(o node) bool { return o.branch == branch })
	if i < 0 {
		return node{}
	}
	heard := n.open[i]
	n.open = append(slices.Delete(n.open, i, i+1), heard)
	return heard
}

func (n *nodes) latest(name string) int {
	for i, o := range slices.Backward(n.open) {
		if o.name == name {
			return i
		}
	}
	return -1
}

// place tells the executions of a node apart by their step.
func place(name string, step event.Count) string {
	if !step.Known {
		return name
	}
	number := "#" + strconv.FormatInt(step.N, 10)
	return event.Bounded(name, dialect.MaxName-len(number)) + number
}

// calls are those of tools that wait for their results. The wire has no ids for them: results come in the order of the calls.
type calls []call

type call struct {
	tool string
	by   node
}

func (c *calls) begin(tool string, by node) {
	if len(*c) < maxNodes {
		*c = append(*c, call{tool, by})
	}
}

// end removes the oldest call of a tool, and returns who made it.
func (c *calls) end(tool string) node {
	i := slices.IndexFunc(*c, func(open call) bool { return open.tool == tool })
	if i < 0 {
		return node{}
	}
	by := (*c)[i].by
	*c = slices.Delete(*c, i, i+1)
	return by
}

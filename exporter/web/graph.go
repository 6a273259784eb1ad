package web

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// graph shows the delegations of a run, from left to right: agents, and the tools they called.
type graph struct {
	Nodes         []node
	Edges         []edge
	More          int // calls of agents and tools that are not shown
	Width, Height int
}

// node is an agent or tool. It appears once, however often it was called.
type node struct {
	Name, Kind string // workflow, agent, step or tool
	Delegated  bool   // an agent delegated to it; otherwise a container ran it
	Calls      int
	Failed     int
	X, Y       int
	depth      int
}

// edge is a delegation: tool calls, an agent's work, or a transfer of control.
type edge struct {
	From, To   *node
	Calls      int
	Transfer   bool
	Runs       bool // From is a container that runs To
	Path       string
	from, into int
}

const (
	maxNodes              = 40
	maxDepth              = 6
	nodeWidth, nodeHeight = 172, 38
	gapX, gapY            = 64, 14
	margin                = 8
)

// graphBuilder builds the graph of a run.
type graphBuilder struct {
	graph
	nodes  map[[2]string]int
	edges  map[[3]int]int
	nodeOf map[tracker.SpanID]int  // the node that an operation belongs to
	active map[tracker.SpanID]bool // operations that call a model or a tool; all others are containers
}

// newGraph returns the graph of a run. An agent used as a tool counts as an agent.
func newGraph(run *tracker.Run) graph {
	p := graphBuilder{nodes: map[[2]string]int{}, edges: map[[3]int]int{}, nodeOf: map[tracker.SpanID]int{}, active: map[tracker.SpanID]bool{}}
	below := map[tracker.SpanID][]*tracker.Operation{}
	for _, op := range run.Operations {
		if !op.Kind.Invokes() {
			p.active[op.Parent] = true
		}
		if op != run.Root && op.Kind != tracker.Chat {
			below[op.Parent] = append(below[op.Parent], op)
		}
	}
	root := p.node(kinds[run.Root.Kind], cmp.Or(run.Root.Name, run.Agent, "the run"), 0)
	p.Nodes[root].Calls++
	queue := []*tracker.Operation{run.Root}
	p.nodeOf[run.Root.ID] = root
	for len(queue) > 0 {
		op := queue[0]
		children := below[op.ID]
		queue = append(queue[1:], children...)
		delete(below, op.ID) // prevents an endless loop if an operation is its own ancestor
		for _, child := range children {
			p.add(child, p.nodeOf[op.ID])
		}
	}
	for _, t := range run.Transfers {
		from, known := p.nodes[[2]string{"agent", t.From}]
		into, alsoKnown := p.nodes[[2]string{"agent", t.To}]
		if known && alsoKnown && from != into {
			p.Nodes[into].Delegated = true
			p.connect(from, into, true)
		}
	}
	p.Edges = slices.DeleteFunc(p.Edges, func(e edge) bool { // a transfer is more specific than a delegation between the same nodes
		_, transfer := p.edges[[3]int{e.from, e.into, 1}]
		return transfer && !e.Transfer
	})
	p.layOut()
	return p.graph
}

// add adds an operation below its caller. An operation that is not shown belongs to its caller, as
// do its descendants.
func (p *graphBuilder) add(op *tracker.Operation, caller int) {
	p.nodeOf[op.ID] = caller
	if op.Details.OrZero().HandoffTarget != "" { // shown as a transfer instead
		return
	}
	kind := kinds[op.Kind]
	if op.AgentTool {
		kind = "agent"
	}
	at := p.node(kind, op.Name, p.Nodes[caller].depth+1)
	if at < 0 {
		return
	}
	p.nodeOf[op.ID] = at
	p.Nodes[at].Calls++
	if op.Status == tracker.OperationError {
		p.Nodes[at].Failed++
	}
	runs := op.Kind.Invokes() && !p.active[op.Parent]
	p.Nodes[at].Delegated = p.Nodes[at].Delegated || kind == "agent" && !runs
	if at != caller {
		p.connect(caller, at, false)
		p.Edges[p.edges[[3]int{caller, at, 0}]].Runs = runs
	}
}

func (p *graphBuilder) node(kind, name string, depth int) int {
	key := [2]string{kind, name}
	if at, known := p.nodes[key]; known {
		return at
	}
	if len(p.Nodes) >= maxNodes {
		p.More++
		return -1
	}
	p.nodes[key] = len(p.Nodes)
	p.Nodes = append(p.Nodes, node{Name: name, Kind: kind, depth: min(depth, maxDepth)})
	return len(p.Nodes) - 1
}

func (p *graphBuilder) connect(from, into int, transfer bool) {
	key := [3]int{from, into, 0}
	if transfer {
		key[2] = 1
	}
	at, known := p.edges[key]
	if !known {
		at = len(p.Edges)
		p.edges[key] = at
		p.Edges = append(p.Edges, edge{from: from, into: into, Transfer: transfer})
	}
	p.Edges[at].Calls++
}

// layOut places nodes in columns by depth, each column vertically centered.
func (p *graphBuilder) layOut() {
	var columns [maxDepth + 1]int
	for _, n := range p.Nodes {
		columns[n.depth]++
	}
	tallest, deepest := 0, 0
	for depth, n := range columns {
		if tallest = max(tallest, n); n > 0 {
			deepest = depth
		}
	}
	p.Width = 2*margin + (deepest+1)*nodeWidth + deepest*gapX
	p.Height = 2*margin + tallest*nodeHeight + (tallest-1)*gapY
	var used [maxDepth + 1]int
	for i := range p.Nodes {
		n := &p.Nodes[i]
		free := (tallest - columns[n.depth]) * (nodeHeight + gapY) / 2
		n.X = margin + n.depth*(nodeWidth+gapX)
		n.Y = margin + free + used[n.depth]*(nodeHeight+gapY)
		used[n.depth]++
	}
	for i := range p.Edges {
		e := &p.Edges[i]
		e.From, e.To = &p.Nodes[e.from], &p.Nodes[e.into]
		e.Path = curve(e.From, e.To)
	}
}

// curve returns the path of an edge: forward from the right side of a node to the left side of
// another, and otherwise around the right.
func curve(from, to *node) string {
	x, y := from.X+nodeWidth, from.Y+nodeHeight/2
	toX, toY := to.X-3, to.Y+nodeHeight/2
	bend := gapX / 2
	if to.depth <= from.depth {
		toX = to.X + nodeWidth + 3
		far := max(x, toX) + bend
		return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x, y, far, y, far, toY, toX, toY)
	}
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x, y, x+bend, y, toX-bend, toY, toX, toY)
}

// TextX returns where the texts of a node start. The page clips them at the node's end.
func (n node) TextX() int { return n.X + 14 }

// Text returns the name, shortened to fit.
func (n node) Text() string { return runes(cmp.Or(visible(n.Name), "?"), 22) }

func runes(s string, most int) string {
	all := []rune(s)
	if len(all) <= most {
		return s
	}
	return string(all[:most-1]) + "…"
}

// Note returns the text below a node's name.
func (n node) Note() string {
	note := n.Kind
	if n.Calls > 1 {
		note += fmt.Sprintf(" · %d ×", n.Calls)
	}
	if n.Failed > 0 {
		note += fmt.Sprintf(" · %d failed", n.Failed)
	}
	return note
}

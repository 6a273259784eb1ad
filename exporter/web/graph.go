package web

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// graph is who delegated to whom in a run: agents and the tools that they called, from left to right.
type graph struct {
	Nodes         []node
	Edges         []edge
	More          int // agents and tools that are not drawn
	Width, Height int
}

// node is an agent or a tool, once however often it was called.
type node struct {
	Name, Kind string // workflow, agent, step or tool
	Delegated  bool   // to it, by an agent: what is not was run by a container
	Calls      int
	Failed     int
	X, Y       int
	depth      int
}

// edge is a delegation: calls of a tool or work of an agent, or a transfer of control.
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

// planner gathers the nodes and edges of a run.
type planner struct {
	graph
	nodes map[[2]string]int
	edges map[[3]int]int
	of    map[tracker.SpanID]int  // the node that an operation belongs to
	asks  map[tracker.SpanID]bool // operations that ask a model or call a tool: the others run what is below them
}

// delegations draws a run's agents and tools. An agent that is used as a tool is an agent here.
func delegations(run *tracker.Run) graph {
	p := planner{nodes: map[[2]string]int{}, edges: map[[3]int]int{}, of: map[tracker.SpanID]int{}, asks: map[tracker.SpanID]bool{}}
	below := map[tracker.SpanID][]*tracker.Operation{}
	for _, op := range run.Operations {
		if !op.Kind.Invokes() {
			p.asks[op.Parent] = true
		}
		if op != run.Root && op.Kind != tracker.Chat {
			below[op.Parent] = append(below[op.Parent], op)
		}
	}
	root := p.node(kinds[run.Root.Kind], cmp.Or(run.Root.Name, run.Agent, "the run"), 0)
	p.Nodes[root].Calls++
	queue := []*tracker.Operation{run.Root}
	p.of[run.Root.ID] = root
	for len(queue) > 0 {
		op := queue[0]
		children := below[op.ID]
		queue = append(queue[1:], children...)
		delete(below, op.ID) // an id that names itself would have no end
		for _, child := range children {
			p.add(child, p.of[op.ID])
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
	p.Edges = slices.DeleteFunc(p.Edges, func(e edge) bool { // a transfer says more than that one works below the other
		_, transfer := p.edges[[3]int{e.from, e.into, 1}]
		return transfer && !e.Transfer
	})
	p.place()
	return p.graph
}

// add draws an operation below its caller; what is not drawn belongs to the caller, and so does what is below it.
func (p *planner) add(op *tracker.Operation, caller int) {
	p.of[op.ID] = caller
	if op.Details.OrNone().HandoffTarget != "" { // which is drawn as a transfer
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
	p.of[op.ID] = at
	p.Nodes[at].Calls++
	if op.Status == tracker.Error {
		p.Nodes[at].Failed++
	}
	runs := op.Kind.Invokes() && !p.asks[op.Parent]
	p.Nodes[at].Delegated = p.Nodes[at].Delegated || kind == "agent" && !runs
	if at != caller {
		p.connect(caller, at, false)
		p.Edges[p.edges[[3]int{caller, at, 0}]].Runs = runs
	}
}

func (p *planner) node(kind, name string, depth int) int {
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

func (p *planner) connect(from, into int, transfer bool) {
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

// place puts nodes into columns by how deep they were called, each column in the middle of the height.
func (p *planner) place() {
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

// curve leads from the side of one node to a side of another: forward from right to left, and else around the right.
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

// TextX is where the texts of a node begin. The page cuts them where the node ends.
func (n node) TextX() int { return n.X + 14 }

// Text is the name as far as there is room.
func (n node) Text() string { return runes(cmp.Or(visible(n.Name), "?"), 22) }

func runes(s string, most int) string {
	all := []rune(s)
	if len(all) <= most {
		return s
	}
	return string(all[:most-1]) + "…"
}

// Note is what a node says below its name.
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

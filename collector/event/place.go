package event

// Place is a speaker's position in the run's tree of agents, as far as the protocol states it. It is
// immutable, because batches share it.
type Place struct {
	Key   string // equal for equal places of one stream
	Nodes []Node // from the outermost node to the speaker
	Root  RootKind

	// FinalsUnmarked says that the protocol does not mark the final answer of an agent's turn. It is then the first response
	// that asks for nothing.
	FinalsUnmarked bool
}

// RootKind says how the first node of a Place relates to the root of the run.
type RootKind uint8

// The root kinds.
const (
	RootUnknown RootKind = iota // the first node is the root or a descendant of it
	RootFirst                   // the first node is the root
	RootSilent                  // the root is a container that never speaks, and the first node is below it
)

// Node is one step on the way from the root of a run to a speaker.
type Node struct {
	Name string
	Run  string // the protocol's number of the invocation; "" if it does not count them
	Call string // the id of the tool call that invoked the node, or ""
	Task bool   // the call is the invocation itself: its response ends the node
	Lane string // nodes that may run in parallel have different lanes
	Kind NodeKind
}

// NodeKind says what a node is.
type NodeKind uint8

// The node kinds.
const (
	NodeSpeaker    NodeKind = iota // speaks; a child of the node before it
	NodeDescendant                 // speaks; below the node before it, at an unknown depth
	NodeContainer                  // an agent that runs others; one that says so itself speaks too
	NodeWorkflow                   // runs other nodes; it is an agent only if it speaks
	NodeFunction                   // code, not an agent
)

// IsFunction reports whether the speaker is code instead of an agent.
func (p *Place) IsFunction() bool {
	return p != nil && len(p.Nodes) > 0 && p.Nodes[len(p.Nodes)-1].Kind == NodeFunction
}

// IsStep reports whether the speaker has no place of its own: the protocol counts only the
// invocations of the node that runs it.
func (p *Place) IsStep() bool {
	return p != nil && p.Root == RootFirst && len(p.Nodes) > 1 && p.Nodes[len(p.Nodes)-1].Kind == NodeDescendant
}

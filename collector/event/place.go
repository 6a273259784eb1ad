package event

// Place is where in a run's tree of agents a frame's speaker stands, as far as the protocol says. It is immutable: batches share it.
type Place struct {
	Key   string // equal for equal places of one stream
	Nodes []Node // from the outside in; the last is the speaker
	Root  RootKind
}

// RootKind says how the first node of a Place relates to the root of the run.
type RootKind uint8

// The root kinds.
const (
	RootUnknown RootKind = iota // the first node stands somewhere below the root, or is the root
	RootFirst                   // the first node is the root
	RootSilent                  // the root is a container that never speaks; the first node stands below it
)

// Node is one step on the way from the root of a run to a speaker.
type Node struct {
	Name string
	Run  string // the protocol's number of the invocation; "" where it does not count them
	Call string // the id of the tool call that invoked the node, or ""
	Task bool   // the call is not answered by a tool: it is the invocation
	Lane string // nodes that may run side by side have different lanes
	Kind NodeKind
}

// NodeKind says what a node is.
type NodeKind uint8

// The node kinds.
const (
	NodeSpeaker   NodeKind = iota // speaks, and the protocol says that it stands right below the node before it
	NodeLoose                     // speaks, and stands somewhere below the node before it
	NodeContainer                 // an agent that runs others; one that says so itself is a speaker too
	NodeWorkflow                  // runs others; an agent only if it speaks
	NodeFunction                  // code that is no agent
)

// IsFunction reports whether the speaker is code that is no agent.
func (p *Place) IsFunction() bool {
	return p != nil && len(p.Nodes) > 0 && p.Nodes[len(p.Nodes)-1].Kind == NodeFunction
}

// IsStep reports whether the protocol counts the invocations of what runs the speaker, but names no place for the speaker itself.
func (p *Place) IsStep() bool {
	return p != nil && p.Root == RootFirst && len(p.Nodes) > 1 && p.Nodes[len(p.Nodes)-1].Kind == NodeLoose
}

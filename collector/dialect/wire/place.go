// Package wire contains what several dialects share: the formats of the ADK, error codes, conversions, sets, and the answers of remote
// agents.
package wire

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// Places derives the places of a stream's speakers from ADK events, and caches the places.
type Places struct {
	cached        map[Speaker]*event.Place
	last          *event.Place // of lastKey; nil at first
	lastKey       Speaker
	branchParents map[string]string // maps a branch to the path above the node with which the branch began
	branchPaths   map[string]string // maps a parallel agent's branch to the path, without runs, with which it first appeared
	workflows     map[string]bool   // paths of nodes that have run steps with an output
}

// Speaker is what an ADK event says about the place of its author.
type Speaker struct {
	Author   string
	Path     string // nodeInfo.path of ADK 2: `name@run/name@run` in Python, `name.name` in JavaScript
	Branch   string // `container.child` for a parallel child, `name@run` or `name@call` for a node with its own branch
	Scope    string // isolationScope: for a task, the id of the call that started it
	HasPath  bool   // Path was present: an empty path means that the event is below a root that is not a node
	RunsNext bool   // the event says which agent the author runs next (actions.agentState)

	FinalsUnmarked bool // see event.Place
	IsWorkflow     bool // the node at Path is a workflow, which has an output or waits

	// IsFunction says that the author is not an agent. In Python, the author of a function's event is its
	// workflow. In JavaScript, it is the function itself.
	IsFunction bool
}

// maxPlaces bounds each map of Places. A place beyond the limit is derived again for each frame.
const maxPlaces = 256

// MaxPath is the maximum length of a path and of a branch, in bytes. Callers truncate longer ones. The last
// segment of such a path or branch is dropped, because it may be incomplete.
const MaxPath = 1024

// maxNodes bounds the depth of a place. Deeper nodes are dropped.
const maxNodes = 64

// Of returns the place of an event's author.
//
// Sources: google/adk/events/_node_path_builder.py, _branch_path.py and agents/parallel_agent.py of
// google-adk 2.13.
func (p *Places) Of(key Speaker) *event.Place {
	key.Path, key.Branch, key.Scope = cutPath(key.Path), cutAtSegment(key.Branch, '.'), dialect.Name(key.Scope)
	if p.last != nil && key == p.lastKey { // comparing the same strings is faster than hashing them
		return p.last
	}
	place := p.cached[key]
	if place == nil {
		place = p.newPlace(key)
		remember(&p.cached, key, place)
	}
	p.last, p.lastKey = place, key
	return place
}

// remember adds a value to a map of Places, unless the map is full.
func remember[K comparable, V any](in *map[K]V, key K, value V) {
	if *in == nil {
		*in = map[K]V{}
	}
	if len(*in) < maxPlaces {
		(*in)[key] = value
	}
}

// AddOutput records that the node at a path has an output. The node above it is then a workflow,
// unless a call invoked the node.
func (p *Places) AddOutput(path string) {
	path = cutPath(path)
	if _, run := cutRun(path); isCall(run) {
		return
	}
	if at := strings.LastIndexByte(path, '/'); at > 0 {
		remember(&p.workflows, path[:at], true)
	}
}

// IsWorkflow reports whether the node at a path has run a step with an output.
func (p *Places) IsWorkflow(path string) bool { return p.workflows[cutPath(path)] }

func (p *Places) newPlace(key Speaker) *event.Place {
	path := splitPath(key.Path)
	w := pathWalk{places: p, segments: split(key.Branch, ".")}
	w.addPathNodes(path, key.Scope)
	root := event.RootUnknown
	switch {
	case len(path) > 0:
		root = event.RootFirst
	case key.HasPath:
		root = event.RootSilent
	}
	end := len(w.nodes) - 1
	switch owner := w.ownerOf(key.Author); {
	case end >= 0 && w.nodes[end].Name == key.Author: // checked before the branch, in which ADK may leave a parallel agent
		if w.nodes[end].Kind = event.NodeSpeaker; key.IsFunction {
			w.nodes[end].Kind = event.NodeFunction
		}
	case owner >= 0 && w.nodes[end].Task: // only agents run tasks; if a task fails at once, ADK names the caller as the author
		w.nodes[end].Kind = event.NodeSpeaker
	case owner >= 0: // the author is the workflow, and the nodes below it are functions
		for i := owner + 1; i <= end; i++ {
			w.nodes[i].Kind = event.NodeFunction
		}
	default:
		if end >= 0 {
			w.nodes[end].Kind = event.NodeContainer // a workflow runs only agents that are nodes
		}
		if !w.isLeftover(path, key.Author) {
			w.addBranchNodes(key.Author, len(path) > 0)
		}
		w.addSpeaker(key.Author)
	}
	if key.IsWorkflow && end >= 0 && w.lastName() == key.Author {
		w.nodes[end].Kind = event.NodeWorkflow
	}
	if last := len(w.nodes) - 1; key.RunsNext && last >= 0 && w.nodes[last].Kind != event.NodeFunction {
		w.nodes[last].Kind = event.NodeContainer
	}
	return &event.Place{Key: strings.Join([]string{key.Author, key.Path, key.Branch, key.Scope}, "\x00"), Nodes: w.nodes, Root: root, FinalsUnmarked: key.FinalsUnmarked}
}

// cutAtSegment cuts a string of MaxPath bytes or more after its last complete segment, because the string
// may have been truncated.
func cutAtSegment(s string, separator byte) string {
	if len(s) < MaxPath {
		return s
	}
	return s[:max(strings.LastIndexByte(s[:MaxPath], separator), 0)]
}

// cutPath is cutAtSegment for a path.
func cutPath(path string) string { return cutAtSegment(path, separatorOf(path)) }

// splitPath splits a path into its segments.
func splitPath(path string) []string { return split(path, string(separatorOf(path))) }

// separatorOf returns the separator of a path's segments. In Python's form the first segment has a run, in
// JavaScript's form it has none.
func separatorOf(path string) byte {
	if first, _, _ := strings.Cut(path, "."); strings.Contains(first, "@") || strings.Contains(path, "/") {
		return '/'
	}
	return '.'
}

func split(s, separator string) []string {
	if s == "" {
		return nil
	}
	segments := strings.Split(s, separator)
	return segments[:min(len(segments), maxNodes)]
}

// pathWalk builds the nodes of a place from a path and a branch.
type pathWalk struct {
	places   *Places
	nodes    []event.Node
	segments []string // of the branch
	used     int      // number of segments that belong to the nodes so far
	lane     string
}

// advance adds the next n segments of the branch to the lane.
func (w *pathWalk) advance(n int) {
	w.used += n
	w.lane = strings.Join(w.segments[:w.used], ".")
}

// addPathNodes adds the nodes that the path names, each with the lane of the branch segments up to its own.
//
// A segment `name@id` belongs to the innermost node with that name. id is the call that invoked the node,
// unless it is one of the path's run numbers, which JavaScript's paths do not have.
//
// A segment without a node in the path began with an earlier node, which has ended. If a node of the path
// has the same parent as the earlier node, it continues in that node's lane. If the parent is unknown, only
// the speaker continues in the lane (see inherits).
func (w *pathWalk) addPathNodes(path []string, scope string) {
	owned := w.ownSegments(path)
	for i, segment := range path {
		name, run := cutRun(segment)
		node := event.Node{Name: dialect.Name(name), Run: dialect.Name(run), Kind: event.NodeWorkflow}
		if isCall(run) {
			node.Call = node.Run
		}
		above := strings.Join(path[:i], "/")
		switch at := owned[i]; {
		case at > 0:
			w.advance(at - w.used)
			if _, id := cutRun(w.segments[at-1]); isCall(id) {
				node.Call = dialect.Name(id)
			} else {
				remember(&w.places.branchParents, w.lane, above)
			}
		case w.inherits(above, i == len(path)-1):
			w.advance(1)
		}
		node.Task = node.Call != "" && scope == node.Call
		node.Lane = w.lane
		w.nodes = append(w.nodes, node)
	}
}

// ownSegments returns for each node of the path the number of its branch segment, counted from 1, or 0.
func (w *pathWalk) ownSegments(path []string) []int {
	owned := make([]int, len(path))
	next := len(w.segments)
	for i := len(path) - 1; i >= 0; i-- {
		name, run := cutRun(path[i])
		for at := next; at > 0; at-- {
			if owner, id := cutRun(w.segments[at-1]); owner == name && id != "" && (id == run || run == "" || isCall(id)) {
				owned[i], next = at, at-1
				break
			}
		}
	}
	return owned
}

// inherits reports whether a node continues in the lane of the branch's next segment, which belongs to no node
// of the path. above is the path above the node. The node continues if the node with which the segment began
// has the same path above it. If that path is unknown, only the speaker continues.
func (w *pathWalk) inherits(above string, speaks bool) bool {
	if above == "" || w.used == len(w.segments) || !strings.Contains(w.segments[w.used], "@") {
		return false
	}
	parent, known := w.places.branchParents[strings.Join(w.segments[:w.used+1], ".")]
	return known && parent == above || speaks && !known
}

// isLeftover reports whether the rest of the branch belongs to a parallel agent that ran in another place.
// ADK leaves it on the nodes that follow in a workflow. It is not a leftover if the author is the last agent
// of the branch, or if the path ends with the parallel agent.
func (w *pathWalk) isLeftover(path []string, author string) bool {
	if len(path) == 0 || w.used == len(w.segments) || strings.Contains(w.segments[w.used], "@") {
		return false
	}
	names := make([]string, len(path))
	for i := range path {
		names[i], _ = cutRun(path[i])
	}
	at, container := strings.Join(names, "/"), strings.Join(w.segments[:w.used+1], ".")
	first, known := w.places.branchPaths[container]
	if !known {
		remember(&w.places.branchPaths, container, at)
	}
	return known && first != at && w.lastName() != w.segments[w.used] && w.segments[len(w.segments)-1] != author
}

// addBranchNodes adds the containers and their children that appear only in the branch.
func (w *pathWalk) addBranchNodes(author string, hasPath bool) {
	for w.used < len(w.segments) {
		container := w.segments[w.used]
		if strings.Contains(container, "@") {
			w.addRunSegment(author, hasPath)
			continue
		}
		if w.lastName() != container {
			w.nodes = append(w.nodes, event.Node{Name: dialect.Name(container), Lane: w.lane, Kind: event.NodeContainer})
		}
		w.advance(1)
		if w.used < len(w.segments) && !strings.Contains(w.segments[w.used], "@") {
			w.advance(1)
			w.nodes = append(w.nodes, event.Node{Name: dialect.Name(w.segments[w.used-1]), Lane: w.lane, Kind: event.NodeContainer})
		}
	}
}

// addRunSegment adds the next segment of the branch, which is `name@run` or `name@call`. A path has all such nodes. Without
// one, as over A2A, the segment is a node if it names the author, or if it has a call and the branch continues. Any
// other segment is of a node that has ended, of a function of the author, or of a tool's message. Its author is the calling agent.
//
// Source: google/adk/events/_branch_path.py of google-adk 2.13, is_tool_branch.
func (w *pathWalk) addRunSegment(author string, hasPath bool) {
	name, run := cutRun(w.segments[w.used])
	invokes := isCall(run) && w.used < len(w.segments)-1
	if hasPath || name != author && !invokes {
		w.used++
		return
	}
	w.advance(1)
	node := event.Node{Name: dialect.Name(name), Run: dialect.Name(run), Lane: w.lane, Kind: event.NodeWorkflow}
	if isCall(run) {
		node.Call = node.Run
	}
	w.nodes = append(w.nodes, node)
}

// ownerOf returns the index of the innermost node with the author's name, or -1. It does not look at the
// last node.
func (w *pathWalk) ownerOf(author string) int {
	for i := len(w.nodes) - 2; i >= 0; i-- {
		if w.nodes[i].Name == author {
			return i
		}
	}
	return -1
}

func (w *pathWalk) lastName() string {
	if len(w.nodes) == 0 {
		return ""
	}
	return w.nodes[len(w.nodes)-1].Name
}

// addSpeaker marks the last node as the author, or adds one below it if no node has the author's name.
func (w *pathWalk) addSpeaker(author string) {
	switch {
	case author == "":
	case w.lastName() == author:
		w.nodes[len(w.nodes)-1].Kind = event.NodeSpeaker
	default:
		w.nodes = append(w.nodes, event.Node{Name: author, Lane: w.lane, Kind: event.NodeDescendant})
	}
}

// cutRun splits `name@run`. run is "" if the segment has none.
func cutRun(segment string) (name, run string) {
	at := strings.LastIndexByte(segment, '@')
	if at < 0 {
		return segment, ""
	}
	return segment[:at], segment[at+1:]
}

// isCall reports whether a run is the id of a call instead of a number.
func isCall(run string) bool { return strings.Trim(run, "0123456789") != "" }

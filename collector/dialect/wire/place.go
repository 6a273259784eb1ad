// Package wire reads what several protocols share on the wire.
package wire

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// Places makes the places of a stream's speakers out of what the ADK says of them. It remembers those that it made.
type Places struct {
	known     map[Speaker]*event.Place
	starts    map[string]string // by branch, the path of the node that runs what the branch began with
	workflows map[string]bool   // the paths of nodes that have run steps of their own
}

// Speaker is what an event of the ADK says of the place of its author.
type Speaker struct {
	Author  string
	Path    string // nodeInfo.path of ADK 2: `name@run/name@run` of Python, `name.name` of JavaScript
	Branch  string // `container.child` for a child that runs beside others, `name@run` or `name@call` for a node with a branch of its own
	Scope   string // isolationScope: of a task, the id of the call that set it
	HasPath bool   // tells an empty path, which events have below a root that is no node, from none
	Runs    bool   // the author says which agent it runs next (actions.agentState)

	Function bool // the author is no agent: in Python a function's author is its workflow, in JavaScript the function itself
}

// maxPlaces bounds each map of Places; more places are made anew for each frame.
const maxPlaces = 256

// MaxText bounds a path and a branch, in bytes; of a longer one the last segment, which may be cut, is left out.
const MaxText = 1024

// maxNodes bounds the depth of a place; what lies deeper is left out.
const maxNodes = 64

// Of returns the place of an event's author.
//
// Sources: google/adk/events/_node_path_builder.py, _branch_path.py and agents/parallel_agent.py of google-adk 2.13.
func (p *Places) Of(key Speaker) *event.Place {
	key.Path, key.Branch, key.Scope = whole(key.Path, '/'), whole(key.Branch, '.'), dialect.Name(key.Scope)
	if known := p.known[key]; known != nil {
		return known
	}
	made := p.newPlace(key)
	remember(&p.known, key, made)
	return made
}

func remember[K comparable, V any](in *map[K]V, key K, value V) {
	if *in == nil {
		*in = map[K]V{}
	}
	if len(*in) < maxPlaces {
		(*in)[key] = value
	}
}

// HasOutput notes that the node at a path has an output: what runs it is a workflow, unless a call invoked it.
func (p *Places) HasOutput(path string) {
	path = whole(path, '/')
	if _, run := cutRun(path); isCall(run) {
		return
	}
	if at := strings.LastIndexByte(path, '/'); at > 0 {
		remember(&p.workflows, path[:at], true)
	}
}

// IsWorkflow reports whether the node at a path has run steps whose output was seen.
func (p *Places) IsWorkflow(path string) bool { return p.workflows[whole(path, '/')] }

func (p *Places) newPlace(key Speaker) *event.Place {
	path := splitPath(key.Path)
	w := walk{places: p, segments: split(key.Branch, ".")}
	w.pathNodes(path, key.Scope)
	root := event.RootUnknown
	switch {
	case len(path) > 0:
		root = event.RootFirst
	case key.HasPath:
		root = event.RootSilent
	}
	end := len(w.nodes) - 1
	switch owner := w.owner(key.Author); {
	case end >= 0 && w.nodes[end].Name == key.Author: // ADK leaves the branch of a parallel agent on what follows that
		if w.nodes[end].Kind = event.NodeSpeaker; key.Function {
			w.nodes[end].Kind = event.NodeFunction
		}
	case owner >= 0 && w.nodes[end].Task: // a task is an agent's; ADK puts the caller's name on a failure that comes first
		w.nodes[end].Kind = event.NodeSpeaker
	case owner >= 0: // the author is the workflow, and owns the functions on the way to the speaker
		for i := owner + 1; i <= end; i++ {
			w.nodes[i].Kind = event.NodeFunction
		}
	default:
		if end >= 0 {
			w.nodes[end].Kind = event.NodeContainer // a workflow runs no agent that is no node
		}
		w.branchNodes()
		w.speaker(key.Author)
	}
	if last := len(w.nodes) - 1; key.Runs && last >= 0 && w.nodes[last].Kind != event.NodeFunction {
		w.nodes[last].Kind = event.NodeContainer
	}
	return &event.Place{Key: strings.Join([]string{key.Author, key.Path, key.Branch, key.Scope}, "\x00"), Nodes: w.nodes, Root: root}
}

// whole cuts what may have been cut behind its last whole segment.
func whole(s string, by byte) string {
	if len(s) < MaxText {
		return s
	}
	return s[:max(strings.LastIndexByte(s[:MaxText], by), 0)]
}

// splitPath parts a path of either form. The first segment of Python's has a run, that of JavaScript's has none.
func splitPath(path string) []string {
	if first, _, _ := strings.Cut(path, "."); strings.Contains(first, "@") || strings.Contains(path, "/") {
		return split(path, "/")
	}
	return split(path, ".")
}

func split(s, by string) []string {
	if s == "" {
		return nil
	}
	segments := strings.Split(s, by)
	return segments[:min(len(segments), maxNodes)]
}

// walk goes along a path and a branch at once.
type walk struct {
	places   *Places
	nodes    []event.Node
	segments []string // of the branch
	read     int      // how many of them have been read
	lane     string
}

// enter makes the next segments of the branch part of the lane.
func (w *walk) enter(n int) {
	w.read += n
	w.lane = strings.Join(w.segments[:w.read], ".")
}

// pathNodes adds the nodes that the path names. A branch segment `name@id` belongs to the innermost node of that name. Its id is the
// call that invoked the node, unless it is one of the path's numbers, which JavaScript's paths do not have. A segment without such a
// node belongs to an earlier node. The outermost node with the same parent inherits its lane; if there is none, the speaker does.
func (w *walk) pathNodes(path []string, scope string) {
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
			w.enter(at - w.read)
			if _, id := cutRun(w.segments[at-1]); isCall(id) {
				node.Call = dialect.Name(id)
			} else {
				remember(&w.places.starts, w.lane, above)
			}
		case w.inherits(above, i == len(path)-1):
			w.enter(1)
		}
		node.Task = node.Call != "" && scope == node.Call
		node.Lane = w.lane
		w.nodes = append(w.nodes, node)
	}
}

// ownSegments returns for each node of the path the number of its segment of the branch, from 1, or 0.
func (w *walk) ownSegments(path []string) []int {
	owned := make([]int, len(path))
	next := len(w.segments)
	for i := len(path) - 1; i >= 0; i-- {
		name, run := cutRun(path[i])
		for at := next; at > 0; at-- {
			if same, id := cutRun(w.segments[at-1]); same == name && id != "" && (id == run || run == "" || isCall(id)) {
				owned[i], next = at, at-1
				break
			}
		}
	}
	return owned
}

// inherits reports whether the next segment of the branch, which names no node of the path, is of an earlier node that the node above
// ran. Where that node left no frame, the speaker inherits it.
func (w *walk) inherits(above string, speaks bool) bool {
	if above == "" || w.read == len(w.segments) || !strings.Contains(w.segments[w.read], "@") {
		return false
	}
	from, known := w.places.starts[strings.Join(w.segments[:w.read+1], ".")]
	return known && from == above || speaks && !known
}

// branchNodes adds the containers and their children that only the branch names.
func (w *walk) branchNodes() {
	for w.read < len(w.segments) {
		container := w.segments[w.read]
		if strings.Contains(container, "@") { // the branch of a tool's message: its author is the agent that called it
			w.read++
			continue
		}
		if w.last() != container {
			w.nodes = append(w.nodes, event.Node{Name: dialect.Name(container), Lane: w.lane, Kind: event.NodeContainer})
		}
		w.enter(1)
		if w.read < len(w.segments) && !strings.Contains(w.segments[w.read], "@") {
			w.enter(1)
			w.nodes = append(w.nodes, event.Node{Name: dialect.Name(w.segments[w.read-1]), Lane: w.lane, Kind: event.NodeContainer})
		}
	}
}

// owner returns the index of the innermost node above the last that has the author's name, or -1.
func (w *walk) owner(author string) int {
	for i := len(w.nodes) - 2; i >= 0; i-- {
		if w.nodes[i].Name == author {
			return i
		}
	}
	return -1
}

func (w *walk) last() string {
	if len(w.nodes) == 0 {
		return ""
	}
	return w.nodes[len(w.nodes)-1].Name
}

// speaker makes the last node the event's author, or adds one: an author that no node has as its name works below the last node.
func (w *walk) speaker(author string) {
	switch {
	case author == "":
	case w.last() == author:
		w.nodes[len(w.nodes)-1].Kind = event.NodeSpeaker
	default:
		w.nodes = append(w.nodes, event.Node{Name: author, Lane: w.lane, Kind: event.NodeLoose})
	}
}

// cutRun parts `name@run`; a name without a run has none.
func cutRun(segment string) (name, run string) {
	at := strings.LastIndexByte(segment, '@')
	if at < 0 {
		return segment, ""
	}
	return segment[:at], segment[at+1:]
}

// isCall reports whether a run is the id of a call: the others are numbers.
func isCall(run string) bool { return strings.Trim(run, "0123456789") != "" }

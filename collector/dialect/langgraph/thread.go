package langgraph

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// invocations tells the invocations of graphs with a checkpointer of their own apart. Such a graph remembers the thread, so its namespace has
// no IDs of tasks ("tools|agent"), and all its invocations have the same. Metadata and tasks show in which task an invocation works.
//
// Source: langgraph/_internal/_config.py, recast_checkpoint_ns; langgraph/pregel/main.py, Pregel._defaults.
type invocations struct {
	tasks    []string            // the namespaces of tasks that tasks show to have started and not to have returned; at most maxScopes
	restored map[string]struct{} // namespaces with the IDs that were restored; at most maxScopes
	last     map[string]*scope   // the last invocation, by the namespace without IDs; at most maxScopes
	counts   map[string]int      // by the namespace without IDs; at most maxScopes
}

// size returns the approximate size in bytes.
func (t *invocations) size() int {
	const ofEntry = 128
	n := ofEntry * (len(t.tasks) + len(t.restored) + len(t.last) + len(t.counts))
	for _, task := range t.tasks {
		n += len(task)
	}
	for namespace := range t.restored {
		n += len(namespace)
	}
	for nodes := range t.counts {
		n += 2 * len(nodes)
	}
	return n
}

// withoutTask reports whether a segment of a namespace is a node without the ID of a task.
func withoutTask(segment []byte) bool {
	return len(segment) > 0 && bytes.IndexByte(segment, ':') < 0 && !isCounter(segment)
}

func lacksTask(namespace []byte) bool {
	for segment := range bytes.SplitSeq(namespace, []byte("|")) {
		if withoutTask(segment) {
			return true
		}
	}
	return false
}

// nodesOf returns a namespace without IDs and numbers.
func nodesOf(namespace string) string {
	var nodes []string
	for segment, rest, found := cutNode(namespace); found; segment, rest, found = cutNode(rest) {
		node, _, _ := strings.Cut(segment, ":")
		nodes = append(nodes, node)
	}
	return strings.Join(nodes, "|")
}

// restore returns a namespace with the IDs of the tasks that it lacks, as far as they are known. within is the task in the run's own graph, as
// metadata states it, or nothing.
func (t *invocations) restore(namespace, within []byte) []byte {
	if len(namespace) > maxNamespace || !lacksTask(namespace) {
		return namespace
	}
	at := namespace
	if node, _, _ := bytes.Cut(namespace, []byte("|")); withoutTask(node) && bytes.HasPrefix(within, append(slices.Clone(node), ':')) && bytes.IndexByte(within, '|') < 0 {
		at = slices.Concat(within, namespace[len(node):])
	}
	return t.inOnlyTask(at)
}

// inOnlyTask returns a namespace with the IDs of the only open tasks that it can mean.
func (t *invocations) inOnlyTask(namespace []byte) []byte {
	rest := len(namespace) // behind the last segment without an ID
	for rest > 0 {
		start := bytes.LastIndexByte(namespace[:rest], '|') + 1
		if withoutTask(namespace[start:rest]) {
			break
		}
		rest = max(start-1, 0)
	}
	found, stated := "", string(namespace[:rest])
	for _, task := range t.tasks {
		switch {
		case !mayBeSame(task, stated):
		case found != "":
			return namespace
		default:
			found = task
		}
	}
	if found == "" {
		return namespace
	}
	return append([]byte(found), namespace[rest:]...)
}

// mayBeSame reports whether two namespaces have the same nodes and, where both have IDs, the same IDs.
func mayBeSame(a, b string) bool {
	for {
		one, restA, isOne := cutNode(a)
		other, restB, isOther := cutNode(b)
		if !isOne || !isOther {
			return isOne == isOther
		}
		if one != other {
			nodeA, _, hasID := strings.Cut(one, ":")
			nodeB, _, hasOtherID := strings.Cut(other, ":")
			if nodeA != nodeB || hasID && hasOtherID {
				return false
			}
		}
		a, b = restA, restB
	}
}

// cutNode splits a namespace after its first node, with the node's ID, and skips the numbers before it.
func cutNode(namespace string) (segment, rest string, found bool) {
	for rest = namespace; rest != ""; {
		if segment, rest, _ = strings.Cut(rest, "|"); !isCounter(segment) {
			return segment, rest, true
		}
	}
	return "", "", false
}

// note records that a namespace has IDs that were restored.
func (t *invocations) note(namespace []byte) {
	if len(t.restored) >= maxScopes {
		return
	}
	if t.restored == nil {
		t.restored = make(map[string]struct{})
	}
	t.restored[string(namespace)] = struct{}{}
}

// trackOpen records the start or the end of a task.
func (t *invocations) trackOpen(graph []byte, task strictjson.Value) {
	name, id := task.Get("name").Text(), task.Get("id").Text()
	if len(name) == 0 || len(id) == 0 || len(graph)+len(name)+len(id) > maxNamespace {
		return
	}
	at := strings.TrimPrefix(string(graph)+"|"+string(name)+":"+string(id), "|")
	switch isOpen := slices.Contains(t.tasks, at); {
	case hasReturned(task):
		t.tasks = slices.DeleteFunc(t.tasks, func(other string) bool { return other == at || strings.HasPrefix(other, at+"|") })
	case !isOpen && len(t.tasks) < maxScopes:
		t.tasks = append(t.tasks, at)
	}
}

// splitName returns the stream mode and the namespace of the event name of a frame, with the IDs of the tasks that the namespace lacks.
func (d *decoder) splitName(name []byte, v strictjson.Value) (mode string, namespace []byte) {
	mode, stated := splitEvent(name)
	var within []byte
	if mode == modeMessages {
		within = metadataOf(mode, v).Get(taskMember).Text()
	}
	if namespace = d.invoked.restore(stated, within); !bytes.Equal(namespace, stated) {
		d.invoked.note(namespace)
	}
	return mode, namespace
}

// taskMember is the member of metadata with the namespace of the task of the run's own graph.
const taskMember = "checkpoint_ns"

// placeMembers are the members of metadata with the namespace of a node, the preferred one first.
var placeMembers = []string{"langgraph_checkpoint_ns", taskMember}

// placeIn returns the namespace of a node in LangGraph's metadata, with the IDs of the tasks that it lacks, or nothing.
func (d *decoder) placeIn(metadata strictjson.Value) []byte {
	stated := metadata.First(placeMembers...).Text()
	place := d.invoked.restore(stated, metadata.Get(taskMember).Text())
	if !bytes.Equal(place, stated) {
		graph, _ := splitLast(place)
		d.invoked.note(graph)
	}
	return place
}

// graphAt returns the graph of the namespace of a frame. If the namespace lacks IDs, it is the last invocation that it can mean.
func (d *decoder) graphAt(namespace []byte) *scope {
	known := d.scopes[string(namespace)]
	if _, isRestored := d.invoked.restored[string(namespace)]; known != nil || !isRestored && !lacksTask(namespace) || len(namespace) > maxNamespace {
		return d.scopeOf(namespace)
	}
	outer, own := splitGraph(namespace)
	key := nodesOf(string(namespace))
	last := d.invoked.last[key]
	if last != nil && mayBeSame(last.namespace, string(namespace)) && (len(namespace) <= len(last.namespace) || last.above == d.graphAt(outer)) {
		if _, task, hasTask := strings.Cut(string(own), ":"); hasTask && last.task == "" {
			last.task = dialect.Name(task)
			d.bindCall(last)
		}
		return last
	}
	sc := d.scopeOf(namespace)
	if sc.namespace != string(namespace) || last == nil && len(d.invoked.last) >= maxScopes {
		return sc
	}
	d.beginInvocation(key, sc, last)
	return sc
}

// beginInvocation records the graph of a new invocation.
func (d *decoder) beginInvocation(key string, sc, last *scope) {
	if d.invoked.last == nil || len(d.invoked.counts) >= maxScopes {
		d.invoked.last, d.invoked.counts = make(map[string]*scope), make(map[string]int)
	}
	if d.invoked.counts[key]++; d.invoked.counts[key] > 1 && lacksTask([]byte(sc.namespace)) || d.invoked.counts[key] > 1 && sc.task == "" {
		sc.branch += "#" + strconv.Itoa(d.invoked.counts[key])
	}
	if d.invoked.last[key] = sc; last != nil && lacksTask([]byte(last.namespace)) {
		d.forgetGraph(last)
	}
}

// endInvocations records that the invocations in a node of a graph have ended, or, if the node is "", those in all nodes. As long as a call
// of the graph is open, only the task says which of the node that executes tools.
func (d *decoder) endInvocations(above *scope, node, task string) {
	for key, sc := range d.invoked.last {
		isOpen := sc.node == toolNode && slices.ContainsFunc(d.calls, func(c *call) bool { return c.scope == above })
		isOfTask := task != "" && sc.task == task
		if sc.above != above || node != "" && sc.node != node || !isOfTask && (isOpen || task != "" && sc.task != "") {
			continue
		}
		if delete(d.invoked.last, key); lacksTask([]byte(sc.namespace)) {
			d.forgetGraph(sc)
		}
	}
}

// forgetGraph forgets a graph and those within it, because the next invocation has the same namespace.
func (d *decoder) forgetGraph(sc *scope) {
	for namespace, inner := range d.scopes {
		if inner == sc || strings.HasPrefix(namespace, sc.namespace+"|") {
			delete(d.scopes, namespace)
			delete(d.idle, namespace)
		}
	}
	for key, inner := range d.invoked.last {
		for up := inner; up != nil; up = up.above {
			if up == sc {
				delete(d.invoked.last, key)
			}
		}
	}
}

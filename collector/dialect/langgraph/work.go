package langgraph

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// internalState is what a run's stream has shown of internal work that other frames may repeat without its place.
type internalState struct {
	working  map[string]work        // internal tasks, agents and runs of LangChain that have not ended, by ID; at most wire.MaxSet
	lagging  map[string]work        // those whose end an event has shown, and whose data in the mode custom may follow; at most wire.MaxSet
	lagged   map[string]work        // the same of the step before, from a server that sends other modes later
	step     float64                // the last step of the run's own graph that events show
	isEvent  bool                   // the frame being read is an event
	inputs   map[string]graphInputs // of graphs, by namespace; at most maxScopes and otherGraphs
	steps    steps                  // all tasks whose end no frame has shown
	failures wire.Set[string]       // hashes of the errors of internal work
	returns  wire.Set[string]       // runs of nodes of which a withheld tool has ended: an error may still quote what it returns
	placed   wire.Set[string]       // questions of tasks that are not internal
	within   wire.Set[string]       // questions of tasks that are internal, or may have internal work within them
	called   wire.Set[string]       // tasks that another task of their graph has called
	repeated []string               // the modes of which the attempt has not sent its first state

	hasWorked bool                // internal work has begun, as events show
	hasSpoken bool                // an internal frame came after the last state of the run's own graph
	read      map[uint64]struct{} // messages in checkpoints, events and tasks, by messageKey; at most maxSeen
}

// work is internal work that has not ended.
type work struct {
	around []uint64 // hashes of the tasks, nodes, runs and next steps around it; at most maxAround
	graph  string   // the namespace of its graph
	node   uint64   // the hash of its nodePlace if kind is workOfNode
	step   float64  // of its graph, if kind is workOfNode; 0 if it is unknown
	kind   workKind
	bytes  int // approximate size of its texts and hashes

	isNamed     bool // a frame has named its node
	hasReturned bool // a task of its step has returned, if an unreadable frame may have begun it
	hasFailed   bool // a task of it has failed, so only what the task around it may repeat is in doubt
	isEarlier   bool // an earlier attempt has begun it: the same, until another frame shows it
}

// workKind says what internal work is, and what shows its end.
type workKind uint8

const (
	workOfTask         workKind = iota // a task, a run or a next step: the server shows its beginning and its end
	workOfNode                         // a node that only metadata or a namespace shows: an update or a state
	workOfAgent                        // the agent in a task: the same
	workOfCall                         // a withheld call: its result, or what ends its graph
	workOfUnplacedCall                 // the same while no frame has shown its graph
)

// isAnywhere reports whether the work may be within any place.
func (w work) isAnywhere() bool { return len(w.around) == maxAround }

// isStated reports whether the server shows the beginning and the end of the work.
func (w work) isStated() bool { return w.kind == workOfTask }

// maxAround limits how many tasks or runs around an internal one are kept. If there are more, any may be around it.
const maxAround = 64

// anywhere says that any task, node, run or step may be around some work.
var anywhere = make([]uint64, maxAround)

// size returns the approximate size in bytes.
func (s *internalState) size() int {
	const ofID, ofEntry = 64, 256
	n := ofEntry*(len(s.working)+len(s.lagging)+len(s.lagged)+len(s.steps)) + ofID*(s.failures.Len()+s.returns.Len()+s.placed.Len()+s.within.Len()+s.called.Len()+len(s.read))
	for _, w := range s.working {
		n += w.bytes
	}
	for graph, g := range s.inputs {
		n += ofEntry + len(graph) + ofID*len(g.open)
	}
	for place, one := range s.steps {
		n += len(place) + len(one.graph) + ofID*len(one.tasks)
	}
	return n
}

// beginWork records that internal work has begun. What the server states about it outweighs what other frames show.
func (s *internalState) beginWork(id string, w work) {
	if earlier, known := s.working[id]; id == "" || known && !w.isStated() && !earlier.isEarlier || !known && len(s.working) >= wire.MaxSet {
		return
	}
	if s.working == nil {
		s.working = make(map[string]work)
	}
	if len(w.graph) > maxNamespace {
		id, w.graph, w.node, w.around = dialect.Name(id), "", 0, anywhere
	}
	w.around = w.around[:min(len(w.around), maxAround)]
	w.bytes = len(id) + len(w.graph) + 8*len(w.around)
	s.working[id] = w
}

// endWork records that a task or a run has ended, and with it what worked within it. An exception may end that without a frame.
func (s *internalState) endWork(id string) {
	hash := wire.Hash(id)
	s.end(func(inner string, w work) bool { return inner == id || slices.Contains(w.around, hash) })
}

// end records that some work has ended. The server sends events at once, and the other modes through a queue, which is empty before the
// graph's next step.
//
// LangGraph.js sends no parent_ids, and its frames of a step in other modes may come after the first events of the next step.
//
// Source: langgraph/pregel/main.py, Pregel.astream; langchain_core/tracers/event_stream.py and its JavaScript counterpart.
func (s *internalState) end(hasEnded func(id string, w work) bool) {
	for id, w := range s.working {
		if !hasEnded(id, w) || s.isEvent && len(s.lagging) >= wire.MaxSet {
			continue
		}
		delete(s.working, id)
		if s.isEvent {
			if s.lagging == nil {
				s.lagging = make(map[string]work)
			}
			s.lagging[id] = w
		}
	}
}

// beginEvent reads whether a frame is an event, and whether it begins a step of the run's own graph.
func (s *internalState) beginEvent(mode string, v strictjson.Value) {
	s.isEvent = mode == modeEvents
	if !s.isEvent || !v.Get("event").Is("on_chain_start") {
		return
	}
	metadata, parents := v.Get("metadata"), v.Get("parent_ids")
	isNode := parents.Len() == 1
	if !parents.Exists() {
		isNode = isNodeEvent(v) && bytes.IndexByte(namespaceIn(metadata), '|') < 0
	}
	if step, _ := metadata.Get("langgraph_step").Float(); isNode && step != s.step {
		s.lagged = nil
		if !parents.Exists() {
			s.lagged = s.lagging
		}
		s.step, s.lagging = step, nil
	}
}

// isNodeEvent reports whether an event is of a node's own run.
func isNodeEvent(v strictjson.Value) bool {
	node := v.Get("metadata").Get("langgraph_node")
	return len(node.Text()) > 0 && v.Get("name").Is(node.String())
}

// trackTask records the beginning or the end of a task.
//
// Source: langgraph/pregel/debug.py, map_debug_tasks and map_debug_task_results.
func (d *decoder) trackTask(namespace []byte, task strictjson.Value, isInternal bool) {
	id, isCalled := d.name(task.Get("id")), isCalled(task)
	d.trackLost(namespace, task)
	if isCalled {
		d.called.Add(id)
	}
	isInternal = isInternal || mayName(&d.internalWork, task.Get("id"))
	d.trackInput(namespace, task, isInternal)
	switch {
	case hasReturned(task):
		d.endWork(id)
		if task.Get("error").Kind() > strictjson.Null && len(namespace) > 0 {
			d.failGraph(string(namespace))
		}
	case isInternal:
		around := d.placesAround(namespace)
		if isCalled {
			around = append(around, wire.Hash(calledPrefix+string(namespace)))
		}
		d.beginWork(id, work{around: around, graph: string(namespace)})
	}
}

// failGraph records that a task of a graph within another has failed. The graph has no further state, and what works around it may go on.
func (s *internalState) failGraph(graph string) {
	delete(s.working, nextPrefix+graph)
	if w, is := s.working[graphPrefix+graph]; is {
		w.hasFailed = true
		s.working[graphPrefix+graph] = w
	}
}

const pushTrigger = "__pregel_push"

// isCalled reports whether another task of the graph called a task. Its input is the arguments: a list and an object.
//
// Source: langgraph/pregel/_algo.py, prepare_push_task_functional.
func isCalled(task strictjson.Value) bool {
	args, named := tuple(task.Get("input"))
	return args.Kind() == strictjson.Array && named.Kind() == strictjson.Object && slices.ContainsFunc(elementsOf(task.Get("triggers")), func(t strictjson.Value) bool { return t.Is(pushTrigger) })
}

// placeQuestions records the questions of a task that ends, unless the task is internal or repeats a question of internal work. In the modes
// tasks and debug together, the server sends the end twice, and the first one has ended that work.
func (d *decoder) placeQuestions(graph []byte, task strictjson.Value, isInternal bool) {
	id := task.Get("id")
	isWithin := isInternal || mayName(&d.internalWork, id) || d.mayBeAroundTask(graph, d.name(id))
	for question := range task.Get("interrupts").Elements() {
		switch asked := d.name(questionID(question)); {
		case asked == "":
		case isWithin:
			d.within.Add(asked)
		case !d.within.MayContain(asked):
			d.placed.Add(asked)
			d.doubted.Remove(asked)
		}
	}
}

// Prefixes of places around internal work that are neither tasks nor runs: a node of a graph, the next step of a graph, any task of a
// graph that may have called another one, and a withheld call.
const (
	callPrefix   = "call "
	nodePrefix   = "node "
	nextPrefix   = "next "
	calledPrefix = "called "
)

func nodePlace(graph, node []byte) string { return nodePrefix + string(graph) + "|" + string(node) }

// placesAround returns hashes of the tasks and nodes in a namespace, and the next steps of the graphs around the graph of the namespace.
func (d *decoder) placesAround(namespace []byte) (around []uint64) {
	if len(namespace) > maxNamespace {
		return anywhere
	}
	for rest := namespace; len(rest) > 0 && len(around) < maxAround; {
		outer := bytes.TrimSuffix(namespace[:len(namespace)-len(rest)], []byte("|"))
		segment, inner := cutTask(rest)
		node, task := splitSegment(segment)
		around = append(around, wire.Hash(task), wire.Hash(nodePlace(outer, node)), wire.Hash(nextPrefix+string(outer)))
		rest = inner
	}
	return around
}

// trackCheckpoint records whether an internal node runs after a saved state. The node, and what works within it, ends with the graph's
// next state.
func (d *decoder) trackCheckpoint(namespace []byte, state strictjson.Value) {
	next := nextPrefix + string(namespace)
	hash := wire.Hash(next)
	d.end(func(id string, w work) bool { return !w.isEarlier && (id == next || slices.Contains(w.around, hash)) })
	if isInternalScope(state.Get("next")) {
		d.beginWork(next, work{around: d.placesAround(namespace), graph: string(namespace)})
	}
}

// trackRun records the beginning or the end of a run of LangChain.
func (d *decoder) trackRun(v strictjson.Value, isInternal bool) {
	id, kind := d.name(v.Get("run_id")), v.Get("event").Text()
	switch {
	case isCustomEvent(v):
	case lenient.HasSuffix(kind, "end", "error"):
		d.endWork(id)
		d.returns.Remove(id)
		if parents := elementsOf(v.Get("parent_ids")); isInternal && isToolEvent(v) && len(parents) > 0 {
			d.returns.Add(d.name(parents[len(parents)-1]))
		}
	case isInternal && lenient.HasSuffix(kind, "start"):
		d.hasWorked = true
		outer, _ := splitLast(d.placeIn(v.Get("metadata")))
		around := d.placesAround(outer)
		for above := range v.Get("parent_ids").Elements() {
			around = append(around, wire.Hash(d.name(above)))
		}
		d.beginWork(id, work{around: around, graph: string(outer)})
	}
}

// errorIn returns the error in a frame, and the task or run that it ends. The error of the whole run has none.
func (d *decoder) errorIn(mode string, v strictjson.Value) (err strictjson.Value, ended string) {
	switch mode {
	case modeError:
		return v, ""
	case modeDebug:
		v = v.Get("payload")
		return v.Get("error"), d.name(v.Get("id"))
	case modeTasks:
		return v.Get("error"), d.name(v.Get("id"))
	case modeEvents:
		return v.Get("data").Get("error"), d.name(v.Get("run_id"))
	}
	return err, ""
}

// noteFailure records an error of internal work, because the errors of what is around the work repeat it.
func (d *decoder) noteFailure(mode string, v strictjson.Value) {
	err, _ := d.errorIn(mode, v)
	if key := errorKey(err); key != "" {
		d.failures.Add(key)
	}
}

// repeatsFailure reports whether a frame has, or may have, the error of internal work.
func (d *decoder) repeatsFailure(graph []byte, mode string, v strictjson.Value) bool {
	err, ended := d.errorIn(mode, v)
	if err.Kind() <= strictjson.Null {
		return false
	}
	key := errorKey(err)
	return key != "" && d.failures.MayContain(key) || mode == modeError && len(d.working)+d.returns.Len() > 0 || d.mayBeAroundTask(graph, ended)
}

// errorKey returns a hash of the text of an error, or "" if there is none.
func errorKey(err strictjson.Value) string {
	if message := err.Get("message"); message.Exists() {
		err = message
	}
	return contentKey(err)
}

// mayBeOf reports whether what a graph sends may be of some internal work. The run's own graph may repeat what all others send. What a called
// task sends has the namespace of its caller, which may be a called task of the same graph.
func (s *internalState) mayBeOf(working map[string]work, graph []byte) bool {
	outer, last := splitLast(graph)
	_, task := splitSegment(last)
	callers := []uint64{wire.Hash(task), wire.Hash(calledPrefix + string(outer))}
	for len(outer) > 0 && s.called.MayContain(task) {
		outer, last = splitLast(outer)
		_, task = splitSegment(last)
		callers = append(callers, wire.Hash(calledPrefix+string(outer)))
	}
	for _, w := range working {
		if w.hasFailed || w.isEarlier {
			continue
		}
		isCalled := slices.ContainsFunc(callers, func(caller uint64) bool { return slices.Contains(w.around, caller) })
		if isCalled || isWithinGraph(w.graph, string(graph)) || w.isAnywhere() || w.kind == workOfUnplacedCall {
			return true
		}
	}
	return len(working) >= wire.MaxSet
}

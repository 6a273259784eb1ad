package langgraph

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// graphPrefix is the prefix in internalWork and in working of the graphs of internal agents.
const graphPrefix = "graph "

var (
	nodeNames  = []string{"langgraph_node", "langgraph_path"}
	agentNames = []string{"lc_agent_name"}
)

// namesScope reports whether an object names an internal node, agent or namespace in one of the given members.
func namesScope(v strictjson.Value, members []string) bool {
	for name, value := range v.Members() {
		if lenient.MatchesAny(name.Text(), members) && isInternalScope(value) {
			return true
		}
	}
	return false
}

// notePlaces records the tasks that the namespace and the metadata of a frame show, and which of them are of internal nodes and agents.
// Other modes do not say when such work begins.
func (d *decoder) notePlaces(namespace []byte, mode string, v strictjson.Value) {
	d.noteNamespace(namespace, nil)
	d.noteResponses(namespace, mode, v)
	switch mode {
	case modeMessages:
		_, metadata := tuple(v)
		d.noteMetadata(metadata)
	case modeMessagesMetadata:
		for _, entry := range v.Members() {
			d.noteMetadata(entry.Get("metadata"))
		}
	case modeEvents:
		d.noteGraphRun(v)
	case modeTasks:
		d.noteTaskOfAgent(namespace, v)
	case modeDebug:
		d.noteTaskOfAgent(namespace, v.Get("payload"))
	}
}

// noteMetadata records the work of a node that the server's metadata describes.
func (d *decoder) noteMetadata(metadata strictjson.Value) {
	place, stated := d.placeIn(metadata), namespaceIn(metadata)
	isOfAgent, isOfNode := namesScope(metadata, agentNames), namesScope(metadata, nodeNames)
	if len(place) == 0 {
		if isOfAgent || isOfNode {
			node := metadata.Get("langgraph_node").Text()
			d.beginNode(node, nil, nil)
			d.noteSpeaker(node)
		}
		return
	}
	path := metadata.Get("langgraph_path")
	graph, own := graphOfTask(place, path)
	step, _ := metadata.Get("langgraph_step").Float()
	d.endStepsBefore(graph, step)
	isKnown := d.noteNamespace(place, graph)
	d.steps.notePath(graph, own, path, step)
	switch {
	case isKnown || isOfNode:
		if !isKnown {
			d.beginNode(own, place[:len(place)-len(own)], graph)
			d.noteSpeaker(own)
		}
		_, task := splitSegment(own)
		d.noteStep(task, graph, step)
	case isOfAgent:
		d.noteAgent(place, stated)
	case len(metadata.Get("lc_agent_name").Text()) > 0 && !bytes.Equal(place, stated):
		outer, _ := splitLast(place)
		d.invoked.note(outer, true)
	}
}

// graphOfTask splits the namespace of a task into the namespace of its graph and its own segment. A task that calls another one is
// around it in the namespace, but both are of the same graph.
//
// Source: langgraph/pregel/_algo.py, prepare_push_task_functional.
func graphOfTask(place []byte, path strictjson.Value) (graph, own []byte) {
	graph, own = splitLast(place)
	for parts := elementsOf(path); len(parts) > 2; parts = elementsOf(parts[1]) {
		if isCall, _ := parts[len(parts)-1].Bool(); !isCall {
			break
		}
		graph, _ = splitLast(graph)
	}
	return place[:len(graph)], own // not nil, even for the run's own graph
}

// noteNamespace records the tasks of a namespace, and reports whether one is of an internal node. The last task is of the given graph, if
// it is not nil, else of that of the segments before.
func (d *decoder) noteNamespace(namespace, ofLast []byte) (isInternal bool) {
	if len(namespace) > maxNamespace {
		return false
	}
	depth := 0
	for rest := namespace; len(rest) > 0; {
		before := namespace[:len(namespace)-len(rest)]
		segment, inner := cutTask(rest)
		graph := bytes.TrimSuffix(before, []byte("|"))
		if rest = inner; len(rest) == 0 && ofLast != nil {
			graph = ofLast
		}
		if depth++; depth <= maxAround {
			d.steps.note(graph, segment)
		}
		if !isInternal && isInternalNode(segment) {
			isInternal = true
			d.beginNode(segment, before, graph)
			d.noteSpeaker(segment)
		}
	}
	return isInternal
}

// beginNode records that an internal node of a graph works. before is what is before its segment in a namespace.
func (d *decoder) beginNode(segment, before, graph []byte) {
	node, task := splitSegment(segment)
	d.beginWork(task, work{around: d.placesAround(bytes.TrimSuffix(before, []byte("|"))), node: wire.Hash(nodePlace(graph, node)), graph: string(graph), kind: workOfNode})
}

// noteSpeaker records that a frame has named an internal node.
func (d *decoder) noteSpeaker(segment []byte) {
	_, task := splitSegment(segment)
	if w, is := d.working[task]; is {
		w.isNamed = true
		d.working[task] = w
	}
}

// noteAgent records that an internal agent works in a task, which is one of its own graph. In the run's own graph, a node that is
// not one of agentNodes may call the agent directly. Then the node's task is the agent's graph.
func (d *decoder) noteAgent(place, stated []byte) {
	graph, own := splitLast(place)
	if len(graph) == 0 && !isAgentNode(string(own)) {
		d.noteInternalGraph(place, place)
		return
	}
	outer, _ := splitLast(stated)
	d.noteInternalGraph(graph, outer)
	d.beginNode(own, graph, graph)
}

// noteResponses records the graph of an internal agent of create_react_agent. Only the responses of its model have its name. In a state, a
// response is new if it was not withheld before. The run's own graph may be an application's, with nodes of the same names.
//
// Source: langgraph/prebuilt/chat_agent_executor.py, call_model.
func (d *decoder) noteResponses(graph []byte, mode string, v strictjson.Value) {
	var responses []strictjson.Value
	switch task := taskIn(mode, v); {
	case len(graph) == 0:
	case mode == modeValues && slices.ContainsFunc(modelNodes, func(node string) bool { return d.steps[nodePlace(graph, []byte(node))] != nil }):
		responses = slices.DeleteFunc(messagesOf(v.Get("messages")), func(m strictjson.Value) bool { return mayName(&d.withheld, m.Get("id")) })
	case mode == modeUpdates:
		for _, node := range modelNodes {
			responses = append(responses, returnedMessages(v.Get(node))...)
		}
	case slices.ContainsFunc(modelNodes, task.Get("name").Is):
		responses = returnedMessages(task.Get("result"))
	}
	for _, m := range responses {
		if m.Get("type").Is("ai") && lenient.ContainsInternal(m.Get("name")) {
			d.noteInternalGraph(graph, d.stated)
		}
	}
}

// noteTaskOfAgent records the graph of an internal agent that the metadata of a task names.
func (d *decoder) noteTaskOfAgent(graph []byte, task strictjson.Value) {
	id, stated := d.name(task.Get("id")), d.stated
	switch isInternal := namesScope(task.Get("metadata"), agentNames); {
	case id == "":
		return
	case !isInternal:
		if named := task.Get("metadata").Get("lc_agent_name"); len(named.Text()) > 0 && !bytes.Equal(graph, stated) {
			d.invoked.note(graph, true)
		}
		return
	}
	add(&d.internalWork, id, true)
	d.noteInternalGraph(graph, stated)
}

// noteGraphRun records the graph of an internal agent when its own run begins, which has the metadata of the node around it. With
// checkpointer=True, only the events of its nodes show the namespace without IDs in which it works.
func (d *decoder) noteGraphRun(v strictjson.Value) {
	metadata := v.Get("metadata")
	place, stated := d.placeIn(metadata), namespaceIn(metadata)
	graph, _ := splitLast(place)
	if !namesScope(metadata, agentNames) {
		if len(metadata.Get("lc_agent_name").Text()) > 0 && !bytes.Equal(place, stated) {
			d.invoked.note(graph, true)
		}
		return
	}
	if memory, _ := splitLast(stated); lacksTask(memory) {
		d.internalWork.Add(d.graphKey(memory))
	}
	if !v.Get("name").Is(metadata.Get("lc_agent_name").String()) || !lenient.HasSuffix(v.Get("event").Text(), "start") {
		return
	}
	d.noteInternalGraph(place, stated, wire.Hash(d.name(v.Get("run_id"))))
}

// noteInternalGraph records the graph of an internal agent. All that it sends is internal. The agent counts as working until the task
// around it ends, because that task may repeat its error or its question. runs are hashes of the IDs of the runs around it.
func (d *decoder) noteInternalGraph(graph, stated []byte, runs ...uint64) {
	if len(graph) > maxNamespace { // isInAgent knows it without
		return
	}
	outer, _ := splitGraph(graph)
	d.internalWork.Add(d.graphKey(graph))
	d.internalWork.Add(d.graphKey(stated))
	d.beginWork(graphPrefix+string(graph), work{around: append(d.placesAround(graph), runs...), graph: string(outer), kind: workOfAgent})
}

// graphKey returns the key of a graph in internalWork. The run's own graph has no namespace of its own.
func (d *decoder) graphKey(graph []byte) string {
	if len(graph) == 0 {
		return graphPrefix + uuidKey(d.run)
	}
	return graphPrefix + string(graph)
}

// isPlacedInAgent reports whether a frame is of the graph of an internal agent, or of one within it.
func (d *decoder) isPlacedInAgent(namespace []byte, mode string, v strictjson.Value) bool {
	if slices.Contains(runModes, mode) {
		return false
	}
	ofMetadata := func(metadata strictjson.Value) bool {
		graph, _ := splitLast(d.placeIn(metadata))
		stated, _ := splitLast(namespaceIn(metadata))
		return d.isInAgent(graph, stated, true)
	}
	switch mode {
	case modeMessages:
		_, metadata := tuple(v)
		return d.isInAgent(namespace, d.stated, true) || ofMetadata(metadata)
	case modeMessagesMetadata:
		return anyMember(v, func(entry strictjson.Value) bool { return ofMetadata(entry.Get("metadata")) })
	case modeEvents:
		return ofMetadata(v.Get("metadata")) || d.isInAgent(namespace, d.stated, true)
	}
	return d.isInAgent(namespace, d.stated, d.shown.missed == missedNothing && !d.withheldCalls.continues)
}

// mayHaveMemory reports whether a frame has a state that an internal agent may have written: one in a namespace without IDs in which such
// an agent has worked, because all that work there have the same memory.
func (d *decoder) mayHaveMemory(mode string, v strictjson.Value) bool {
	graph := d.stated
	if mode == modeEvents {
		graph, _ = splitLast(namespaceIn(v.Get("metadata")))
		v = v.Get("data")
	}
	if mode == modeDebug {
		v = v.Get("payload")
	}
	hasState := mode == modeValues || v.Get("values").Exists() || v.Get("input").Exists()
	return hasState && mode != modeUpdates && lacksTask(graph) && d.isInAgent(graph, graph, false)
}

func anyMember(v strictjson.Value, matches func(strictjson.Value) bool) bool {
	for _, member := range v.Members() {
		if matches(member) {
			return true
		}
	}
	return false
}

// runModes are the frames of a run as a whole.
var runModes = []string{modeMetadata, modeError, modeEnd, modeFeedback}

// isInAgent reports whether a graph may be that of an internal agent, or be within one. stated is its namespace as the stream states it. If
// IDs were restored, isCertain says that there is no doubt about them. In doubt, isInAgent returns true: for a namespace that is too long to
// be remembered, for a graph in too many others, and for a namespace without IDs in which an internal agent has worked, until a frame names
// another agent there.
func (d *decoder) isInAgent(graph, stated []byte, isCertain bool) bool {
	switch {
	case len(graph) > maxNamespace:
		return true
	case d.internalWork.IsEmpty():
		return false
	}
	for range maxAround {
		isOther := isCertain && d.invoked.restored[string(graph)]
		if d.internalWork.Contains(d.graphKey(graph)) || !isOther && d.internalWork.Contains(d.graphKey(stated)) {
			return true
		}
		if len(graph) == 0 {
			return false
		}
		graph, _ = splitGraph(graph)
		stated, _ = splitGraph(stated)
	}
	return true
}

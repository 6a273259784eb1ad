package langgraph

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// withheldCalls holds the withheld calls of a stream. Streams share the calls without a result, because a client may rejoin a
// run or resume a thread.
type withheldCalls struct {
	begun     map[string]withheldCall // by ID, at most wire.MaxSet
	ended     wire.Set[string]        // the IDs of those with a result
	shared    wire.SharedCalls
	continues bool // the stream continues work that another stream may have begun

	graph     string               // namespace of the graph of the frame being read
	isPlaced  bool                 // the frame being read states its graph
	graphs    map[string]string    // graphs of messages whose metadata came in an earlier frame, by ID; at most maxOpen
	inState   bool                 // the frame being read shows the state that a node wrote
	results   wire.Set[string]     // the IDs of calls whose result the frame being read has shown
	within    toolPlace            // of the frame being read: see withheldCall
	index     [2]*openCalls        // of the calls without a result, and of all; nil if it is out of date
	messages  map[string]toolPlace // the same of messages whose metadata came in an earlier frame, by ID; at most wire.MaxSet
	returned  wire.Set[string]     // the tasks that have sent a result of a withheld call
	listed    wire.Set[uint64]     // what states had of withheld calls; see noteListed
	asked     wire.Set[string]     // the graphs of which the stream has shown calls, if it began after the run; see noteGraphOfCalls
	withoutID unnamedCalls
	unnamed   wire.Set[string] // messages, by ID, of which only the metadata came: a withheld call may have made them, and a result names its call
}

// withheldCall is a withheld call of this stream.
type withheldCall struct {
	event.WithheldCall
	within toolPlace // of the innermost tool that made the call; zero if none did, or it is unknown
}

// toolPlace is the place of a tool: hashes of its namespace and of the nodes in it.
type toolPlace struct {
	namespace, nodes uint64
	lacksTask        bool // see invocations
}

// setPlace records where the frame being read is from.
func (h *withheldCalls) setPlace(d *decoder, name []byte, mode string, v strictjson.Value) {
	if h.continues { // another stream may have changed what they share
		h.forgetIndex()
	}
	_, namespace, _ := bytes.Cut(name, []byte("|"))
	graph := namespace
	switch mode {
	case modeMessages:
		_, metadata := tuple(v)
		if namespace = d.placeIn(metadata); len(namespace) > 0 {
			graph, _ = splitLast(namespace)
		}
	case modeEvents:
		if namespace = d.placeIn(v.Get("metadata")); len(namespace) > 0 {
			graph, _ = splitLast(namespace)
		}
	case modeMessagesMetadata:
		for id, entry := range v.Members() {
			place := d.placeIn(entry.Get("metadata"))
			h.noteGraph(dialect.Name(id.String()), place)
			if within := withinTool(place); within != (toolPlace{}) && len(h.messages) < wire.MaxSet {
				if h.messages == nil {
					h.messages = make(map[string]toolPlace)
				}
				h.messages[dialect.Name(id.String())] = within
			}
		}
	}
	h.isPlaced = mode != modeMessagesPartial && mode != modeMessagesComplete
	h.within, h.graph, h.results = withinTool(namespace), string(graph), wire.Set[string]{}
	h.inState = mode == modeUpdates || mode == modeValues || mode == modeCheckpoints
}

// namespaceIn returns the namespace of a node in LangGraph's metadata, or nothing.
func namespaceIn(metadata strictjson.Value) []byte {
	return metadata.First(namespaceMembers...).Text()
}

// withinTool returns the place of the last task of the node that executes tools in a namespace, or nothing.
func withinTool(namespace []byte) toolPlace {
	for len(namespace) > 0 {
		outer, last := splitLast(namespace)
		if node, _ := splitSegment(last); string(node) == toolNode {
			return toolPlace{wire.Hash(string(namespace)), wire.Hash(nodesOf(string(namespace))), lacksTask(namespace)}
		}
		namespace = outer
	}
	return toolPlace{}
}

// callTypes are the types of content blocks that are calls of the application's tools.
var callTypes = []string{"tool_use", "tool_call", "tool_call_chunk", "function_call"}

// begin records the calls of a withheld message. A model's server executes calls of other types itself.
func (h *withheldCalls) begin(d *decoder, message strictjson.Value) {
	for _, c := range callsOf(message) {
		h.beginCall(d, message, c)
	}
}

// toolAround returns the place of the tool that has made a message, or nothing.
func (h *withheldCalls) toolAround(d *decoder, message strictjson.Value) toolPlace {
	return cmp.Or(h.within, h.messages[d.name(message.Get("id"))])
}

// beginCall records one of the calls of a message.
func (h *withheldCalls) beginCall(d *decoder, message, c strictjson.Value) {
	kind, id := c.Get("type").Text(), d.name(c.First("call_id", "id"))
	if len(kind) > 0 && !lenient.MatchesAny(kind, callTypes) && !c.Get("function").Exists() {
		return
	}
	isUnnamed := id == ""
	if isUnnamed {
		id = d.unnamedKey(message, c)
	}
	if id == "" {
		return
	}
	call := withheldCall{event.WithheldCall{ID: wire.Hash(id), Tool: wire.Hash(d.name(toolOf(c)))}, h.toolAround(d, message)}
	if target := c.Get("args").Get(subagentMember); message.Get("type").Is("ai") { // a piece may have only a part of it
		call.Target = wire.Hash(d.name(target))
	}
	if h.results.Contains(id) { // some models number the calls of each answer, so this one has the ID of an earlier one
		h.ended.Remove(id)
		h.results.Remove(id)
	}
	h.add(id, call)
	if isUnnamed {
		h.beginUnnamed(id, d.name(toolOf(c)))
	}
	if h.inState || asksInternal(c) { // else the message may not be in the state, as a structured output
		d.beginWorkOfCall(id, message)
	}
}

// noteGraph records the graph of a message that follows its metadata.
func (h *withheldCalls) noteGraph(message string, place []byte) {
	if len(place) == 0 || len(place) > maxNamespace {
		return
	}
	if h.graphs == nil || len(h.graphs) >= maxOpen {
		h.graphs = make(map[string]string)
	}
	graph, _ := splitLast(place)
	h.graphs[message] = string(graph)
}

// graphOf returns the graph of a message in the frame being read, and whether it is known.
func (h *withheldCalls) graphOf(d *decoder, message strictjson.Value) (graph string, isPlaced bool) {
	if h.isPlaced {
		return h.graph, true
	}
	graph, isPlaced = h.graphs[d.name(message.Get("id"))]
	return graph, isPlaced
}

// beginWorkOfCall records that a withheld call in a message is open.
func (d *decoder) beginWorkOfCall(id string, message strictjson.Value) {
	h := &d.withheldCalls
	if h.ended.Contains(id) {
		return
	}
	graph, isPlaced := h.graphOf(d, message)
	w := work{kind: workOfUnplacedCall}
	if isPlaced {
		w = work{around: d.placesAround([]byte(graph)), graph: graph, kind: workOfCall}
	}
	if d.working[callPrefix+id].kind == workOfUnplacedCall {
		delete(d.working, callPrefix+id)
	}
	d.beginWork(callPrefix+id, w)
}

// endPassedCalls ends calls that have no result in the state although a user's message and a model's answer follow them. They were canceled.
func (d *decoder) endPassedCalls(state strictjson.Value) {
	if len(d.working) == 0 {
		return
	}
	isAnswer, isPassed := false, false
	var later wire.Set[string] // calls that are not passed, which may have the same IDs
	for _, m := range slices.Backward(elementsOf(state.Get("messages"))) {
		for _, c := range callsOf(m) {
			id := d.name(c.First("call_id", "id"))
			if id == "" {
				id = d.unnamedKey(m, c)
			}
			switch {
			case !isPassed:
				later.Add(id)
			case !later.MayContain(id):
				delete(d.working, callPrefix+id)
				d.withheldCalls.withoutID.remove(d.name(toolOf(c)), id)
			}
		}
		isPassed = isPassed || isAnswer && m.Get("type").Is("human")
		isAnswer = isAnswer || m.Get("type").Is("ai")
	}
}

func (h *withheldCalls) add(id string, call withheldCall) {
	h.forgetIndex()
	earlier, known := h.begun[id]
	if known || len(h.begun) < wire.MaxSet {
		if h.begun == nil {
			h.begun = make(map[string]withheldCall)
		}
		if known && earlier.within != call.within {
			call.within = toolPlace{}
		}
		call.Tool, call.Target = cmp.Or(call.Tool, earlier.Tool), cmp.Or(call.Target, earlier.Target)
		h.begun[id] = call
	}
	if !h.ended.Contains(id) {
		h.shared.Begin(call.WithheldCall)
	}
}

// end records the result of a call.
func (h *withheldCalls) end(d *decoder, message strictjson.Value) {
	id := d.name(message.Get("tool_call_id"))
	if id == "" || !message.Get("content").Exists() || !isToolResult(message) {
		return
	}
	h.endCall(d, id)
}

// endCall records that a call has its result.
func (h *withheldCalls) endCall(d *decoder, id string) {
	if _, is := h.begun[id]; is {
		h.ended.Add(id)
		h.results.Add(id)
	}
	if h.continues || h.ended.Contains(id) {
		h.forgetIndex()
	}
	h.shared.End(wire.Hash(id))
	if working := callPrefix + id; d.working[working].kind >= workOfCall {
		d.end(func(other string, _ work) bool { return other == working })
	}
}

// forgetEnded forgets the calls with a result when another run begins, because its calls may have the same IDs.
func (h *withheldCalls) forgetEnded() {
	for id := range h.ended.All() {
		delete(h.begun, id)
	}
	h.ended, h.withoutID.counted = wire.Set[string]{}, wire.Set[string]{}
	h.forgetIndex()
}

// hasEnded reports whether a withheld call has its result.
func (h *withheldCalls) hasEnded(id string) bool {
	if _, is := h.begun[id]; is {
		return h.ended.Contains(id)
	}
	open, isFull := h.shared.Open() // it was withheld on another stream, or by an earlier run
	return !isFull && !slices.ContainsFunc(open, func(c event.WithheldCall) bool { return c.ID == wire.Hash(id) })
}

// forget forgets a call that has its result.
func (h *withheldCalls) forget(id string) {
	delete(h.begun, id)
	h.ended.Remove(id)
	h.forgetIndex()
}

// mayBeOpen reports whether a withheld call may have no result yet.
func (h *withheldCalls) mayBeOpen() bool {
	open := h.indexed(false)
	return len(open.all.calls) > 0 || open.isFull
}

// open returns the withheld calls without a result. If orEnded is set, it also returns those with a result. isFull says that
// there may be others.
func (h *withheldCalls) open(orEnded bool) (open []withheldCall, isFull bool) {
	if h.continues {
		var shared []event.WithheldCall
		shared, isFull = h.shared.Open()
		for _, c := range shared {
			open = append(open, withheldCall{WithheldCall: c})
		}
	}
	for id, call := range h.begun {
		if orEnded || !h.ended.Contains(id) {
			open = append(open, call)
		}
	}
	return open, isFull || len(h.begun) >= wire.MaxSet
}

// mayBeWithheldCall reports whether an object with arguments may repeat a call that was withheld or unreadable. A task
// executes a call. A question asks whether to execute it, and has no id. A call that left and has the same arguments shows no more.
func (d *decoder) mayBeWithheldCall(v strictjson.Value) bool {
	if id := v.Get("id"); len(id.Text()) > 0 {
		return d.shown.missed != missedNothing && !d.shown.contains(id)
	}
	if d.inResponse && d.shown.missed == missedNothing { // the message says what it calls
		return false
	}
	args, graph := wire.ExactHash(v.Get("args")), []byte(d.withheldCalls.graph)
	isShown := func(c *call) bool { return d.isShownCallIn(c, v, args, graph) }
	tool := toolOf(v)
	return len(tool.Text()) > 0 && !slices.ContainsFunc(d.calls, isShown) && d.mayBeWithheldCallOf(d.name(tool), "")
}

// checkTool reports whether an event is of a tool that executes a withheld call, and whether it may be one. For an event that
// does not name the call, the tool decides.
func (d *decoder) checkTool(v strictjson.Value) (isWithheld, mayBeWithheld bool) {
	if !isToolEvent(v) {
		return false, false
	}
	data := v.Get("data")
	places := []strictjson.Value{data, data.Get("output"), data.Get("input"), data.Get("input").Get("runtime"), v.Get("metadata")}
	isWithheld = slices.ContainsFunc(places, func(place strictjson.Value) bool { return mayName(&d.withheld, place.Get("tool_call_id")) })
	isNamed := len(data.Get("tool_call_id").Text())+len(data.Get("output").Get("tool_call_id").Text()) > 0 // the model chooses the input
	return isWithheld, !isNamed && d.mayBeWithheldCallOf(d.name(v.Get("name")), d.name(data.Get("input").Get(subagentMember)))
}

// mayBeWithheldCallOf reports whether a call of a tool may be a call that was withheld or unreadable. If all open calls of the
// tool were shown, it is not. If a shown call names the same agent, calls that name another one are ruled out.
func (d *decoder) mayBeWithheldCallOf(tool, agent string) bool {
	isNamed := d.isShownAgent(agent)
	open, target := d.withheldCalls.indexed(false), wire.Hash(agent)
	if open.isFull || slices.ContainsFunc(open.byTool[wire.Hash(tool)], func(c withheldCall) bool { return c.Target == 0 || c.Target == target || !isNamed }) {
		return true
	}
	isOpen := false
	for _, c := range d.calls {
		switch {
		case c.tool != tool, isNamed && c.target != "" && c.target != agent:
		case d.withheld.MayContain(c.id), d.shown.missed != missedNothing && !d.shown.containsText([]byte(c.id)):
			return true
		default:
			isOpen = true
		}
	}
	return !isOpen && (d.shown.missed != missedNothing || d.withheldTools.MayContain(tool))
}

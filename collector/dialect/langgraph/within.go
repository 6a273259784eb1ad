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

// hiddenCalls holds the withheld calls of a stream. Streams share the calls without a result, for clients that rejoin a run or
// resume a thread.
type hiddenCalls struct {
	begun     map[string]event.WithheldCall // by ID, at most wire.MaxSet
	ended     wire.Set[string]              // the IDs of those with a result
	shared    wire.SharedCalls
	continues bool // the stream continues work that another stream may have begun
}

// callTypes are the types of content blocks that are calls of the application's tools.
var callTypes = []string{"tool_use", "tool_call", "tool_call_chunk", "function_call"}

// begin records the calls of a withheld message. A model's server executes calls of other types itself.
func (h *hiddenCalls) begin(d *decoder, message strictjson.Value) {
	for c := range callsOf(message) {
		kind, id := c.Get("type").Text(), d.name(c.First("call_id", "id"))
		if id == "" || len(kind) > 0 && !lenient.MatchesAny(kind, callTypes) && !c.Get("function").Exists() {
			continue
		}
		call := event.WithheldCall{ID: wire.Hash(id), Tool: wire.Hash(d.name(toolOf(c)))}
		if target := c.Get("args").Get("subagent_type"); message.Get("type").Is("ai") { // a piece may have only a part of it
			call.Target = wire.Hash(d.name(target))
		}
		h.add(id, call)
	}
}

func (h *hiddenCalls) add(id string, call event.WithheldCall) {
	if _, known := h.begun[id]; known || len(h.begun) < wire.MaxSet {
		if h.begun == nil {
			h.begun = make(map[string]event.WithheldCall)
		}
		h.begun[id] = event.WithheldCall{ID: call.ID, Tool: cmp.Or(call.Tool, h.begun[id].Tool), Target: cmp.Or(call.Target, h.begun[id].Target)}
	}
	if !h.ended.Contains(id) {
		h.shared.Begin(call)
	}
}

// end records the result of a call.
func (h *hiddenCalls) end(d *decoder, message strictjson.Value) {
	id := d.name(message.Get("tool_call_id"))
	if id == "" || !message.Get("content").Exists() || !isToolResult(message) {
		return
	}
	if _, is := h.begun[id]; is {
		h.ended.Add(id)
	}
	h.shared.End(wire.Hash(id))
}

// forgetEnded forgets the calls with a result when another run begins, because its calls may have the same IDs.
func (h *hiddenCalls) forgetEnded() {
	for id := range h.ended.All() {
		delete(h.begun, id)
	}
	h.ended = wire.Set[string]{}
}

// hasEnded reports whether a withheld call has its result.
func (h *hiddenCalls) hasEnded(id string) bool {
	if _, is := h.begun[id]; is {
		return h.ended.Contains(id)
	}
	open, isFull := h.shared.Open() // it was withheld on another stream, or by an earlier run
	return !isFull && !slices.ContainsFunc(open, func(c event.WithheldCall) bool { return c.ID == wire.Hash(id) })
}

// forget forgets a call with a result.
func (h *hiddenCalls) forget(id string) {
	delete(h.begun, id)
	h.ended.Remove(id)
}

// isNone reports whether no call was withheld.
func (h *hiddenCalls) isNone() bool {
	open, isFull := h.open(false)
	return len(open) == 0 && !isFull
}

// open returns the withheld calls without a result. If orEnded is set, it returns those with one too. isFull says that there
// may be others.
func (h *hiddenCalls) open(orEnded bool) (open []event.WithheldCall, isFull bool) {
	if h.continues {
		open, isFull = h.shared.Open()
	}
	for id, call := range h.begun {
		if orEnded || !h.ended.Contains(id) {
			open = append(open, call)
		}
	}
	return open, isFull || len(h.begun) >= wire.MaxSet
}

func isToolResult(message strictjson.Value) bool {
	return lenient.MatchesAny(message.First("type", "role").Text(), resultTypes)
}

// doubtful is the prefix in internalWork of tasks and runs that may work within a withheld call.
const doubtful = "doubtful "

// namespaceMembers are the members of LangGraph's metadata that have the namespace of a node.
var namespaceMembers = []string{"langgraph_checkpoint_ns", "checkpoint_ns"}

// mayWorkInHiddenCall reports whether a task of a node may work within one of the calls that open returns. The name of
// its agent rules out calls that name another agent.
func (d *decoder) mayWorkInHiddenCall(node []byte, agent string, orEnded bool) bool {
	isNamed := d.isShownAgent(agent)
	open, isFull := d.hidden.open(orEnded)
	return isFull || slices.ContainsFunc(open, func(c event.WithheldCall) bool {
		isInNode := string(node) == toolNode || c.Target != 0 || c.Tool == wire.Hash(taskTool)
		return isInNode && (!isNamed || c.Target == 0 || c.Target == wire.Hash(agent))
	})
}

// isShownAgent reports whether an open call that was not withheld names an agent.
func (d *decoder) isShownAgent(name string) bool {
	return name != "" && slices.ContainsFunc(d.calls, func(c *call) bool { return c.target == name && !d.withheld.MayContain(c.id) })
}

// isOfHiddenCall reports whether the task of a namespace's segment works or may work within a withheld call. If no such
// call is open at the task's first frame, it does not. The name of an agent that a shown call names removes the doubt. In
// a nested graph, only the node that executes tools is in doubt.
func (d *decoder) isOfHiddenCall(segment []byte, agent string, isNested bool) bool {
	node, task := splitSegment(segment)
	isInDoubt := d.internalWork.Contains(doubtful + task)
	switch {
	case d.internalWork.MayContain(task):
		return true
	case d.shownWork.Contains(task):
		return false
	case isInDoubt && !d.isShownAgent(agent), (!isNested || string(node) == toolNode) && d.mayWorkInHiddenCall(node, agent, isInDoubt):
		d.internalWork.Add(doubtful + task) // other streams may not show the call
		return true
	}
	d.shownWork.Add(task)
	return false
}

// splitSegment returns the node and the task of a namespace's segment.
func splitSegment(segment []byte) (node []byte, task string) {
	node, id, found := bytes.Cut(segment, []byte(":"))
	if !found {
		id = segment
	}
	return node, dialect.Name(string(id))
}

// isWithinHiddenCall reports whether a frame is of a graph that works within a withheld call, or of a model that the tool
// of such a call asks. The input of that model may repeat the arguments, and its answer may be the result.
func (d *decoder) isWithinHiddenCall(name []byte, mode string, v strictjson.Value) bool {
	_, namespace, _ := bytes.Cut(name, []byte("|"))
	switch mode {
	case modeMessages:
		message, metadata := tuple(v)
		return d.isPlacedInHiddenCall(namespace, metadata, !isToolResult(message))
	case modeMessagesMetadata:
		for _, entry := range v.Members() {
			if d.isPlacedInHiddenCall(namespace, entry.Get("metadata"), true) {
				return true
			}
		}
	case modeEvents:
		kind := v.Get("event").Text()
		return d.isPlacedInHiddenCall(namespace, v.Get("metadata"), lenient.HasPrefix(kind, "on_chat_model_") || lenient.HasPrefix(kind, "on_llm_"))
	}
	return d.isPlacedInHiddenCall(namespace, strictjson.Value{}, false)
}

// isPlacedInHiddenCall is isWithinHiddenCall for the namespace of a graph and the metadata of a node in it. byPlace says
// that the node's output does not name its call, so the place must tell.
func (d *decoder) isPlacedInHiddenCall(graph []byte, metadata strictjson.Value, byPlace bool) bool {
	agent := d.name(metadata.Get("lc_agent_name"))
	if d.isGraphOfHiddenCall(graph, agent) {
		return true
	}
	for _, member := range namespaceMembers {
		outer, own := splitLast(metadata.Get(member).Text())
		if d.isGraphOfHiddenCall(outer, agent) {
			return true
		}
		node, task := splitSegment(own)
		if task != "" && d.internalWork.MayContain(task) || byPlace && string(node) == toolNode && d.isOfHiddenCall(own, "", len(outer) > 0) {
			return true
		}
	}
	return false
}

// isGraphOfHiddenCall is isWithinHiddenCall for the namespace of a graph. agent is the graph's agent, or "".
func (d *decoder) isGraphOfHiddenCall(namespace []byte, agent string) bool {
	for isNested := false; len(namespace) > 0; isNested = true {
		segment, rest, _ := bytes.Cut(namespace, []byte("|"))
		of := agent
		if len(rest) > 0 {
			of = ""
		}
		if d.isOfHiddenCall(segment, of, isNested) {
			return true
		}
		namespace = rest
	}
	return false
}

// noteTask decides whether a task works within a withheld call, if its input says which calls it executes.
func (d *decoder) noteTask(task strictjson.Value) {
	id := d.name(task.Get("id"))
	executed, isShown := executedBy(task)
	for _, c := range executed {
		if mayName(&d.withheld, c.Get("id")) {
			add(&d.internalWork, id, true)
			return
		}
		isShown = isShown && d.shown.contains(c.Get("id"))
	}
	if isShown {
		d.shownWork.Add(id)
	}
}

// executedBy returns the calls that a task executes. Its input is a call (alone, in an envelope or in a list) or a state
// whose last message has the calls. A state is certain only in the node that executes tools, because other nodes get
// states too.
//
// Source: langgraph/prebuilt/tool_node.py, ToolNode._parse_input.
func executedBy(task strictjson.Value) (calls []strictjson.Value, isCertain bool) {
	input := task.Get("input")
	if c := input.Get("tool_call"); c.Exists() {
		return []strictjson.Value{c}, true
	}
	for _, one := range append(elementsOf(input), input) {
		if one.Get("args").Exists() && one.Get("id").Exists() {
			calls = append(calls, one)
		}
	}
	if len(calls) > 0 {
		return calls, true
	}
	var last strictjson.Value
	for message := range cmp.Or(input.Get("messages"), input).Elements() {
		last = message
	}
	return elementsOf(last.Get("tool_calls")), last.Exists() && task.Get("name").Is(toolNode)
}

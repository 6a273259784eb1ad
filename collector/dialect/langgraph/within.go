package langgraph

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// doubtful is the prefix in internalWork of tasks and runs that may work within a withheld call.
const doubtful = "doubtful "

// namespaceMembers are the members of LangGraph's metadata that have the namespace of a node.
var namespaceMembers = []string{"langgraph_checkpoint_ns", "checkpoint_ns"}

// taskPlace is where a task works: its segment of a namespace, and the namespace around it.
type taskPlace struct {
	segment, outer []byte
	tools          []toolPlace // in outer; see toolScan
	outerUnknown   bool
}

// isShownAgent reports whether an open call that was not withheld names an agent.
func (d *decoder) isShownAgent(name string) bool {
	return name != "" && slices.ContainsFunc(d.calls, func(c *call) bool { return c.target == name && !d.withheld.MayContain(c.id) })
}

// isTaskOfWithheldCall reports whether a task works or may work within a withheld call. If no such call is open at the task's
// first frame, it does not. A doubt ends when the task's agent is one that a shown call names. In a nested graph, only the
// node that executes tools is in doubt.
func (d *decoder) isTaskOfWithheldCall(t taskPlace, agent string) bool {
	node, task := splitSegment(t.segment)
	isInDoubt := d.internalWork.Contains(doubtful + task)
	switch {
	case d.internalWork.MayContain(task):
		return true
	case d.shownWork.Contains(task) && !withoutTask(t.segment): // else it may be another invocation
		return false
	case isInDoubt && !d.isShownAgent(agent), (len(t.outer) == 0 || string(node) == toolNode) && d.mayWorkInWithheldCall(t, agent, isInDoubt):
		d.internalWork.Add(doubtful + task) // other streams may not show the call
		return true
	}
	d.shownWork.Add(task)
	return false
}

// doubtTask records that a withheld call works or may work within a task. What other modes send of it may come after the end of the call.
func (d *decoder) doubtTask(metadata strictjson.Value) {
	_, own := splitLast(d.placeIn(metadata))
	if _, task := splitSegment(own); task != "" {
		d.internalWork.Add(doubtful + task)
	}
}

// isWithinWithheldCall reports whether a frame is of a graph that works within a withheld call, or of a model that the tool
// of such a call asks. The input of that model may repeat the arguments, and its answer may be the result.
func (d *decoder) isWithinWithheldCall(name []byte, mode string, v strictjson.Value) bool {
	_, namespace, _ := bytes.Cut(name, []byte("|"))
	switch mode {
	case modeMessages:
		message, metadata := tuple(v)
		return d.isPlacedInWithheldCall(namespace, metadata, !isToolResult(message))
	case modeMessagesMetadata:
		for _, entry := range v.Members() {
			if d.isPlacedInWithheldCall(namespace, entry.Get("metadata"), false) {
				return true
			}
		}
	case modeEvents:
		kind := v.Get("event").Text()
		return d.isPlacedInWithheldCall(namespace, v.Get("metadata"), lenient.HasPrefix(kind, "on_chat_model_") || lenient.HasPrefix(kind, "on_llm_"))
	}
	return d.isPlacedInWithheldCall(namespace, strictjson.Value{}, false)
}

// noteUnnamed reports whether metadata is of the node that executes tools while a withheld call may run in it. It records the messages that
// follow, because one may be the result of another call.
func (d *decoder) noteUnnamed(announced strictjson.Value) (mayBeWithin bool) {
	for id, entry := range announced.Members() {
		if d.isPlacedInWithheldCall(nil, entry.Get("metadata"), true) {
			mayBeWithin = true
			if !mayName(&d.withheld, id) {
				d.withheldCalls.unnamed.Add(d.name(id))
			}
		}
	}
	return mayBeWithin
}

// clearResult ends the doubt about a message that is the result of a call that was shown.
func (d *decoder) clearResult(message strictjson.Value) {
	id, call := d.name(message.Get("id")), message.Get("tool_call_id")
	if d.withheldCalls.unnamed.Contains(id) && isToolResult(message) && d.isShownCall(call) {
		d.withheldCalls.unnamed.Remove(id)
		d.withheld.Remove(id)
	}
}

// isShownCall reports whether a call left, on this stream or on the one that it continues. Streams share the withheld calls without a result.
func (d *decoder) isShownCall(id strictjson.Value) bool {
	switch {
	case mayName(&d.withheld, id):
		return false
	case d.shown.contains(id):
		return true
	case len(id.Text()) == 0 || !d.withheldCalls.continues || d.shown.missed != missedNothing:
		return false
	}
	all := d.withheldCalls.indexed(true)
	_, isWithheld := all.byID[wire.Hash(d.name(id))]
	return !all.isFull && !isWithheld
}

// isPlacedInWithheldCall is isWithinWithheldCall for the namespace of a graph and the metadata of a node in it. byPlace says
// that the node's output does not name its call, so only the place can tell.
func (d *decoder) isPlacedInWithheldCall(graph []byte, metadata strictjson.Value, byPlace bool) bool {
	agent := d.name(metadata.Get("lc_agent_name"))
	if d.isGraphOfWithheldCall(graph, agent) {
		return true
	}
	for _, place := range [][]byte{d.placeIn(metadata), metadata.Get(taskMember).Text()} {
		outer, own := splitLast(place)
		if d.isGraphOfWithheldCall(outer, agent) {
			return true
		}
		node, task := splitSegment(own)
		isExecuting := byPlace && string(node) == toolNode
		if task != "" && d.internalWork.MayContain(task) || isExecuting && (d.withheldCalls.returned.MayContain(task) || d.mayExecuteUnseen(outer) || d.isTaskOfWithheldCall(taskPlace{segment: own, outer: outer, tools: d.withheldCalls.toolsAround(outer)}, "")) {
			return true
		}
	}
	return false
}

// isGraphOfWithheldCall is isWithinWithheldCall for the namespace of a graph. agent is the graph's agent, or "". A graph in too many others
// is in doubt.
func (d *decoder) isGraphOfWithheldCall(namespace []byte, agent string) bool {
	tools := toolScan{made: d.withheldCalls.indexed(true)}
	depth := 0
	for rest := namespace; len(rest) > 0; depth++ {
		if depth == maxAround {
			return d.withheldCalls.mayBeOpen()
		}
		segment, inner := cutTask(rest)
		before, innermost := namespace[:len(namespace)-len(rest)], ""
		if len(inner) == 0 {
			innermost = agent
		}
		if d.isTaskOfWithheldCall(taskPlace{segment: segment, outer: bytes.TrimSuffix(before, []byte("|")), tools: tools.found}, innermost) {
			return true
		}
		tools.add(segment, namespace[:len(before)+len(segment)])
		rest = inner
	}
	return false
}

// noteTask records whether a task works within a withheld call, if its input says which calls it executes.
func (d *decoder) noteTask(task strictjson.Value) {
	id := d.name(task.Get("id"))
	executed, isShown := executedBy(task)
	for _, c := range executed {
		if isUnnamed := len(c.Get("id").Text()) == 0; mayName(&d.withheld, c.Get("id")) || isUnnamed && (asksInternal(c) || d.mayBeWithheldCall(c)) {
			add(&d.internalWork, id, true)
			return
		}
		isShown = isShown && d.isShownCall(c.Get("id"))
	}
	if isShown {
		d.shownWork.Add(id)
	}
}

// executedBy returns the calls that a task executes. Its input is a call (alone, in an envelope or in a list) or a state
// whose last message has the calls. A state is certain only in the node that executes tools, because other nodes get
// states too.
//
// Source: langgraph/prebuilt/tool_node.py, ToolNode._parse_input; langchain/dist/agents/nodes/ToolNode.js (lg_tool_call).
func executedBy(task strictjson.Value) (calls []strictjson.Value, isCertain bool) {
	input := task.Get("input")
	if c := input.First("tool_call", "lg_tool_call"); c.Exists() {
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
	if isHook(task.Get("name").String()) { // it gets the state too, and may answer a call, but executes none
		return nil, false
	}
	var last strictjson.Value
	for message := range cmp.Or(input.Get("messages"), input).Elements() {
		last = message
	}
	return elementsOf(last.Get("tool_calls")), last.Exists() && task.Get("name").Is(toolNode)
}

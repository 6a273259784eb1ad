package langgraph

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// writing is what a node has written to the state at once: messages in their order, and those in other members of the state.
type writing struct{ messages, others []strictjson.Value }

// writingsOf returns what a node returns: a state, a list of messages, or a list of these.
//
// Source: langgraph/pregel/_io.py, map_output_updates; langgraph/prebuilt/tool_node.py, ToolNode._combine_tool_outputs.
func writingsOf(update strictjson.Value) (all []writing) {
	isOne := func(v strictjson.Value) bool { return isMessageForm(v, true) }
	switch elements := elementsOf(update); {
	case isOne(update), slices.ContainsFunc(elements, isOne):
		return []writing{{messages: messagesIn(update, true, 0)}}
	case len(elements) > 0:
		for _, element := range elements {
			all = append(all, writingsOf(element)...)
		}
		return all
	}
	return []writing{writingIn(update)}
}

// writingIn returns the messages in a state.
func writingIn(state strictjson.Value) (w writing) {
	for name, member := range state.Members() {
		if name.Is("messages") {
			w.messages = append(w.messages, messagesIn(member, true, 0)...)
		} else {
			w.others = append(w.others, messagesIn(member, false, 0)...)
		}
	}
	return w
}

// withholdBesideResults withholds the messages that a tool returns beside the result of its withheld call. They name no call, so their
// place tells: in a list, they are next to the result; among messages that are sent one by one, they are of the same task. The results of
// a task are sent when all its tools have ended.
//
// Source: langgraph/prebuilt/tool_node.py, ToolNode._validate_tool_command; langgraph/pregel/_messages.py, on_chain_end.
func (d *decoder) withholdBesideResults(mode string, v strictjson.Value) {
	switch mode {
	case modeMessages:
		d.noteReturningTask(v)
	case modeUpdates:
		for node, update := range v.Members() {
			d.withholdReturned(writingsOf(update), node.Is(toolNode))
		}
	case modeValues:
		w := writingIn(v)
		if v.Kind() == strictjson.Array {
			w.messages = messagesIn(v, true, 0)
		}
		l := d.newList(w.messages, true)
		if d.shown.knowsHistory() || d.beganBefore() { // else the messages may be of earlier runs
			d.withholdNeighbors(l, w.others, false)
		}
		d.noteListed(l)
	}
}

// withholdReturned withholds the part of a node's return value that is of withheld calls. A state without a result is of the same call as the
// next state with a result, before or after it. If the node executes tools and returns no result, it may be of any open call.
func (d *decoder) withholdReturned(all []writing, isOfTools bool) {
	withheld, shown := make([]bool, len(all)), make([]bool, len(all))
	lists := make([]*messageList, len(all))
	for i, w := range all {
		lists[i] = d.newList(w.messages, false)
		for _, m := range w.messages {
			isWithheld := lists[i].isWithheld(d, m)
			withheld[i], shown[i] = withheld[i] || isWithheld, shown[i] || isToolResult(m) && !isWithheld
		}
	}
	mayBeOpen := isOfTools && !slices.Contains(withheld, true) && !slices.Contains(shown, true) && d.withheldCalls.mayBeOpen()
	beside := besideWithheld(withheld, shown)
	for i, w := range all {
		switch {
		case withheld[i] && (shown[i] || !isOfTools):
			d.withholdNeighbors(lists[i], w.others, isOfTools)
		case withheld[i], !shown[i] && (mayBeOpen || beside[i]):
			d.withholdBeside(slices.Concat(w.messages, w.others), isOfTools)
		}
	}
}

// besideWithheld reports for each writing whether the next result before or after it is of a withheld call.
func besideWithheld(withheld, shown []bool) []bool {
	beside, isAfter, isBefore := make([]bool, len(withheld)), false, false
	for i := range withheld {
		if withheld[i] || shown[i] {
			isAfter = withheld[i]
		}
		beside[i] = isAfter
	}
	for i := range slices.Backward(withheld) {
		if withheld[i] || shown[i] {
			isBefore = withheld[i]
		}
		beside[i] = beside[i] || isBefore
	}
	return beside
}

// withholdBeside withholds messages beside the result of a withheld call, in this frame and in others. isOfTools says that all are from the
// node that executes tools. That node may also return messages that were shown before, and the results of other calls.
func (d *decoder) withholdBeside(messages []strictjson.Value, isOfTools bool) {
	for _, m := range messages {
		if isToolResult(m) || d.wasShown(m) || !isOfTools && isOfGraph(m) {
			continue
		}
		if d.beside == nil {
			d.beside = make(map[strictjson.Value]struct{})
		}
		d.beside[m] = struct{}{}
		d.withholdMessages([]strictjson.Value{m})
	}
}

// isOfGraph reports whether not a tool, but a graph around it returns a message: the answer of its model, or the return of control.
func isOfGraph(m strictjson.Value) bool { return isFromModel(m) || isHandoffBack(m) }

func (d *decoder) withholdMessages(messages []strictjson.Value) {
	for _, m := range messages {
		if len(m.Get("id").Text()) == 0 {
			d.withholdContent(m)
		}
		d.withholdMessage(m, true)
	}
}

// noteReturningTask records the task that sends the result of a withheld call.
func (d *decoder) noteReturningTask(v strictjson.Value) {
	message, metadata := tuple(v)
	if _, own := splitLast(d.placeIn(metadata)); d.isWithheldResult(message) && bytes.HasPrefix(own, []byte(toolNode+":")) {
		_, task := splitSegment(own)
		d.withheldCalls.returned.Add(task)
	}
}

// beganBefore reports whether the run had begun before the stream, as for a client that joins it. Each run begins with the number of its
// attempt.
func (d *decoder) beganBefore() bool { return d.attempt == 0 }

// isOfUnseenCall reports whether a message may be the result of a withheld call that was made before the stream. It does not name the tool,
// or only that of subagents.
func (d *decoder) isOfUnseenCall(m strictjson.Value) bool {
	name := m.Get("name")
	return d.beganBefore() && !d.shown.contains(m.Get("tool_call_id")) && (len(name.Text()) == 0 || name.Is(taskTool))
}

// mayExecuteUnseen reports whether the tools of a graph may execute calls that were made before the stream.
func (d *decoder) mayExecuteUnseen(graph []byte) bool {
	return d.beganBefore() && !d.withheldCalls.asked.Contains(string(graph))
}

// noteGraphOfCalls records the graph of a message with calls. Before its model asks again, the tools of a graph have ended.
func (d *decoder) noteGraphOfCalls(message strictjson.Value) {
	for _, c := range callsOf(message) {
		if graph, isKnown := d.withheldCalls.graphOf(d, message); isKnown && len(c.First("call_id", "id").Text()) > 0 {
			d.withheldCalls.asked.Add(graph)
		}
	}
}

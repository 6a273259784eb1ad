package langgraph

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// withholdBesideResults withholds the messages that a tool returns beside the result of its withheld call. They name no call, so their
// place tells: in a list, they are next to the result; among messages that are sent one by one, they are of the same task. The results of
// a task are sent when all its tools have ended.
//
// Source: langgraph/prebuilt/tool_node.py, ToolNode._validate_tool_command; langgraph/pregel/_messages.py, on_chain_end.
func (d *decoder) withholdBesideResults(mode string, v strictjson.Value) {
	if d.withheld.IsEmpty() {
		return
	}
	switch mode {
	case modeMessages:
		d.noteReturningTask(v)
	case modeUpdates:
		for node, update := range v.Members() {
			if node.Is(toolNode) {
				for _, one := range append(elementsOf(update), update) {
					d.withholdNeighbors(one.Get("messages"), func(strictjson.Value) bool { return false })
				}
			}
		}
	case modeValues: // the graph of an agent returns its model's answer too
		if d.shown.knowsHistory() {
			d.withholdNeighbors(v.Get("messages"), isFromModel)
		}
	}
}

// withholdNeighbors withholds the new messages of a list between the new result of a withheld call and the next result. isOther reports
// whether a message cannot be from the tool.
func (d *decoder) withholdNeighbors(messages strictjson.Value, isOther func(strictjson.Value) bool) {
	var between []strictjson.Value
	afterWithheld := false
	for _, m := range elementsOf(messages) {
		switch {
		case d.shown.contains(m.Get("id")) || mayName(&d.withheld, m.Get("id")) || isOther(m):
			between, afterWithheld = nil, false
		case isToolResult(m):
			if afterWithheld = d.isWithheldResult(m); afterWithheld {
				d.withholdMessages(between)
			}
			between = nil
		case afterWithheld:
			d.withholdMessages([]strictjson.Value{m})
		default:
			between = append(between, m)
		}
	}
}

func (d *decoder) withholdMessages(messages []strictjson.Value) {
	for _, m := range messages {
		if len(m.Get("id").Text()) == 0 {
			d.withholdContent(m)
		} else {
			d.withholdMessage(m, true)
		}
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

package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// messageList holds the messages that a node has written, or those of a state.
type messageList struct {
	messages []strictjson.Value
	calls    map[string]listedCall // by ID
	graph    string                // of the state
	isState  bool                  // each state repeats the messages of the states before
}

// listedCall is a call in a list of messages.
type listedCall struct {
	message    strictjson.Value
	isInternal bool
}

func (d *decoder) newList(messages []strictjson.Value, isState bool) *messageList {
	l := &messageList{messages: messages, graph: d.withheldCalls.graph, isState: isState}
	for _, m := range messages {
		for _, c := range callsOf(m) {
			id := d.name(c.First("call_id", "id"))
			if id == "" {
				continue
			}
			if l.calls == nil {
				l.calls = make(map[string]listedCall)
			}
			l.calls[id] = listedCall{m, asksInternal(c) || l.calls[id].isInternal}
		}
	}
	return l
}

// isWithheld reports whether a message is the result of a withheld call.
func (l *messageList) isWithheld(d *decoder, m strictjson.Value) bool {
	id := m.Get("tool_call_id")
	if c, is := l.calls[d.name(id)]; is && isToolResult(m) {
		return c.isInternal || mayName(&d.withheld, id) || hasInternalName(m)
	}
	return d.isWithheldResult(m)
}

// withholdNeighbors withholds the new messages between the new result of a withheld call and the next result, and those in other members of
// the state. isOfTools says that all are from the node that executes tools. A graph returns its model's answers too.
func (d *decoder) withholdNeighbors(l *messageList, others []strictjson.Value, isOfTools bool) {
	var between []strictjson.Value
	isAfter, hasNew := false, false
	for _, m := range l.messages {
		switch {
		case isToolResult(m):
			isAfter = l.isWithheld(d, m) && !d.isListed(l, m)
			if isAfter {
				hasNew = true
				d.withholdBeside(l.afterCall(d, between, m), isOfTools)
			}
			between = nil
		case d.wasShown(m), !isOfTools && isOfGraph(m):
			between, isAfter = nil, false
		case mayName(&d.withheld, m.Get("id")):
		case isAfter:
			d.withholdBeside([]strictjson.Value{m}, isOfTools)
		default:
			between = append(between, m)
		}
	}
	if hasNew {
		d.withholdBeside(others, isOfTools)
	}
}

// afterCall returns the messages before a result that its tool may have returned: those after the call, if the list has it.
func (l *messageList) afterCall(d *decoder, before []strictjson.Value, result strictjson.Value) []strictjson.Value {
	c := l.calls[d.name(result.Get("tool_call_id"))]
	return before[slices.Index(before, c.message)+1:]
}

// isListed reports whether an earlier state of the graph had a result.
func (d *decoder) isListed(l *messageList, result strictjson.Value) bool {
	return l.isState && d.withheldCalls.listed.Contains(l.key(result))
}

func (l *messageList) key(message strictjson.Value) uint64 {
	return wire.Hash(l.graph + "\n" + message.Get("id").String())
}

// noteListed records the results of withheld calls in a state.
func (d *decoder) noteListed(l *messageList) {
	for _, m := range l.messages {
		if l.isWithheld(d, m) {
			d.withheldCalls.listed.Add(l.key(m))
		}
	}
}

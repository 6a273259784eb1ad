package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// leftCall is a call of an internal subagent whose first piece has left, because its arguments had not named the subagent yet. Its end
// leaves too, without content. Otherwise, readers would see a call that never ends.
type leftCall struct {
	tool  string
	graph string // the namespace of the graph that made the call
}

// withholdJoined withholds a call that names something internal only when its pieces are joined: its result, and what works within it.
// mayHaveLeft says that earlier frames had its first pieces.
func (d *decoder) withholdJoined(message strictjson.Value, c *joinedCall, mayHaveLeft bool) {
	hasLeft := mayHaveLeft && d.shown.containsText([]byte(c.id))
	d.withholdCallID(c.id)
	h := &d.withheldCalls
	h.add(c.id, withheldCall{event.WithheldCall{ID: wire.Hash(c.id), Tool: wire.Hash(c.tool), Target: wire.Hash(c.target())}, h.toolAround(d, message)})
	d.beginWorkOfCall(c.id, message)
	if !hasLeft || len(d.leftCalls) >= maxOpenCalls {
		return
	}
	if d.leftCalls == nil {
		d.leftCalls = make(map[string]leftCall)
	}
	d.leftCalls[c.id] = leftCall{c.tool, h.graph}
}

// isEndOfLeftCall reports whether a message is the result of such a call, from the graph that made the call. A call in an internal
// graph may have the same ID.
func (d *decoder) isEndOfLeftCall(message, metadata strictjson.Value, namespace []byte) bool {
	c, is := d.leftCalls[d.name(message.Get("tool_call_id"))]
	if at := d.placeIn(metadata); len(at) > 0 {
		namespace, _ = splitLast(at)
	}
	name := message.Get("name")
	return is && message.Get("type").Is("tool") && (name.Is(c.tool) || name.Kind() <= strictjson.Null) && string(namespace) == c.graph && !namesScope(metadata, scopeMembers)
}

// keepEnd reports whether a withheld frame can leave because it shows the end of such a call: in the form of the policy public, or after
// keepEnd has cut what else it has.
func (d *decoder) keepEnd(mode string, namespace []byte, v strictjson.Value) (leaves, inPublicForm bool) {
	switch mode {
	case modeMessages:
		message, metadata := tuple(v)
		leaves = d.isEndOfLeftCall(message, metadata, namespace)
		return leaves, leaves
	case modeEvents:
		return d.keepEndEvent(namespace, v), false
	}
	return false, false
}

// keepEndEvent is keepEnd for an event of a tool. The tool returns its result alone or in a Command.
func (d *decoder) keepEndEvent(namespace []byte, v strictjson.Value) bool {
	data, output := v.Get("data"), v.Get("data").Get("output")
	i := slices.IndexFunc(append(elementsOf(output.Get("update").Get("messages")), output), func(m strictjson.Value) bool {
		return d.isEndOfLeftCall(m, v.Get("metadata"), namespace) && v.Get("name").Is(d.leftCalls[d.name(m.Get("tool_call_id"))].tool)
	})
	if i < 0 || !v.Get("event").Is("on_tool_end") || d.isWithinInternal(v.Get("parent_ids")) {
		return false
	}
	d.cutOthers(v, "event", "name", "run_id", "parent_ids", "metadata", "data")
	d.cutOthers(data, "output")
	if output.Get("tool_call_id").Exists() {
		d.cutOthers(output, resultShown...)
		return true
	}
	d.cutOthers(output, "update")
	d.cutOthers(output.Get("update"), "messages")
	for at, m := range elementsOf(output.Get("update").Get("messages")) {
		if at == i {
			d.cutOthers(m, resultShown...)
		} else {
			d.cuts = append(d.cuts, m)
		}
	}
	return true
}

// resultShown are the members of a result that leave.
var resultShown = []string{"type", "id", "name", "tool_call_id", "status"}

// cutOthers cuts all members of an object except the named ones.
func (d *decoder) cutOthers(v strictjson.Value, kept ...string) {
	for name, member := range v.Members() {
		if !slices.ContainsFunc(kept, name.Is) {
			d.cuts = append(d.cuts, member)
		}
	}
}

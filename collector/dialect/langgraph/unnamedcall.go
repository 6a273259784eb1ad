package langgraph

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// unnamedCalls holds withheld calls to which the model's server gave no ID. Their results have none either, so the calls of a tool end together,
// when it has sent as many results.
type unnamedCalls struct {
	open    map[string]*openUnnamed // by tool
	counted wire.Set[string]        // results, by the ID of their message
}

type openUnnamed struct {
	keys    []string // in withheldCalls.begun
	results int
}

// unnamedKey returns a key of a call without an ID: of its message and its position there. It returns "" for other
// values, and for a repeat of a call with an ID or an index.
func (d *decoder) unnamedKey(message, c strictjson.Value) string {
	tool, position, calls, list := d.name(toolOf(c)), 0, 0, callForm(0)
	for form, other := range callsOf(message) {
		if form != list {
			list, calls = form, 0
		}
		named := d.name(toolOf(other))
		if other == c {
			position = calls
		}
		if named != "" {
			calls++
		}
		isRepeated := len(indexOf(c)) == 0 && len(indexOf(other)) > 0
		if named == tool && (isRepeated || len(other.First("call_id", "id").Text()) > 0) {
			return ""
		}
	}
	if tool == "" {
		return ""
	}
	return d.unnamedKeyAt(message, c, position)
}

// unnamedKeyAt is unnamedKey for a call, or a piece of one, at a position that counts if there is no index.
func (d *decoder) unnamedKeyAt(message, c strictjson.Value, position int) string {
	id, index := d.name(message.Get("id")), cmp.Or(string(indexOf(c)), strconv.Itoa(position))
	if id == "" {
		id = strconv.FormatUint(wire.ExactHash(message), 36)
	}
	return "unnamed " + strconv.FormatUint(wire.Hash(id+"\n"+index), 36)
}

// beginUnnamed records a call without an ID, unless it has ended.
func (h *withheldCalls) beginUnnamed(key, tool string) {
	if _, isBegun := h.begun[key]; !isBegun || h.ended.Contains(key) {
		return
	}
	if h.withoutID.open == nil {
		h.withoutID.open = make(map[string]*openUnnamed)
	}
	if open := h.withoutID.open[tool]; open != nil && slices.Contains(open.keys, key) {
		return
	}
	open := h.withoutID.open[tool]
	if open == nil {
		open = new(openUnnamed)
		h.withoutID.open[tool] = open
	}
	open.keys = append(open.keys, key)
}

// endUnnamed counts a result, and reports whether it may be of a call without an ID.
func (h *withheldCalls) endUnnamed(d *decoder, result strictjson.Value) bool {
	if !d.isOfUnnamedCall(result) {
		return false
	}
	tool, id := d.name(result.Get("name")), d.name(result.Get("id"))
	open := h.withoutID.open[tool]
	if open == nil || id == "" || h.withoutID.counted.MayContain(id) {
		return true
	}
	h.withoutID.counted.Add(id)
	if open.results++; open.results >= len(open.keys) {
		delete(h.withoutID.open, tool)
		for _, key := range open.keys {
			h.endCall(d, key)
		}
	}
	return true
}

// isOfUnnamedCall reports whether a message may be the result of a withheld call without an ID.
func (d *decoder) isOfUnnamedCall(m strictjson.Value) bool {
	h, id := &d.withheldCalls.withoutID, m.Get("id")
	if !isToolResult(m) || len(m.Get("tool_call_id").Text()) > 0 || d.shown.contains(id) {
		return false
	}
	return h.counted.Contains(d.name(id)) || h.open[d.name(m.Get("name"))] != nil
}

// withholdUnnamedJoined is withholdJoined for a call without an ID.
func (d *decoder) withholdUnnamedJoined(message, piece strictjson.Value, c *joinedCall) {
	if c.tool == "" {
		return
	}
	h, key := &d.withheldCalls, d.unnamedKeyAt(message, piece, 0)
	h.add(key, withheldCall{event.WithheldCall{ID: wire.Hash(key), Tool: wire.Hash(c.tool), Target: wire.Hash(c.target())}, h.toolAround(d, message)})
	h.beginUnnamed(key, c.tool)
	d.beginWorkOfCall(key, message)
}

// withholdUnnamedSiblings withholds the other calls of a message that have the tool of a withheld call and no ID, because their results do not
// name their calls.
func (d *decoder) withholdUnnamedSiblings(message, c strictjson.Value) {
	tool := d.name(toolOf(c))
	for _, other := range callsOf(message) {
		if tool != "" && other != c && toolOf(other).Is(tool) && len(other.First("call_id", "id").Text()) == 0 {
			d.cutCall(other)
			d.withheldCalls.beginCall(d, message, other)
		}
	}
}

// remove removes a call that has no result.
func (c *unnamedCalls) remove(tool, key string) {
	if open := c.open[tool]; open != nil {
		open.keys = slices.DeleteFunc(open.keys, func(other string) bool { return other == key })
		if len(open.keys) == 0 {
			delete(c.open, tool)
		}
	}
}

// size returns the approximate size in bytes.
func (c *unnamedCalls) size() int {
	const ofID = 64
	n := ofID * c.counted.Len()
	for tool, open := range c.open {
		n += len(tool) + ofID*(1+len(open.keys))
	}
	return n
}

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

// callPlaces holds what the keys of a message's calls depend on, so that a frame is read once for all of them.
type callPlaces struct {
	message   strictjson.Value
	id        string                        // of the message, or its hash
	positions map[strictjson.Value]int      // among the calls with a name in the same list
	named     map[string]bool               // tools of which a call has an ID
	indexed   map[string]bool               // tools of which a call has an index
	byTool    map[string][]strictjson.Value // calls without an ID that no call has withheld yet
}

// placesIn returns the places of a message's calls.
func (d *decoder) placesIn(message strictjson.Value) *callPlaces {
	p := &d.callPlaces
	if p.positions != nil && p.message == message {
		return p
	}
	*p = callPlaces{message, d.name(message.Get("id")), map[strictjson.Value]int{}, map[string]bool{}, map[string]bool{}, map[string][]strictjson.Value{}}
	if p.id == "" {
		p.id = strconv.FormatUint(wire.ExactHash(message), 36)
	}
	calls, list := 0, callForm(0)
	for form, c := range callsOf(message) {
		if form != list {
			list, calls = form, 0
		}
		p.positions[c] = calls
		tool := d.name(toolOf(c))
		if tool == "" {
			continue
		}
		calls++
		p.indexed[tool] = p.indexed[tool] || len(indexOf(c)) > 0
		if len(c.First("call_id", "id").Text()) > 0 {
			p.named[tool] = true
		} else {
			p.byTool[tool] = append(p.byTool[tool], c)
		}
	}
	return p
}

// unnamedKey returns a key of a call without an ID: of its message and its position there. It returns "" for other
// values, and for a repeat of a call with an ID or an index.
func (d *decoder) unnamedKey(message, c strictjson.Value) string {
	tool, places := d.name(toolOf(c)), d.placesIn(message)
	if tool == "" || places.named[tool] || len(indexOf(c)) == 0 && places.indexed[tool] {
		return ""
	}
	return d.unnamedKeyAt(message, c, places.positions[c])
}

// unnamedKeyAt is unnamedKey for a call, or a piece of one, at a position that counts if there is no index.
func (d *decoder) unnamedKeyAt(message, c strictjson.Value, position int) string {
	index := cmp.Or(string(indexOf(c)), strconv.Itoa(position))
	return "unnamed " + strconv.FormatUint(wire.Hash(d.placesIn(message).id+"\n"+index), 36)
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
	tool, places := d.name(toolOf(c)), d.placesIn(message)
	for _, other := range places.byTool[tool] {
		if other != c {
			d.cutCall(other)
			d.withheldCalls.beginCall(d, message, other)
		}
	}
	delete(places.byTool, tool)
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

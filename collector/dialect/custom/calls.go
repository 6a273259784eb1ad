package custom

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// calls says of which tool calls the start was withheld. A frame names a call by its ID or, without one, by its tool.
type calls struct {
	open     wire.Set[string] // keys of calls that began openly and have not ended
	withheld wire.Set[string]
}

// callKeys returns the keys of a call, the first of which counts: its ID and its tool, if the frame has them.
func callKeys(id, tool string) (keys []string) {
	if id != "" {
		keys = append(keys, "id "+id)
	}
	if tool != "" {
		keys = append(keys, "tool "+tool)
	}
	return keys
}

// withhold records the call that a withheld frame names, unless its start left.
func (c *calls) withhold(keys []string) {
	if len(keys) > 0 && c.open.Contains(keys[0]) {
		return
	}
	for _, key := range keys {
		if !c.open.Contains(key) {
			c.withheld.Add(key)
		}
	}
}

// show records a call when its start leaves.
func (c *calls) show(keys []string) {
	for _, key := range keys {
		c.open.Add(key)
		c.withheld.Remove(key)
	}
}

// end records the end of a call.
func (c *calls) end(keys []string) {
	for _, key := range keys {
		c.open.Remove(key)
	}
}

// mayWithhold reports whether a frame continues a withheld call, or may. A frame that names none may continue any.
func (c *calls) mayWithhold(keys []string) bool {
	if len(keys) == 0 {
		return c.withheld.Len() > 0 || c.withheld.IsFull()
	}
	return !c.open.Contains(keys[0]) && c.withheld.MayContain(keys[0])
}

// withholdCalls records the calls that an internal frame of an unmapped type names, by the paths of the mapped types.
func (d *decoder) withholdCalls(v strictjson.Value) {
	for _, at := range d.callPaths {
		d.calls.withhold(callKeys(d.nameOf(at.id.lookup(v)), d.nameOf(at.tool.lookup(v))))
	}
}

// checkCall marks a frame as internal if it continues a tool call that was withheld.
func (r *reading) checkCall() {
	isOfTool := strings.HasPrefix(r.means, "tool_")
	keys := callKeys(r.name(pathCall), r.name(pathName))
	if r.name(pathCall) == "" && !isOfTool {
		return
	}
	isStart := r.means == "tool_started"
	r.b.Internal = r.b.Internal || !isStart && r.calls.mayWithhold(keys)
	switch isWithheld := r.b.Internal || wire.IsFiltered(r.b, r.prefilter); {
	case isWithheld:
		if isStart {
			r.calls.end(keys) // another call with the same keys
		}
		r.calls.withhold(keys)
	case isStart:
		r.calls.show(keys)
	case isOfTool && r.means != "tool_progress":
		r.calls.end(keys)
	}
}

package custom

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// internalCalls holds the tool calls that internal frames of unmapped types name. Such a frame may be the start of a call, unless
// another start of the call leaves.
type internalCalls struct {
	open     wire.Set[string] // keys of calls whose start left and that have not ended
	withheld wire.Set[string] // keys of calls that an internal frame named while they were not open
}

// callKeys returns the keys of a call: its ID and its tool, if it has them.
func callKeys(id, tool string) (keys []string) {
	if id != "" {
		keys = append(keys, "id "+id)
	}
	if tool != "" {
		keys = append(keys, "tool "+tool)
	}
	return keys
}

// withhold records the call that an internal frame names.
func (c *internalCalls) withhold(keys []string) {
	if len(keys) > 0 && c.open.Contains(keys[0]) {
		return
	}
	for _, key := range keys {
		if !c.open.Contains(key) {
			c.withheld.Add(key)
		}
	}
}

// show records a call whose start leaves.
func (c *internalCalls) show(keys []string) {
	for _, key := range keys {
		c.open.Add(key)
		c.withheld.Remove(key)
	}
}

// end records the end of a call.
func (c *internalCalls) end(keys []string) {
	for _, key := range keys {
		c.open.Remove(key)
	}
}

// mayContain reports whether a frame may continue a withheld call. A frame that names none may continue any.
func (c *internalCalls) mayContain(keys []string) bool {
	if len(keys) == 0 {
		return c.withheld.Len() > 0
	}
	return !c.open.Contains(keys[0]) && slices.ContainsFunc(keys, c.withheld.MayContain)
}

// withholdCalls records the calls that an internal frame of an unmapped type names, by the paths of the mapped types.
func (d *decoder) withholdCalls(v strictjson.Value) {
	for _, at := range d.callPaths {
		d.internalCalls.withhold(callKeys(d.nameOf(at.id.lookup(v)), d.nameOf(at.tool.lookup(v))))
	}
}

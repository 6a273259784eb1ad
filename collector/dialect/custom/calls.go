package custom

import (
	"cmp"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// calls says of which tool calls the start was withheld.
type calls struct {
	open       wire.Set[callKey] // keys of calls that began openly and have not ended
	withheld   wire.Set[callKey]
	hasUnnamed bool // a start with neither an ID nor a tool was withheld
}

// call is what a frame says of a call.
type call struct{ run, id, tool string }

// callKey is the run of a call, with its ID or its tool.
type callKey struct {
	run, id, tool string
	startHasNoID  bool // of the tool: later frames may have an ID
}

// keys returns the keys of a call, the first of which counts: its ID and its tool, if the frame has them.
func (c call) keys() (keys []callKey) {
	if c.id != "" {
		keys = append(keys, callKey{run: c.run, id: c.id})
	}
	if c.tool != "" {
		keys = append(keys, callKey{run: c.run, tool: c.tool})
	}
	return keys
}

// startKey returns the key of a call whose start has a tool, but no ID.
func (c call) startKey() callKey { return callKey{run: c.run, tool: c.tool, startHasNoID: true} }

// withhold records the call that a withheld frame names, unless its start left.
func (c *calls) withhold(named call, isStart bool) {
	keys := named.keys()
	if len(keys) > 0 && c.open.Contains(keys[0]) {
		return
	}
	for _, key := range keys {
		if !c.open.Contains(key) {
			c.withheld.Add(key)
		}
	}
	switch {
	case !isStart || named.id != "":
	case named.tool != "":
		c.withheld.Add(named.startKey())
	default:
		c.hasUnnamed = true
	}
}

// show records a call when its start leaves.
func (c *calls) show(named call) {
	for _, key := range named.keys() {
		c.open.Add(key)
		c.withheld.Remove(key)
	}
	c.withheld.Remove(named.startKey())
}

// end records the end of a call.
func (c *calls) end(named call) {
	for _, key := range named.keys() {
		c.open.Remove(key)
	}
}

// endRun records the end of a run, which ends its calls.
func (c *calls) endRun(run string) {
	for key := range c.open.All() {
		if key.run == run {
			c.open.Remove(key)
		}
	}
}

// mayWithhold reports whether a frame continues a withheld call, or may. A frame that names none may continue any.
func (c *calls) mayWithhold(named call) bool {
	if named.id == "" && named.tool == "" {
		return c.hasUnnamed || c.withheld.Len() > 0 || c.withheld.IsFull()
	}
	isOpen, isWithheld := c.startOf(named)
	return !isOpen && (isWithheld || c.withheld.IsFull())
}

// startOf reports whether the start of a call with an ID or a tool has left or was withheld. It may have come before the stream
// named a run.
func (c *calls) startOf(named call) (isOpen, isWithheld bool) {
	for _, named.run = range []string{named.run, ""} {
		key := named.keys()[0]
		switch {
		case c.open.Contains(key):
			return true, false
		case c.withheld.Contains(key) || c.withheld.Contains(named.startKey()):
			return false, true
		}
	}
	return false, false
}

// withholdCalls records the calls that an internal frame of an unmapped type names, by the paths of the mapped types.
func (d *decoder) withholdCalls(v strictjson.Value) {
	var id string
	for _, at := range d.callPaths {
		id = cmp.Or(id, d.nameOf(at.id.lookup(v)))
	}
	for _, at := range d.callPaths {
		run := d.runOfCalls(d.latest(at.run.lookup(v), d.run))
		d.calls.withhold(call{run, cmp.Or(d.nameOf(at.id.lookup(v)), id), d.nameOf(at.tool.lookup(v))}, true)
	}
}

// runOfCalls returns the run of calls in frames of a run. If the stream has one run, an ID is one call, whatever run frames name.
func (d *decoder) runOfCalls(run string) string {
	if d.singleRun {
		return ""
	}
	return run
}

// call returns the call that the frame names.
func (r *reading) call() call {
	return call{r.runOfCalls(r.b.Run), r.name(pathCall), r.name(pathName)}
}

// checkCall marks a frame as internal if it continues a tool call that was withheld.
func (r *reading) checkCall() {
	isOfTool, named := strings.HasPrefix(r.means, "tool_"), r.call()
	if named.id == "" && !isOfTool {
		return
	}
	isStart := r.means == "tool_started"
	r.b.Internal = r.b.Internal || !isStart && r.calls.mayWithhold(named)
	switch isWithheld := r.b.Internal || wire.IsFiltered(r.b, r.prefilter); {
	case isWithheld:
		if isStart {
			r.calls.end(named) // another call with the same keys
		}
		r.calls.withhold(named, isStart)
	case isStart:
		r.calls.show(named)
	case isOfTool && r.means != "tool_progress":
		r.calls.end(named)
	}
}

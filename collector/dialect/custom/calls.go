package custom

import (
	"cmp"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// calls says of which tool calls the start was withheld.
type calls struct {
	open       wire.Recent[callKey] // keys of calls of which the start left and that have not ended
	tools      map[callKey]string   // the tools of open calls, by the keys of their IDs
	withheld   wire.Set[callKey]
	hasUnnamed bool // a start with neither an ID nor a tool was withheld
}

// call is what a frame says of a call.
type call struct{ run, id, tool string }

// callKey is the run of a call, with its ID or its tool.
type callKey struct {
	run, id, tool string
	startHasNoID  bool // the key of a start that has a tool but no ID
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

// startKey returns the key of a call that starts with a tool, but no ID.
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
	if c.tools == nil {
		c.tools = make(map[callKey]string)
	}
	for _, key := range named.keys() {
		if oldest, forgets := c.open.Add(key); forgets {
			delete(c.tools, oldest)
		}
		if key.id != "" {
			c.tools[key] = named.tool
		}
		c.withheld.Remove(key)
	}
	c.withheld.Remove(named.startKey())
}

// end records the end of a call. A frame with its ID also ends the call of the tool that its start named.
func (c *calls) end(named call) {
	named.tool = cmp.Or(named.tool, c.tools[callKey{run: named.run, id: named.id}])
	for _, key := range named.keys() {
		c.close(key)
	}
}

func (c *calls) close(key callKey) {
	c.open.Remove(key)
	delete(c.tools, key)
}

// endRun records the end of a run, which ends its calls.
func (c *calls) endRun(run string) {
	for key := range c.open.All() {
		if key.run == run {
			c.close(key)
		}
	}
}

// mayWithhold reports whether a frame continues a withheld call, or may. A frame that names none may continue any. One about a tool that
// has only an ID may continue a call of which the start had none.
func (c *calls) mayWithhold(named call, isOfTool bool) bool {
	if named.id == "" && named.tool == "" {
		return c.hasUnnamed || c.withheld.Len() > 0 || c.withheld.IsFull()
	}
	isOpen, isWithheld := c.startOf(named)
	return !isOpen && (isWithheld || c.withheld.IsFull() || isOfTool && named.tool == "" && c.hasStartWithoutID(named.run))
}

// hasStartWithoutID reports whether a start with a tool but no ID was withheld in a run, or before the stream named a run.
func (c *calls) hasStartWithoutID(run string) bool {
	for key := range c.withheld.All() {
		if key.startHasNoID && (key.run == run || key.run == "") {
			return true
		}
	}
	return false
}

// startOf reports whether the start of a call with an ID or a tool has left or was withheld. It may have come before the stream
// named a run.
func (c *calls) startOf(named call) (isOpen, isWithheld bool) {
	isOpen, isWithheld = c.lookup(named)
	if isOpen || isWithheld {
		return isOpen, isWithheld
	}
	return c.lookup(call{id: named.id, tool: named.tool})
}

func (c *calls) lookup(named call) (isOpen, isWithheld bool) {
	key := named.keys()[0]
	isOpen = c.open.Contains(key)
	return isOpen, !isOpen && (c.withheld.Contains(key) || c.withheld.Contains(named.startKey()))
}

// withholdCalls records the calls that an internal frame of an unmapped type names, by the paths of the mapped types.
func (d *decoder) withholdCalls(v strictjson.Value) {
	var id, tool string
	for _, at := range d.callPaths {
		id, tool = cmp.Or(id, d.nameOf(at.id.lookup(v))), cmp.Or(tool, d.nameOf(at.tool.lookup(v)))
	}
	for _, at := range d.callPaths {
		run := d.runOfCalls(d.latest(at.run.lookup(v), d.run))
		d.calls.withhold(call{run, cmp.Or(d.nameOf(at.id.lookup(v)), id), cmp.Or(d.nameOf(at.tool.lookup(v)), tool)}, true)
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
	r.b.Internal = r.b.Internal || !isStart && r.calls.mayWithhold(named, isOfTool)
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

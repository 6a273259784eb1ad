package langgraph

import (
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// beginAttempt records that the server runs the graph again after a failure. The new attempt may resume calls that
// the earlier one left open, so nothing ends yet.
func (d *decoder) beginAttempt(v strictjson.Value) {
	attempt, _ := v.Get("attempt").Float()
	if attempt > d.attempt && d.attempt > 0 {
		for _, m := range d.open {
			m.abandoned = true
		}
		for _, c := range d.calls {
			c.abandoned = true
		}
		d.origins = nil
		d.endTasks()
		d.steps = 0
	}
	d.attempt = max(d.attempt, attempt)
}

// endAbandoned ends the responses and calls that an earlier attempt left open in a graph. It is called when the
// graph's model answers again, so nothing resumes them.
func (d *decoder) endAbandoned(sc *scope, b *event.Batch) {
	for _, id := range slices.Sorted(maps.Keys(d.open)) {
		if m := d.open[id]; m != nil && m.abandoned && m.scope == sc && m.started && m.by.Response == b.Response {
			d.endModel(m, false, b).Error = event.FailureCanceled
		}
	}
	for _, c := range slices.Clone(d.calls) {
		switch isOver := c.abandoned && c.scope == sc; {
		case isOver && c.failed:
			d.failCall(c, event.ToolError, c.code, b)
		case isOver:
			d.failCall(c, event.FailureCanceled, "", b)
		}
	}
}

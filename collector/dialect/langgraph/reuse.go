package langgraph

import (
	"regexp"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// numberedID matches the IDs of calls that a model's server only counts, such as functions.search:0 or call_0. Later calls
// may have the same ID. Other IDs are unique.
var numberedID = regexp.MustCompile(`(^|[^0-9A-Za-z])[0-9]{1,6}$`)

// reuseCalls lets the calls of a message that was not withheld have the IDs of withheld calls that have their results. From
// then on, such an ID names the new call.
func (d *decoder) reuseCalls(message strictjson.Value) {
	if id := d.name(message.Get("id")); id == "" || d.withheld.MayContain(id) {
		return
	}
	for c := range callsOf(message) {
		id := d.name(c.Get("id"))
		if d.withheld.Contains(id) && numberedID.MatchString(id) && !d.reused.IsFull() && d.hidden.hasEnded(id) {
			d.withheld.Remove(id)
			d.hidden.forget(id)
			d.reused.Add(id)
		}
	}
}

// repeatsReused reports whether a message or result without an ID names a call whose ID a withheld call had before. Only the
// ID of a message says which of the calls it belongs to.
func (d *decoder) repeatsReused(message strictjson.Value) bool {
	if d.reused.IsEmpty() || d.name(message.Get("id")) != "" {
		return false
	}
	if mayName(&d.reused, message.Get("tool_call_id")) {
		return true
	}
	for c := range callsOf(message) {
		if mayName(&d.reused, c.Get("id")) {
			return true
		}
	}
	return false
}

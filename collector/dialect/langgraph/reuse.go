package langgraph

import (
	"regexp"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// numberedID matches IDs of calls with a small number, such as functions.search:0 or call_0. Some models' servers only count
// calls, so a later call may have the same ID. Other IDs are unique.
var numberedID = regexp.MustCompile(`(^|[^0-9A-Za-z])[0-9]{1,6}$`)

// reuseCalls handles the calls of a message that was not withheld. If such a call has the ID of a withheld call with a result,
// the ID names the new call from then on.
func (d *decoder) reuseCalls(message strictjson.Value) {
	if id := d.name(message.Get("id")); id == "" || d.withheld.MayContain(id) {
		return
	}
	for _, c := range callsOf(message) {
		id := d.name(c.Get("id"))
		if d.withheld.Contains(id) && numberedID.MatchString(id) && !d.reused.IsFull() && d.withheldCalls.hasEnded(id) {
			d.withheld.Remove(id)
			d.withheldCalls.forget(id)
			delete(d.leftCalls, id)
			d.reused.Add(id)
		}
	}
}

// repeatsReused reports whether a message or result without an ID names a call whose ID a withheld call had before. Without
// the message's ID, it is unknown which of the two calls it means.
func (d *decoder) repeatsReused(message strictjson.Value) bool {
	if d.reused.IsEmpty() || d.name(message.Get("id")) != "" {
		return false
	}
	if mayName(&d.reused, message.Get("tool_call_id")) {
		return true
	}
	for _, c := range callsOf(message) {
		if mayName(&d.reused, c.Get("id")) {
			return true
		}
	}
	return false
}

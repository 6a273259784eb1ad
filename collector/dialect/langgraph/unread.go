package langgraph

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// seenCall is the kind of the ids of calls in messages that were not withheld.
const seenCall = "call "

// addUnread records a frame that could not be read. It may have contained the start of a message, and calls.
func (d *decoder) addUnread(f dialect.Frame) { d.unread = d.unread || f.MayContainObject() }

// showCalls remembers the calls of a message, or of a piece of one, that may leave.
func (d *decoder) showCalls(message strictjson.Value) {
	for _, list := range []string{"tool_calls", "tool_call_chunks"} {
		for c := range message.Get(list).Elements() {
			d.seen.add(seenCall, d.name(c.Get("id")))
		}
	}
}

// answersUnread reports whether the id of a call may be that of one in an unreadable frame.
func (d *decoder) answersUnread(call strictjson.Value) bool {
	return d.unread && call.Kind() > strictjson.Null && !d.seen.contains(seenCall, d.name(call))
}

// continuesUnread reports whether a frame of a mode has a message that an unreadable frame may have begun. Only
// the modes messages/partial and messages/complete send messages without metadata that says where they come from;
// they announce it before.
func (d *decoder) continuesUnread(mode string, v strictjson.Value) bool {
	if !d.unread || mode != modeMessagesPartial && mode != modeMessagesComplete {
		return false
	}
	for message := range v.Elements() {
		id := d.name(message.Get("id"))
		_, announced := d.announced[id]
		if !announced && d.open[id] == nil && !d.seen.contains(seenMessage, id) && !message.Get("type").Is("human") {
			return true
		}
	}
	return false
}

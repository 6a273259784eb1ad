package langgraph

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// callLists are the members of a message that list its calls.
var callLists = []string{"tool_calls", "tool_call_chunks", "invalid_tool_calls"}

// isWithheld reports whether an ID is that of a withheld message, call or task or, if not all of them are remembered, may be.
func (e *examination) isWithheld(id strictjson.Value) bool {
	return e.withheld.Len() > 0 && isText(id) && e.withheld.MayContain(dialect.Name(id.String()))
}

// withhold remembers the ID of a message or a task, and those of the message's calls.
func (e *examination) withhold(item strictjson.Value) {
	ids := []strictjson.Value{item.Get("id")}
	for _, list := range callLists {
		for c := range item.Get(list).Elements() {
			ids = append(ids, c.Get("id"))
		}
	}
	for _, id := range ids {
		if isText(id) {
			e.withheld.Add(dialect.Name(id.String()))
		}
	}
}

// beginCalls forgets the calls of earlier messages that have the ID of a call of this message.
func (e *examination) beginCalls(message strictjson.Value) {
	for _, list := range callLists {
		for c := range message.Get(list).Elements() {
			if id := dialect.Name(c.Get("id").String()); numberedID.MatchString(id) {
				e.withheld.Remove(id)
			}
		}
	}
}

// withholdItems remembers what an internal frame is about: a message, announced messages, or a task.
func (d *decoder) withholdItems(mode string, v strictjson.Value) {
	mode = string(lenient.WithoutMark([]byte(mode)))
	for _, item := range append(describedIn(mode, v), taskIn(mode, v)) {
		d.withhold(item)
	}
	if mode == modeMessagesMetadata {
		for id := range v.Members() {
			d.withheld.Add(d.name(id))
		}
	}
}

// withholdReturned remembers the messages that a withheld task returns. A graph within a task also returns earlier messages.
func (d *decoder) withholdReturned(task strictjson.Value) {
	if !d.isWithheld(task.Get("id")) {
		return
	}
	for _, m := range returnedMessages(task.Get("result")) {
		if id := d.name(m.Get("id")); !d.seen.contains(seenMessage, id) && !d.seen.contains(seenInput, id) {
			d.withhold(m)
		}
	}
}

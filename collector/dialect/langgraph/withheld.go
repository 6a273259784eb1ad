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

// callIDs returns the IDs of a message's calls, in LangChain's form or OpenAI's.
func callIDs(message strictjson.Value) (ids []strictjson.Value) {
	for _, in := range []strictjson.Value{message, message.Get("additional_kwargs")} {
		for _, list := range callLists {
			for c := range in.Get(list).Elements() {
				ids = append(ids, c.Get("id"))
			}
		}
	}
	return ids
}

// withhold remembers the ID of a message or a task, and those of the message's calls.
func (e *examination) withhold(item strictjson.Value) {
	for _, id := range append(callIDs(item), item.Get("id")) {
		if isText(id) {
			e.withheld.Add(dialect.Name(id.String()))
		}
	}
}

// beginCalls forgets the calls of earlier messages that have the ID of a call of this message.
func (e *examination) beginCalls(message strictjson.Value) {
	for _, id := range callIDs(message) {
		if name := dialect.Name(id.String()); numberedID.MatchString(name) {
			e.withheld.Remove(name)
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

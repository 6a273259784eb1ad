package agui

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// call is one of a tool that has no result yet.
type call struct {
	id, tool string
	by       agent
}

// calls are those that are open, in the order in which they began.
type calls []call

func (c calls) named(id string) *call {
	if i := slices.IndexFunc(c, func(open call) bool { return open.id == id }); i >= 0 && id != "" {
		return &c[i]
	}
	return nil
}

func (c *calls) begin(begun call) {
	if len(*c) < maxOpen && begun.id != "" && c.named(begun.id) == nil {
		*c = append(*c, begun)
	}
}

// end removes a call, and returns it as it was known.
func (c *calls) end(id string) (ended call) {
	*c = slices.DeleteFunc(*c, func(open call) bool {
		if open.id == id {
			ended = open
		}
		return open.id == id
	})
	return ended
}

// toolStart begins a call, of the message that it is part of, where that says whose it is and the call does not.
func (d *decoder) toolStart(v strictjson.Value, b *event.Batch) {
	begun := call{d.name(v.Get("toolCallId")), d.name(v.Get("toolCallName")), d.speaker(v)}
	if parent := d.messages.named(d.name(v.Get("parentMessageId"))); parent != nil && d.owner(v) == "" {
		begun.by = parent.by
	}
	begun.by.put(b)
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name = begun.id, begun.tool
	d.calls.begin(begun)
}

// ofTool takes what goes on in a call: its arguments, and that they are whole. Only a result ends it.
func (d *decoder) ofTool(v strictjson.Value, b *event.Batch) {
	if open := d.calls.named(d.name(v.Get("toolCallId"))); open != nil {
		open.by.put(b)
	}
}

// toolChunk begins a call, or brings more of its arguments. A chunk without an id does so for the call before it.
func (d *decoder) toolChunk(v strictjson.Value, b *event.Batch) {
	id := d.name(v.Get("toolCallId"))
	if id == "" || d.calls.named(id) != nil {
		b.Type = typeToolArgs
		d.ofTool(v, b)
		return
	}
	d.messages.close(d.owner(v), false)
	d.toolStart(v, b)
}

// toolResult ends a call, in the name of the agent that made it. That a tool failed no producer says in a way of the protocol's.
func (d *decoder) toolResult(v strictjson.Value, b *event.Batch) {
	id := d.name(v.Get("toolCallId"))
	if d.answered[id] {
		return
	}
	ended := d.calls.end(id)
	if ended.by != (agent{}) {
		ended.by.put(b)
	}
	addResult(id, ended.tool, v, b)
}

// resultIn ends a call whose result is a message of a snapshot: some integrations send it nowhere else. Only an open call ends, so that a
// result which was sent before, or which a later snapshot repeats, counts once. A frame speaks for one agent, so that it ends the calls of
// one.
func (d *decoder) resultIn(message strictjson.Value, b *event.Batch) {
	open := d.calls.named(d.name(message.Get("toolCallId")))
	if open == nil || !message.Get("role").Is("tool") {
		return
	}
	if len(b.Events) > 0 && open.by != (agent{b.Agent, b.Branch, b.Within, b.Parent}) {
		return
	}
	ended := d.calls.end(open.id)
	if d.answered == nil {
		d.answered = make(map[string]bool)
	}
	if len(d.answered) < maxOpen {
		d.answered[ended.id] = true
	}
	ended.by.put(b)
	e := addResult(ended.id, ended.tool, message, b)
	if wire.SaysError(message) {
		e.Error, e.Code = event.ToolError, wire.ErrorCode(message.Get("error"))
	}
}

func addResult(id, tool string, v strictjson.Value, b *event.Batch) *event.Event {
	e := b.Add(event.KindToolEnded)
	e.CallID, e.Name = id, tool
	e.SetPayload(b.Embedded(v.Get("content")))
	e.Settled = true // the wire shows no response of a model that could be owed
	return e
}

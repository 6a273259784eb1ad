package langgraph

import (
	"iter"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// callsOf returns the calls of a message, and all blocks of its content, because some are calls.
func callsOf(message strictjson.Value) iter.Seq[strictjson.Value] {
	return func(yield func(strictjson.Value) bool) {
		for _, list := range []strictjson.Value{
			message.Get("tool_calls"), message.Get("tool_call_chunks"), message.Get("invalid_tool_calls"), message.Get("content"),
			message.Get("content_blocks"), message.Get("additional_kwargs").Get("tool_calls"),
		} {
			for c := range list.Elements() {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// toolOf returns the tool of a call, in LangChain's form or OpenAI's.
func toolOf(c strictjson.Value) strictjson.Value {
	if function := c.Get("function"); function.Kind() == strictjson.Object {
		return function.Get("name")
	}
	return c.First("name", "action")
}

// mayBeHiddenCall reports whether an object with arguments may repeat a call that was withheld or unreadable. A task
// executes a call. A question asks whether to execute it, and has no id.
func (d *decoder) mayBeHiddenCall(v strictjson.Value) bool {
	if id := v.Get("id"); len(id.Text()) > 0 {
		return d.shown.missed != missedNothing && !d.shown.contains(id)
	}
	tool := toolOf(v)
	return len(tool.Text()) > 0 && d.mayHideCallOf(d.name(tool))
}

// checkTool reports whether an event is of a tool that executes a withheld call, and whether it may be one. For an event that
// does not name the call, the tool decides.
func (d *decoder) checkTool(v strictjson.Value) (isHidden, mayBeHidden bool) {
	if !isToolEvent(v) {
		return false, false
	}
	data := v.Get("data")
	places := []strictjson.Value{data, data.Get("output"), data.Get("input"), data.Get("input").Get("runtime"), v.Get("metadata")}
	isHidden = slices.ContainsFunc(places, func(place strictjson.Value) bool { return mayName(&d.withheld, place.Get("tool_call_id")) })
	isNamed := data.Get("tool_call_id").Exists() || data.Get("output").Get("tool_call_id").Exists() // the model chooses the input
	return isHidden, !isNamed && d.mayHideCallOf(d.name(v.Get("name")))
}

// mayHideCallOf reports whether a call of a tool may be one that was withheld or unreadable. It is not if all open
// calls of the tool were shown.
func (d *decoder) mayHideCallOf(tool string) bool {
	isOpen := false
	if hidden, isFull := d.hidden.open(false); isFull || slices.ContainsFunc(hidden, func(c event.WithheldCall) bool { return c.Tool == wire.Hash(tool) }) {
		return true
	}
	for _, c := range d.calls {
		switch {
		case c.tool != tool:
		case d.withheld.MayContain(c.id), d.shown.missed != missedNothing && !d.shown.containsText([]byte(c.id)):
			return true
		default:
			isOpen = true
		}
	}
	return !isOpen && (d.shown.missed != missedNothing || d.withheldTools.MayContain(tool))
}

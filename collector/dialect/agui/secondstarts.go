package agui

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// secondStarts tracks messages and calls that an internal agent starts again after their end left: LangGraph's adapter repeats the
// messages that a tool hands over. The client has ended such a message or call, so it must not get a second end either. The repetition is
// withheld alone, because what left before stays in lists.
//
// Source: _handle_single_event in ag_ui_langgraph/agent.py of ag-ui-langgraph 0.0.47.
type secondStarts struct {
	ended wire.Set[key] // messages and calls of which the client has the end
	open  wire.Set[key] // of these, those that an internal agent has started again
}

// addLeft records that a frame of a message or a call left.
func (s *secondStarts) addLeft(k *kind, this key) {
	switch k.name {
	case typeTextStart, typeToolStart:
		s.ended.Remove(this)
		s.open.Remove(this)
	case typeTextEnd, typeToolEnd:
		s.ended.Add(this)
	}
}

// addWithheld records that a frame of an internal agent was withheld, but not the message or call that it is a piece of.
func (s *secondStarts) addWithheld(k *kind, this key) {
	switch {
	case k.begins && s.ended.Contains(this):
		s.open.Add(this)
	case k.isEnd():
		s.open.Remove(this)
	}
}

// isOfSecondStart reports whether a frame of an internal agent or step starts a message or call again, or is a part of it after such a start.
func (d *decoder) isOfSecondStart(k *kind, v strictjson.Value) bool {
	this := d.workKey(k, v)
	if k.begins && d.secondStarts.ended.Contains(this) {
		isInStep, _ := d.steps.areInternal(d.owner(v))
		return isInStep || d.isInternalEvent
	}
	return (k.piece || k.isEnd()) && d.secondStarts.open.Contains(this)
}

// workKey returns the key of the entity that a frame is a piece of.
func (d *decoder) workKey(k *kind, v strictjson.Value) key {
	return key{entity: k.entity, id: d.idOf(k, v)}
}

package agui

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// secondStarts tracks calls that an internal agent starts again after their end left: LangGraph's adapter repeats the calls in the
// messages that a tool hands over. The client has ended such a call, so it must not get a second end either.
//
// Source: _handle_single_event in ag_ui_langgraph/agent.py of ag-ui-langgraph 0.0.47.
type secondStarts struct {
	ended wire.Set[string] // calls of which the client has the end
	open  wire.Set[string] // of these, calls that an internal agent has started again
}

// addLeft records that a frame of a call left.
func (s *secondStarts) addLeft(k *kind, call string) {
	switch k.name {
	case typeToolStart:
		s.ended.Remove(call)
		s.open.Remove(call)
	case typeToolEnd:
		s.ended.Add(call)
	}
}

// addWithheld records that a frame of an internal agent was withheld, but not the call that it is a piece of.
func (s *secondStarts) addWithheld(k *kind, call string) {
	switch {
	case k.name == typeToolStart && s.ended.Contains(call):
		s.open.Add(call)
	case k.name == typeToolEnd:
		s.open.Remove(call)
	}
}

// isOfSecondStart reports whether a frame is a part of a call after an internal agent has started it again.
func (d *decoder) isOfSecondStart(k *kind, v strictjson.Value) bool {
	return (k.piece || k.isEnd()) && k.entity == entityCall && d.secondStarts.open.Contains(d.name(v.Get(k.idMember)))
}

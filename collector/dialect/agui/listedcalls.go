package agui

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// listedCalls holds the calls to internal agents that a list shows without a result. A resumed run goes on within such a call, and the call
// itself starts only after the words of its agent, or not at all.
//
// Source: ag_ui_langgraph/agent.py of ag-ui-langgraph 0.0.47.
type listedCalls struct {
	open   wire.Set[string]
	beside wire.Set[string] // calls of the first such message, which may start late too
	known  wire.Set[string] // calls with a result, with a start, or with an agent that names itself in its frames
}

// know notes that a frame tells more of a call than the list.
func (l *listedCalls) know(id string) {
	l.known.Add(id)
	l.open.Remove(id)
}

// noteListedCalls reads the lists in a frame, at any depth. Only the calls of the last message of a model are open, unless a result follows:
// what comes after a user's message is not their work.
func (d *decoder) noteListedCalls(v strictjson.Value) {
	for _, member := range v.Members() {
		d.noteListedCalls(member)
	}
	var last strictjson.Value // message of a model
	for element := range v.Elements() {
		switch role := element.First("role", "type"); {
		case isResult(element):
			d.listed.know(d.memberOf(element, callIDs))
		case role.Is("assistant"), role.Is("ai"), role.Is(user), role.Is("human"):
			last = element
		}
		d.noteListedCalls(element)
	}
	wasOpen, mayGoOn := d.listed.mayGoOn(), false
	for id, call := range d.callsIn(last) {
		if _, isInternal := d.listedDelegate(call); !isInternal || d.listed.known.Contains(id) {
			d.listed.open.Remove(id)
		} else {
			d.listed.open.Add(id)
			mayGoOn = true
		}
	}
	if wasOpen || !mayGoOn {
		return // it may be the list of an internal agent
	}
	for id := range d.callsIn(last) {
		d.listed.beside.Add(id)
	}
}

// mayGoOn reports whether an internal agent may be at work in a call that a list shows.
func (l *listedCalls) mayGoOn() bool { return l.open.Len() > 0 || l.open.IsFull() }

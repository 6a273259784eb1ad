package openai

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// followCall records whether an item of a response is a call that hands over to an internal agent. Without agent_updated_stream_event, only
// the name of its function shows it.
func (d *decoder) followCall(item strictjson.Value) {
	one := announcement{d.turns.internalTarget(d.name(item.Get("name"))), d.name(callID(item))}
	if one.agent == "" || !item.Get("type").Is("function_call") || slices.Contains(d.turns.called, one) {
		return
	}
	if len(d.turns.called) == maxTurns {
		d.turns.full = true // the agent of this call may begin unseen
		return
	}
	d.turns.called = append(d.turns.called, one)
}

// endCall records that a response has ended if only parts of it are in the stream, and one of them is not of the call that hands over.
func (d *decoder) endCall(k kind, v strictjson.Value) {
	isOfCall := slices.Contains(callData, string(typeOf(v))) || d.turns.internalTarget(d.name(v.Get("item").Get("name"))) != ""
	if k.part && d.response.implied && !isOfCall {
		d.handOver()
	}
}

// announcement is a call that hands over to an internal agent.
type announcement struct{ agent, call string }

// handOver begins the work of the agents to which the response hands over that has ended.
func (d *decoder) handOver() {
	t := &d.turns
	called := t.called
	t.called = nil
	isAnnounced := func(one announcement) bool { return t.announced(handoffTo(one.agent)) != nil }
	if len(called) > 0 && !slices.ContainsFunc(called, isAnnounced) {
		t.end("")
	}
	for _, one := range called {
		d.announce(one)
	}
}

// announce begins the work of an agent to which a call hands over.
func (d *decoder) announce(a announcement) {
	one := d.turns.announced(handoffTo(a.agent))
	if one == nil {
		one = d.startTurn(a.agent)
		one.announced = true
	}
	switch {
	case slices.Contains(one.by, a.call):
	case len(one.by) == maxTurns:
		one.by[0] = "" // not all calls are known, so the turn stays
	default:
		one.by = append(one.by, a.call)
	}
}

// ignoreHandoff records that a call does not hand over, because it is not the first such call of its response. An agent that has shown nothing
// has not begun unless another call hands over to it.
func (t *turns) ignoreHandoff(call string) {
	if call == "" {
		return
	}
	t.called = slices.DeleteFunc(t.called, func(one announcement) bool { return one.call == call })
	for i, one := range t.all {
		t.all[i].by = slices.DeleteFunc(one.by, func(id string) bool { return id == call })
	}
	t.all = slices.DeleteFunc(t.all, func(one turn) bool { return one.announced && len(one.by) == 0 && !one.shown })
}

// internalTarget returns the internal agent to which a function hands over by default, or "".
func (t *turns) internalTarget(tool string) string {
	n := len(handoffTool)
	if len(tool) <= n || !strings.EqualFold(tool[:n], handoffTool) || t.functions.Contains(tool) {
		return ""
	}
	if target := tool[n:]; lenient.IsInternal([]byte(target)) || t.isInternal(target) {
		return target
	}
	return ""
}

// denyHandoff records that a function does not hand over to the agent that its name names.
func (t *turns) denyHandoff(tool string) {
	target := t.internalTarget(tool)
	if target == "" {
		return
	}
	t.functions.Add(tool)
	t.called = slices.DeleteFunc(t.called, func(one announcement) bool { return one.agent == target })
	t.all = slices.DeleteFunc(t.all, func(one turn) bool { return one.announced && one.agent == target })
}

// announced returns the turn that an item or a call has announced, or nil. tool is the function that hands over to its agent.
func (t *turns) announced(tool string) *turn {
	for i := range t.all {
		if one := &t.all[i]; one.announced && one.state == atWork && strings.EqualFold(handoffTo(one.agent), tool) {
			return one
		}
	}
	return nil
}

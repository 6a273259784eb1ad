package openai

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// agents are the agents of a run of the Agents SDK. Items name their agents, and events of responses do not.
type agents struct {
	current  string // the last one that is known to have worked, or to have got control
	finished bool   // its last answer had no calls
	parallel bool   // another one began before the current one had finished, so it is unknown whose the next response is
	known    wire.Set[string]
	inner    map[string]string // those that work in a call of another, with the call's ID. It is "" if it may be any of several calls
}

// speaker returns the agent that an event belongs to if it names none, or "" if that is unknown.
func (a *agents) speaker() string {
	if a.parallel {
		return ""
	}
	return a.current
}

// placeIn sets the position of the batch's agent in the run.
func (a *agents) placeIn(b *event.Batch) {
	call, isInner := a.inner[b.Agent]
	switch {
	case b.Agent == "":
	case !isInner:
		b.MayBeRoot = true
	case call == "":
		b.Branch = b.Agent
	default:
		b.EnclosingCall = call
	}
}

// addBeside records that an agent works at the same level as another.
func (a *agents) addBeside(name, other string) {
	if call, isInner := a.inner[other]; isInner {
		a.addInner(name, call)
	}
}

func (a *agents) addInner(name, call string) {
	if a.inner == nil {
		a.inner = make(map[string]string)
	}
	if len(a.inner) < wire.MaxSet {
		a.inner[name] = call
	}
}

// callEnded forgets the agents that have worked in a call. open says whether other calls of the same agent are open.
func (a *agents) callEnded(id string, open bool) {
	for name, call := range a.inner {
		if call == id && id != "" || call == "" && !open {
			delete(a.inner, name)
			a.known.Remove(name)
			a.parallel = a.parallel && len(a.inner) > 0
		}
	}
}

// speak reports that an agent works. If it begins without a transfer, it works in a call of the current agent, or after or beside it.
func (d *decoder) speak(name string, b *event.Batch) {
	if name == "" || name == user {
		return
	}
	a := &d.sdk.agents
	if !a.known.Contains(name) && a.current != "" {
		switch waiting := d.openCallsOf(a.current); {
		case len(waiting) == 1:
			a.addInner(name, waiting[0].id)
		case len(waiting) > 1:
			a.addInner(name, "")
		default:
			a.parallel = a.parallel || !a.finished
			a.addBeside(name, a.current)
		}
	}
	d.control(name, b)
}

// control makes an agent the current one.
func (d *decoder) control(name string, b *event.Batch) {
	a := &d.sdk.agents
	a.finished = a.finished && a.current == name
	a.known.Add(name)
	a.current, b.Agent = name, name
}

// itemAuthor reports the agent of an item. name is "" if the item does not say it. Then the call decides that the item is about, if any.
func (d *decoder) itemAuthor(name, call string, b *event.Batch) {
	i := d.calls.indexOf(call)
	switch {
	case i < 0 || name == user:
	case name == "":
		name = d.calls[i].agent
	default:
		d.calls[i].agent = name
	}
	d.speak(name, b)
}

// openCallsOf returns the calls that an agent waits for, without those that transfer control.
func (d *decoder) openCallsOf(agent string) (waiting calls) {
	for _, open := range d.calls {
		if open.agent == agent && !open.earlier && !d.sdk.isHandoff(open) {
			waiting = append(waiting, open)
		}
	}
	return waiting
}

// isHandedOffTo reports whether the current agent has handed control over to another one. It does so once its other calls have ended.
func (d *decoder) isHandedOffTo(name string) bool {
	s := &d.sdk
	if s.agents.current == "" || s.agents.current == name {
		return false
	}
	isNamed := func(open call) bool {
		return open.agent == s.agents.current && strings.EqualFold(open.tool, handoffTo(name))
	}
	isHandoff := func(open call) bool { return open.agent == s.agents.current && s.isHandoff(open) }
	return s.handoffDone != "" || slices.ContainsFunc(d.calls, isNamed) ||
		len(d.openCallsOf(s.agents.current)) == 0 && (s.handsOff || slices.ContainsFunc(d.calls, isHandoff))
}

// handoffTo returns the default name of the function that transfers control to an agent, but for the case of its letters.
//
// Source: agents/util/_transforms.py of openai-agents 0.24.
func handoffTo(agent string) string {
	return handoffTool + strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			return c
		}
		return '_'
	}, agent)
}

// transfer reports that the agent of the batch hands control over. If that agent is unknown, the other one is just the current one.
func (d *decoder) transfer(to string, b *event.Batch) {
	from := b.Agent
	d.sdk.agents.addBeside(to, from)
	if d.control(to, b); from != "" && from != to {
		d.forgetResponse()
		b.Agent = from
		e := b.Add(event.KindTransfer)
		e.Name, e.CallID = to, d.sdk.handoffDone
	}
	d.calls = slices.DeleteFunc(d.calls, func(open call) bool { return open.agent == from && d.sdk.isHandoff(open) })
	d.sdk.handoff, d.sdk.handoffDone, d.sdk.handsOff = "", "", false
}

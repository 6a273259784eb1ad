package openai

import "slices"

// This file decides whether an event of the Agents SDK may be of an internal agent. Applications choose which events they pass on, so each
// fact may be missing. The first line that applies decides:
//
//	an event, its response or its item has a mark, or names an internal agent      internal
//	it has an ID of such an item                                                   internal
//	an item names an ordinary agent, or the call that it is about has one          ordinary
//	it has the ID of an item that was withheld as unsure                           unsure
//	its response began in the stream                                               as the turn was then
//	nothing of these                                                               as the turn is now
//
// The turn is of the agent of the last agent_updated_stream_event, handoff or item, and unsure if that agent is internal. The result of the
// call in which it worked, or its last response, gives the turn back to the caller. If several agents may have the turn, it is unsure if one
// of them is internal. What is unsure is withheld, but does not withhold an item that names an ordinary agent.

// isUnsure reports whether an event of the current response may be of an internal agent. A response belongs to the agents that may speak when
// it begins. If its beginning is not in the stream, each event does.
func (d *decoder) isUnsure() bool {
	switch r := &d.response; {
	case r.open && !r.implied && !r.shared:
		return r.unsure
	case r.shared && len(d.sdk.others) > 0:
		return slices.ContainsFunc(d.sdk.others, func(o otherAnswer) bool { return o.unsure })
	}
	return d.mayBeInternal()
}

// beginInternal records whether the start of an agent calls itself internal. Without a name, all work may be the agent's until another one
// begins.
func (a *agents) beginInternal(name string, isInternal bool) {
	a.internal.Remove("")
	if a.internal.Remove(name); isInternal {
		a.internal.Add(name)
	}
}

// isInternal reports whether an agent is internal. If an internal agent has no name, it may be any.
func (a *agents) isInternal(name string) bool {
	return a.internal.Contains("") || a.internal.MayContain(name)
}

// mayBeInternal reports whether what names no agent may be of an internal one. It is of the current agent, or of another one that works in a
// call. Once the current one has finished, it may be of each that has not. If those wait for a call, the current one goes on.
func (d *decoder) mayBeInternal() bool {
	a := &d.sdk.agents
	if a.internal.Len() == 0 {
		return false
	}
	isActive := slices.Contains(a.active, a.current)
	goesOn := isActive || !slices.ContainsFunc(a.active, func(name string) bool { return !d.isWaiting(name) })
	return goesOn && a.isInternal(a.current) || slices.ContainsFunc(a.active, func(name string) bool {
		_, isInner := a.inner[name]
		return a.isInternal(name) && (isInner || !isActive) && !a.over.Contains(name)
	})
}

// endTurns records that an agent begins after those that worked in one call. What names no agent is not of them anymore. In several calls,
// agents work at the same time.
func (a *agents) endTurns(begun string) {
	for name, at := range a.inner {
		if name != begun && !at.isUnsure {
			a.over.Add(name)
		}
	}
}

package openai

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// ownTable finds what a frame says of itself, not of the items and choices in it.
var ownTable = func() event.Table {
	own := table
	own.OwnEnvelopes, own.OpaqueMembers = nil, append([]string{"choices"}, table.OpaqueMembers...)
	return own
}()

// isInternalFrame reports whether a frame calls itself internal, not only items or choices in it.
func isInternalFrame(b *event.Batch) bool {
	own := event.Batch{Frame: b.Frame, JSON: b.JSON, Table: &ownTable, Type: b.Type}
	return wire.IsFiltered(&own, prefilter)
}

// responseID begins the key of a response in withheldSet.shared.
const responseID = "response "

// withholdResponse withholds a response from here on, because its start calls itself internal. Another stream may resume it.
func (d *decoder) withholdResponse(id string) {
	d.response.internal = d.response.internal || id == d.response.id
	if id != "" {
		d.withheld.shared.Add(responseID + id)
	}
}

// isInternalResponse reports whether a response that begins was withheld before.
func (d *decoder) isInternalResponse(id string) bool {
	return id != "" && d.withheld.shared.Contains(responseID+id)
}

// mayBeOfInternal reports whether an event names a response that was withheld, or neither its response nor a known item, and may be of
// another response that is internal. Then its number says which one it continues, if it has one.
func (d *decoder) mayBeOfInternal(k kind, v strictjson.Value) bool {
	if id := responseIDOf(v); id.Exists() && !isFake(id.String()) {
		return d.isInternalResponse(d.name(id))
	}
	if !k.part && !v.Get("response").Exists() || d.response.containsItem(d.at) {
		return false
	}
	n, _ := v.Get("sequence_number").Int()
	continues := func(r *response) bool { return r.sequence+1 == n }
	if d.mayBeOfLost(v) {
		return true
	}
	return d.lostInternal || slices.ContainsFunc(d.others, func(r runState) bool {
		return r.response.open && r.response.internal && (!continues(&d.response) || continues(&r.response))
	})
}

// readStart withholds the current response if its start calls itself internal. begins says that the event has begun the response. Others
// repeat its start.
func (d *decoder) readStart(v strictjson.Value, begins bool, m marks, b *event.Batch) {
	begins = begins || slices.ContainsFunc([]string{typeCreated, typeQueued, typeInProgress}, func(name string) bool { return isType(v, name) })
	b.Internal = b.Internal || begins && d.findResponse(v)
	if begins && (b.Internal || m.instructs || isInternalFrame(b)) {
		d.withholdResponse(d.response.id)
	}
}

// mayBeOf reports whether a response may be of an agent. If one of the two is not known, it may be as long
// as the response is open, or the last one that ended.
func (r *response) mayBeOf(agent string) bool {
	if agent == "" || r.author == "" {
		return r.open || r.ended
	}
	return r.author == agent
}

// isOfInternalWork reports whether an item of an agent is of an internal agent, or may be of an internal response. agent is "" if it is not
// known.
func (d *decoder) isOfInternalWork(agent string, at place) bool {
	if d.withheld.saw(at) {
		return false
	}
	mayBeOf := func(r *response) bool {
		of := cmp.Or(r.agent, r.author)
		return r.internal && (agent == "" || of == "" || of == agent)
	}
	for r := range d.openAnswers() {
		if mayBeOf(r) {
			return true
		}
	}
	return mayBeOf(&d.response) || agent != "" && d.turns.isInternal(agent)
}

// worksInternally reports whether something internal is open, or was the last to end, which an error may quote.
func (d *decoder) worksInternally() bool {
	for r := range d.openAnswers() {
		if r.internal {
			return true
		}
	}
	return d.workedInternally || d.response.internal || d.chat.internal || d.turns.internal.Len() > 0 || d.lost != lostStarts{} || slices.ContainsFunc(d.others, func(r runState) bool {
		return r.isAnswering() && (r.response.internal || r.chat.internal)
	})
}

// agentMembers are the members in which events and items of the Agents SDK have an agent. Applications send agent_name instead of an object.
//
// Source: agents/stream_events.py and items.py of openai-agents 0.24; packages/agents-core/src/events.ts and items.ts of @openai/agents 0.17.
var agentMembers = []string{"agent", "new_agent", "newAgent", "source_agent", "sourceAgent", "target_agent", "targetAgent", "agent_name"}

// hasInternalAgent reports whether events or items of the Agents SDK have an agent with an internal name. The SDK has no other member in
// which an application could mark an agent.
func hasInternalAgent(levels ...strictjson.Value) bool {
	for _, v := range levels {
		for member, agent := range v.Members() {
			if lenient.MatchesAny(member.Text(), agentMembers) && isInternalAgent(agent) {
				return true
			}
		}
	}
	return false
}

// readEventAgent reads the agent that the application names in an event of the Agents SDK or in the objects in it. An event that names an
// ordinary agent needs no other proof that it is of that agent, unless names have been wrong before.
func (d *decoder) readEventAgent(levels ...strictjson.Value) {
	begins := false
	for _, v := range levels {
		d.eventAgent = cmp.Or(d.eventAgent, d.name(nameOf(v.First(addedMembers...))))
		begins = begins || isType(v, typeCreated) || isType(v, startOfModel)
	}
	if begins && d.isWaiting(d.eventAgent) && d.turns.mayBeInternal() {
		d.turns.misnamed = true // the response is of an agent in the call
	}
	d.isOrdinary = d.eventAgent != "" && !d.turns.misnamed && !d.turns.isInternal(d.eventAgent) && !hasInternalAgent(levels...)
}

// addedMembers are the members in which only applications name agents.
var addedMembers = []string{"agent_name", "agentName"}

// checkNames records whether an event of the Agents SDK names an ordinary agent although it is about an internal one, as do applications that
// name the agent around it.
func (d *decoder) checkNames(v strictjson.Value, about string) {
	added := d.name(nameOf(v.First(addedMembers...)))
	d.turns.misnamed = d.turns.misnamed || added != "" && added != about && d.turns.isInternal(about)
}

// isInternalAgent reports whether an agent has an internal name. It is an object, only its name, or printed: Agent(name='a', …).
func isInternalAgent(agent strictjson.Value) bool {
	for member, name := range agent.Members() {
		if lenient.MatchesAny(member.Text(), []string{"name"}) && lenient.ContainsInternal(name) {
			return true
		}
	}
	_, printed, _ := bytes.Cut(agent.Text(), []byte("name="))
	return agent.Kind() != strictjson.Object && lenient.ContainsInternal(agent) || lenient.IsInternal(bytes.TrimLeft(printed, `'"`))
}

// withholdItem records that a whole item is withheld. Its parts have its IDs, so others may leave.
func (w *withheldSet) withholdItem(at place) {
	for _, key := range at.keys {
		w.seen.Remove(key)
		w.whole.Add(key)
		w.shared.Add(key)
	}
}

// unsureKey begins the keys of unsure in shared.
const unsureKey = "unsure "

// doubt records that an item is withheld because it may be of an internal agent. An item of the Agents SDK that names another agent leaves
// nevertheless.
func (w *withheldSet) doubt(at place) {
	for _, key := range at.keys {
		if isID(key) {
			w.seen.Remove(key)
			w.unsure.Add(key)
			w.shared.Add(unsureKey + key)
		}
	}
}

// isDoubted reports whether an item was withheld because it may be of an internal agent.
func (w *withheldSet) isDoubted(at place) bool {
	return slices.ContainsFunc(at.keys, func(key string) bool {
		return isID(key) && (w.unsure.MayContain(key) || w.shared.IsShared(unsureKey+key))
	})
}

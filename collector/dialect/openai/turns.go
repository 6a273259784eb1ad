package openai

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// This file decides whether an event of the Agents SDK may be of an internal agent. Applications choose which events they pass on, so each
// fact may be missing. The first line that applies decides:
//
//	an event, its response or its item has a mark, or names an internal agent      internal
//	it has an ID of such an item                                                   internal
//	an item names an ordinary agent, or the call that it is about has one          ordinary
//	it has the ID of an item that was withheld as unsure                           unsure
//	its response began in the stream                                               as it was then
//	nothing of these                                                               as it is now
//
// An event is unsure while an internal agent is at work: from the event that names the agent until the stream shows that it has handed over
// or answered, or that all calls around it have results. If the stream shows no calls and handoffs at all, agents follow one another. An
// unsure event is withheld, but does not withhold an item that names an ordinary agent.

// turns are the agents of the Agents SDK that have begun on a stream.
type turns struct {
	all          []turn           // in the order in which they began or were named
	full         bool             // there were more
	internal     wire.Set[string] // those with an internal name, or whose beginning calls itself internal
	finals       wire.Set[string] // the keys of the items of responses that have ended without calls while an internal agent was at work
	handedOver   bool             // an item has shown that one hands over to the next to begin
	called       []announcement   // the internal agents to which an open response hands over, by the names of its functions
	functions    wire.Set[string] // those that do not hand over, although their names are like those that do
	showHandoffs bool             // the stream shows responses or items in which each handoff is
	showCalls    bool             // it shows items with calls
	showOutputs  bool             // it shows ends of responses, with their calls
	showEnds     bool             // it shows ends of responses
	last         position         // of the last event that was unsure
	showResults  bool             // it shows results of calls
	showMessages bool             // it shows items with messages that name their agents
	misnamed     bool             // an event of an internal agent names another one, so names prove nothing
	texts        wire.Set[uint64] // hashes of what internal agents in calls have answered
	areParallel  bool             // an internal agent had not ended when another one began, so agents may work at the same time
}

// maxTurns limits the agents at work.
const maxTurns = 64

// turn is the work of an agent.
type turn struct {
	agent     string
	internal  bool
	state     turnState
	announced bool     // an item has shown its beginning, and agent_updated_stream_event follows
	by        []string // the IDs of the calls that have announced it
	answers   bool     // a text, or the end of a response without calls, is the last that it or an event without an agent has shown
	said      bool     // a message is its last item
	afterText bool     // and a text came between that and the item before it
	shown     bool     // an item has named it, or an event without an agent came while it was at work
	calls     []string // of others, without a result when it began; it may work in one of them
	isCut     bool     // one of the calls that were open when it began has failed, or has the result of its last tool, so it has no answer
	result    pieces   // the last result of its own calls
	mayGoOn   bool     // it is over, but only because texts came before the result of such a call, or a message whose response may go on
}

type turnState int

const (
	atWork turnState = iota
	left             // another agent has begun, and the stream does not show handoffs
	over
)

// isUnsure reports whether an event of the current response may be of an internal agent. A response belongs to the agents at work when it
// begins. If its beginning is not in the stream, each event does. One without an ID has ended if no internal agent is at work any more.
func (d *decoder) isUnsure() bool {
	switch r := &d.response; {
	case r.open && !r.implied && !r.shared:
		return r.unsure && (r.id != "" || d.turns.mayBeInternal()) || !d.isNamed && d.isAnyUnsure()
	case r.shared && len(d.sdk.others) > 0:
		return d.isAnyUnsure()
	}
	return d.turns.mayBeInternal()
}

// shareDoubt records which open responses with the ID of the current one may be of an internal agent. If one may be, all may be: events do not
// say of which one they are.
func (d *decoder) shareDoubt() {
	same := slices.DeleteFunc(slices.Collect(d.openAnswers()), func(r *response) bool { return r.id != d.response.id || r.shared })
	isUnsure := slices.ContainsFunc(same, func(r *response) bool { return r.unsure })
	for _, r := range same {
		r.unsure = isUnsure
	}
}

// isAnyUnsure reports whether another open response may be of an internal agent.
func (d *decoder) isAnyUnsure() bool {
	return slices.ContainsFunc(d.sdk.others, func(o otherAnswer) bool { return o.unsure })
}

// beginInternal records whether the start of an agent calls itself internal. Without a name, all work may be the agent's until another one
// begins.
func (t *turns) beginInternal(name string, isInternal bool) {
	t.internal.Remove("")
	if t.internal.Remove(name); isInternal {
		t.internal.Add(name)
	}
}

// isInternal reports whether an agent is internal. If an internal agent has no name, it may be any.
func (t *turns) isInternal(name string) bool {
	return name == lostAgent || t.internal.Contains("") || t.internal.MayContain(name)
}

// mayBeInternal reports whether what names no agent may be of an internal one: one is at work, or none is and the last one was internal.
func (t *turns) mayBeInternal() bool {
	works := false
	for _, one := range t.all {
		if one.state == atWork && one.internal {
			return true
		}
		works = works || one.state == atWork
	}
	return t.full && t.internal.Len() > 0 || !works && len(t.all) > 0 && t.all[len(t.all)-1].internal
}

// find returns the last turn of an agent in a state, or -1.
func (t *turns) find(agent string, state turnState) int {
	for i, one := range slices.Backward(t.all) {
		if one.agent == agent && one.state == state {
			return i
		}
	}
	return -1
}

// add adds a turn, in place of one of the agent that has ended.
func (t *turns) add(begun turn) *turn {
	if lenient.IsInternal([]byte(begun.agent)) {
		t.internal.Add(begun.agent)
	}
	if begun.internal = t.isInternal(begun.agent); begun.internal {
		t.last = position{}
	}
	t.all = slices.DeleteFunc(t.all, func(one turn) bool {
		return one.state != atWork && one.agent == begun.agent || one.state == over && len(t.all) == maxTurns
	})
	if t.full = t.full || len(t.all) == maxTurns; t.full {
		return &begun
	}
	t.all = append(t.all, begun)
	return &t.all[len(t.all)-1]
}

// end records that an agent works no more. Without a name, it is the only one at work.
func (t *turns) end(agent string) {
	ended := t.only()
	if i := t.find(agent, atWork); agent != "" && i >= 0 {
		ended = &t.all[i]
	}
	if ended != nil && (agent == "" || agent == ended.agent) {
		ended.state = over
	}
}

// only returns the only agent that may be at work, or nil.
func (t *turns) only() (only *turn) {
	for i, one := range t.all {
		switch {
		case one.state == over:
		case only != nil:
			return nil
		default:
			only = &t.all[i]
		}
	}
	return only
}

// setAnswers records what an event without an agent shows.
func (t *turns) setAnswers(answers bool) {
	for i := range t.all {
		if t.all[i].state != over {
			t.all[i].answers = answers
		}
	}
}

// returnAll records that the agents that have left are still at work, because the stream shows handoffs and had none, or because an item
// names one of them. If onlyIdle, it does so only for agents that have shown no event.
func (t *turns) returnAll(onlyIdle bool) {
	for i := range t.all {
		if one := &t.all[i]; one.state == left && !(onlyIdle && one.shown) {
			one.state = atWork
		}
	}
}

// seeHandoffs records that the stream shows events in which each handoff is.
func (t *turns) seeHandoffs() {
	t.showHandoffs = true
	t.returnAll(false)
}

// beginTurn reads agent_updated_stream_event. An agent that begins follows the only one at work if that one has called the function that
// hands over to it, or if the stream shows neither handoffs nor a call without a result.
func (d *decoder) beginTurn(name string) {
	t := &d.turns
	handedOver := t.handedOver
	t.handedOver = false
	if one := t.announced(handoffTo(name)); one != nil {
		one.agent, one.announced, one.by, one.internal = name, false, nil, t.isInternal(name)
		return
	}
	isNamed := func(open call) bool { return strings.EqualFold(open.tool, handoffTo(name)) }
	switch {
	case handedOver:
	case slices.ContainsFunc(d.calls, isNamed), isNamed(d.sdk.added):
		t.end("")
	case !t.showHandoffs && !t.showResults && len(d.calls) == 0:
		t.leaveAll()
	}
	d.startTurn(name)
}

// startTurn adds a turn that may be in one of the calls of other agents without a result.
func (d *decoder) startTurn(name string) *turn {
	begun := turn{agent: name}
	for _, open := range d.calls {
		if open.agent != name && !d.sdk.isHandoff(open) {
			begun.calls = append(begun.calls, open.id)
		}
	}
	return d.turns.add(begun)
}

// continueTurn returns the turn of an agent that an item names. Of several agents with one name, an item other than a message is of the one
// with the last message: that was not its end.
func (d *decoder) continueTurn(name string, isMessage bool) *turn {
	t := &d.turns
	if t.find(name, left) >= 0 {
		t.returnAll(false)
	}
	i := len(t.all) - 1
	if isMessage || i < 0 || t.all[i].agent != name {
		i = t.find(name, atWork)
	}
	if i < 0 {
		i = t.find(name, over)
	}
	if i < 0 {
		return d.startTurn(name)
	}
	one := t.all[i]
	one.state, one.mayGoOn = atWork, false
	t.all = append(slices.Delete(t.all, i, i+1), one)
	return &t.all[len(t.all)-1]
}

// followItem records what an item shows of the turns. agent is "" if the item does not name it. tool is the function that the item calls, if
// any. call is the ID of the call that it is about.
func (d *decoder) followItem(name strictjson.Value, agent, target, tool, call string, at place) {
	t := &d.turns
	isMessage := name.Is("message_output_created")
	if name.Is("tool_called") {
		t.denyHandoff(tool)
	}
	if isMessage && agent != "" {
		t.seeMessages()
	}
	t.showCalls = t.showCalls || name.Is("tool_called")
	t.showResults = t.showResults || name.Is("tool_output")
	if n := len(t.all); n > 0 && t.all[n-1].agent == "" {
		t.all[n-1].agent = agent // its beginning did not name it
	}
	t.findLost(agent)
	switch {
	case agent == "":
		t.setAnswers(isMessage)
	case isMessage && t.find(agent, over) >= 0 && t.find(agent, atWork) < 0: // a response has shown its end
	default:
		one := d.continueTurn(agent, isMessage)
		one.shown, one.said, one.afterText = true, isMessage, one.answers
		if isMessage && slices.ContainsFunc(at.keys, t.finals.Contains) {
			one.state = over
		}
		one.answers = isMessage
	}
	if isHandoff(name) {
		t.seeHandoffs()
		t.end(agent)
		if t.handedOver = true; target == "" && name.Is("handoff_requested") {
			target = t.internalTarget(tool)
		}
		if target != "" {
			d.announce(announcement{target, call})
		}
	}
}

// isHandoff reports whether an item is about a handoff.
func isHandoff(name strictjson.Value) bool {
	return name.Is("handoff_requested") || name.Is("handoff_occured") || name.Is("handoff_occurred") //nolint:misspell // as the SDK spells it
}

// followEvent records what an event of a response shows of the turns.
func (d *decoder) followEvent(v strictjson.Value) {
	kind, item := string(typeOf(v)), v.Get("item").Get("type")
	for i := range d.turns.all {
		d.turns.all[i].shown = d.turns.all[i].shown || d.turns.all[i].state == atWork
	}
	switch {
	case slices.Contains([]string{typeTextDelta, typeTextDone, typeRefusalDelta, typeRefusalDone, typePartDone}, kind):
		d.turns.setAnswers(true)
	case slices.Contains([]string{typeCompleted, typeIncomplete, typeFailed}, kind):
		for called := range v.Get("response").Get("output").Elements() {
			d.followCall(called)
		}
		d.handOver()
		d.turns.showEnds = true
		d.turns.showOutputs = d.turns.showOutputs || v.Get("response").Get("output").Len() > 0
		d.turns.setAnswers(!d.response.hasCalls)
	case item.Exists(), kind == typeCreated:
		d.turns.setAnswers(item.Is("message"))
		d.followCall(v.Get("item"))
	}
}

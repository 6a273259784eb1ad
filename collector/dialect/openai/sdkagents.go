package openai

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// agents are the agents of a run of the Agents SDK. Items name their agents, and events of responses do not.
type agents struct {
	current string   // the last one that is known to have worked, or to have got control
	active  []string // those that have begun, and are not known to have finished or to have handed over
	known   wire.Set[string]
	twice   wire.Set[string]     // those that began again before their end: two with one name may work at the same time
	inner   map[string]workplace // those that work in a call of another

	announced wire.Set[string] // those of which an event shows that they begin; of others, only items show it

	beside      bool // one has begun beside another or after it, without a handoff: the application passes on several runs
	unannounced bool // only an item has shown that one of those began, so the next response may be of another such agent
}

// workplace says in which call an agent works: one of calls, from which those that have ended are removed.
type workplace struct {
	calls    []string
	isUnsure bool   // there were several
	within   string // the call in which the agent that made all of calls works, or ""
}

// placeIn sets the position of the batch's agent in the run.
func (a *agents) placeIn(b *event.Batch) {
	at, isInner := a.inner[b.Agent]
	switch {
	case b.Agent == "":
	case !isInner:
		b.MayBeRoot = true
	case at.isUnsure:
		b.Branch, b.EnclosingCall, b.InUnknownCall = b.Agent, at.within, true
	default:
		b.EnclosingCall = at.calls[0]
	}
}

// addBeside records that an agent works at the same level as another.
func (a *agents) addBeside(name, other string) {
	if at, isInner := a.inner[other]; isInner {
		a.addInner(name, workplace{slices.Clone(at.calls), at.isUnsure, at.within})
	}
}

// enclosing returns the call in which an agent works, or "" if names has several agents or the call is unknown.
func (a *agents) enclosing(names []string) string {
	switch at := a.inner[names[0]]; {
	case len(slices.Compact(slices.Clone(names))) > 1:
		return ""
	case at.isUnsure || len(at.calls) == 0:
		return at.within
	default:
		return at.calls[0]
	}
}

func (a *agents) addInner(name string, at workplace) {
	if a.inner == nil {
		a.inner = make(map[string]workplace)
	}
	if len(a.inner) < wire.MaxSet {
		a.inner[name] = at
	}
}

// activate records that an agent may send the next response.
func (a *agents) activate(name string) {
	if name != "" && name != user && len(a.active) < wire.MaxSet && !slices.Contains(a.active, name) {
		a.active = append(a.active, name)
	}
}

// beginAgain records that an agent begins.
func (a *agents) beginAgain(name string) {
	if slices.Contains(a.active, name) {
		a.twice.Add(name)
	}
}

// hasFinished reports whether an agent has begun, and will send no response until it begins again.
func (a *agents) hasFinished(name string) bool {
	return a.known.Contains(name) && !slices.Contains(a.active, name)
}

// finish records that an agent sends no response until it begins again.
func (a *agents) finish(name string) {
	a.active = slices.DeleteFunc(a.active, func(other string) bool { return other == name })
}

// callEnded forgets the agents that have worked in a call.
func (a *agents) callEnded(id string) {
	for name, at := range a.inner {
		if i := slices.Index(at.calls, id); i >= 0 {
			if at.calls = slices.Delete(at.calls, i, i+1); len(at.calls) > 0 {
				a.inner[name] = at
				continue
			}
			delete(a.inner, name)
			a.known.Remove(name)
			a.finish(name)
		}
	}
}

// areParallel reports whether several agents work beside each other, so that an error of one does not end the others.
func (a *agents) areParallel() bool {
	n := 0
	for _, name := range a.active {
		if _, isInner := a.inner[name]; !isInner {
			n++
		}
	}
	return n > 1
}

// worksIn reports whether an active agent works in a call, and whether it is certain.
func (a *agents) worksIn(call string) (works, certain bool) {
	for _, name := range a.active {
		at := a.inner[name]
		here := slices.Contains(at.calls, call)
		works, certain = works || here, certain || here && !at.isUnsure
	}
	return works, certain
}

// speaker returns the agent of an event or a response that names none: the only active one that does not wait for a call. It returns ""
// if there are none or several. If nothing has announced it, another one may begin likewise, which an item will name.
func (d *decoder) speaker() (name string) {
	defer func() {
		if a := &d.sdk.agents; a.unannounced || !a.announced.Contains(name) {
			name = ""
		}
	}()
	for _, active := range d.sdk.agents.active {
		switch {
		case d.isWaiting(active):
		case name != "":
			return ""
		default:
			name = active
		}
	}
	return name
}

// nextAuthor returns the agent of a response that begins: the only one that can, else the one that the application names.
func (d *decoder) nextAuthor() string {
	if name := d.speaker(); name != "" || !d.sdk.agents.known.Contains(d.eventAgent) {
		return name
	}
	return d.eventAgent
}

// isWaiting reports whether an agent waits for a call: another agent works in the call, or an item has shown it, so that an item with its
// result will follow.
func (d *decoder) isWaiting(agent string) bool {
	return slices.ContainsFunc(d.openCallsOf(agent), func(open call) bool {
		works, _ := d.sdk.agents.worksIn(open.id)
		return open.shown || works
	})
}

// followFrame records the agent of a whole frame.
func (s *sdk) followFrame(b *event.Batch) {
	if b.Partial {
		return
	}
	s.lastBy = b.Agent
	for i := range b.Events {
		if b.Events[i].Kind == event.KindTransfer {
			s.lastBy = b.Events[i].Name
		}
	}
}

// isStartUnknown reports whether the last whole frame may not be the cause of a response that begins:
//   - its agent has a call without a result, which has ended since that frame;
//   - the frame is of another agent that works beside it in the same lane;
//   - it may be of one of several agents with one name;
//   - its agent has another open response, or may have.
func (d *decoder) isStartUnknown() bool {
	a, author := &d.sdk.agents, d.speaker()
	isKnown := author != "" || a.known.Len() == 0
	hasOpenCall := isKnown && slices.ContainsFunc(d.calls, func(open call) bool { return open.agent == author && !open.shown && !open.earlier })
	isBeside := author != "" && d.sdk.lastBy != author && !a.inner[author].isUnsure
	isTwice := a.twice.Contains(author) || author == "" && a.twice.Len() > 0
	return hasOpenCall || isBeside || isTwice || d.anyOpen(func(r *response) bool { return (author == "" || r.author == author) && !r.shared && !d.isReplaced(r) })
}

// endEarlierCalls records that the calls of the current response's agent have ended, unless items will show it: the agent asks its model
// again only then.
func (d *decoder) endEarlierCalls() {
	for i, open := range d.calls {
		if open.agent != "" && open.agent == d.response.author && !open.shown && !open.earlier {
			d.calls[i].earlier = true
			d.sdk.agents.callEnded(open.id)
		}
	}
}

// speak reports that an agent works. If it begins without a transfer, it works in an open call, or after or beside the current agent.
func (d *decoder) speak(name string, b *event.Batch) {
	if name == "" || name == user {
		return
	}
	a := &d.sdk.agents
	if !a.known.Contains(name) {
		if a.current != "" {
			d.place(name)
		}
		a.activate(name)
	}
	d.control(name, b)
}

// place finds out where an agent works that begins.
func (d *decoder) place(name string) {
	a := &d.sdk.agents
	_, isInner := a.inner[a.current]
	var calls, callers []string
	for _, open := range d.calls {
		if _, taken := a.worksIn(open.id); open.agent != name && !open.earlier && !d.sdk.isHandoff(open) && !taken {
			calls, callers = append(calls, open.id), append(callers, open.agent)
		}
	}
	if len(calls) > 0 && (isInner || len(d.openCallsOf(a.current)) > 0) {
		a.addInner(name, workplace{calls, len(calls) > 1, a.enclosing(callers)})
		return
	}
	a.addBeside(name, a.current)
	a.beside = true
}

// control makes an agent the current one.
func (d *decoder) control(name string, b *event.Batch) {
	a := &d.sdk.agents
	a.known.Add(name)
	a.current, b.Agent = name, name
}

// itemAuthor reports the agent of an item. name is "" if the item does not say it. Then the call decides that the item is about,
// if any. An agent with a call will send another response.
func (d *decoder) itemAuthor(name, call string, at place, b *event.Batch) {
	a, r, wereBeside := &d.sdk.agents, &d.sdk.last, d.sdk.agents.beside
	i := d.calls.indexOf(call)
	isOfLast := r.number != 0 && r.author == "" && r.containsItem(at)
	switch {
	case name == user:
	case i >= 0 && name == "":
		name = d.calls[i].agent
	case i >= 0:
		d.calls[i].agent = name
		d.nameCaller(d.calls[i].response, name)
	case isOfLast:
		d.nameCaller(r.number, name)
	}
	if isOfLast && !r.named && a.hasFinished(name) {
		b.Add(event.KindAgentStarted)
		a.beside = true
	}
	r.named = r.named || isOfLast && name != ""
	d.speak(name, b)
	a.unannounced = a.unannounced || a.beside && !wereBeside
	switch {
	case b.Agent == "":
	case isOfLast:
		b.Sent = &event.Sent{Response: r.name, Call: call}
	case i >= 0 && d.calls[i].unnamed:
		b.Sent = &event.Sent{Call: call, OnlyCall: true}
	}
	if i >= 0 && b.Sent != nil {
		d.calls[i].unnamed = false
	}
	if call != "" {
		a.activate(name)
	} else if isOfLast && r.final {
		a.finish(name)
	}
}

// nameCaller records the agent of the open calls of a response; number is response.number.
func (d *decoder) nameCaller(number int, agent string) {
	for i, open := range d.calls {
		if number != 0 && open.response == number && open.agent == "" {
			d.calls[i].agent = agent
		}
	}
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

// handedOverBy returns the agent that has handed control over to another one, or "" if it is not known, and whether one has. An agent
// does so once its other calls have ended.
func (d *decoder) handedOverBy(name string) (by string, isHandoff bool) {
	s := &d.sdk
	if s.agents.current == "" || s.agents.current == name {
		return "", false
	}
	isOwn := func(open call) bool { return open.agent == s.agents.current && s.isHandoff(open) }
	isNamed := func(open call) bool {
		return open.agent == s.agents.current && strings.EqualFold(open.tool, handoffTo(name))
	}
	isFree := len(d.openCallsOf(s.agents.current)) == 0
	switch {
	case slices.ContainsFunc(d.calls, isNamed), isNamed(s.added):
		return s.agents.current, true
	case s.handoffDone != "", isFree && s.handsOff:
		return s.handoffBy, true
	}
	return s.agents.current, isFree && slices.ContainsFunc(d.calls, isOwn)
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
	d.sdk.agents.announced.Add(to)
	d.sdk.agents.finish(from)
	d.sdk.agents.activate(to)
	if d.control(to, b); from != "" && from != to {
		d.forgetResponse()
		b.Agent = from
		e := b.Add(event.KindTransfer)
		e.Name, e.CallID = to, d.sdk.handoffDone
	}
	d.calls = slices.DeleteFunc(d.calls, func(open call) bool { return open.agent == from && d.sdk.isHandoff(open) })
	d.sdk.handoff, d.sdk.handoffDone, d.sdk.handsOff, d.sdk.handoffBy, d.sdk.added = "", "", false, "", call{}
}

package openai

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// endAnswered ends the work of each agent that has last shown a message of a response without calls. Such an item may come before the stream
// has shown a call, or the agent that made it. If the stream shows no results, a later text shows that a call has ended.
func (d *decoder) endAnswered() {
	t := &d.turns
	for i := range t.all {
		one := &t.all[i]
		hasNoCall := (t.showCalls || t.showOutputs) && !d.mayCall(one.agent) || t.showCalls && !t.showResults && one.afterText
		if one.state == atWork && one.said && hasNoCall {
			one.state, one.mayGoOn = over, !t.showEnds
		}
	}
}

// endResponse records that a response with the items of output has ended without calls. The only agent at work has ended. Of several, an item
// shows which one.
func (t *turns) endResponse(output strictjson.Value) {
	if t.end(""); !t.mayBeInternal() {
		t.finals = wire.Set[string]{}
		return
	}
	for item := range output.Elements() {
		var at place
		at.addItem(item)
		for _, key := range at.keys {
			t.finals.Add(key)
		}
	}
}

// callResult is the result of a call in which agents may work.
type callResult struct {
	text      string
	isText    bool // it is the text of the open response, as that of Agent.as_tool
	isFailure bool // it says in the words of the SDK that the call has failed
}

// endTurnsIn records that a call has a result. An agent that was at work while the call was open, and in no other call, has ended if it has
// answered, or if the call has failed or has the last result of the agent, which then has no answer. Else the call may be of an agent beside
// it, and the agent wait for its model. If an agent has no answer, the calls that it waits for have none either.
func (d *decoder) endTurnsIn(call string, result callResult) {
	isOpen := d.turns.showEnds && d.anyOpen(func(r *response) bool { return r.unsure })
	ended := []string{call}
	for k := 0; k < len(ended); k++ {
		for i := range d.turns.all {
			one := &d.turns.all[i]
			at := slices.Index(one.calls, ended[k])
			if at < 0 {
				continue
			}
			one.calls = slices.Delete(one.calls, at, at+1)
			one.isCut = one.isCut || result.isFailure || one.result.equal([]byte(result.text))
			hasAnswered := one.said || one.answers && !d.turns.showMessages && !isOpen
			switch {
			case len(one.calls) > 0:
			case one.isCut:
				one.state, one.mayGoOn = over, false
				ended = d.addCalls(ended, one.agent)
			case hasAnswered:
				one.state, one.mayGoOn = over, !one.said && !d.turns.showEnds && !result.isText
			}
		}
	}
}

// addCalls adds the IDs of the open calls of an agent.
func (d *decoder) addCalls(ids []string, agent string) []string {
	for _, open := range d.calls {
		if open.agent == agent && !slices.Contains(ids, open.id) {
			ids = append(ids, open.id)
		}
	}
	return ids
}

// setResult records the result of a call of an agent.
func (t *turns) setResult(agent, text string) {
	if i := t.find(agent, atWork); i >= 0 {
		t.all[i].result = pieces{}
		t.all[i].result.add([]byte(text))
	}
}

// seeMessages records that the stream shows messages that name their agents. An agent that has shown none has not ended.
func (t *turns) seeMessages() {
	t.showMessages = true
	for i := range t.all {
		if one := &t.all[i]; one.mayGoOn && !one.said {
			one.state, one.mayGoOn = atWork, false
		}
	}
}

// position is the number of an event in its response, and that of its item.
type position struct{ event, item int64 }

func positionOf(v strictjson.Value) (at position) {
	at.event, _ = v.Get("sequence_number").Int()
	at.item, _ = v.Get("output_index").Int()
	return at
}

// mayGoOn reports whether an event may continue a response of an internal agent that counts as over. The next response begins with lower
// numbers, and shows that an agent has ended that has last shown a message.
func (d *decoder) mayGoOn(k kind, v strictjson.Value) bool {
	at, last := positionOf(v), d.turns.last
	if v.Get("sequence_number").Exists() && at.event <= last.event {
		for i := range d.turns.all {
			d.turns.all[i].mayGoOn = d.turns.all[i].mayGoOn && !d.turns.all[i].said
		}
	}
	if at.event <= last.event || k.part && (d.isNamed || isID(d.at.name()) && at.item <= last.item) {
		return false
	}
	return slices.ContainsFunc(d.turns.all, func(one turn) bool { return one.internal && one.mayGoOn })
}

// doubt records where an event was that was unsure. If events of several responses were, the lowest number counts.
func (t *turns) doubt(v strictjson.Value) {
	if at := positionOf(v); t.last.event == 0 || at.event <= t.last.event+1 {
		t.last = at
	}
}

// mayCall reports whether an agent may have a call without a result. Only an item says for certain which
// agent made a call.
func (d *decoder) mayCall(agent string) bool {
	return len(d.calls) == maxCalls || slices.ContainsFunc(d.calls, func(open call) bool {
		return (open.agent == agent || !open.shown) && !open.hosted
	})
}

// leaveAll records that another agent has begun in a stream that shows neither handoffs nor calls. An internal agent that has shown nothing,
// or of which no item has shown the last text, has not ended, so others work beside it.
func (t *turns) leaveAll() {
	t.areParallel = t.areParallel || slices.ContainsFunc(t.all, func(one turn) bool {
		return one.internal && one.state == atWork && (!one.shown || t.showMessages && !one.said)
	})
	for i := range t.all {
		if !t.areParallel {
			t.all[i].state = max(t.all[i].state, left)
		}
	}
}

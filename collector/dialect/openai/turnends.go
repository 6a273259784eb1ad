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
			one.state = over
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

// endTurnsIn records that a call has a result. An agent that was at work while the call was open, and in no other call, has ended if it has
// answered. If it has not, the call may be of an agent beside it, and the agent wait for its model.
func (t *turns) endTurnsIn(call string) {
	for i := range t.all {
		one := &t.all[i]
		k := slices.Index(one.calls, call)
		if k < 0 {
			continue
		}
		one.calls = slices.Delete(one.calls, k, k+1)
		if hasAnswered := one.said || one.answers && !t.showMessages; hasAnswered && len(one.calls) == 0 {
			one.state = over
		}
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

package openai

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// lostStarts records that an unreadable frame may have begun an internal response or completion. Only the start shows that it is internal.
type lostStarts struct{ response, completion bool }

// lostAgent is the name of the turn of an internal agent that an unreadable frame may have begun. No agent has this name.
const lostAgent = "\x00"

// loseStart records that a frame that cannot be read may have begun something internal. A frame that names no agent began none, and
// one with the ID of the open completion began no other.
func (d *decoder) loseStart(f dialect.Frame) {
	if !wire.MayHideInternal(f) {
		return
	}
	d.lost.response = true
	d.lost.completion = d.lost.completion || d.chat.id == "" || !bytes.Contains(f.Data, []byte(`"`+d.chat.id+`"`))
	if mayNameAgent(f) && d.turns.find(lostAgent, atWork) < 0 {
		d.startTurn(lostAgent)
	}
}

// mayNameAgent reports whether a frame that cannot be read may have one of agentMembers.
func mayNameAgent(f dialect.Frame) bool {
	return f.Malformed == event.ReasonTooLarge || bytes.Contains(f.Data, []byte(`\u`)) || bytes.Contains(lenient.Text(f.Data), []byte("agent"))
}

// findLost gives an agent that an item names the turn that an unreadable frame began, unless the agent has one.
func (t *turns) findLost(agent string) {
	i := t.find(lostAgent, atWork)
	if i < 0 || agent == "" || slices.ContainsFunc(t.all, func(one turn) bool { return one.agent == agent }) {
		return
	}
	t.all[i].agent, t.all[i].internal = agent, lenient.IsInternal([]byte(agent)) || t.isInternal(agent)
}

// mayBeOfLost reports whether an event without a response may be of a response with an unreadable start. The events of the current
// response go on with higher numbers.
func (d *decoder) mayBeOfLost(v strictjson.Value) bool {
	n, isNumbered := v.Get("sequence_number").Int()
	return d.lost.response && (!d.response.open || d.response.implied || !isNumbered || n <= d.response.sequence)
}

// findResponse reads the first event of a response that the stream shows. The response may have begun in an unreadable frame, unless the
// event is its start.
func (d *decoder) findResponse(v strictjson.Value) (isLost bool) {
	isLost = d.lost.response && !isType(v, typeCreated) && !isType(v, typeQueued)
	d.lost.response = isLost
	return isLost
}

package agui

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isInOpenWork reports whether a frame that names no agent may be the work of an internal agent or step, because one is surely open. The
// order of steps does not say which of them are within others and which are beside them, so one internal step is enough.
func (d *decoder) isInOpenWork(v strictjson.Value) bool {
	owner := d.owner(v)
	return d.isInStep(owner) && !d.namesOrdinaryStep(v) || d.hasTransferred(owner) || d.mayBeDelegated(v)
}

// namesOrdinaryStep reports whether an application's value in a frame names the agent of an ordinary step as its own.
func (d *decoder) namesOrdinaryStep(v strictjson.Value) bool {
	for _, member := range [...]string{"value", "content"} {
		for name, agent := range decoded(v.Get(member)).Members() {
			if lenient.MatchesAny(name.Text(), agentMembers) && d.steps.ordinary.Contains(d.name(agent)) {
				return true
			}
		}
	}
	return false
}

// isAskedElsewhere reports whether the stream shows that a question is not of the internal work that is open: LangChain's events placed it,
// or it asks about a call that left and has no result.
func (d *decoder) isAskedElsewhere(question strictjson.Value) bool {
	return anyObject(question, func(v strictjson.Value) bool {
		if _, isShown := d.asked.shown[d.memberOf(v, callIDs)]; isShown || d.isRequestOfShown(v) {
			return true
		}
		return d.questions.ordinary.Contains(d.memberOf(v, ownIDs))
	})
}

// withholdOpenWork withholds the messages of a snapshot that internal work may have made: those after the user's last message that did not
// leave before, and have no call and answer no call that did.
func (d *decoder) withholdOpenWork(messages strictjson.Value, b *event.Batch) {
	var since []strictjson.Value
	for one := range messages.Elements() {
		if since = append(since, one); one.Get("role").Is(user) {
			since = since[:0]
		}
	}
	for _, one := range since {
		if !d.isOfShown(one) {
			d.rememberListed(one, true, b)
			b.Cut(one)
		}
	}
}

// isOfShown reports whether a message left before, or has or answers a call that left.
func (d *decoder) isOfShown(message strictjson.Value) bool {
	for id := range d.callsIn(message) {
		if d.starts.named.Contains(key{entity: entityCall, id: id}) || d.listed.beside.Contains(id) {
			return true
		}
	}
	_, isAnswer := d.asked.shown[d.memberOf(message, callIDs)]
	return isAnswer || d.wasShown(message)
}

package agui

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isInOpenWork reports whether a frame that names no agent counts as the work of an internal agent or step, because that is surely open.
func (d *decoder) isInOpenWork(v strictjson.Value) bool {
	owner := d.owner(v)
	_, isInStep := d.steps.areInternal(owner)
	return isInStep || d.hasTransferred(owner) || d.mayBeDelegated(v)
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

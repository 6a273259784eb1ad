package agui

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// rememberListed remembers a message that is withheld as a whole, from a list or a value of an application. It returns false for others.
// A message is withheld as a whole if it is internal, or if it is or belongs to an entity that was withheld before. Later frames that
// repeat or continue it, or its calls, do not leave. A message that is withheld because of one of its calls may be ordinary, so it is not
// remembered.
func (d *decoder) rememberListed(message strictjson.Value, isInternal bool, b *event.Batch) (isWhole bool) {
	answered := d.memberOf(message, callIDs)
	if isResult(message) {
		d.addAnswered(answered)
	}
	switch {
	case !isInternal && !d.isWithheldEntity(message):
		return false
	case !isInternal && d.withheld.answers.Contains(answered):
		return true // the result of the call may still have to leave
	}
	if this := messageKey(d.memberOf(message, ownIDs)); isInternal || !d.withheld.keys.Contains(this) {
		d.withholdListed(this, !isInstruction(message))
	}
	for id := range d.callsIn(message) {
		if this := (key{entity: entityCall, id: id}); isInternal || !d.starts.named.Contains(this) {
			d.withholdListed(this, true)
			d.addUnanswered(id)
		}
	}
	if isResult(message) && answered != "" {
		d.withheld.add(key{entity: entityResult, id: answered})
	}
	d.addListedTexts([]strictjson.Value{message}, b)
	return true
}

// addUnanswered remembers a call in a withheld message of a list, unless it has a result. An error may quote the work of such a call.
func (d *decoder) addUnanswered(call string) {
	if call != "" && !d.answered.Contains(call) {
		d.unanswered.Add(call)
	}
}

// addAnswered remembers that a call has a result.
func (d *decoder) addAnswered(call string) {
	d.answered.Add(call)
	d.asked.end(call)
	if !d.unanswered.IsFull() { // a full set lacks calls
		d.unanswered.Remove(call)
	}
}

// withholdListed remembers a withheld message of a list, or a call in one. hasName says that its ID names it elsewhere too. The zero key
// is an unknown message: nothing that starts later leaves, as any of it may be a part.
func (d *decoder) withholdListed(k key, hasName bool) {
	if hasName {
		d.withheld.add(k)
	} else {
		d.withheld.addUnnamed(k)
	}
	switch {
	case k == key{}:
		d.withheldListed.Fill()
		d.withheld.overflowed = true
	case k.id != "":
		d.withheldListed.Add(k)
	}
}

// rememberReferring remembers a message of a list that is withheld because it names something withheld. The call of a result may
// have left, so its end must leave too.
func (d *decoder) rememberReferring(message strictjson.Value, b *event.Batch) {
	d.addListedTexts([]strictjson.Value{message}, b)
	switch id := d.memberOf(message, ownIDs); {
	case message.Get("role").Is("activity"):
		d.cutActivities.Add(id) // a client has no activity that a later frame could change
	case !isResult(message):
		d.withholdListed(messageKey(id), true)
	}
}

// isResult reports whether a message of a list is the result of a call. LangChain's messages have their role in their type.
func isResult(message strictjson.Value) bool {
	return message.First("role", "type").Is("tool")
}

// wasShown reports whether a message of a list left before, or is the user's, who sent it. In a list, a result may have another ID.
func (d *decoder) wasShown(message strictjson.Value) bool {
	id := d.memberOf(message, ownIDs)
	if call := d.memberOf(message, callIDs); call != "" && isResult(message) && d.starts.named.Contains(key{entity: entityResult, id: call}) {
		return true
	}
	return message.Get("role").Is("user") || id != "" && d.knownToClient.Contains(id)
}

// addLeft remembers what left.
func (d *decoder) addLeft(k *kind, v strictjson.Value) {
	if k.begins || k.chunk {
		d.steps.workedInternally, d.steps.endedInternally = false, false
	}
	switch k.entity {
	case entityMessage:
		d.shownMessages.Add(d.name(v.Get("messageId")))
	case entityCall:
		if k.name == typeToolResult {
			d.addOneNamed(key{entity: entityResult, id: d.name(v.Get("toolCallId"))})
		}
	default:
		return
	}
	if k.entity == entityCall {
		d.showCall(k, v)
	}
	this := d.workKey(k, v)
	d.secondStarts.addLeft(k, this)
	d.pieces.addLeft(k, this, v.Get("delta").Text())
}

// rememberNested remembers the messages that are withheld, at any depth of a frame that is withheld, wholly or in part. Other messages
// in the frame may be copies of ordinary ones, so they are not remembered.
func (d *decoder) rememberNested(k *kind, v strictjson.Value, b *event.Batch) {
	switch k.name {
	case typeRunStarted, typeRunFinished, typeSubagentFinished, typeStateSnapshot, typeActivitySnapshot, typeCustom:
		d.rememberInside(v, b)
	case typeMessagesSnapshot:
		messages, _ := lenient.Messages(&conversationRule, v)
		for one := range messages.Elements() {
			d.rememberInside(one, b)
		}
	case typeStateDelta, typeActivityDelta:
		for c := range changesOf(v.First("delta", "patch"), nil) {
			d.rememberIn(c.value, positionOf(c.path), b)
		}
	}
}

// rememberInside is rememberNested for the members of a frame or a message.
func (d *decoder) rememberInside(outer strictjson.Value, b *event.Batch) {
	for name, value := range outer.Members() {
		if !lenient.MatchesAny(name.Text(), table.InternalMembers) {
			d.rememberIn(value, positionIn(outer, name.Text()), b)
		}
	}
}

// rememberIn is rememberNested for a value. It looks twice, because the result of a call may stand before the call.
func (d *decoder) rememberIn(v strictjson.Value, at position, b *event.Batch) {
	isOne := func(message strictjson.Value, listed bool) bool {
		if isMessageIn(message, listed) {
			d.rememberListed(message, isInternalIn(message, listed), b)
		}
		return false // others may be within
	}
	for range 2 {
		yieldMessages(v, at, isOne, func(_, _ strictjson.Value) bool { return true })
	}
}

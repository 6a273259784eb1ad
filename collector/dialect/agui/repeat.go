package agui

import (
	"iter"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// withheldSet records the entities that were withheld, wholly or in part, in all runs of a stream. A
// snapshot must not repeat them.
type withheldSet struct {
	keys       wire.Set[key]
	ids        idSet            // of keys
	answers    wire.Set[string] // ids of calls whose results may have the answer of a withheld subagent
	overflowed bool             // more was withheld than is remembered, or an entity without an ID; no snapshot leaves after that
	nameless   bool             // a thought without an ID was withheld; no thought in a list leaves after that
}

// messageKey returns the key of a message in decoder.authors and in withheldSet.
func messageKey(id string) key { return key{entity: entityListed, id: id} }

// listedKey returns the key of an entity in withheldSet. Messages, thoughts and activities share their ids, so they have
// a messageKey.
func listedKey(k key) key {
	switch k.entity {
	case entityMessage, entityPhase, entityThought, entityActivity:
		k.entity = entityListed
	}
	return k
}

func (s *withheldSet) add(k key) {
	if s.addUnnamed(k) {
		s.ids.add(k.id, k.entity)
	}
}

// addUnnamed adds an entity without adding its ID to ids, and reports whether it is new. Clients choose the IDs of prompts, such as 1,
// so in another place the same ID says nothing.
func (s *withheldSet) addUnnamed(k key) bool {
	k = listedKey(k)
	switch {
	case k.id == "" || k.entity == entityStep || s.keys.Contains(k):
		return false
	case s.keys.IsFull():
		s.overflowed = true
		return false
	}
	s.keys.Add(k)
	return true
}

// addNameless adds an entity without an ID.
func (s *withheldSet) addNameless(of entity) {
	switch of {
	case entityPhase, entityThought, entityThinking:
		s.nameless = true
	default:
		s.overflowed = true
	}
}

// withhold makes later frames that continue or repeat the entities internal.
func (d *decoder) withhold(all ...key) {
	d.starts.withhold(all...)
	for _, k := range all {
		d.withheld.add(k)
	}
}

// rememberWithheld remembers the entity that a withheld frame is part of. For the result of a call, it does not remember
// the call, which may have left.
func (d *decoder) rememberWithheld(k *kind, v strictjson.Value) {
	d.hideUnreadAnswer(k, v)
	id := d.idOf(k, v)
	if k.name == typeRunFinished || k.name == typeSubagentFinished || k.name == typeCustom {
		d.rememberQuestions(v)
	}
	switch {
	case id == "" && k.entity != noEntity && k.entity != entityMessage && k.entity != entityStep && !k.isEnd():
		d.withheld.addNameless(k.entity)
	case k.name == typeToolResult:
		d.withheld.add(key{entity: entityResult, id: id})
		d.withheld.add(messageKey(d.name(v.Get("messageId"))))
	case k.entity == entityMessage:
		d.rememberMessage(k, id, d.owner(v))
	case k.entity != noEntity && k.entity != entitySubagent:
		d.withheld.add(key{entity: k.entity, id: id})
	}
}

// rememberMessage remembers the message that a withheld frame is part of. If the frame starts the
// message or makes it internal, all later frames that name the message are withheld too.
func (d *decoder) rememberMessage(k *kind, id, owner string) {
	m := d.messages.find(id, owner)
	if id == "" {
		m = d.messages.chunkTarget(owner)
	}
	isWithheld := m == nil && id != "" && (k.begins || k.chunk)
	if m != nil {
		id, isWithheld = m.id, m.internal
	}
	if id == "" && k.name != typeTextEnd {
		d.withheld.overflowed = true // it is unknown which message the text is part of
	}
	if this := (key{entity: entityMessage, id: id}); isWithheld {
		d.withhold(this)
		d.wholeTexts.set(this, d.pieces.textOf(this))
	} else {
		d.withheld.add(messageKey(id))
	}
}

// continuesListed reports whether a frame is one of these:
//   - a part of a withheld message of a snapshot, or of a call in such a message;
//   - the result of a call that has the ID of a withheld message;
//   - another result of a call whose first result was withheld.
func (d *decoder) continuesListed(k *kind, this key, message string) bool {
	if k.name == typeToolResult && (d.withheld.keys.Contains(key{entity: entityResult, id: this.id}) && !d.withheld.answers.Contains(this.id) || d.isWithheldMessageID(message)) {
		return true
	}
	return k.idMember == "messageId" && d.withheldListed.Contains(messageKey(this.id)) ||
		k.entity == entityCall && d.withheldListed.Contains(key{entity: entityCall, id: this.id})
}

// isWithheldMessageID reports whether an ID is that of a withheld message.
func (d *decoder) isWithheldMessageID(id string) bool {
	if m := d.messages.find(id, ""); m != nil {
		return m.internal
	}
	return d.withheld.keys.Contains(messageKey(id))
}

var (
	// Members of a message in a list with its own id and the ids of related entities, in JavaScript
	// and in Python.
	ownIDs      = []string{"id"}
	messageIDs  = []string{"messageId", "message_id"}
	callIDs     = []string{"toolCallId", "tool_call_id"}
	callLists   = []string{"toolCalls", "tool_calls"}
	subagentIDs = []string{"subagentRunId", "subagent_run_id"}
)

// repeatsWithheld reports whether a message of a list, or a question, was withheld before or belongs to an entity that was.
func (d *decoder) repeatsWithheld(message strictjson.Value) bool {
	if d.isWithheldEntity(message) {
		return true
	}
	for id, call := range d.callsIn(message) {
		if d.isWithheldCall(id, call) {
			return true
		}
	}
	return false
}

// isWithheldCall reports whether a call in a list was withheld before, or pieces of its arguments were.
func (d *decoder) isWithheldCall(id string, call strictjson.Value) bool {
	return d.withheld.keys.Contains(key{entity: entityCall, id: id}) || d.pieces.areInCall(id, call)
}

// isWithheldEntity is repeatsWithheld without the calls in a message.
func (d *decoder) isWithheldEntity(message strictjson.Value) bool {
	switch {
	case d.withheld.nameless && statesThought(message), d.repeatsText(message):
		return true
	case d.withheld.keys.Len()+len(d.pieces.withheld) == 0:
		return false
	}
	for name, value := range message.Members() {
		text, id := name.Text(), d.name(value)
		switch {
		case lenient.MatchesAny(text, ownIDs) && (d.withheld.keys.Contains(messageKey(id)) || d.pieces.areIn(id, message) || d.isThoughtOf(id, message)):
			return true
		case lenient.MatchesAny(text, callIDs) && (d.withheld.keys.Contains(key{entity: entityCall, id: id}) || d.withheld.keys.Contains(key{entity: entityResult, id: id})):
			return true
		case lenient.MatchesAny(text, subagentIDs) && d.withheld.keys.Contains(key{entity: entitySubagent, id: id}):
			return true
		}
	}
	return false
}

// callsIn yields the IDs of the calls in a message, and the calls.
func (d *decoder) callsIn(message strictjson.Value) iter.Seq2[string, strictjson.Value] {
	return func(yield func(string, strictjson.Value) bool) {
		for name, calls := range message.Members() {
			if !lenient.MatchesAny(name.Text(), callLists) {
				continue
			}
			for call := range calls.Elements() {
				if id, hasID := d.callID(call); hasID && !yield(id, call) {
					return
				}
			}
		}
	}
}

// callID returns the ID of a call in a message.
func (d *decoder) callID(call strictjson.Value) (id string, hasID bool) {
	for name, value := range call.Members() {
		if lenient.MatchesAny(name.Text(), ownIDs) {
			return d.name(value), true
		}
	}
	return "", false
}

// withholdMessages returns what is withheld of a list: messages that are internal by themselves, messages that repeat something
// withheld, the results of calls in both, and the withheld calls of other messages. inInternal says that the list is internal as a
// whole.
func (d *decoder) withholdMessages(messages strictjson.Value, inInternal bool, b *event.Batch) (withheld []strictjson.Value) {
	calls := map[string]bool{}
	for one := range messages.Elements() {
		isWhole := d.rememberListed(one, isInternalMessage(one) || inInternal && !d.wasShown(one), b)
		for id, call := range d.callsIn(one) {
			if isWhole || d.isWithheldCall(id, call) || d.withheld.ids.hasPart(id, partAnywhere) {
				calls[id] = true
			}
		}
	}
	for one := range messages.Elements() {
		answers := false
		for name, value := range one.Members() {
			answers = answers || lenient.MatchesAny(name.Text(), callIDs) && calls[d.name(value)]
		}
		switch {
		case answers || d.isWithheldEntity(one) || isInternalMessage(one):
			withheld = append(withheld, one)
			d.rememberListed(one, false, b) // the result may stand before the call
		case d.messageRefers(one):
			withheld = append(withheld, one)
			d.rememberReferring(one, b)
		default:
			parts := d.withheldCalls(one, calls)
			d.addListedTexts(parts, b)
			withheld = append(withheld, parts...)
			if !d.startWithheld && !d.filtered && !slices.Contains(parts, one) && !isThoughtMessage(one) {
				d.knownToClient.Add(d.memberOf(one, ownIDs))
				d.showListedCalls(one, calls)
			}
		}
	}
	return d.withholdThoughts(messages, withheld, b)
}

// withheldCalls returns those calls in a message of a list that are among the given ones. If there are some, it
// returns the whole message instead if the message has nothing else, if its text has not left, or if another part names such a call and
// may repeat it.
func (d *decoder) withheldCalls(message strictjson.Value, calls map[string]bool) (withheld []strictjson.Value) {
	remains, repeats := false, false
	isOne := func(_, text string) bool { return calls[dialect.Name(text)] }
	id := d.name(message.Get("id"))
	hasLeft := id != "" && d.shownMessages.Contains(id)
	for name, value := range message.Members() {
		switch text := name.Text(); {
		case lenient.MatchesAny(text, callLists):
			for call := range value.Elements() {
				id, hasID := d.callID(call)
				if calls[id] || !hasID {
					withheld = append(withheld, call)
				} else {
					remains, repeats = true, repeats || namesAny("", call, isOne)
				}
			}
		default:
			hasText := lenient.MatchesAny(text, contentMembers) && len(value.Text())+value.Len() > 0
			remains, repeats = remains || hasText, repeats || hasText && !hasLeft || namesAny("", value, isOne)
		}
	}
	isAny := slices.ContainsFunc(withheld, func(call strictjson.Value) bool { id, _ := d.callID(call); return calls[id] })
	switch {
	case !isAny:
		return nil
	case repeats || !remains:
		return []strictjson.Value{message}
	}
	return withheld
}

// namesAny reports whether a value of a member has a text that matches, at any depth and also in strings with JSON. The name of a
// member is a text too, of no member.
func namesAny(member string, v strictjson.Value, matches func(member, text string) bool) bool {
	if v.Kind() == strictjson.String && matches(member, v.String()) {
		return true
	}
	v = decoded(v)
	for name, value := range v.Members() {
		if text := name.String(); matches("", text) || namesAny(text, value, matches) {
			return true
		}
	}
	for element := range v.Elements() {
		if namesAny(member, element, matches) {
			return true
		}
	}
	return false
}

// isInternalMessage reports whether a message of a list is withheld because of what it says about itself.
func isInternalMessage(message strictjson.Value) bool {
	return lenient.IsInternalMessage(&table, &conversationRule, message) || isInstruction(message) || isMarkedMessage(message)
}

// isMarkedMessage reports whether the metadata of a message, or of one of its calls or parts, names an internal event.
func isMarkedMessage(message strictjson.Value) bool {
	for name, parts := range message.Members() {
		if !lenient.MatchesAny(name.Text(), conversationRule.PartMembers) {
			continue
		}
		for part := range elementsOf(parts) {
			if isMarkedInternal(part) {
				return true
			}
		}
	}
	return isMarkedInternal(message)
}

// hasWithheldInput reports whether the request in a run's first event contains withheld messages or
// thoughts. The request is removed then. The client sent most of it itself and loses nothing.
func (d *decoder) hasWithheldInput(v strictjson.Value, b *event.Batch) bool {
	withheld := isInstruction(v)
	for name, input := range v.Members() {
		if !lenient.MatchesAny(name.Text(), inputMembers) || input.Kind() == strictjson.Null {
			continue
		}
		messages, ok := lenient.Messages(&conversationRule, input)
		withheld = withheld || !ok || input.Kind() != strictjson.Object || d.refersToWithheld(input, false, false) || len(d.withholdMessages(messages, false, b)) > 0 || d.withheld.overflowed
		for one := range messages.Elements() {
			withheld = withheld || statesThought(one) || d.mayRepeatThought(one) || d.nestsWithheld(one)
		}
	}
	return withheld
}

// inputMembers are the members of the run's first event that contain the request.
var inputMembers = []string{"input"}

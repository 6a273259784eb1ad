package agui

import (
	"iter"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// messagesSnapshot reads a snapshot of the whole conversation. It reports only the tool results that no earlier frame
// had. It withholds messages with instructions for models, and messages and calls that were withheld before. If
// more was withheld than is remembered, the whole snapshot is internal. Messages in an internal snapshot count as withheld.
func (d *decoder) messagesSnapshot(v strictjson.Value, b *event.Batch) {
	messages, ok := lenient.Messages(&conversationRule, v)
	for part := range d.withheldOf(messages) {
		b.Cut(part)
	}
	leaves := ok && !b.Internal && !d.filtered
	b.Internal = b.Internal || !ok || d.withheld.IsFull()
	for one := range messages.Elements() {
		b.HasThoughts = b.HasThoughts || d.mayRepeatThought(one) || statesThought(one)
		if _, isCut := b.Cuts[one]; !isCut && d.cutNested(one, "id", b) {
			b.Cut(one)
		} else if !isCut {
			d.addSnapshotResult(one, b)
		} else if open := d.calls.find(d.name(one.Get("toolCallId")), ""); open != nil && one.Get("role").Is("tool") {
			open.isListed = true
		}
	}
	d.noteListed(v, leaves)
}

var (
	// Members of a message in a list with its own id and the ids of related entities, in JavaScript
	// and in Python.
	ownIDs     = []string{"id"}
	messageIDs = []string{"messageId", "message_id"}
	callIDs    = []string{"toolCallId", "tool_call_id"}
	callLists  = []string{"toolCalls", "tool_calls"}

	listMembers    = []string{"messages"}
	contentMembers = []string{"content"}
)

// withheldOf yields what is withheld of a list: messages that call themselves internal or were withheld before, and the calls of these and
// their results. It remembers them.
func (d *decoder) withheldOf(messages strictjson.Value) iter.Seq[strictjson.Value] {
	for one := range messages.Elements() {
		id := d.memberOf(one, ownIDs)
		isInternal := isInternalMessage(one)
		if !isInternal && !d.isWithheldID(entityMessage, id) {
			continue
		}
		if id != "" {
			d.withhold(messageKey(id))
		}
		for call := range callsIn(one) {
			if id := d.memberOf(call, ownIDs); id != "" {
				d.withhold(key{entity: entityCall, id: id})
			}
		}
	}
	return func(yield func(strictjson.Value) bool) {
		for one := range messages.Elements() {
			call := d.memberOf(one, callIDs)
			isWhole := isInternalMessage(one) || d.isWithheldID(entityMessage, d.memberOf(one, ownIDs)) || d.isWithheldID(entityCall, call) || d.isWithheldID(entityResult, call)
			if isWhole && !yield(one) || !isWhole && !d.yieldCalls(one, yield) {
				return
			}
		}
	}
}

// yieldCalls yields the withheld calls of a message, or the message itself if nothing else would remain of it.
func (d *decoder) yieldCalls(message strictjson.Value, yield func(strictjson.Value) bool) bool {
	var withheld []strictjson.Value
	remains := false
	for call := range callsIn(message) {
		if d.isWithheldID(entityCall, d.memberOf(call, ownIDs)) {
			withheld = append(withheld, call)
		} else {
			remains = true
		}
	}
	if len(withheld) == 0 {
		return true
	}
	for name, value := range message.Members() {
		remains = remains || lenient.MatchesAny(name.Text(), contentMembers) && len(value.Text())+value.Len() > 0
	}
	if !remains {
		return yield(message)
	}
	for _, call := range withheld {
		if !yield(call) {
			return false
		}
	}
	return true
}

// callsIn yields the calls in a message.
func callsIn(message strictjson.Value) iter.Seq[strictjson.Value] {
	return func(yield func(strictjson.Value) bool) {
		for name, calls := range message.Members() {
			if !lenient.MatchesAny(name.Text(), callLists) {
				continue
			}
			for call := range calls.Elements() {
				if !yield(call) {
					return
				}
			}
		}
	}
}

// isInternalMessage reports whether a message of a list is withheld because of what it says about itself.
func isInternalMessage(message strictjson.Value) bool {
	return lenient.IsInternalMessage(&table, &conversationRule, message) || isInstruction(message) || isMarkedMessage(message) ||
		message.Get("role").Is("activity") && lenient.HasEncodedInternal(&table, message.Get("content"))
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
func (d *decoder) hasWithheldInput(v strictjson.Value) bool {
	if isInstruction(v) {
		return true
	}
	for name, input := range v.Members() {
		if !lenient.MatchesAny(name.Text(), inputMembers) || input.Kind() == strictjson.Null {
			continue
		}
		messages, ok := lenient.Messages(&conversationRule, input)
		if !ok || input.Kind() != strictjson.Object || d.withheld.IsFull() {
			return true
		}
		for range d.withheldOf(messages) {
			return true
		}
		for one := range messages.Elements() {
			if statesThought(one) || d.mayRepeatThought(one) || nestsWithheld(one) {
				return true
			}
		}
	}
	return false
}

// inputMembers are the members of the run's first event that contain the request.
var inputMembers = []string{"input"}

package agui

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// entity is a kind of object that several frames make up, such as a message.
type entity uint8

const (
	noEntity entity = iota
	entityMessage
	entityCall
	entityPhase // a phase of reasoning
	entityThought
	entityThinking // a thought before 1.0, which has no ID
	entityActivity
	entitySubagent // or a run within the run
	entityStep
	entityResult // the result of a call
)

// key identifies an entity. Without an ID it means the owner's latest entity of that kind.
type key struct {
	entity    entity
	id, owner string
}

// messageKey returns the key of a message. Thoughts and activities with an ID are messages too: lists contain them.
func messageKey(id string) key { return key{entity: entityMessage, id: id} }

// keyOf returns the key of the entity that a frame is a piece of.
func (d *decoder) keyOf(k *kind, v strictjson.Value) key {
	this := key{entity: k.entity, id: d.idOf(k, v)}
	switch k.entity {
	case entityPhase, entityThought, entityActivity:
		if this.id != "" {
			return messageKey(this.id)
		}
	}
	if !this.isUnique() {
		this.owner = d.owner(v)
	}
	return this
}

// isUnique reports whether a later entity cannot have the same key. An owner may use the name of a step again.
func (k key) isUnique() bool { return k.id != "" && k.entity != entityStep }

// withhold makes later frames of the entity, and repetitions of it, internal.
func (d *decoder) withhold(this key) {
	if !this.isUnique() {
		d.nameless.Add(this)
	} else if d.withheld.Add(this); !d.withheld.Contains(this) {
		d.seen.Remove(this) // so that its rest counts as that of something unseen
	}
}

// isWithheldID reports whether an ID is that of a withheld entity of a kind.
func (d *decoder) isWithheldID(of entity, id string) bool {
	return id != "" && d.withheld.Contains(key{entity: of, id: id})
}

// mayBeWithheldID is isWithheldID for an ID that an event of another entity names. Once more is withheld than is remembered, it is true if the
// beginning of the entity did not leave.
func (d *decoder) mayBeWithheldID(of entity, id string) bool {
	return d.isWithheldID(of, id) || id != "" && d.withheld.IsFull() && !d.seen.Contains(key{entity: of, id: id})
}

// isNameless reports whether an entity may be one of those that were withheld without a unique ID. A frame or entity without an owner
// matches any owner.
func (d *decoder) isNameless(this key) bool {
	for one := range d.nameless.All() {
		if one.entity == this.entity && one.id == this.id && (one.owner == this.owner || this.id == "" && (one.owner == "" || this.owner == "")) {
			return true
		}
	}
	return d.nameless.IsFull() && !this.isUnique()
}

// verdict says whether a frame may leave, given the frames before it.
type verdict uint8

const (
	verdictPass     verdict = iota
	verdictInternal         // it continues something withheld
	verdictOrphan           // it may do so: the beginning did not leave
)

// check returns whether a frame may leave, given the frames before it.
func (d *decoder) check(k *kind, this key, v strictjson.Value) verdict {
	switch {
	case k.name == typeRunStarted: // see runStarted
	case d.runWithheld, k.name == typeRunFinished && d.endsWithheldRun(v):
		return verdictInternal
	case k.ends && d.seen.Contains(this):
		// A client accepts no end of a run while it waits for the end of a message or call.
		//
		// Source: sdks/typescript/packages/client/src/verify/verify.ts of AG-UI.
	case d.continuesWithheld(k, this, v):
		return verdictInternal
	case d.continuesUnseen(k, this, v):
		return verdictOrphan
	}
	return verdictPass
}

// endsWithheldRun reports whether a frame ends a withheld run that is not the current one.
func (d *decoder) endsWithheldRun(v strictjson.Value) bool {
	run := d.memberOf(v, runIDs)
	return run != d.run && d.isWithheldID(entitySubagent, run)
}

// continuesWithheld reports whether a frame is part of something withheld.
func (d *decoder) continuesWithheld(k *kind, this key, v strictjson.Value) bool {
	if d.withheld.Contains(this) || (!k.begins || k.entity == entityStep) && d.isNameless(this) {
		return true
	}
	switch k.entity {
	case entityCall:
		if k.name == typeToolResult {
			return d.isWithheldID(entityResult, this.id) || d.isWithheldID(entityMessage, d.name(v.Get("messageId")))
		}
		return d.mayBeWithheldID(entityMessage, d.name(v.Get("parentMessageId")))
	case entitySubagent:
		return d.mayBeWithheldID(entityCall, d.name(v.Get("parentToolCallId"))) || d.mayBeWithheldID(entityMessage, d.name(v.Get("parentMessageId"))) ||
			d.mayBeWithheldID(entitySubagent, d.name(v.Get("parentSubagentRunId")))
	case entityThought, entityThinking:
		return !d.seen.Contains(this) && d.isNameless(d.phaseOf(v))
	}
	if k.name == typeReasoningEncryptedValue {
		id := d.name(v.Get("entityId"))
		return d.isWithheldID(entityMessage, id) || d.isWithheldID(entityCall, id) || d.mayBeWithheldID(entityMessage, id) && d.mayBeWithheldID(entityCall, id)
	}
	return false
}

// phaseOf returns the key of the phase of reasoning in which the owner of a frame thinks.
func (d *decoder) phaseOf(v strictjson.Value) key { return key{entity: entityPhase, owner: d.owner(v)} }

// continuesUnseen reports whether a frame continues an entity with a beginning that did not leave, after more was withheld than is remembered or an
// unreadable frame may have been the beginning. A chunk begins an entity if it has the member that only a first chunk needs.
func (d *decoder) continuesUnseen(k *kind, this key, v strictjson.Value) bool {
	switch {
	case k.chunk && this.id == "":
		return d.missedStart || d.withheld.Len() > 0
	case k.entity == noEntity, k.begins, d.seen.Contains(this):
		return false
	}
	isFirst := k.chunk && k.firstMember != "" && v.Get(k.firstMember).Kind() == strictjson.String
	return d.withheld.IsFull() || d.missedStart && !isFirst
}

// note remembers whether the entity of a frame left.
func (d *decoder) note(k *kind, this key, v strictjson.Value, b *event.Batch) {
	isInternal := b.Internal || d.filtered
	switch {
	case k.entity == noEntity:
		return
	case isInternal && k.name == typeToolResult: // the call may have left
		d.withhold(key{entity: entityResult, id: this.id})
		if id := d.name(v.Get("messageId")); id != "" {
			d.withhold(messageKey(id))
		}
		return
	case isInternal:
		d.withhold(this)
		if k.entity == entityPhase {
			d.withhold(d.phaseOf(v))
		}
	case b.Type != typeOrphan && (k.begins || k.chunk):
		d.seen.Add(this)
		d.noteLeft(this, v)
	case b.Type != typeOrphan && k.name == typeToolResult:
		d.noteLeft(this, v)
	}
	if k.ends || k.begins && !isInternal {
		d.nameless.Remove(this)
		if k.entity == entityPhase {
			d.nameless.Remove(d.phaseOf(v))
		}
	}
	if k.ends && !this.isUnique() {
		d.seen.Remove(this)
	}
}

// missStart handles a withheld frame that may begin any entity: an unreadable one, or one of an unknown type that calls itself internal.
func (d *decoder) missStart(f dialect.Frame, b *event.Batch) {
	isUnreadable := b.Rejected != ""
	d.missedStart = d.missedStart || isUnreadable && f.MayContainObject()
	if namesAny := d.isFrameInternal(f.JSON, b) && d.withholdNamed(f.JSON); namesAny || isUnreadable {
		clear(d.chunkTargets)
		d.messages.closeChunked("", true)
	}
}

// withholdNamed withholds the messages and calls that an internal frame of an unknown type names, except those with a beginning that left. It
// reports whether the frame names any.
func (d *decoder) withholdNamed(v strictjson.Value) (namesAny bool) {
	for name, value := range v.Members() {
		this := key{id: d.name(value)}
		switch text := name.Text(); {
		case lenient.MatchesAny(text, messageIDs):
			this.entity = entityMessage
		case lenient.MatchesAny(text, callIDs):
			this.entity = entityCall
		default:
			continue
		}
		if namesAny = true; this.id != "" && !d.seen.Contains(this) {
			d.withhold(this)
		}
	}
	return namesAny
}

// isFrameInternal reports whether a frame of an unknown type calls itself internal.
func (d *decoder) isFrameInternal(v strictjson.Value, b *event.Batch) bool {
	return lenient.IsInternal(b.Frame.Event) || v.Exists() && (lenient.CheckNames(b, prefilter) == event.NamesInternal ||
		lenient.HasInternalDiscriminator(&table, v) || isMarkedInternal(v))
}

var prefilter = lenient.NewPrefilter(&table)

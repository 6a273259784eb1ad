package agui

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// entity is a kind of object that several frames make up, such as a message. If its first frame is
// withheld, so are the others.
type entity uint8

const (
	noEntity entity = iota
	entityMessage
	entityCall
	entityPhase // a phase of reasoning
	entityThought
	entityThinking // a thought before 1.0, which has no id
	entityActivity
	entitySubagent
	entityStep
	entityResult   // the result of a call
	entityListed   // a message of a snapshot, and every withheld message that has an id (see messageKey)
	entityQuestion // a question at the end of a run
)

// key identifies an entity. Without an id it means the owner's latest entity of that kind.
type key struct {
	entity    entity
	id, owner string
}

// starts remembers for each entity of a run whether its start was withheld. If it was, the rest of the entity is
// withheld too. Once starts.withheld is full, new entities are withheld, except those for which isOwnStart returns
// true.
type starts struct {
	withheld wire.Set[key]
	seen     wire.Set[key] // entities that started and are not withheld; of messages, only those in chunks: other pieces never leave without a start
	cutOff   wire.Set[key] // entities that the client saw start and not end, of which the rest is withheld
	named    wire.Set[key] // entities that cannot have started in an unreadable frame (see addNamed), by listedKey
}

func (s *starts) withhold(all ...key) {
	for _, this := range all {
		s.seen.Remove(this)
		s.withheld.Add(this)
	}
}

// mayBeWithheld reports whether a frame without an id may continue a withheld entity of its owner.
// A frame or entity without an owner matches any owner.
func (s *starts) mayBeWithheld(kind entity, owner string) bool {
	for this := range s.withheld.All() {
		if this.entity == kind && this.id == "" && (this.owner == "" || owner == "" || this.owner == owner) {
			return true
		}
	}
	return false
}

// verdict says whether a frame may leave, given the frames before it.
type verdict uint8

const (
	verdictPass     verdict = iota
	verdictInternal         // it is part of something withheld
	verdictOrphan           // it may be part of something withheld: its start was not seen
)

// checkStart returns whether a frame may leave, given the frames before it. It remembers the start of an entity.
func (d *decoder) checkStart(k *kind, f dialect.Frame) verdict {
	v, owner := f.JSON, d.owner(f.JSON)
	switch k.name {
	case typeRunStarted:
		return d.checkRun(f)
	case typeRunFinished, typeRunError:
		if d.isWithheldRun(d.memberOf(v, runIDs)) {
			return verdictInternal
		}
		if len(v.Get("subagentRunId").Text()) == 0 {
			owner = "" // it ends the outer run, whatever runs are open within
		}
	}
	last := key{entity: k.entity, owner: owner} // the owner's latest entity of the kind, for frames without an id
	this := last
	this.id = d.idOf(k, v)
	if this.id != "" && k.entity != entityStep {
		this.owner = "" // ids are unique across owners
	}
	cutsOff := k.entity != entityMessage && k.name != typeRunFinished && isInstruction(v) || // a message has its own role, and the end of a run leaves without its result
		k.name == typeActivityDelta && (mayMakeInternal(v.Get("patch")) || d.mayInstruct(this.id, v.Get("patch"))) ||
		d.belongsToWithheld(k, this, v)
	withheld := cutsOff || d.runWithheld || d.ended && d.workLeft && !mustLeave(k) || d.isWithheldRun(owner) ||
		this.id != "" && d.starts.withheld.Contains(this) && !d.mustEnd(k, this) || d.continuesListed(k, this, d.name(v.Get("messageId"))) ||
		d.isPartOfWithheld(k, v, owner) || d.isPartOfUnread(k, v, owner) || d.isInternalWork(k, this, v)
	switch {
	case k.entity == noEntity, this.id == "" && k.entity == entityMessage && k.chunk: // chunkTarget finds its message
	case k.begins || k.chunk && this.id != "":
		return d.checkFirst(k, f, this, last, withheld)
	default:
		return d.checkNext(k, f, this, last, withheld, cutsOff)
	}
	if withheld {
		return verdictInternal
	}
	d.addNamed(this, v)
	return verdictPass
}

// checkFirst is checkStart for a frame that starts an entity, or may start one.
func (d *decoder) checkFirst(k *kind, f dialect.Frame, this, last key, withheld bool) verdict {
	if withheld || d.reusesWithheld(this) || d.filtered || d.mayContinueUnread(k, this, f.JSON) || d.starts.withheld.IsFull() && !isOwnStart(k, last.owner) || d.withheldListed.IsFull() {
		d.withhold(this, last)
		d.missedStart = true
		return verdictInternal
	}
	d.starts.withheld.Remove(last)
	if k.chunk {
		d.starts.seen.Add(last)
	}
	if k.chunk || k.entity != entityMessage {
		d.starts.seen.Add(this)
	}
	if k.entity == entityPhase {
		d.starts.seen.Add(last)
		d.unread.phases.Add(last.owner)
	}
	d.addNamed(this, f.JSON)
	return verdictPass
}

// isOwnStart reports whether a frame starts an entity that cannot be part of a subagent or a phase, and cannot continue an earlier one.
func isOwnStart(k *kind, owner string) bool {
	return k.begins && (k.entity == entityMessage || k.entity == entityCall) && owner == ""
}

// checkNext is checkStart for a frame that continues an entity.
func (d *decoder) checkNext(k *kind, f dialect.Frame, this, last key, withheld, cutsOff bool) verdict {
	mustEnd := d.mustEnd(k, this)
	isNew := k.entity != entityMessage && !d.starts.seen.Contains(this) && !mustEnd
	unseen := d.missedStart && isNew
	withheld = withheld || this.id == "" && d.starts.mayBeWithheld(k.entity, last.owner) && !mustEnd
	if k.entity == entitySubagent && (cutsOff || d.filtered) && !d.isWithheldRun(this.id) {
		d.hideAnswerOf(this.id)
	}
	switch {
	case !withheld && isNew && d.filtered:
		d.withhold(this) // the start was not seen; this frame may be the start
		d.missedStart, withheld = true, true
	case (cutsOff || d.filtered) && k.name != typeToolResult && k.entity != entityStep: // the name of a step is no id
		d.cutOffRest(this)
	}
	if k.ends {
		d.starts.cutOff.Remove(this)
		d.starts.seen.Remove(this)
		if k.entity == entityPhase {
			d.starts.seen.Remove(last)
		}
		d.starts.withheld.Remove(last)
	}
	switch {
	case withheld:
		return verdictInternal
	case unseen:
		return verdictOrphan
	}
	return verdictPass
}

// cutOffRest withholds the rest of an entity, whatever its start said.
func (d *decoder) cutOffRest(this key) {
	if d.starts.seen.Contains(this) {
		d.starts.cutOff.Add(this)
	}
	d.withhold(this)
}

// mustEnd reports whether a frame is the end of an entity that was cut off. A client accepts no end of a run while it waits for
// that of a message, call or thought.
//
// Source: sdks/typescript/packages/client/src/verify/verify.ts of AG-UI.
func (d *decoder) mustEnd(k *kind, this key) bool {
	if k.name == typeTextEnd {
		m := d.messages.find(this.id, this.owner)
		return m != nil && m.begun
	}
	return (k.ends || k.name == typeToolEnd) && d.starts.cutOff.Contains(this)
}

// checkRun is checkStart for the start of a run. It remembers a withheld run within the current one, as a subagent.
// runStarted remembers a withheld top-level run, after it has reset the state of the run before.
func (d *decoder) checkRun(f dialect.Frame) verdict {
	run, parent, nested := d.nestedRun(f.JSON)
	if nested && (d.runWithheld || d.filtered || d.worksInternally(d.stepOwner(parent))) || d.isWithheldRun(parent) {
		d.withhold(key{entity: entitySubagent, id: run})
		return verdictInternal
	}
	return verdictPass
}

// isWithheldRun reports whether a run or a subagent of this stream was withheld. A later run may continue a subagent that was suspended, or
// reuse an ID.
//
// Source: ag_ui/_generated/models.py, SubagentFinishedSuspendedOutcome, of ag-ui-protocol 1.0.
func (d *decoder) isWithheldRun(run string) bool {
	this := key{entity: entitySubagent, id: run}
	isReused := run == d.run && !d.ended
	return run != "" && (d.starts.withheld.Contains(this) || d.withheld.keys.Contains(this) && !isReused)
}

// reusesWithheld reports whether an entity that begins has the id of an entity that was withheld before. The earlier
// entity may be in another run, or another kind of message.
func (d *decoder) reusesWithheld(this key) bool {
	return this.id != "" && this.entity != entityStep && !d.isKnown(this) && d.withheld.keys.Contains(listedKey(this))
}

// isKnown reports whether the start of an entity was seen and not withheld.
func (d *decoder) isKnown(this key) bool {
	return d.starts.seen.Contains(this) || this.entity == entityMessage && d.messages.find(this.id, "") != nil
}

// parents lists the members that name an entity that a frame is part of.
var parents = [...]struct {
	member   string
	entities []entity
}{
	{"subagentRunId", []entity{entitySubagent}}, {"parentSubagentRunId", []entity{entitySubagent}}, {"parentToolCallId", []entity{entityCall}},
	{"parentMessageId", []entity{entityMessage, entityPhase, entityThought, entityActivity, entityListed}},
	{"entityId", []entity{entityMessage, entityCall, entityPhase, entityThought, entityActivity, entityListed}},
}

// isPartOfWithheld reports whether a frame is part of another entity that is withheld.
func (d *decoder) isPartOfWithheld(k *kind, v strictjson.Value, owner string) bool {
	if d.starts.withheld.Len()+d.withheldListed.Len() == 0 {
		return false
	}
	for _, parent := range parents {
		id := d.name(v.Get(parent.member))
		for _, kind := range parent.entities {
			if this := (key{entity: kind, id: id}); id != "" && (d.starts.withheld.Contains(this) || d.withheldListed.Contains(this)) {
				return true
			}
		}
	}
	if d.starts.seen.Contains(key{entity: entityPhase, owner: owner}) || k.entity == entityThought && d.starts.seen.Contains(d.workKey(k, v)) {
		return false // it is of a phase that left
	}
	return (k.entity == entityThought || k.entity == entityThinking) && d.starts.mayBeWithheld(entityPhase, owner)
}

// withholdsState reports whether a frame with state is withheld because it changes a state that the client
// does not have. All runs and agents of a stream share the state.
func (d *decoder) withholdsState(k *kind, f dialect.Frame, b *event.Batch) bool {
	isStale := k.name == typeStateDelta && d.staleState
	d.staleState = isStale || b.Internal || d.filtered || len(b.Cuts) > 0
	return isStale
}

// snapshotMembers hold a snapshot of the state.
var snapshotMembers = []string{"snapshot"}

// idMembers lists the members with ids of entities. They are also read in frames of unknown types.
var idMembers = []struct {
	names    []string
	entities []entity
}{{messageIDs, []entity{entityMessage, entityPhase, entityThought, entityActivity}}, {callIDs, []entity{entityCall}}, {subagentIDs, []entity{entitySubagent}}}

// withholdUnknown handles a withheld frame that may start any entity. It withholds the
// entities that the frame names, unless their start was seen. After this frame, a frame that continues an entity passes
// only if the start of the entity was seen. Messages are an exception. A chunk without an id never passes.
func (d *decoder) withholdUnknown(v strictjson.Value, b *event.Batch) {
	d.missedStart = true
	clear(d.chunkTargets)
	d.hideUnknownAnswer(v)
	d.hideNamedDelegates(v)
	d.rememberIn(v, anywhere, b)
	for name, value := range v.Members() {
		d.staleState = d.staleState || lenient.MatchesAny(name.Text(), snapshotMembers)
		for _, one := range idMembers {
			if lenient.MatchesAny(name.Text(), one.names) {
				d.withholdNamed(d.name(value), one.entities, v)
			}
		}
	}
	d.messages.closeChunked("", true)
	for this := range d.starts.seen.All() {
		if this.id == "" && (this.entity == entityCall || this.entity == entityThought) {
			d.starts.seen.Remove(this)
		}
	}
}

// withholdNamed withholds the entities with an id, unless their start was seen.
func (d *decoder) withholdNamed(id string, entities []entity, v strictjson.Value) {
	for _, kind := range entities {
		this := key{entity: kind, id: id}
		known := id == "" || d.starts.seen.Contains(this) || d.starts.withheld.IsFull()
		switch kind {
		case entityMessage:
			known = known || d.messages.find(id, "") != nil
		case entitySubagent: // most frames name the subagent that they belong to
			known = known || d.agents.known(id) || !strings.Contains(strings.ToLower(v.Get("type").String()), "subagent")
		}
		if !known {
			d.withhold(this)
		}
	}
}

var prefilter = lenient.NewPrefilter(&table)

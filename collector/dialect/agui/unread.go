package agui

import (
	"bytes"
	"regexp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// unread tracks what an unreadable frame may have started. In the protocol, a chunk continues only the
// entity of its owner's last chunk.
type unread struct {
	any    bool             // there was an unreadable frame
	ended  wire.Set[string] // owners that have ended their chunks since the last unreadable frame
	phases wire.Set[string] // owners that have begun a phase of reasoning since
}

// addUnread records an unreadable frame. It may have been a piece of any message, so no snapshot
// of messages leaves after it. It may also have changed the state. Data without an object cannot be an event.
func (d *decoder) addUnread(f dialect.Frame) {
	d.texts.Miss(f)
	if f.MayContainObject() {
		for i := range d.calls {
			d.calls[i].mayBeOver = true
		}
		d.unread = unread{any: true}
		d.missWork(f)
		d.withheld.overflowed, d.staleState, d.copies.afterResult = true, true, true
	}
}

// missWork begins the internal run or step that an unreadable frame may begin. The end of a step names it.
func (d *decoder) missWork(f dialect.Frame) {
	if !wire.MayHideInternal(f) {
		return
	}
	d.runWithheld = d.runWithheld || bytes.Contains(f.Data, []byte(`"RUN_STARTED"`))
	if name := stepName.FindSubmatch(f.Data); name != nil && lenient.IsInternal(name[1]) && bytes.Contains(f.Data, []byte(`"STEP_STARTED"`)) {
		d.steps.begin(step{name: dialect.Name(string(name[1])), agent: d.agentFor(""), isInternal: true})
	}
}

// stepName finds the name of a step in data that is not strict JSON.
var stepName = regexp.MustCompile(`"stepName"\s*:\s*"([^"]+)"`)

// isBrokenError reports whether data looks like a RUN_ERROR event whose message was not escaped.
func isBrokenError(data []byte) bool {
	const head = 256
	_, value, _ := bytes.Cut(data[:min(len(data), head)], []byte(`"type"`))
	return bytes.HasPrefix(data, []byte("{")) && bytes.HasPrefix(bytes.TrimLeft(value, ": \t\r\n"), []byte(`"RUN_ERROR"`))
}

// endChunks records that an owner has ended what it sends in chunks.
func (u *unread) endChunks(owner string) {
	if u.any {
		u.ended.Add(owner)
	}
}

// mayContinueUnread reports whether a chunk with an id may continue an entity whose first chunk was
// unreadable: no start was seen, and the chunk lacks the member that a first chunk must have. Agents
// may repeat that member in every chunk, so it counts only after the owner has ended its chunks.
func (d *decoder) mayContinueUnread(k *kind, this key, v strictjson.Value) bool {
	if !d.unread.any || !k.chunk || d.isKnown(this) {
		return false
	}
	isFirst := k.firstMember != "" && v.Get(k.firstMember).Kind() == strictjson.String
	return !isFirst || !d.unread.ended.Contains(d.owner(v))
}

// addNamed remembers the entity that a frame that leaves starts, and the entities that it is part of: some producers never send the
// start of a message or a subagent.
func (d *decoder) addNamed(this key, v strictjson.Value) {
	if this.id != "" && this.entity != entityStep {
		d.addOneNamed(listedKey(this))
	}
	for _, parent := range parents {
		id := d.name(v.Get(parent.member))
		for _, kind := range parent.entities {
			if id != "" {
				d.addOneNamed(listedKey(key{entity: kind, id: id}))
			}
		}
	}
}

func (d *decoder) addOneNamed(k key) {
	if d.starts.named.Add(k); k.entity == entityListed {
		d.knownToClient.Add(k.id)
	}
}

// mayMissStarts reports whether an entity may have been withheld although its id is not in d.withheld.
func (d *decoder) mayMissStarts() bool {
	return d.unread.any || d.starts.withheld.IsFull() || d.withheld.keys.IsFull()
}

// isPartOfUnread reports whether a frame is part of an entity that may have started in an unreadable frame.
func (d *decoder) isPartOfUnread(k *kind, v strictjson.Value, owner string) bool {
	if !d.mayMissStarts() {
		return false
	}
	for _, parent := range parents {
		if !(k.begins && k.idMember == parent.member) && d.mayBeUnread(d.name(v.Get(parent.member)), parent.entities...) {
			return true
		}
	}
	isThought := k.entity == entityThought || k.entity == entityThinking
	return isThought && k.begins && d.unread.any && !d.unread.phases.Contains(owner)
}

// mayBeUnread reports whether an entity with an id may have started in an unreadable frame.
func (d *decoder) mayBeUnread(id string, entities ...entity) bool {
	for _, kind := range entities {
		if d.starts.named.Contains(listedKey(key{entity: kind, id: id})) {
			return false
		}
	}
	return id != "" && d.mayMissStarts()
}

package a2a

import (
	"iter"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// withheldParts remembers the parts of updates that were withheld. At the end of a run, ADK's servers send an artifact with the parts of the
// last status that had parts. The artifact has the ID of the run's last event, which may be a later one. kagent's artifact has no metadata.
//
// Sources: google/adk/a2a/executor/a2a_agent_executor.py of google-adk 2.13, kagent/adk/_agent_executor.py of kagent-adk 0.10.
type withheldParts struct {
	ids  wire.SharedSet
	left string // key of the last status that left (see eventParts)
}

// add remembers the parts of an update. An artifact that names its event is found by the ID of the event, so its parts are not added.
func (w *withheldParts) add(u update) {
	for parts, isArtifact := range u.partLists() {
		if parts.Len() > 0 && (!isArtifact || !u.adkMetadata().event.Exists()) {
			w.ids.Add(partsID(parts))
		}
	}
}

// mayContain reports whether an update repeats parts that were withheld, or may. A status with an event's ID repeats only that event, and so
// does an artifact that has the ID and the parts of the last status that left.
func (w *withheldParts) mayContain(u update) bool {
	if w.ids.IsEmpty() {
		return false
	}
	for parts, isArtifact := range u.partLists() {
		mayRepeat := parts.Len() > 0 && (isArtifact || !u.adkMetadata().event.Exists()) && w.ids.MayContain(partsID(parts))
		if mayRepeat && (w.left == "" || w.left != u.eventParts(parts)) {
			return true
		}
	}
	return false
}

// release remembers a status that leaves.
func (w *withheldParts) release(u update) {
	if parts := u.body.Get("status").Get("message").First(partMembers...); parts.Len() > 0 && u.shape == shapeStatus && !w.ids.IsEmpty() {
		w.left = u.eventParts(parts)
	}
}

// eventParts identifies an ADK agent's event and its parts, or returns "" if an update names no event.
func (u update) eventParts(parts strictjson.Value) string {
	event := u.adkMetadata().event.String()
	if event == "" {
		return ""
	}
	return partsID(parts) + event
}

// partLists yields the lists of parts in an update, and whether each is an artifact's. Of a history, it yields only those of messages
// without an ID. It skips pieces, because different texts may have equal pieces.
func (u update) partLists() iter.Seq2[strictjson.Value, bool] {
	return func(yield func(strictjson.Value, bool) bool) {
		if u.extent() == extentPiece || !yield(u.body.Get("status").Get("message").First(partMembers...), false) || !yield(u.body.Get("artifact").Get("parts"), true) {
			return
		}
		for one := range u.body.Get("artifacts").Elements() {
			if !yield(one.Get("parts"), true) {
				return
			}
		}
		for one := range u.body.Get("history").Elements() {
			if !lenient.HasMember(one, messageIDs) && !yield(one.First(partMembers...), false) {
				return
			}
		}
	}
}

// partsID identifies parts by their value. Servers of 1.0 write the members of Protobuf's maps in another order each time.
func partsID(parts strictjson.Value) string { return strconv.FormatUint(wire.ExactHash(parts), 16) }

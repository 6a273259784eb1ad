package wire

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// WithheldUpdates finds the events of a remote agent that continue or replace an artifact of which something was withheld. Servers mark an
// artifact only when it begins.
type WithheldUpdates struct {
	withheld SharedSet
	released Set[string] // artifacts of which something left
	unread   bool        // an unreadable frame may have had an internal one
}

// NewWithheldUpdates returns an empty memory.
func NewWithheldUpdates(s *event.Stream) WithheldUpdates {
	return WithheldUpdates{withheld: NewSharedSet(s, "adk update")}
}

// SetScope sets the scope of artifacts without a UUID.
func (w *WithheldUpdates) SetScope(scope string) { w.withheld.SetScopes(scope) }

// Miss records a frame that cannot be read.
func (w *WithheldUpdates) Miss(f dialect.Frame) { w.unread = w.unread || MayHideInternal(f) }

// Contain reports whether an event with custom metadata is of a withheld artifact, or may be.
func (w *WithheldUpdates) Contain(b *event.Batch, custom strictjson.Value) bool {
	if w.withheld.IsEmpty() && !w.unread {
		return false
	}
	update := updateIn(b, custom)
	mayBeHidden := w.withheld.IsFull() || w.unread && update.isPiece
	return update.artifact != "" && (w.withheld.Contains(update.artifact) || mayBeHidden && !w.released.Contains(update.artifact))
}

// Add remembers the artifact of an event, which is withheld or leaves. An ADK agent marks each event in an artifact, so the rest of one of
// which something left before may leave too.
func (w *WithheldUpdates) Add(b *event.Batch, custom strictjson.Value, isWithheld bool) {
	switch update := updateIn(b, custom); {
	case update.artifact == "":
	case !isWithheld:
		w.released.Add(update.artifact)
	case !(update.isPiece && update.isEvent && w.released.Contains(update.artifact)):
		w.withheld.Add(update.artifact)
	}
}

// remoteUpdate is a remote agent's update of an artifact.
type remoteUpdate struct {
	artifact string // the IDs of the task and the artifact; "" if there is no update
	isPiece  bool   // it is appended
	isEvent  bool   // it has an event of an ADK agent
}

// updateIn returns the update in the answer of a remote agent in custom metadata.
func updateIn(b *event.Batch, custom strictjson.Value) remoteUpdate {
	answer := CustomMember(b, custom, A2AResponse)
	for _, v := range []strictjson.Value{answer, answer.Get("artifactUpdate"), answer.Get("updateEvent")} {
		if artifact := v.Get("artifact"); artifact.Exists() {
			return remoteUpdate{
				artifact: dialect.Name(v.First("taskId", "task_id").String()) + " " + dialect.Name(artifact.First("artifactId", "artifact_id").String()),
				isPiece:  MayBeTrue(v.Get("append")),
				isEvent:  firstExisting(v.Get("metadata").First(ADKAuthors...), artifact.Get("metadata").First(ADKAuthors...)).Exists(),
			}
		}
	}
	return remoteUpdate{}
}

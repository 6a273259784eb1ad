package a2a

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

var (
	thoughtMarks = []string{"adk_thought", "adk:thought", "adkThought", "thought"} // members that mark a thought
	metadata     = []string{"metadata"}                                            // the member that may contain them
	categories   = []string{"agno_content_category"}                               // Agno's mark: "content" for an answer, "reasoning" for a thought
	typeNames    = []string{"kind", "type", "category"}                            // ends of the names of members that hold a type
)

// isMarkedThought reports whether a part, or an object with parts, is marked as a model's thought,
// in its metadata or directly. Any value except null and false counts as a mark.
func isMarkedThought(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if _, marked := markInMetadata(value); marked && lenient.MatchesAny(name.Text(), metadata) {
			return true
		}
	}
	_, outside := markOf(v)
	return outside
}

// hasVisibleMark reports whether the filter keeps a mark of a part.
func hasVisibleMark(v strictjson.Value) bool {
	for _, object := range []strictjson.Value{v, v.Get("metadata")} {
		for _, name := range thoughtMarks {
			if mayBeTrue(object.Get(name)) {
				return true
			}
		}
	}
	return false
}

// markInMetadata returns the name of a mark in metadata or in an object directly in it.
func markInMetadata(meta strictjson.Value) (name strictjson.Value, is bool) {
	if name, is = markOf(meta); is {
		return name, true
	}
	for _, value := range meta.Members() {
		if name, is = markOf(value); is {
			return name, true
		}
	}
	return strictjson.Value{}, false
}

// markOf returns the name of the member of v that marks a thought.
func markOf(v strictjson.Value) (name strictjson.Value, is bool) {
	for name, value := range v.Members() {
		if lenient.MatchesAny(name.Text(), categories) && value.Kind() > strictjson.Null && !value.Is("content") {
			return name, true
		}
		if lenient.HasSuffix(name.Text(), typeNames...) && lenient.IsThoughtType(value.Text()) {
			return name, true
		}
		if mayBeTrue(value) && lenient.MatchesAny(name.Text(), thoughtMarks) || lenient.IsThoughtFlag(name, value) {
			return name, true
		}
	}
	return strictjson.Value{}, false
}

// addThought reports that a frame contains a thought, for example in a history or in a message that is not an agent's.
// It does nothing if an event of the frame already reports a thought.
func addThought(frame strictjson.Value, b *event.Batch) {
	for i := range b.Events {
		if b.Events[i].Kind == event.KindThought {
			return
		}
	}
	if mark, is := findMark(frame, true); is {
		b.AddText(event.KindThought, mark) // the name of the mark: only the text of an agent's new thought is reported
	}
}

// findMark looks for a mark in metadata at any depth. own also finds marks outside of metadata.
func findMark(v strictjson.Value, own bool) (mark strictjson.Value, is bool) {
	if own {
		if mark, is = markOf(v); is {
			return mark, true
		}
	}
	for name, value := range v.Members() {
		if string(name.Text()) == "data" { // arguments and results of tools are not judged
			continue
		}
		inside := lenient.MatchesAny(name.Text(), metadata)
		if inside {
			if mark, is = markInMetadata(value); is {
				return mark, true
			}
		}
		if mark, is = findMark(value, own && !inside); is {
			return mark, true
		}
	}
	for element := range v.Elements() {
		if mark, is = findMark(element, own); is {
			return mark, true
		}
	}
	return mark, false
}

// artifactKey identifies an artifact of a stream.
type artifactKey struct{ task, id string }

// withFrame returns parts with what the current frame says about them: the mark of its envelope, and the kinds that
// findTextKinds found.
func (d *decoder) withFrame(p parts) parts {
	p.thought, p.kinds = p.thought || d.thoughtBeside, d.textKinds
	return p
}

// markArtifact marks the parts of an artifact as thoughts if the artifact is a thought. It remembers the artifact for
// all streams until the artifact begins again, even if its task is forgotten or starts again before that. One mark is
// enough: in any piece, on the artifact or on an object around it; in the first piece and in a snapshot, also on the
// last part, which the next piece continues. If marksParts is true, each part has its own mark, which says nothing about
// the next piece.
func (d *decoder) markArtifact(key artifactKey, as extent, marksParts bool, p parts) parts {
	p = d.withFrame(p)
	begins := as == extentWhole
	id := d.thoughtID(key)
	if begins && d.thoughtArtifacts.Contains(id) {
		d.thoughtArtifacts.Remove(id)
	}
	p.thought = p.thought || d.thoughtArtifacts.Contains(id) || !begins && d.thoughtArtifacts.IsFull() ||
		as == extentPiece && !marksParts && d.thoughtEnds.MayContain(key)
	d.thoughtEnds.Remove(key)
	if as == extentSnapshot && p.endsInThought() {
		d.thoughtEnds.Add(key)
	}
	if p.thought || begins && !marksParts && p.endsInThought() {
		d.thoughtArtifacts.Add(id)
	}
	return p
}

// thoughtID returns the ID of an artifact in thoughtArtifacts, in the scope of its task.
func (d *decoder) thoughtID(key artifactKey) string {
	d.thoughtArtifacts.SetScopes(key.task)
	return key.task + " " + key.id
}

// markMessage marks the parts of a message as thoughts if this frame or an earlier one says so. It remembers the
// message, because the mark may be on the update around it, and a history repeats only the message.
func (d *decoder) markMessage(message strictjson.Value, p parts) parts {
	p = d.withFrame(p)
	id := d.idOf(message, messageIDs)
	if p.thought = p.thought || d.thoughtMessages.MayContain(id); p.thought && id != "" {
		d.thoughtMessages.Add(id)
	}
	return p
}

// endsInThought reports whether the last of the parts is a thought. An empty text ends nothing.
func (p parts) endsInThought() (is bool) {
	for one := range p.all() {
		if one.kind != partText || len(one.text.Text()) > 0 {
			is = one.isThought
		}
	}
	return is
}

package a2a

import (
	"bytes"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// content is a message or an artifact in an update.
type content struct {
	id     contentKey
	parts  parts
	around []strictjson.Value // the objects around the parts
	piece  bool               // the parts are appended to those of earlier frames
}

// contents returns the messages and artifacts in an update.
func (d *decoder) contents(u update) iter.Seq[content] {
	message := func(v strictjson.Value, around ...strictjson.Value) content {
		around = append(around, v)
		return content{contentKey{false, d.idOf(v, messageIDs)}, d.judged(partsOf(v, around...)), around, false}
	}
	artifact := func(v, around strictjson.Value, piece bool) content {
		return content{contentKey{true, d.idOf(v, artifactIDs)}, d.judged(partsOfArtifact(v, around)), []strictjson.Value{around, v}, piece}
	}
	return func(yield func(content) bool) {
		status := u.body.Get("status")
		switch u.shape {
		case shapeMessage:
			yield(message(u.body))
		case shapeArtifact:
			yield(artifact(u.body.Get("artifact"), u.body, is(u.body, "append")))
		case shapeStatus, shapeTask:
			if !yield(message(status.Get("message"), u.body, status)) {
				return
			}
			for v := range u.body.Get("history").Elements() {
				if !yield(message(v)) {
					return
				}
			}
			for v := range u.body.Get("artifacts").Elements() {
				if !yield(artifact(v, u.body, false)) {
					return
				}
			}
		}
	}
}

// idOf returns the id of a message or an artifact, in any spelling.
func (d *decoder) idOf(v strictjson.Value, names []string) string {
	for name, value := range v.Members() {
		if lenient.MatchesAny(name.Text(), names) {
			return d.name(value)
		}
	}
	return ""
}

// thoughtTexts remembers texts of parts that were marked as thoughts. A message or an artifact may also
// contain an answer, so another text under the same id is none.
type thoughtTexts struct {
	texts wire.Set[thoughtText]
	ids   wire.Set[contentKey] // messages and artifacts with such texts
}

type thoughtText struct {
	id   contentKey
	hash uint64
}

// minPiece is the length, in bytes, of a piece that counts as a repeat. A shorter one may be a word that the
// answer has too.
const minPiece = 32

func (t *thoughtTexts) add(id contentKey, text []byte) {
	t.texts.Add(thoughtText{id, maphash.Bytes(seed, text)})
	t.ids.Add(id)
}

// repeats reports whether a text under an id is, or may be, that of an earlier thought.
func (t *thoughtTexts) repeats(id contentKey, text []byte, piece bool) bool {
	if t.texts.Contains(thoughtText{id, maphash.Bytes(seed, text)}) {
		return !piece || len(text) >= minPiece
	}
	return !piece && t.texts.IsFull() && t.ids.MayContain(id)
}

// maxTextKinds bounds the parts of a frame that are listed in Batch.TextKinds.
const maxTextKinds = 1024

// judgeTexts finds the parts whose text is no answer although the part does not say so: repeats of thoughts,
// and texts of tools. A frame with too many is withheld.
func (d *decoder) judgeTexts(u update, b *event.Batch) {
	d.textKinds = nil
	for c := range d.contents(u) {
		for v, p := range c.parts.each() {
			if text := trimmedText(v); len(text) > 0 && p.isThought {
				d.thoughtTexts.add(c.id, text)
			}
		}
	}
	for c := range d.contents(u) {
		outer, isOuter := toolKind(c.around...)
		for v, p := range c.parts.each() {
			text := trimmedText(v)
			kind, isTool := toolKind(v)
			switch {
			case len(text) == 0:
				continue
			case isTool:
			case isOuter:
				kind = outer
			case p.isThought:
				continue
			case isOtherContent(v):
				kind = event.KindText
			case d.thoughtTexts.repeats(c.id, text, c.piece):
				kind, b.HasThoughts = event.KindThought, true
			default:
				continue
			}
			if b.Internal = b.Internal || len(b.TextKinds) == maxTextKinds; b.Internal {
				break
			}
			b.SetTextKind(v, kind)
		}
	}
	d.textKinds = b.TextKinds
}

func trimmedText(part strictjson.Value) []byte { return bytes.TrimSpace(part.Get("text").Text()) }

// isOtherContent reports whether a part with a text has other content, or a kind that has no text.
func isOtherContent(part strictjson.Value) bool {
	for _, name := range []string{"data", "file", "raw", "url"} {
		if part.Get(name).Kind() > strictjson.Null {
			return true
		}
	}
	return lenient.HasOtherValue(part, partKinds, []string{"text"})
}

// toolTypes are the members with which an ADK agent's converter, or another, says that a part is a tool's.
var toolTypes = slices.Concat([]string{"adk_type", "adk:type", "adkType"}, partKinds)

// toolKind returns the kind of event of a part that is a call or a result of a tool, as one of the objects, or its
// metadata, says.
func toolKind(objects ...strictjson.Value) (kind event.Kind, is bool) {
	for _, v := range objects {
		for name, value := range v.Members() {
			switch text := name.Text(); {
			case lenient.MatchesAny(text, metadata):
				kind, is = toolKindIn(value)
			case lenient.MatchesAny(text, toolTypes):
				kind, is = toolKindOf(value)
			}
			if is {
				return kind, true
			}
		}
	}
	return kind, false
}

func toolKindIn(meta strictjson.Value) (kind event.Kind, is bool) {
	for name, value := range meta.Members() {
		if lenient.MatchesAny(name.Text(), toolTypes) {
			if kind, is = toolKindOf(value); is {
				return kind, true
			}
		}
	}
	return kind, false
}

func toolKindOf(value strictjson.Value) (kind event.Kind, is bool) {
	for name, kind := range wire.ADKPartKinds {
		if lenient.MatchesAny(value.Text(), []string{name}) {
			return kind, true
		}
	}
	return kind, false
}

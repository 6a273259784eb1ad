package a2a

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// content is a message or an artifact in an update.
type content struct {
	id     itemKey
	parts  parts
	around []strictjson.Value // the objects around the parts; the last one is the message or the artifact
	inBody bool               // the body of the update is around these objects
	extent extent
}

// object returns the message or the artifact.
func (c content) object() strictjson.Value { return c.around[len(c.around)-1] }

// extent says how the parts of a message or an artifact relate to those of earlier frames.
type extent uint8

const (
	extentWhole    extent = iota // the parts replace earlier ones
	extentPiece                  // the parts are appended to earlier ones
	extentSnapshot               // the parts repeat earlier ones
)

// Members with the ids of messages, artifacts and tasks, in JavaScript and in Python.
var (
	messageIDs  = []string{"messageId", "message_id"}
	artifactIDs = []string{"artifactId", "artifact_id"}
	taskIDs     = []string{"taskId", "task_id"}
)

// readContents returns the messages and artifacts in a frame, also of one that is no known update. The result is valid until the next call.
func (d *decoder) readContents(frame strictjson.Value, u update) []content {
	all := d.contents[:0]
	if u.body.Exists() {
		all = d.appendContents(all, u.body, u.extent())
	} else {
		for _, around := range []strictjson.Value{frame, frame.Get("result")} {
			all = d.appendContents(all, around, extentWhole)
			for name, value := range around.Members() {
				if _, known := wrappers[string(name.Text())]; known {
					all = d.appendContents(all, value, extentWhole)
				}
			}
		}
	}
	if cap(all) <= maxScratch {
		d.contents = all
	}
	return all
}

// appendContents appends the messages and artifacts in the body of an update.
func (d *decoder) appendContents(all []content, body strictjson.Value, as extent) []content {
	message := func(as extent, v strictjson.Value, around ...strictjson.Value) {
		if v.Kind() == strictjson.Object {
			all = append(all, content{d.messageKey(v), d.withFrame(partsOf(v, around...)), append(around, v), false, as})
		}
	}
	task, inThought := cmp.Or(d.idOf(body, taskIDs), d.name(body.Get("id"))), wire.IsMarkedThought(body)
	artifact := func(as extent, v strictjson.Value) {
		if v.Kind() == strictjson.Object {
			id := itemKey{itemArtifact, task, d.idOf(v, artifactIDs)}
			all = append(all, content{id, d.withFrame(partsOfArtifact(v, inThought)), []strictjson.Value{v}, true, as})
		}
	}
	if lenient.HasMember(body, messageIDs) {
		message(as, body)
	}
	status := body.Get("status")
	message(as, status.Get("message"), body, status)
	for v := range body.Get("history").Elements() {
		message(extentSnapshot, v)
	}
	artifact(as, body.Get("artifact"))
	for v := range body.Get("artifacts").Elements() {
		artifact(extentSnapshot, v)
	}
	return all
}

// extent returns the extent of the message or artifact in an update. ADK for Go sends pieces without "append".
func (u update) extent() extent {
	switch {
	case u.shape == shapeTask:
		return extentSnapshot
	case wire.MayBeTrue(u.body.Get("append")), u.shape == shapeMessage && len(u.body.Get("taskId").Text()) > 0,
		readADKMetadata(u.body.Get("metadata"), u.body.Get("artifact").Get("metadata")).partial:
		return extentPiece
	}
	return extentWhole
}

// idOf returns the id of a message or an artifact. The first spelling in names takes precedence over the others.
func (d *decoder) idOf(v strictjson.Value, names []string) string {
	if id := v.Get(names[0]); id.Exists() {
		return d.id(id)
	}
	for name, value := range v.Members() {
		if lenient.MatchesAny(name.Text(), names) {
			return d.id(value)
		}
	}
	return ""
}

// id returns an id. A number counts as the string of its digits, because a lenient reader might not tell them apart.
func (d *decoder) id(v strictjson.Value) string {
	if n, whole := v.Int(); whole {
		return strconv.FormatInt(n, 10)
	}
	if v.Kind() == strictjson.Number {
		return dialect.Name(string(v.Raw()))
	}
	return d.name(v)
}

// findTextKinds finds parts with text that is not an answer although the part does not say so: errors of remote agents, summaries, and
// texts of tools and of the user.
func (d *decoder) findTextKinds(frame strictjson.Value, u update, contents []content, b *event.Batch) {
	d.textKinds, d.hasRemoteError = nil, false
	beside := marksOf(frame, frame.Get("result"))
	besideBody := beside.or(marksOf(u.body))
	for _, parts := range d.remote.Errors {
		d.addRemoteError(parts)
	}
	if d.remote.IsError {
		for _, c := range contents {
			d.addRemoteError(c.parts.list)
		}
	}
	for _, c := range contents {
		outer := marksOf(c.around...).or(beside)
		if c.inBody {
			outer = outer.or(besideBody)
		}
		d.trackAuthors(c, u, frame, b)
		isSummary := d.summaries.Contains(c.id)
		for v, p := range c.parts.each() {
			kind, isTool := toolKind(v)
			switch {
			case d.isRemoteError(v.Get("text").Text()):
				kind, d.hasRemoteError = event.KindError, true
			case p.hiddenMark:
				kind = event.KindThought
			case len(bytes.TrimSpace(v.Get("text").Text())) == 0:
				continue
			case isTool:
			case outer.isTool:
				kind = outer.kind
			case isSummary, outer.byUser || namesUser(v):
				kind = event.KindText
			case p.isThought:
				continue
			case isOtherContent(v):
				kind = event.KindText
			default:
				continue
			}
			b.HasThoughts = b.HasThoughts || p.hiddenMark
			b.SetTextKind(v, kind)
		}
	}
	d.textKinds = b.TextKinds
}

// outerMarks say what the objects around parts make of them.
type outerMarks struct {
	kind   event.Kind // if isTool
	isTool bool
	byUser bool
}

func marksOf(objects ...strictjson.Value) (m outerMarks) {
	m.kind, m.isTool = toolKind(objects...)
	m.byUser = namesUser(objects...)
	return m
}

// or returns the marks with those of objects further out.
func (m outerMarks) or(outer outerMarks) outerMarks {
	outer.byUser = outer.byUser || m.byUser
	if m.isTool {
		outer.kind, outer.isTool = m.kind, true
	}
	return outer
}

// isOtherContent reports whether a part with a text has other content, or a kind that has no text.
func isOtherContent(part strictjson.Value) bool {
	for _, name := range []string{"data", "file", "raw", "url"} {
		if part.Get(name).Kind() > strictjson.Null {
			return true
		}
	}
	return lenient.HasOtherValue(part, partKinds, []string{"text"})
}

// toolTypes are the members that say that a part is a tool's.
var toolTypes = slices.Concat(wire.ADKTypes, partKinds)

// valuesOf returns the values of the members with one of the names, in the objects and in their metadata.
func valuesOf(names []string, objects ...strictjson.Value) iter.Seq[strictjson.Value] {
	return func(yield func(strictjson.Value) bool) {
		for _, v := range objects {
			for m := range wire.WithMetadata(v) {
				if lenient.MatchesAny(m.Name.Text(), names) && !yield(m.Value) {
					return
				}
			}
		}
	}
}

// toolKind returns KindToolStarted or KindToolEnded if one of the objects, or its metadata, says that a part is a tool's call or
// result.
func toolKind(objects ...strictjson.Value) (kind event.Kind, is bool) {
	for value := range valuesOf(toolTypes, objects...) {
		for name, kind := range wire.ADKPartKinds {
			if lenient.MatchesAny(value.Text(), []string{name}) {
				return kind, true
			}
		}
	}
	return kind, false
}

// namesUser reports whether one of the objects, or its metadata, names the user as its author.
func namesUser(objects ...strictjson.Value) bool {
	for value := range valuesOf(wire.ADKAuthors, objects...) {
		if wire.IsUser(value) {
			return true
		}
	}
	return false
}

// joinedText returns the texts of the parts, one per line, without thoughts.
func (p parts) joinedText() string {
	var text []byte
	for part := range p.all() {
		if part.kind == partText && !part.isThought && len(text) <= event.MaxPrompt {
			if len(text) > 0 {
				text = append(text, '\n')
			}
			text = part.text.AppendText(text)
		}
	}
	return string(text)
}

// addTexts adds the texts and thoughts of the parts to the batch. It reports whether there was a text.
func addTexts(parts parts, b *event.Batch) (any bool) {
	for p := range parts.all() {
		if p.kind == partText || p.kind == partThought {
			addText(p, b)
			any = any || p.kind == partText
		}
	}
	return any
}

func addText(p part, b *event.Batch) {
	kind := event.KindText
	if p.kind == partThought {
		kind = event.KindThought
	}
	b.AddText(kind, p.text)
}

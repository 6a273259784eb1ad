package a2a

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// withheldIDs remembers the messages and artifacts of a stream that were withheld. If there are more than
// wire.MaxSet, it cannot know all of them. Then a message or artifact leaves only if a part of it left before, and no
// snapshot of a task leaves.
type withheldIDs struct {
	whole      map[contentKey]bool // what was withheld; the value is false if other events of the artifact may leave
	shared     wire.SharedSet      // IDs of messages and artifacts that were withheld as a whole, by this stream or another of the agent
	parts      withheldParts
	released   wire.Set[contentKey] // messages and artifacts of which a part left
	overflowed bool                 // there were more than wire.MaxSet
	unread     bool                 // a frame was unreadable, so its content is unknown
}

func (w *withheldIDs) add(id contentKey, whole bool) {
	if _, known := w.whole[id]; !known && len(w.whole) >= wire.MaxSet {
		w.overflowed = true
		return
	}
	if w.whole == nil {
		w.whole = make(map[contentKey]bool)
	}
	w.whole[id] = w.whole[id] || whole
}

// of reports whether something of a message or an artifact was withheld (known), and whether nothing of it may leave (whole).
func (w *withheldIDs) of(id contentKey) (whole, known bool) {
	if whole, known = w.whole[id]; whole {
		return true, true
	}
	if w.shared.IsEmpty() {
		return false, known
	}
	isShared := w.shared.IsShared(id.text())
	return isShared, known || isShared
}

var prefilter = lenient.NewPrefilter(&table)

// withholdRepeats remembers what is withheld, and marks a frame internal if it repeats or continues
// something withheld.
func (d *decoder) withholdRepeats(f dialect.Frame, u update, b *event.Batch) {
	w, snapshot := &d.withheld, u.shape == shapeTask
	if b.Rejected != "" {
		d.calls.Miss(f)
		d.texts.Miss(f)
		d.values.Miss(f)
	}
	if f.JSON.Kind() != strictjson.Object {
		w.unread = w.unread || f.MayContainObject()
	}
	if !f.JSON.Exists() {
		return
	}
	w.shared.SetScopes(b.Run)
	w.parts.ids.SetScopes(b.Run)
	d.calls.SetScope(b.Run)
	d.values.SetScopes(b.Session, b.Run)
	b.Internal = b.Internal || u.internalBeside
	piece := wire.MayBeTrue(u.body.Get("append"))
	d.acceptKept(u, b)
	withheld := !u.body.Exists() || u.internalBeside || wire.IsFiltered(b, prefilter)
	content := contentReader{d: d, anyMember: !u.body.Exists(), findMarks: withheld, isSnapshot: snapshot, ids: d.contentIDs[:0], calls: d.named[:0]}
	content.isError = isError(u) || d.afterError || b.Has(event.KindError)
	adk := u.adkMetadata()
	content.adk, content.findCopies = adk, withheld || !d.calls.IsEmpty() || !d.values.IsEmpty() || !d.code.IsEmpty() || !d.wholeTexts.isEmpty()
	content.isPartial, content.place = adk.partial, wire.NewCallPlace(adk.author, adk.branch, strictjson.Value{})
	content.asks = u.askingMessage(adk)
	content.read(f.JSON, false)
	content.addEvents(u)
	content.addFiles(b)
	content.addADK(adk, b)
	b.PublicForm = (content.isError || len(content.errors) > 0) && d.mayQuote(slices.Concat(content.texts, content.errors), u) || d.mayBeIn(content.failed...)
	if cap(content.ids) <= maxScratch {
		d.contentIDs = content.ids
	}
	if cap(content.calls) <= maxScratch {
		d.named = content.calls
	}
	w.unread = w.unread || content.encoded
	if withheld {
		d.calls.Check(content.calls, true)
		d.rememberWithheld(content, f, u, b)
		return
	}
	isRepeat := snapshot && w.overflowed
	for _, one := range content.ids {
		whole, known := w.of(one.id)
		switch {
		case known && (whole || snapshot || !piece):
			isRepeat = true
		case one.id.kind == contentEvent: // the message or artifact decides
		case !known && !w.released.Contains(one.id) && (w.overflowed || w.unread && (piece || u.mayBeFile())):
			isRepeat = true
			w.add(one.id, true)
		}
	}
	isRepeat = isRepeat || w.unread && u.repeats() || w.parts.mayContain(u) || d.isCopy(content, u, b) || d.isSummary(u) && d.values.MayBeSummarized()
	if isRepeat = d.calls.Check(content.calls, isRepeat) || isRepeat; isRepeat {
		d.rememberWithheld(content, f, u, b)
		if b.Internal = !u.stops(); !b.Internal {
			cutToState(f.JSON, b)
		}
		return
	}
	d.cutCopies(content, b)
	d.checkRemote(content, b, false)
	d.endCode(content, u)
	d.trackAnswer(content, u, false)
	if w.parts.release(u); u.mayBeQuestion(content.adk, b) {
		d.calls.ShowEmpty()
	}
	for _, one := range content.ids {
		w.released.Add(one.id)
	}
}

// repeats reports whether an update is a snapshot with messages or artifacts.
func (u update) repeats() bool {
	return u.shape == shapeTask && (u.body.Get("history").Len() > 0 || u.body.Get("artifacts").Len() > 0 || u.body.Get("status").Get("message").Exists())
}

// rememberWithheld remembers what a withheld frame has: other frames may repeat, continue or quote it.
func (d *decoder) rememberWithheld(content contentReader, f dialect.Frame, u update, b *event.Batch) {
	d.values.AddToSession()
	d.addWithheldTexts(content, u, b)
	d.addAnswers(content, u, b)
	d.checkRemote(content, b, true)
	if content.findMarks || u.shape != shapeTask { // the rest of an artifact, and snapshots, may not name the event
		d.withholdContents(content.ids, f, u)
	}
	isMarked := func(one contentID) bool { return u.shape == shapeTask && (one.internal || one.inInternal) }
	if hasMarked := slices.ContainsFunc(content.ids, isMarked); hasMarked || u.mayLackCalls(content.adk) {
		d.calls.MissDeferred(hasMarked || u.mayBeQuestion(content.adk, b))
	}
}

// withholdContents remembers the messages and artifacts of a withheld frame. If a snapshot is withheld only because some of them are
// internal, the others may leave in other frames. An artifact is withheld as a whole, even if a part of it left before, with two exceptions.
// If the frame is a snapshot that does not mark the artifact itself, or a piece by an ADK agent, which marks each of an artifact's events,
// the rest of such an artifact may leave.
func (d *decoder) withholdContents(ids []contentID, f dialect.Frame, u update) {
	snapshot, piece := u.shape == shapeTask, wire.MayBeTrue(u.body.Get("append"))
	all := !snapshot || u.internalBeside || lenient.IsInternal(f.Event) ||
		!slices.ContainsFunc(ids, func(one contentID) bool { return one.internal })
	ofEvent := readADKMetadata(u.body.Get("metadata"), u.body.Get("artifact").Get("metadata")).isEvent
	isWhole := u.body.Exists() && !snapshot && !(piece && ofEvent)
	if !snapshot {
		d.withheld.parts.add(u)
	}
	for _, one := range ids {
		if all || one.inInternal || one.internal {
			whole := isWhole || snapshot && one.internal || !d.withheld.released.Contains(one.id)
			d.withheld.add(one.id, whole)
			if whole && u.body.Exists() {
				d.withheld.shared.Add(one.id.text())
			}
		}
	}
}

var (
	// Members of a frame that contain messages and artifacts, and the members with their ids, in
	// JavaScript and in Python.
	containerMembers = []string{"result", "task", "statusUpdate", "status_update", "artifactUpdate", "artifact_update", "status", "message", "history", "artifact", "artifacts"}
	messageIDs       = []string{"messageId", "message_id"}
	artifactIDs      = []string{"artifactId", "artifact_id"}
	artifactMembers  = []string{"artifact", "artifacts"}
	partMembers      = []string{"parts", "content"}
)

// outerTable is for checking an object without the messages and artifacts in it.
var outerTable = event.Table{
	Discriminators: table.Discriminators, NameMembers: table.NameMembers,
	DeepMembers: table.DeepMembers, DeepStrings: table.DeepStrings, OpaqueMembers: table.OpaqueMembers,
	EncodedMembers: table.EncodedMembers, EntryKeys: table.EntryKeys,
	Envelopes: append(slices.Clone(wire.ADKCustom), relayEnvelopes...),
}

// contentKey identifies a message or an artifact of a stream, or an ADK agent's event. The agent sends one event
// as a message and again as an artifact, and marks only the message.
type contentKey struct {
	kind contentKind
	id   string
}

type contentKind string

const (
	contentMessage  contentKind = "message"
	contentArtifact contentKind = "artifact"
	contentEvent    contentKind = "event"
)

// text returns the key as an ID for other streams.
func (k contentKey) text() string { return string(k.kind) + " " + k.id }

// contentID is the id of a message or an artifact in a frame.
type contentID struct {
	id         contentKey
	internal   bool // the message or artifact is marked internal
	inInternal bool // an object around it is marked internal
}

// contentReader finds the ids of the messages and artifacts in a frame, and the calls of an ADK agent.
type contentReader struct {
	d          *decoder
	anyMember  bool // the frame's shape is unknown: look into every member
	findMarks  bool // set contentID.internal and contentID.inInternal
	isSnapshot bool
	encoded    bool // with anyMember: a string was found that may be an encoded object
	ids        []contentID
	calls      []wire.NamedCall
	isError    bool               // the frame states an error
	texts      []strictjson.Value // of the parts of an error
	errors     []strictjson.Value // texts of errors in metadata
	payloads   []strictjson.Value // arguments and results of calls
	failed     []strictjson.Value // those that are results with an error
	findCopies bool               // set said, spoken, made, results, codes and actions
	said       []strictjson.Value // texts of the parts
	spoken     []strictjson.Value // those that are not marked as thoughts
	hidden     []strictjson.Value // texts and data of parts that may be withheld
	made       []strictjson.Value // calls
	results    []strictjson.Value // results of calls
	codes      []strictjson.Value // pieces of code
	actions    []strictjson.Value // of ADK agents' events
	customs    []strictjson.Value // custom metadata of such events
	adk        adkMetadata
	place      wire.CallPlace   // where an ADK agent's model responds
	isPartial  bool             // an ADK agent says that the event is partial
	asks       strictjson.Value // see askingMessage
}

// read adds the ids and the calls in v. inInternal says that v is in an object that is marked internal. All invalid ids count as
// one id: empty ones, and those that are neither a string nor a number. An artifact without an id counts as having this one.
func (r *contentReader) read(v strictjson.Value, inInternal bool) {
	r.encoded = r.encoded || r.anyMember && bytes.IndexByte(v.Text(), '{') >= 0
	inside := inInternal || r.findMarks && v.Kind() == strictjson.Object && lenient.HasInternalDiscriminator(&outerTable, v)
	if text := v.Get("metadata").First(adkErrorMessages...); text.Kind() > strictjson.Null && !text.Is("") {
		r.errors = append(r.errors, text)
	}
	r.addMetadata(v.Get("metadata"))
	for name, value := range v.Members() {
		if lenient.MatchesAny(name.Text(), partMembers) {
			r.addCalls(value, v, inside)
			if r.isError {
				r.addTexts(value)
			}
			if r.findCopies {
				r.addSaid(value)
			}
			if !r.isSnapshot && (r.findMarks || len(r.d.withheld.whole) > 0) {
				r.addHidden(value)
			}
		}
		switch text := name.Text(); {
		case lenient.MatchesAny(text, messageIDs):
			r.add(contentKey{contentMessage, r.d.id(value)}, v, inInternal)
		case lenient.MatchesAny(text, artifactIDs):
			r.add(contentKey{contentArtifact, r.d.id(value)}, v, inInternal)
		case r.anyMember || lenient.MatchesAny(text, containerMembers):
			if lenient.MatchesAny(text, artifactMembers) && value.Kind() == strictjson.Object && !lenient.HasMember(value, artifactIDs) {
				r.add(contentKey{kind: contentArtifact}, value, inside)
			}
			r.read(value, inside)
		}
	}
	for element := range v.Elements() {
		r.read(element, inside)
	}
}

// addEvents adds the ID of the event that an update with a message or an artifact carries. A snapshot names only the
// event that changed it last.
func (r *contentReader) addEvents(u update) {
	if len(r.ids) == 0 || u.shape == shapeTask {
		return
	}
	for _, around := range []strictjson.Value{u.body, u.body.Get("status").Get("message"), u.body.Get("artifact")} {
		if id := r.d.id(around.Get("metadata").First(wire.ADKEvents...)); id != "" {
			r.ids = append(r.ids, contentID{id: contentKey{contentEvent, id}})
		}
	}
}

// addFiles adds the artifacts with the files that an ADK agent's event has saved. The server sends them in updates of their own.
//
// Source: google/adk/a2a/executor/interceptors/include_artifacts_in_a2a_event.py of google-adk 2.13.
func (r *contentReader) addFiles(b *event.Batch) {
	if r.isSnapshot {
		return
	}
	for name, version := range b.Embedded(r.adk.actions).First("artifactDelta", "artifact_delta").Members() {
		if n, isNumber := version.Float(); isNumber {
			r.ids = append(r.ids, contentID{id: contentKey{contentArtifact, dialect.Name(name.String() + "_" + strconv.FormatFloat(n, 'f', -1, 64))}})
		}
	}
}

// mayBeFile reports whether an update has a file that an ADK agent has saved. Its ID is that of addFiles.
func (u update) mayBeFile() bool {
	artifact := u.body.Get("artifact")
	version, isFile := strings.CutPrefix(artifact.Get("artifactId").String(), artifact.Get("name").String()+"_")
	return isFile && version != "" && strings.Trim(version, "0123456789") == ""
}

func (r *contentReader) add(id contentKey, named strictjson.Value, inInternal bool) {
	r.ids = append(r.ids, contentID{id, r.findMarks && lenient.HasInternalDiscriminator(&table, named), inInternal})
}

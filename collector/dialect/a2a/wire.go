package a2a

import (
	"bytes"
	"iter"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// shape is the type of an update.
type shape uint8

const (
	shapeNone shape = iota
	shapeTask
	shapeMessage
	shapeStatus
	shapeArtifact
	shapeFailure
	shapeOther // an unknown kind
)

// update is the content of a frame without its envelopes.
type update struct {
	shape shape
	body  strictjson.Value
	kind  string // of shapeOther

	unwrapped      bool // the update has no envelope, or it is an error that servers of other protocols could send too
	extraMembers   bool // the envelope has other members besides the update
	internalBeside bool // a member beside the update is marked internal
	misplaced      bool // it has content in members other than those in contentMembers
}

// hasOtherContent reports whether v has content in members other than allowed.
func hasOtherContent(v strictjson.Value, allowed ...string) bool {
	for name, value := range v.Members() {
		switch text := name.Text(); string(text) {
		case "status", "artifact", "artifacts", "parts", "content", "task", "message", "statusUpdate", "artifactUpdate":
			if value.Kind() > strictjson.Null && !slices.Contains(allowed, string(text)) {
				return true
			}
		}
	}
	return false
}

// contentMembers lists the members in which each shape has its content.
var contentMembers = [...][]string{
	shapeTask: {"status", "artifacts"}, shapeMessage: {"parts", "content"}, shapeStatus: {"status"}, shapeArtifact: {"artifact"},
}

// kinds maps the discriminators of 0.3, and wrappers the members that replace them in 1.0.
var (
	kinds = map[string]shape{
		"task": shapeTask, "message": shapeMessage, "status-update": shapeStatus, "artifact-update": shapeArtifact,
	}
	wrappers = map[string]shape{
		"task": shapeTask, "message": shapeMessage, "statusUpdate": shapeStatus, "artifactUpdate": shapeArtifact,
	}
)

// readUpdate returns the update in a frame: the result of a JSON-RPC response or, over HTTP+JSON,
// the frame itself.
func readUpdate(f dialect.Frame) update {
	frame := f.JSON
	result, failure := frame.Get("result"), frame.Get("error")
	rpc := frame.Get("jsonrpc")
	switch {
	case rpc.Exists() && !rpc.Is("2.0"), failure.Kind() > strictjson.Null && result.Kind() > strictjson.Null:
		return update{}
	case failure.Kind() > strictjson.Null, string(f.Event) == typeError:
		if u := readFailure(f); u.shape != shapeNone || failure.Kind() > strictjson.Null {
			return u
		}
	}
	if rpc.Exists() {
		u := readResult(result)
		u.misplaced = u.misplaced || hasOtherContent(frame)
		return u
	}
	u := readResult(frame)
	if u.unwrapped = frame.Get("kind").Exists(); u.unwrapped {
		u.extraMembers = frame.Get("type").Exists()
		return u
	}
	present := 0
	for _, v := range frame.Members() {
		if v.Kind() > strictjson.Null {
			present++
		}
	}
	u.extraMembers = present > 1
	return u
}

// readKnown is readUpdate for a stream that is known to be A2A's. It also accepts problem details, or a code and a
// message, as an error in an event of any name, because servers over HTTP+JSON send them as plain data.
func readKnown(f dialect.Frame) update {
	u := readUpdate(f)
	if u.shape != shapeNone {
		return u
	}
	_, hasStatus := f.JSON.Get("status").Int()
	_, hasCode := f.JSON.Get("code").Int()
	if hasStatus && f.JSON.Get("title").Kind() == strictjson.String || hasCode && f.JSON.Get("message").Kind() == strictjson.String {
		f.Event = []byte(typeError)
		u = readFailure(f)
	}
	return u
}

// readFailure returns the error in a frame, or an empty update. Over JSON-RPC and HTTP+JSON, the member error has a
// code and a message. Servers of 0.3 over HTTP+JSON also send {"error":"…"}. In Java, the string is the class of the
// error, and a message is beside it. Clients take any data of an event named error for an error. In such an event, a2a-js sends
// {"code":…,"message":…} and others send the problem details of RFC 9457.
func readFailure(f dialect.Frame) update {
	frame, failure, message := f.JSON, f.JSON.Get("error"), f.JSON.Get("message")
	u := update{shape: shapeFailure, body: failure}
	_, coded := failure.Get("code").Int()
	switch beside := frame.Len() - 1; {
	case coded && failure.Get("message").Kind() == strictjson.String && (beside == 0 || frame.Get("jsonrpc").Exists()):
	case failure.Kind() == strictjson.String && (beside == 0 || beside == 1 && message.Kind() == strictjson.String):
		u.unwrapped = !bytes.Contains(failure.Text(), []byte(".a2a"))
	case string(f.Event) == typeError && frame.Kind() == strictjson.Object && frame.Get("result").Kind() <= strictjson.Null &&
		!hasOtherContent(frame, "message", "status") && isScalar(message) && isScalar(frame.Get("status")):
		u.unwrapped, u.internalBeside = true, lenient.HasInternalDiscriminator(&anyDepth, frame)
		if failure.Kind() <= strictjson.Null {
			u.body = frame
		}
	default:
		return update{}
	}
	return u
}

// anyDepth finds internal names at any depth of an error.
var anyDepth = event.Table{Discriminators: table.Discriminators, NameMembers: table.NameMembers, DeepEnvelopes: true}

// isScalar reports whether v contains no other values, or does not exist.
func isScalar(v strictjson.Value) bool {
	return v.Kind() != strictjson.Object && v.Kind() != strictjson.Array
}

func readResult(v strictjson.Value) update {
	if kind := v.Get("kind"); kind.Kind() == strictjson.String {
		s, known := kinds[string(kind.Text())]
		if !known {
			return update{shape: shapeOther, kind: dialect.Name(kind.String())}
		}
		return update{shape: s, body: v}.validated()
	}
	var u update
	for name, value := range v.Members() {
		s, known := wrappers[string(name.Text())]
		switch {
		case !known, value.Kind() <= strictjson.Null:
		case u.shape != shapeNone:
			return update{}
		default:
			u = update{shape: s, body: value, misplaced: hasOtherContent(v, string(name.Text()))}
		}
	}
	if u = u.validated(); u.shape != shapeNone {
		u.internalBeside = hasInternalBeside(v)
	}
	return u
}

// hasInternalBeside reports whether a member beside an update is marked internal.
func hasInternalBeside(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if _, known := wrappers[string(name.Text())]; !known && (lenient.IsInternal(name.Text()) || lenient.HasInternalDiscriminator(&table, value)) {
			return true
		}
	}
	return false
}

// validated returns the update, or an empty one if a required member is missing.
func (u update) validated() update {
	is := func(name string, kind strictjson.Kind) bool { return u.body.Get(name).Kind() == kind }
	ok := false
	switch u.shape {
	case shapeTask:
		ok = is("id", strictjson.String) && is("status", strictjson.Object)
	case shapeMessage:
		ok = is("messageId", strictjson.String) && u.body.First("parts", "content").Kind() == strictjson.Array
	case shapeStatus:
		ok = is("taskId", strictjson.String) && is("status", strictjson.Object)
	case shapeArtifact:
		ok = is("taskId", strictjson.String) && is("artifact", strictjson.Object)
	}
	if !ok {
		return update{}
	}
	u.misplaced = u.misplaced || hasOtherContent(u.body, contentMembers[u.shape]...)
	return u
}

// parts are the parts of a message or of an artifact.
type parts struct {
	list    strictjson.Value
	thought bool                            // something around the parts marks them as a model's thought
	kinds   map[strictjson.Value]event.Kind // Batch.TextKinds
	relayed *wire.RelayedThoughts
}

// partsOf returns the parts of a message. 0.3 over HTTP+JSON calls them content.
func partsOf(message strictjson.Value, around ...strictjson.Value) parts {
	return parts{list: message.First("parts", "content"), thought: slices.ContainsFunc(append(around, message), wire.IsMarkedThought)}
}

// partsOfArtifact returns the parts of an artifact. inThought says that the object around the artifact is a thought: of several artifacts,
// it is judged once.
func partsOfArtifact(artifact strictjson.Value, inThought bool) parts {
	return parts{list: artifact.Get("parts"), thought: inThought || wire.IsMarkedThought(artifact)}
}

func (p parts) len() int { return p.list.Len() }

func (p parts) all() iter.Seq[part] {
	return func(yield func(part) bool) {
		for _, one := range p.each() {
			if !yield(one) {
				return
			}
		}
	}
}

// contain reports whether one of the parts matches.
func (p parts) contain(matches func(part) bool) bool {
	for one := range p.all() {
		if matches(one) {
			return true
		}
	}
	return false
}

func textOnly(parts parts) bool {
	return !parts.contain(func(p part) bool { return p.kind != partText && p.kind != partThought })
}

// each returns the parts with their objects.
func (p parts) each() iter.Seq2[strictjson.Value, part] {
	return func(yield func(strictjson.Value, part) bool) {
		for v := range p.list.Elements() {
			one := readPart(v)
			isMarked := wire.IsMarkedThought(v) || p.relayed != nil && p.relayed.Contain(one.text)
			one.hiddenMark = isMarked && !hasVisibleMark(v)
			kind, listed := p.kinds[v]
			switch one.isThought = p.thought || isMarked; {
			case one.kind == partText && kind != event.KindError && (one.isThought || kind == event.KindThought):
				one.kind = partThought
			case listed:
				one.kind = partOther
			}
			if !yield(v, one) {
				return
			}
		}
	}
}

// code returns the error code at the start of the first text, or "".
func (p parts) code() string {
	for one := range p.all() {
		if one.kind == partText {
			return wire.TextCode(one.text.Text())
		}
	}
	return ""
}

type partKind uint8

const (
	partOther partKind = iota
	partText
	partThought
	partFile
	partData
	partCall     // an ADK agent's tool call
	partResponse // the response to such a call
	partCode     // code that an ADK agent's model executes
	partCodeResult
)

// part is one part of a message or an artifact.
type part struct {
	kind        partKind
	text        strictjson.Value
	data        strictjson.Value // the content of a part that is no text: of a file, its bytes or its URI; may be missing
	form        event.PieceKind  // the form of data
	name        strictjson.Value // of a file
	media       strictjson.Value
	isThought   bool        // the part is marked as a model's thought, whatever its kind
	hiddenMark  bool        // the filter would remove the mark from the part
	longRunning bool        // partCall: the response comes from outside the run
	streamed    bool        // partCall: the model still writes the arguments
	bytes       event.Count // size of the content; unknown for content at a URI
}

var (
	// partKinds are the members that name the kind of a part in 0.3 and before. knownKinds are
	// their values. 1.0 has no such member.
	partKinds  = []string{"kind", "type"}
	knownKinds = []string{"text", "file", "data"}
)

// isForeign reports whether a part has a kind that the protocol does not define. A thought is not
// foreign.
func isForeign(v strictjson.Value) bool {
	_, thought := wire.ThoughtMark(v)
	return !thought && lenient.HasOtherValue(v, partKinds, knownKinds)
}

func readPart(v strictjson.Value) part {
	meta := v.Get("metadata")
	if isForeign(v) {
		return part{}
	}
	if text := v.Get("text"); text.Kind() == strictjson.String {
		return part{kind: partText, text: text, bytes: size(len(text.Text()))}
	}
	if file := v.Get("file"); file.Kind() == strictjson.Object && v.Get("raw").Kind() != strictjson.String {
		return readFile(file.First("bytes", "fileWithBytes"), file.First("uri", "fileWithUri"), file.Get("name"), file.Get("mimeType"))
	}
	if raw, url := v.Get("raw"), v.Get("url"); raw.Kind() == strictjson.String || url.Kind() == strictjson.String {
		return readFile(raw, url, v.Get("filename"), v.Get("mediaType"))
	}
	if data := v.Get("data"); data.Exists() {
		return readData(v, data, meta)
	}
	return part{}
}

func readFile(raw, uri, name, media strictjson.Value) part {
	p := part{kind: partFile, name: name, media: media}
	switch {
	case raw.Kind() == strictjson.String:
		p.form, p.data, p.bytes = event.PieceBytes, raw, event.Count{N: wire.Base64Length(raw.Text()), Known: true}
	case uri.Kind() == strictjson.String:
		p.form, p.data = event.PieceURI, uri
	}
	return p
}

func readData(v, data, meta strictjson.Value) part {
	// 0.3 over HTTP+JSON nests data in data.
	if inner := data.Get("data"); inner.Exists() && data.Len() == 1 && !v.Get("kind").Exists() {
		data = inner
	}
	p := part{kind: partData, data: data, form: event.PieceData, media: v.Get("mediaType")}
	switch kind := meta.First(adkTypes...); {
	case kind.Is("function_call"):
		p.kind, p.data, p.longRunning = partCall, callData(data), slices.ContainsFunc(longRunningMarks, func(name string) bool { return is(meta, name) })
		p.streamed = wire.IsCallPiece(p.data)
	case kind.Is("function_response"):
		p.kind, p.data = partResponse, callData(data)
	case kind.Is("executable_code"):
		p.kind = partCode
	case kind.Is("code_execution_result"):
		p.kind = partCodeResult
	case kind.Exists():
		p.kind = partOther
	case data.Kind() != strictjson.Object || data.Len() > 0: // {} may replace data that was withheld
		p.bytes = size(len(data.Raw()))
	}
	return p
}

func is(v strictjson.Value, name string) bool {
	on, _ := v.Get(name).Bool()
	return on
}

func size(n int) event.Count { return event.Count{N: int64(n), Known: true} }

package a2a

import (
	"iter"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// shape is what an update is.
type shape uint8

const (
	shapeNone shape = iota
	shapeTask
	shapeMessage
	shapeStatus
	shapeArtifact
	shapeFailure
	shapeOther // of a kind that is not known
)

// update is a frame without its envelopes.
type update struct {
	shape shape
	body  strictjson.Value
	kind  string // shapeOther

	bare    bool // it has no envelope at all
	crowded bool // its envelope, of which it should be all, holds other things
	secret  bool // what stands beside it calls itself internal
	mixed   bool // things are said beside it, or in it, where none of its shape says any
}

// saysMore says whether something is said in v in other members than those that are a shape's own.
func saysMore(v strictjson.Value, own ...string) bool {
	for name, value := range v.Members() {
		switch text := name.Text(); string(text) {
		case "status", "artifact", "artifacts", "parts", "content", "task", "message", "statusUpdate", "artifactUpdate":
			if value.Kind() > strictjson.Null && !slices.Contains(own, string(text)) {
				return true
			}
		}
	}
	return false
}

// own are the members in which each shape says what it says.
var own = [...][]string{
	shapeTask: {"status", "artifacts"}, shapeMessage: {"parts", "content"}, shapeStatus: {"status"}, shapeArtifact: {"artifact"},
}

// kinds are the discriminators of 0.3, wrappers the members of 1.0 in their place.
var (
	kinds = map[string]shape{
		"task": shapeTask, "message": shapeMessage, "status-update": shapeStatus, "artifact-update": shapeArtifact,
	}
	wrappers = map[string]shape{
		"task": shapeTask, "message": shapeMessage, "statusUpdate": shapeStatus, "artifactUpdate": shapeArtifact,
	}
)

// readUpdate finds the update in a frame: in the result of a JSON-RPC response, or, over HTTP+JSON, as the frame itself.
func readUpdate(frame strictjson.Value) update {
	result, failure := frame.Get("result"), frame.Get("error")
	switch rpc := frame.Get("jsonrpc"); {
	case rpc.Exists() && !rpc.Is("2.0"), failure.Kind() > strictjson.Null && result.Kind() > strictjson.Null:
		return update{}
	case failure.Kind() == strictjson.Object:
		return readFailure(frame, failure, rpc.Exists())
	case rpc.Exists():
		u := readResult(result)
		u.mixed = u.mixed || saysMore(frame)
		return u
	}
	u := readResult(frame)
	if u.bare = frame.Get("kind").Exists(); u.bare {
		u.crowded = frame.Get("type").Exists()
		return u
	}
	said := 0
	for _, v := range frame.Members() {
		if v.Kind() > strictjson.Null {
			said++
		}
	}
	u.crowded = said > 1
	return u
}

// readFailure reads the errors of JSON-RPC and of HTTP+JSON (google.rpc.Status), both of which have a code and words.
func readFailure(frame, failure strictjson.Value, rpc bool) update {
	_, coded := failure.Get("code").Int()
	if !coded || failure.Get("message").Kind() != strictjson.String || !rpc && frame.Len() > 1 {
		return update{}
	}
	return update{shape: shapeFailure, body: failure}
}

func readResult(v strictjson.Value) update {
	if kind := v.Get("kind"); kind.Kind() == strictjson.String {
		s, known := kinds[string(kind.Text())]
		if !known {
			return update{shape: shapeOther, kind: dialect.Name(kind.String())}
		}
		return update{shape: s, body: v}.checked()
	}
	var u update
	secret := false
	for name, value := range v.Members() {
		s, known := wrappers[string(name.Text())]
		switch {
		case !known:
			secret = secret || generous.Internal(name.Text()) || generous.NamesInternal(&table, value)
		case value.Kind() <= strictjson.Null:
		case u.shape != shapeNone:
			return update{}
		default:
			u = update{shape: s, body: value, mixed: saysMore(v, string(name.Text()))}
		}
	}
	u.secret = secret
	return u.checked()
}

// checked holds an update to the members without which it says nothing.
func (u update) checked() update {
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
	u.mixed = u.mixed || saysMore(u.body, own[u.shape]...)
	return u
}

// state is how a task stands.
type state uint8

const (
	unknown state = iota
	submitted
	working
	inputRequired
	authRequired
	completed
	failed
	canceled
	rejected
)

// words returns the texts of the parts, a line each, without thoughts.
func (p parts) words() string {
	var said []byte
	for part := range p.all() {
		if part.kind == partText && !part.mark && len(said) <= event.MaxPrompt {
			if len(said) > 0 {
				said = append(said, '\n')
			}
			said = part.text.AppendText(said)
		}
	}
	return string(said)
}

// states are spelled as in 0.3, as in 1.0, and as over HTTP+JSON in 0.3, which has another canceled.
var states = map[string]state{
	"submitted": submitted, "TASK_STATE_SUBMITTED": submitted,
	"working": working, "TASK_STATE_WORKING": working,
	"input-required": inputRequired, "TASK_STATE_INPUT_REQUIRED": inputRequired,
	"auth-required": authRequired, "TASK_STATE_AUTH_REQUIRED": authRequired,
	"completed": completed, "TASK_STATE_COMPLETED": completed,
	"failed": failed, "TASK_STATE_FAILED": failed,
	"canceled": canceled, "TASK_STATE_CANCELED": canceled, "TASK_STATE_CANCELLED": canceled,
	"rejected": rejected, "TASK_STATE_REJECTED": rejected,
}

func (s state) over() bool { return s >= completed }

func (s state) asks() bool { return s == inputRequired || s == authRequired }

// status is a task's.
type status struct {
	state
	message strictjson.Value
	parts   parts // of the message
	time    time.Time
}

// readStatus reads the status in a task or in an update.
func readStatus(around strictjson.Value) status {
	v := around.Get("status")
	message := v.Get("message")
	// Python servers of 2025 wrote their local time without a zone: when that was, nobody knows.
	return status{states[string(v.Get("state").Text())], message, partsOf(message, around, v), dialect.TextTime(v.Get("timestamp"))}
}

// fromUser says whether a message may be the user's own: it is, unless it says that it is an agent's.
func fromUser(message strictjson.Value) bool {
	role := message.Get("role")
	return message.Exists() && !role.Is("agent") && !role.Is("ROLE_AGENT")
}

// parts are those of a message or of an artifact.
type parts struct {
	list    strictjson.Value
	thought bool // what is around them says that they are a model's
}

// partsOf are those of a message: over HTTP+JSON, 0.3 calls them content.
func partsOf(message strictjson.Value, around ...strictjson.Value) parts {
	return readParts(message.First("parts", "content"), append(around, message)...)
}

// partsOfArtifact are those of an artifact.
func partsOfArtifact(artifact strictjson.Value, around ...strictjson.Value) parts {
	return readParts(artifact.Get("parts"), append(around, artifact)...)
}

func readParts(list strictjson.Value, around ...strictjson.Value) parts {
	return parts{list, slices.ContainsFunc(around, marksThought)}
}

func (p parts) len() int { return p.list.Len() }

func (p parts) all() iter.Seq[part] {
	return func(yield func(part) bool) {
		for v := range p.list.Elements() {
			one := readPart(v)
			one.hidden = hidesMark(v)
			if one.mark = p.thought || marksThought(v); one.mark && one.kind == partText {
				one.kind = partThought
			}
			if !yield(one) {
				return
			}
		}
	}
}

// code returns the code with which the first text begins, where that is the text of an error, or "".
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
	partCall     // of an ADK agent: a call of a tool
	partResponse // its answer
)

// part is one piece of a message or of an artifact.
type part struct {
	kind   partKind
	text   strictjson.Value
	data   strictjson.Value // also of a file: its bytes or where it is, where the part says either
	form   event.PieceKind  // of data
	name   strictjson.Value // of a file
	media  strictjson.Value
	mark   bool        // it says that it is a model's thought, whatever it is
	hidden bool        // its mark does not leave with it
	long   bool        // partCall: its answer comes from outside
	bytes  event.Count // of what it holds, known unless that stands elsewhere
}

// The members that name the kind of a part, in 0.3 and before, and the kinds that there are. 1.0 has no such member.
var (
	partKinds  = []string{"kind", "type"}
	knownKinds = []string{"text", "file", "data"}
)

// isForeign reports whether a part is of a kind that the protocol does not have. A thought is read as one.
func isForeign(v strictjson.Value) bool {
	_, thought := markOf(v)
	return !thought && generous.HasOther(v, partKinds, knownKinds)
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
	// Over HTTP+JSON, 0.3 has data in data.
	if inner := data.Get("data"); inner.Exists() && data.Len() == 1 && !v.Get("kind").Exists() {
		data = inner
	}
	p := part{kind: partData, data: data, form: event.PieceData, media: v.Get("mediaType")}
	switch kind := meta.Get("adk_type"); {
	case kind.Is("function_call"):
		p.kind, p.long = partCall, is(meta, "adk_is_long_running")
	case kind.Is("function_response"):
		p.kind = partResponse
	case kind.Exists(): // code and its outcome
		p.kind = partOther
	case data.Kind() != strictjson.Object || data.Len() > 0: // {} stands in the place of data that stays in
		p.bytes = size(len(data.Raw()))
	}
	return p
}

func is(v strictjson.Value, name string) bool {
	on, _ := v.Get(name).Bool()
	return on
}

func size(n int) event.Count { return event.Count{N: int64(n), Known: true} }

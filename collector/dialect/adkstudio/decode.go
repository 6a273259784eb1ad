package adkstudio

import (
	"bytes"
	"cmp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// decoder decodes one execution. The protocol has no id for it.
type decoder struct {
	running bool
	session string
	failure event.Failure // of the first error; the frames after it only end the run
	code    string        // of the failure
	nodes   nodes
	calls   calls
	authors wire.Set[string] // every node and agent so far, perhaps wire.UnknownAuthor
	answer  answer

	isMarked   bool             // the current frame is withheld for what it says
	withheld   wire.Set[string] // branches of nodes with a withheld start; "" stands for nodes without a readable name
	ofNameless bool             // the node that began last is one of these, so it may be what works

	questions             []string // the ids of the open questions
	repeatedSinceQuestion bool     // the answer was repeated after the last question
}

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	name := string(f.Event)
	b.Session = d.session
	if name != typeChunk && name != typeDebug && name != typeLog {
		d.answer.endRow()
	}
	if read, known := textReaders[name]; known {
		d.decodeText(read, name, f, b)
	} else {
		d.decodeObject(name, f, b)
	}
	b.Internal = b.Internal || d.isOfWithheld(b)
}

// isOfWithheld reports whether a frame is of a node with a withheld start. A frame of a node that is no longer remembered may be.
func (d *decoder) isOfWithheld(b *event.Batch) bool {
	if b.Branch == "" {
		return b.Agent != "" && d.nodes.started > maxNodes && d.withheld.Len() > 0
	}
	return d.withheld.MayContain(b.Branch)
}

// decodeText decodes a frame with text. Text that looks like a marked object is internal, except in a chunk: there it is an answer.
func (d *decoder) decodeText(read func(*decoder, []byte, *event.Batch), name string, f dialect.Frame, b *event.Batch) {
	b.Type, b.Internal = name, name != typeChunk && lenient.HasInternalDiscriminator(&resultTable, f.JSON)
	if !utf8.Valid(f.Data) && name != typeEnd {
		b.Rejected = event.Reason(strictjson.InvalidUTF8)
		d.miss(name, b)
		return
	}
	if name != typeEnd {
		d.begin(b)
	}
	read(d, f.Data, b)
}

// decodeObject decodes a frame whose data is a JSON object, or a frame of an unknown type.
func (d *decoder) decodeObject(name string, f dialect.Frame, b *event.Batch) {
	read, known := objectReaders[name]
	switch {
	case !known:
		b.UnknownKind = dialect.UnknownKind([]byte(cmp.Or(name, "message")))
		b.Add(event.KindOther)
	case f.JSON.Kind() == strictjson.Object:
		b.Type, b.Internal = name, name != typeToolResult && lenient.HasInternalDiscriminator(&resultTable, f.JSON)
		d.isMarked = b.Internal || wire.IsFiltered(b, prefilter)
		if name != typeDebug {
			d.begin(b)
		}
		read(d, f.JSON, b)
	default:
		b.Rejected = cmp.Or(f.Malformed, event.ReasonShape)
		d.miss(name, b)
	}
}

// miss records what is known of a frame that cannot be read.
func (d *decoder) miss(name string, b *event.Batch) {
	switch name {
	case typeError:
		d.fail(event.AgentError, "", b)
	case typeTrace, typeAgent:
		d.nodes.forget()
	case typeToolCall, typeToolResult:
		d.calls.missed = true
	}
}

// textReaders read the frames whose data is text, even if it looks like JSON.
var textReaders = map[string]func(*decoder, []byte, *event.Batch){
	typeSession: (*decoder).readSession,
	typeChunk:   (*decoder).readChunk,
	typeAgent:   (*decoder).readAgent,
	typeError:   (*decoder).readError,
	typeEnd:     (*decoder).readEnd,
}

// objectReaders read the frames whose data is a JSON object.
var objectReaders = map[string]func(*decoder, strictjson.Value, *event.Batch){
	typeTrace:      (*decoder).readTrace,
	typeToolCall:   (*decoder).readToolCall,
	typeToolResult: (*decoder).readToolResult,
	typeThinking:   (*decoder).readThinking,
	typeInterrupt:  (*decoder).readInterrupt,
	typeResume:     (*decoder).readResume,
	typeLog:        (*decoder).readLog,
	typeDebug:      (*decoder).readDebug,
}

func (d *decoder) begin(b *event.Batch) {
	if !d.running {
		d.running = true
		b.Add(event.KindRunStarted)
	}
}

// readSession reads the session id. The server sends one, and the executed program may then send the
// same or another one.
func (d *decoder) readSession(id []byte, b *event.Batch) {
	d.session = dialect.Name(string(bytes.TrimSpace(id)))
	b.Session = d.session
}

// readChunk reads a piece of the answer, or the whole answer. If no whole answer follows, the text
// is reported when the node or the run ends.
func (d *decoder) readChunk(text []byte, b *event.Batch) {
	d.setSpeaker(d.nodes.current(), b)
	d.authors.Add(b.Agent)
	addAuthors(b.JSON, d.answer.repeated(text), b)
	d.answer.addAuthor(b.Agent)
	added, whole := d.answer.add(text)
	b.Partial = !whole
	if whole {
		d.repeatedSinceQuestion = true
	} else if len(added) > 0 {
		d.inputAnswered(b)
	}
	addText(added, b)
}

func addText(text []byte, b *event.Batch) {
	if len(text) > 0 {
		b.Add(event.KindText).SetText(text)
	}
}

func (d *decoder) readAgent(name []byte, b *event.Batch) {
	d.nodes.agent = node{name: dialect.Name(string(bytes.TrimSpace(name)))}
	d.setSpeaker(d.nodes.agent, b)
	d.answer.startNode()
}

func (d *decoder) readError(text []byte, b *event.Batch) {
	d.fail(failureOf(text), wire.TextCode(text), b)
}

func (d *decoder) fail(failure event.Failure, code string, b *event.Batch) {
	if d.failure == event.NoFailure {
		d.failure, d.code = failure, code
	}
	e := b.Add(event.KindError)
	e.Error, e.Code = failure, code
}

// readEnd ends the run with its first error and resets the decoder.
func (d *decoder) readEnd(_ []byte, b *event.Batch) {
	if d.running {
		e := b.Add(event.KindRunEnded)
		e.Error, e.Code = d.failure, d.code
	}
	*d = decoder{}
}

func (d *decoder) readTrace(v strictjson.Value, b *event.Batch) {
	kind := v.Get("type")
	name := dialect.Name(v.Get("node").String())
	switch b.Type = typeTrace; string(kind.Text()) {
	case traceNodeStart:
		d.setSpeaker(d.nodes.begin(name, dialect.Count(v.Get("step"))), b)
		d.answer.startNode()
		d.inputAnswered(b)
		if b.Agent != "" {
			b.Add(event.KindAgentStarted)
		}
		d.ofNameless = d.isMarked && b.Branch == ""
		if d.isMarked {
			d.withheld.Add(b.Branch)
		}
		if d.ofNameless {
			d.miss(typeTrace, b) // no other node may be taken for it
		}
		d.readState(v, b)
	case traceNodeEnd:
		speaker := d.nodes.current()
		ended := d.nodes.end(name, dialect.Count(v.Get("step")))
		d.setSpeaker(ended, b)
		b.Internal = b.Internal || b.Branch == "" && d.withheld.MayContain("")
		d.readState(v, b)
		if ended == speaker {
			addText(d.answer.unreportedOfNode(), b)
		}
		if b.Agent != "" {
			b.Add(event.KindAgentEnded).Duration = dialect.Duration(v.Get("duration_ms"), time.Millisecond)
		}
	case traceState:
		d.readState(v, b)
	case traceDone:
		d.readDone(v, b)
	default:
		b.Type = typeRaw
		d.readRaw(kind, name, v, b)
	}
	addAuthors(v, d.authors, b) // the state may have texts of every node and agent so far
}

// addAuthors adds the authors of the texts in v.
func addAuthors(v strictjson.Value, authors wire.Set[string], b *event.Batch) {
	if authors.IsFull() {
		b.AddAuthors(v, wire.UnknownAuthor)
	}
	b.AddAuthors(v, slices.Collect(authors.All())...)
}

// readDone reports the end of the work. If the answer was repeated after the question, the question stays open.
func (d *decoder) readDone(v strictjson.Value, b *event.Batch) {
	if !d.repeatedSinceQuestion {
		d.inputAnswered(b)
	}
	d.readState(v, b)
	if d.failure == event.NoFailure {
		addText(d.answer.unreported(), b)
		b.Add(event.KindFinal)
	}
}

// readRaw reads a trace of the graph library.
func (d *decoder) readRaw(kind strictjson.Value, name string, v strictjson.Value, b *event.Batch) {
	switch string(kind.Text()) {
	case traceInterrupted:
		d.requestInput(name, v.Get("message"), b)
	case traceResumed:
		d.inputAnswered(b)
	case traceError:
		d.setSpeaker(d.nodes.activate(name), b)
		d.fail(event.AgentError, wire.ErrorCode(v.Get("message")), b)
	case traceUpdates:
		d.setSpeaker(d.nodes.activate(name), b)
		d.readState(v, b)
	case traceMessage:
		d.setSpeaker(d.nodes.activate(name), b)
	case traceCustom, traceDebug, traceStep:
	default:
		b.UnknownKind = dialect.UnknownKind(bytes.TrimSuffix(append([]byte("trace."), kind.Text()...), []byte(".")))
	}
}

func (d *decoder) readState(v strictjson.Value, b *event.Batch) {
	if state, exists := stateOf(v); exists {
		b.Add(event.KindState).SetState(state)
	}
}

func (d *decoder) readToolCall(v strictjson.Value, b *event.Batch) {
	caller := d.nodes.current()
	d.setSpeaker(caller, b)
	e := b.Add(event.KindToolStarted)
	e.Name = dialect.Name(v.Get("name").String())
	args := b.Embedded(v.Get("args"))
	b.HasThoughts = lenient.ContainsThoughtMarker(args)
	e.SetPayload(args)
	d.calls.begin(call{e.Name, caller, d.isMarked || d.isOfWithheld(b) || b.Internal})
}

func (d *decoder) readToolResult(v strictjson.Value, b *event.Batch) {
	result := b.Embedded(v.Get("result"))
	b.HasThoughts = lenient.ContainsThoughtMarker(result)
	failure, code := event.NoFailure, ""
	if wire.HasError(result) {
		failure, code = event.ToolError, wire.ResponseCode(result)
	}
	name := dialect.Name(v.Get("name").String())
	b.Internal = b.Internal || d.calls.mayBeOfWithheld(name)
	d.endTool(name, failure, code, b).SetPayload(result)
}

// endTool ends the oldest call of a tool, in the name of the node that made it.
func (d *decoder) endTool(name string, failure event.Failure, code string, b *event.Batch) *event.Event {
	d.setSpeaker(d.calls.end(name), b)
	e := b.Add(event.KindToolEnded)
	e.Name, e.Error, e.Code = name, failure, code
	e.TurnMayEnd = true // the protocol shows no model response to wait for
	return e
}

func (d *decoder) readThinking(v strictjson.Value, b *event.Batch) {
	d.setSpeaker(d.nodes.activate(dialect.Name(v.Get("agent").String())), b)
	b.AddText(event.KindThought, v.Get("content"))
}

// readLog reports nothing. A log line says that a model is called, but no frame shows the response.
func (d *decoder) readLog(strictjson.Value, *event.Batch) {}

func (d *decoder) readInterrupt(v strictjson.Value, b *event.Batch) {
	d.requestInput(dialect.Name(v.Get("node_id").String()), v.Get("message"), b)
}

func (d *decoder) readResume(_ strictjson.Value, b *event.Batch) { d.inputAnswered(b) }

// requestInput reports that the run waits for a user. The answer may be any JSON that the node
// understands.
func (d *decoder) requestInput(name string, prompt strictjson.Value, b *event.Batch) {
	caller := d.nodes.activate(name)
	d.setSpeaker(caller, b)
	id := cmp.Or(caller.branch, caller.name, typeInterrupt)
	isKnown := caller == (node{}) && len(d.questions) > 0 || slices.Contains(d.questions, id) // the server and its graph library both report it
	if isKnown || len(d.questions) == maxNodes {
		return
	}
	d.questions, d.repeatedSinceQuestion = append(d.questions, id), false
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input = id, event.InputData
	e.SetQuestion(event.Question{Prompt: prompt.String()})
}

// inputAnswered reports the open questions as answered. It is called for any new work, because today's
// servers do not report the answers.
func (d *decoder) inputAnswered(b *event.Batch) {
	for _, id := range d.questions {
		b.Add(event.KindInputAnswered).CallID = id
	}
	d.questions, d.repeatedSinceQuestion = nil, false
}

// readDebug looks for the failure of a tool in a line of the program's log. No other frame reports the failure.
func (d *decoder) readDebug(v strictjson.Value, b *event.Batch) {
	fields := v.Get("detail").Get("fields")
	if failure, ok := toolFailures[fields.Get("message").String()]; ok && d.running {
		d.endTool(dialect.Name(fields.Get("tool.name").String()), failure, wire.ErrorCode(fields.Get("error")), b)
	}
}

// user is the name of the human user. An agent must not have it.
const user = "user"

// setSpeaker sets the speaker of the batch to a node, unless it has no name. It withholds the frame if a withheld node without a readable
// name may be the speaker.
func (d *decoder) setSpeaker(n node, b *event.Batch) {
	b.Internal = b.Internal || d.ofNameless && n.branch == ""
	if n.name != user && n.name != "" {
		b.Agent, b.Branch = n.name, n.branch
		d.authors.Add(n.name)
	}
}

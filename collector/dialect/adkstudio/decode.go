package adkstudio

import (
	"bytes"
	"cmp"
	"time"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// decoder follows one execution. The wire has no id for it.
type decoder struct {
	running bool
	session string
	failure event.Failure // sticky: what comes after an error is only its end
	code    string        // of the failure
	nodes   nodes
	calls   calls
	speaker node // of the version whose frames name the agent that speaks from there on
	answer  answer
	asked   string // the open question's id, or ""
	echoed  bool   // since it was asked, what had been said was said again
}

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	name := string(f.Event)
	b.Session = d.session
	if read, known := texts[name]; known {
		b.Type = name
		if !utf8.Valid(f.Data) {
			b.Rejected = event.Reason(strictjson.InvalidUTF8)
			if name == typeError {
				d.fail(event.AgentError, "", b)
			}
			return
		}
		if name != typeEnd {
			d.begin(b)
		}
		read(d, f.Data, b)
		return
	}
	read, known := objects[name]
	switch {
	case !known:
		b.Unknown = dialect.UnknownKind([]byte(cmp.Or(name, "message")))
		b.Add(event.KindOther)
	case f.JSON.Kind() == strictjson.Object:
		b.Type = name
		if name != typeDebug {
			d.begin(b)
		}
		read(d, f.JSON, b)
	default:
		b.Rejected = cmp.Or(f.Malformed, event.ReasonShape)
	}
}

// texts read the frames whose data is text, whatever it looks like.
var texts = map[string]func(*decoder, []byte, *event.Batch){
	typeSession: (*decoder).readSession,
	typeChunk:   (*decoder).readChunk,
	typeAgent:   (*decoder).readAgent,
	typeError:   (*decoder).readError,
	typeEnd:     (*decoder).readEnd,
}

// objects read the frames whose data is a JSON object.
var objects = map[string]func(*decoder, strictjson.Value, *event.Batch){
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

// readSession takes the id. The server says it, and the program that it executes may say it again, or another.
func (d *decoder) readSession(id []byte, b *event.Batch) {
	d.session = dialect.Name(string(bytes.TrimSpace(id)))
	b.Session = d.session
}

// readChunk takes a piece of the answer, or the whole of it. Where no whole follows, the end of the node or of the work tells it.
func (d *decoder) readChunk(text []byte, b *event.Batch) {
	d.by(d.nodes.speaking(), b)
	news, whole := d.answer.take(text)
	b.Partial = !whole
	if whole {
		d.echoed = true
	} else if len(news) > 0 {
		d.goOn(b)
	}
	d.state(news, b)
}

func (d *decoder) state(text []byte, b *event.Batch) {
	if len(text) > 0 {
		b.Add(event.KindText).SetText(text)
	}
}

func (d *decoder) readAgent(name []byte, b *event.Batch) {
	d.speaker = node{name: dialect.Name(string(bytes.TrimSpace(name)))}
	d.by(d.speaker, b)
	d.answer.began()
}

func (d *decoder) readError(text []byte, b *event.Batch) {
	d.fail(errorOf(text), wire.TextCode(text), b)
}

func (d *decoder) fail(failure event.Failure, code string, b *event.Batch) {
	if d.failure == event.NoFailure {
		d.failure, d.code = failure, code
	}
	e := b.Add(event.KindError)
	e.Error, e.Code = failure, code
}

// readEnd ends the run as its last error says, and begins anew.
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
	switch b.Type = typeTrace; {
	case kind.Is(traceNodeStart):
		d.by(d.nodes.begin(name, step(v.Get("step"))), b)
		d.answer.began()
		d.goOn(b)
		if b.Agent != "" {
			b.Add(event.KindAgentStarted)
		}
		d.readState(v, b)
	case kind.Is(traceNodeEnd):
		spoke := d.nodes.speaking()
		ended := d.nodes.end(name, step(v.Get("step")))
		d.by(ended, b)
		d.readState(v, b)
		if ended == spoke {
			d.state(d.answer.tellNode(), b)
		}
		if b.Agent != "" {
			b.Add(event.KindAgentEnded).Took = dialect.Duration(v.Get("duration_ms"), time.Millisecond)
		}
	case kind.Is(traceState):
		d.readState(v, b)
	case kind.Is(traceDone):
		d.readDone(v, b)
	default:
		b.Type = typeRaw
		d.readRaw(kind, name, v, b)
	}
}

// readDone ends the work. A server that had been asked nothing more than to repeat itself ends without having been answered.
func (d *decoder) readDone(v strictjson.Value, b *event.Batch) {
	if !d.echoed {
		d.goOn(b)
	}
	d.readState(v, b)
	if d.failure != event.NoFailure {
		return
	}
	d.state(d.answer.tell(), b)
	b.Add(event.KindFinal)
}

// readRaw takes what the graph library says by itself.
func (d *decoder) readRaw(kind strictjson.Value, name string, v strictjson.Value, b *event.Batch) {
	switch {
	case kind.Is(traceInterrupted):
		d.ask(name, v.Get("message"), b)
	case kind.Is(traceResumed):
		d.goOn(b)
	case kind.Is(traceError):
		d.by(d.nodes.named(name), b)
		d.fail(event.AgentError, wire.ErrorCode(v.Get("message")), b)
	case kind.Is(traceUpdates):
		d.by(d.nodes.named(name), b)
		d.readState(v, b)
	case kind.Is(traceMessage):
		d.by(d.nodes.named(name), b)
	case kind.Is(traceCustom), kind.Is(traceDebug), kind.Is(traceStep):
	default:
		b.Unknown = dialect.UnknownKind(bytes.TrimSuffix(append([]byte("trace."), kind.Text()...), []byte(".")))
	}
}

func (d *decoder) readState(v strictjson.Value, b *event.Batch) {
	if state, shown := readState(v); shown {
		b.Add(event.KindState).SetState(state)
	}
}

func (d *decoder) readToolCall(v strictjson.Value, b *event.Batch) {
	by := d.nodes.speaking()
	d.by(by, b)
	e := b.Add(event.KindToolStarted)
	e.Name = dialect.Name(v.Get("name").String())
	e.SetPayload(b.Embedded(v.Get("args")))
	d.calls.begin(e.Name, by)
}

func (d *decoder) readToolResult(v strictjson.Value, b *event.Batch) {
	result := b.Embedded(v.Get("result"))
	failure, code := event.NoFailure, ""
	if wire.SaysError(result) {
		failure, code = event.ToolError, wire.ResponseCode(result)
	}
	d.endTool(dialect.Name(v.Get("name").String()), failure, code, b).SetPayload(result)
}

// endTool ends the oldest call of a tool, in the name of the node that made it.
func (d *decoder) endTool(name string, failure event.Failure, code string, b *event.Batch) *event.Event {
	d.by(d.calls.end(name), b)
	e := b.Add(event.KindToolEnded)
	e.Name, e.Error, e.Code = name, failure, code
	e.Settled = true // the wire shows no response of a model that could be owed
	return e
}

func (d *decoder) readThinking(v strictjson.Value, b *event.Batch) {
	d.by(d.nodes.named(dialect.Name(v.Get("agent").String())), b)
	b.AddText(event.KindThought, v.Get("content"))
}

// readLog finds nothing: that a model is about to be called is no response of it, and of that the wire tells nothing.
func (d *decoder) readLog(strictjson.Value, *event.Batch) {}

func (d *decoder) readInterrupt(v strictjson.Value, b *event.Batch) {
	d.ask(dialect.Name(v.Get("node_id").String()), v.Get("message"), b)
}

func (d *decoder) readResume(_ strictjson.Value, b *event.Batch) { d.goOn(b) }

// ask notes that the work waits for somebody, who answers with whatever JSON the node understands.
func (d *decoder) ask(name string, prompt strictjson.Value, b *event.Batch) {
	by := d.nodes.named(name)
	d.by(by, b)
	if d.asked != "" {
		return // the server and its graph library both say it
	}
	d.asked, d.echoed = cmp.Or(by.branch, name, typeInterrupt), false
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input = d.asked, event.InputData
	e.SetQuestion(event.Question{Prompt: prompt.String()})
}

// goOn takes any new work for a sign that a question was answered: servers of today say nothing of it.
func (d *decoder) goOn(b *event.Batch) {
	if d.asked != "" {
		b.Add(event.KindInputAnswered).CallID = d.asked
		d.asked, d.echoed = "", false
	}
}

// readDebug looks for the one thing that stands nowhere else: that a tool failed. A debug frame holds a line of the program's log.
func (d *decoder) readDebug(v strictjson.Value, b *event.Batch) {
	fields := v.Get("detail").Get("fields")
	if failure, is := toolFailures[fields.Get("message").String()]; is && d.running {
		d.endTool(dialect.Name(fields.Get("tool.name").String()), failure, wire.ErrorCode(fields.Get("error")), b)
	}
}

// user is the human's name, which no agent has.
const user = "user"

// by says whose frame it is; of what no node does, the agent that was last named.
func (d *decoder) by(n node, b *event.Batch) {
	if n == (node{}) {
		n = d.speaker
	}
	if n.name != user && n.name != "" {
		b.Agent, b.Branch = n.name, n.branch
	}
}

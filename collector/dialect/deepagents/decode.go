package deepagents

import (
	"cmp"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	oneRun  bool
	run     string
	session string
	second  bool // the version whose frames say which agent they are of
	work
}

// work is what is known of the run at hand.
type work struct {
	over    bool
	failure event.Failure // sticky: what comes after an error is only its end
	code    string        // of the failure
	agents  agents
	calls   calls
	plan    plan
	content content
	asked   question
}

// question is what a run waits for.
type question struct{ id, call string }

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	v := f.JSON
	kind := v.Get("type")
	b.Run, b.Session = d.run, d.session
	switch {
	case !v.Exists():
		b.Rejected = f.Malformed
		if isBrokenError(f.Data) {
			d.fail(event.AgentError, "", b)
		}
		return
	case kind.Kind() != strictjson.String:
		b.Rejected = event.ReasonShape
		return
	}
	b.Time = dialect.TextTime(v.Get("ts"))
	reader, known := readers[string(kind.Text())]
	if !known {
		b.Unknown = dialect.UnknownKind(kind.Text())
		b.Add(event.KindOther)
		return
	}
	if version, ok := v.Get("v").Int(); ok {
		d.second = version >= 2
	}
	b.Type = reader.kind
	by := d.agents.of(v)
	if by == (agent{}) && reader.main && d.second {
		by.name = mainAgent
	}
	by.put(b)
	reader.read(d, v, b)
}

type reader struct {
	kind string
	main bool // in the version that has agents, a frame that names none is of the run's own
	read func(*decoder, strictjson.Value, *event.Batch)
}

// readers read the frames of each type.
var readers = map[string]reader{
	typeStart:         {typeStart, true, (*decoder).readStart},
	typeThinking:      {typeThinking, true, (*decoder).readThinking},
	typePlan:          {typePlan, true, (*decoder).readPlan},
	typeToolStart:     {typeToolStart, true, (*decoder).readToolStart},
	typeToolEnd:       {typeToolEnd, true, (*decoder).readToolEnd},
	typeSubagentStart: {typeSubagentStart, false, (*decoder).readSubagentStart},
	typeSubagentEnd:   {typeSubagentEnd, false, (*decoder).readSubagentEnd},
	typeContentStart:  {typeContentStart, true, (*decoder).readContentStart},
	typeContent:       {typeContent, true, (*decoder).readContent},
	typeContentEnd:    {typeContentEnd, true, (*decoder).readContentEnd},
	typeStatus:        {typeStatus, false, (*decoder).readStatus},
	typeEnd:           {typeEnd, false, (*decoder).readEnd},
	typeError:         {typeError, false, (*decoder).readError},
}

// readStart begins a run. Where the chat's last one waits for somebody, this one has the answer: a thread is resumed by a request
// that has no stream, and the work goes on in the answer to another message.
func (d *decoder) readStart(v strictjson.Value, b *event.Batch) {
	run, chat := dialect.Name(v.Get("message_id").String()), dialect.Name(v.Get("chat_id").String())
	if d.over || d.run != "" && run != d.run && !d.oneRun {
		d.work, d.run = work{}, ""
	}
	d.run, d.session = cmp.Or(d.run, run), cmp.Or(chat, d.session)
	b.Run, b.Session = d.run, d.session
	b.Add(event.KindRunStarted).Resumes = true
}

func (d *decoder) readThinking(v strictjson.Value, b *event.Batch) {
	b.AddText(event.KindThought, v.Get("text"))
}

func (d *decoder) readPlan(v strictjson.Value, b *event.Batch) {
	if d.plan == nil {
		d.plan = make(plan)
	}
	b.Add(event.KindPlan).Plan = d.plan.merge(v.Get("items"))
}

func (d *decoder) readToolStart(v strictjson.Value, b *event.Batch) {
	e := b.Add(event.KindToolStarted)
	e.Name, e.CallID = dialect.Name(v.Get("name").String()), dialect.Name(v.Get("call_id").String())
	e.SetPayload(b.Embedded(v.Get("args_summary")))
	d.calls.begin(call{e.CallID, e.Name, agent{b.Agent, b.Branch, b.Within}})
}

// readToolEnd ends a call, in the name of the agent that made it where the frame does not say whose it is.
func (d *decoder) readToolEnd(v strictjson.Value, b *event.Batch) {
	id := dialect.Name(v.Get("call_id").String())
	ended := d.calls.end(id)
	if ended.by != (agent{}) && d.agents.of(v) == (agent{}) {
		ended.by.put(b)
	}
	e := b.Add(event.KindToolEnded)
	e.Name, e.CallID = cmp.Or(dialect.Name(v.Get("name").String()), ended.tool), id
	e.Error, e.Took = toolFailure(v.Get("status")), dialect.Duration(v.Get("ms"), time.Millisecond)
	if id != "" && id == d.asked.call {
		d.answered(b)
	}
}

func (d *decoder) readSubagentStart(_ strictjson.Value, b *event.Batch) {
	if b.Branch != "" {
		b.Add(event.KindAgentStarted)
	}
}

func (d *decoder) readSubagentEnd(v strictjson.Value, b *event.Batch) {
	if b.Branch != "" {
		b.Add(event.KindAgentEnded).Took = dialect.Duration(v.Get("ms"), time.Millisecond)
		d.agents.end(agent{b.Agent, b.Branch, b.Within})
	}
}

func (d *decoder) readContentStart(_ strictjson.Value, b *event.Batch) { d.content.begin(b) }

func (d *decoder) readContent(v strictjson.Value, b *event.Batch) {
	if d.agents.of(v) == (agent{}) {
		d.content.claim(b)
	}
	piece := v.Get("md")
	b.Partial = d.content.keep(piece, b)
	b.AddText(event.KindText, piece)
}

// readContentEnd states the text that was begun, whole.
func (d *decoder) readContentEnd(v strictjson.Value, b *event.Batch) {
	if d.agents.of(v) == (agent{}) {
		d.content.claim(b)
	}
	if text := d.content.end(b); len(text) > 0 {
		b.Add(event.KindText).SetText(text)
	}
}

// readStatus tells a heartbeat from a word that the run waits for somebody.
func (d *decoder) readStatus(v strictjson.Value, b *event.Batch) {
	details := b.Embedded(v.Get("md"))
	if asks, _ := details.Get("interrupt").Bool(); !asks && !strings.Contains(v.Get("text").String(), asksHuman) {
		return
	}
	b.Type = typeInterrupt
	asking := d.calls.last(details.Get("tool").String())
	if b.Agent == "" {
		asking.by.put(b)
	}
	if asking.id != "" {
		b.Add(event.KindToolPaused).CallID = asking.id
	}
	if e := d.ask(question{pseudonym(details.Get("thread_id").Text()), asking.id}, v, b); e != nil {
		e.SetQuestion(event.Question{Prompt: details.Get("question").String(), Options: details.Get("options")})
	}
}

// asksHuman is what a heartbeat says that is none. A symbol stands before it, of which no two copies of the document have the
// same bytes.
const asksHuman = "Agent needs human input"

// ask states that the run waits for an answer, which its thread is to get. Where no thread is named, the frame's id stands for it.
func (d *decoder) ask(q question, v strictjson.Value, b *event.Batch) *event.Event {
	if d.asked.id != "" && q.id == "" {
		return nil // the same, with less said
	}
	q.id = cmp.Or(q.id, dialect.Name(v.Get("id").String()), typeInterrupt)
	d.asked = q
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input = q.id, event.InputClarification
	return e
}

func (d *decoder) answered(b *event.Batch) {
	b.Add(event.KindInputAnswered).CallID = d.asked.id
	d.asked = question{}
}

// readEnd ends the run as its last error says, else as its status does.
func (d *decoder) readEnd(v strictjson.Value, b *event.Batch) {
	status := v.Get("status")
	switch failure := runFailure(status); {
	case d.failure != event.NoFailure:
	case failure != event.NoFailure:
		d.fail(failure, "", b)
	case status.Is("interrupted"):
		d.ask(question{}, v, b)
	case d.asked.id != "":
		d.answered(b)
	}
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code = d.failure, d.code
	e.Took, e.ToolCalls = dialect.Duration(v.Get("ms_total"), time.Millisecond), dialect.Count(v.Get("tool_calls"))
	d.work = work{over: true, failure: d.failure, code: d.code}
}

func (d *decoder) readError(v strictjson.Value, b *event.Batch) {
	d.fail(event.AgentError, wire.Specific(wire.ErrorCode(v.Get("error")), wire.Code(v.Get("code"))), b)
}

func (d *decoder) fail(failure event.Failure, code string, b *event.Batch) {
	if d.failure == event.NoFailure {
		d.failure, d.code = failure, code
	}
	e := b.Add(event.KindError)
	e.Error, e.Code = failure, code
}

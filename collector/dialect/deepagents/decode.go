package deepagents

import (
	"cmp"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	singleRun  bool
	run        string
	session    string
	isVersion2 bool // version 2, whose frames name their agent
	withheld   wire.Set[itemID]
	left       wire.Set[itemID] // agents that are no subagents and of which a frame left
	runState
}

// runState is the state of the current run.
type runState struct {
	ended    bool
	failure  event.Failure // of the first error, with which the run ends
	code     string        // of the failure
	agents   agents
	calls    calls
	plan     plan
	content  content
	question question
}

// question is an open request for input: its own id, and the id of the call that asked.
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
		b.UnknownKind = dialect.UnknownKind(kind.Text())
		b.Add(event.KindOther)
		d.withholdMarked(v)
		return
	}
	if version, ok := v.Get("v").Int(); ok {
		d.isVersion2 = version >= 2
	}
	b.Type = reader.kind
	speaker := d.speakerOf(v, reader)
	record := d.agents.note(speaker)
	speaker.apply(b)
	if id := dialect.Name(v.Get("agent_id").String()); speaker.name == mainAgent && strings.HasPrefix(id, subAgent) {
		b.AddAuthors(v, nameOf(id, "")) // the agent's type and its ID contradict each other
	}
	d.check(reader.kind, v, record, b)
	reader.read(d, v, b)
}

// speakerOf returns the agent of a frame.
func (d *decoder) speakerOf(v strictjson.Value, r reader) agent {
	speaker := d.agents.agentOf(v, r.kind)
	if speaker == (agent{}) && r.defaultsToMain && d.isVersion2 {
		speaker.name = mainAgent
	}
	return speaker
}

type reader struct {
	kind           string
	defaultsToMain bool // in version 2, a frame that names no agent is the main agent's
	read           func(*decoder, strictjson.Value, *event.Batch)
}

// readers maps types of frames to their readers.
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

// readStart starts a run. Resumes is always set: it has an effect only if the last run of the chat waits for input. The request
// that resumes a thread has no stream of its own, so its work continues in the answer to another message.
func (d *decoder) readStart(v strictjson.Value, b *event.Batch) {
	run, chat := dialect.Name(v.Get("message_id").String()), dialect.Name(v.Get("chat_id").String())
	if d.ended || d.run != "" && run != d.run && !d.singleRun {
		d.runState, d.run = runState{}, ""
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
	args := b.Embedded(v.Get("args_summary"))
	b.HasThoughts = lenient.ContainsThoughtMarker(args)
	e.SetPayload(args)
	d.calls.begin(&call{id: e.CallID, tool: e.Name, caller: speakerOf(b), shown: leaves(b)})
}

// readToolEnd ends a call. If the frame names no agent, the call's agent is the speaker.
func (d *decoder) readToolEnd(v strictjson.Value, b *event.Batch) {
	id := dialect.Name(v.Get("call_id").String())
	ended := d.calls.find(id)
	if ended.caller != (agent{}) && d.namesNoAgent(v) {
		ended.caller.apply(b)
	}
	d.calls.end(ended.id)
	e := b.Add(event.KindToolEnded)
	e.Name, e.CallID = cmp.Or(dialect.Name(v.Get("name").String()), ended.tool), id
	e.Error, e.Duration = failureOf(v.Get("status"), event.ToolError), dialect.Duration(v.Get("ms"), time.Millisecond)
	if id != "" && id == d.question.call {
		d.inputAnswered(b)
	}
}

func (d *decoder) readSubagentStart(_ strictjson.Value, b *event.Batch) {
	if b.Branch != "" {
		b.Add(event.KindAgentStarted)
	}
}

func (d *decoder) readSubagentEnd(v strictjson.Value, b *event.Batch) {
	if b.Branch == "" {
		return
	}
	b.Add(event.KindAgentEnded).Duration = dialect.Duration(v.Get("ms"), time.Millisecond)
	d.agents.end(d.agents.note(speakerOf(b)))
}

func (d *decoder) readContentStart(v strictjson.Value, b *event.Batch) {
	begun := d.content.begin(speakerOf(b), lenient.ContainsThoughtMarker(v), true)
	begun.withheld = !leaves(b)
}

// readContent reads a piece of a text. Version 1 has no frame that starts a text.
func (d *decoder) readContent(v strictjson.Value, b *event.Batch) {
	t := d.openText(v, b)
	if t == nil {
		t = d.content.begin(speakerOf(b), d.content.forgotThought, false)
		t.withheld = d.content.forgotWithheld
	}
	b.Internal = b.Internal || t.withheld
	piece := v.Get("md")
	b.Partial = true
	b.AddText(t.kind, piece)
	t.sent.Add(piece.Text())
}

// readContentEnd reports the whole text.
func (d *decoder) readContentEnd(v strictjson.Value, b *event.Batch) {
	t := d.openText(v, b)
	if t == nil {
		b.Internal = b.Internal || d.content.forgotWithheld
		return
	}
	b.Internal = b.Internal || t.withheld
	t.report(b, t.hasStart || !d.isVersion2)
	d.content.end(t)
}

// openText returns the open text that a frame continues, or nil. If the frame names no agent, it is the text that started last,
// and its agent becomes the speaker of the batch.
func (d *decoder) openText(v strictjson.Value, b *event.Batch) *text {
	if last := d.content.last(); last != nil && d.namesNoAgent(v) {
		last.by.apply(b)
		return last
	}
	return d.content.find(speakerOf(b))
}

func (d *decoder) namesNoAgent(v strictjson.Value) bool { return d.agents.agentOf(v, "") == (agent{}) }

// readStatus reads a status frame: either a heartbeat or a request for input.
func (d *decoder) readStatus(v strictjson.Value, b *event.Batch) {
	details := b.Embedded(v.Get("md"))
	if asks, _ := details.Get("interrupt").Bool(); !asks && !strings.Contains(v.Get("text").String(), inputRequestText) {
		return
	}
	b.Type = typeInterrupt
	asking := d.calls.last(details.Get("tool").String())
	if b.Agent == "" {
		asking.caller.apply(b)
	}
	if asking.id != "" {
		b.Add(event.KindToolPaused).CallID = asking.id
	}
	if e := d.requestInput(question{pseudonym(details.Get("thread_id").Text()), asking.id}, v, b); e != nil {
		e.SetQuestion(event.Question{Prompt: details.Get("question").String(), Options: details.Get("options")})
	}
}

// inputRequestText is the text of a status frame that asks for input. The symbol before it is left out,
// because its bytes differ between copies of the documentation.
const inputRequestText = "Agent needs human input"

// requestInput reports that the run waits for an answer. If the question has no id, it gets the frame's.
// requestInput returns nil if the frame only repeats an open question with fewer details.
func (d *decoder) requestInput(q question, v strictjson.Value, b *event.Batch) *event.Event {
	if d.question.id != "" && q.id == "" {
		return nil
	}
	q.id = cmp.Or(q.id, dialect.Name(v.Get("id").String()), typeInterrupt)
	d.question = q
	e := b.Add(event.KindInputRequested)
	e.CallID, e.Input = q.id, event.InputClarification
	return e
}

func (d *decoder) inputAnswered(b *event.Batch) {
	b.Add(event.KindInputAnswered).CallID = d.question.id
	d.question = question{}
}

// readEnd ends the run with its first error or, without one, with the status of the frame.
func (d *decoder) readEnd(v strictjson.Value, b *event.Batch) {
	status := v.Get("status")
	switch failure := failureOf(status, event.AgentError); {
	case d.failure != event.NoFailure:
	case failure != event.NoFailure:
		d.fail(failure, "", b)
	case status.Is("interrupted"):
		d.requestInput(question{}, v, b)
	case d.question.id != "":
		d.inputAnswered(b)
	}
	if t := d.content.find(speakerOf(b)); t != nil && d.failure == event.NoFailure { // version 1 has no content_end
		t.report(b, t.hasStart || !d.isVersion2)
	}
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code = d.failure, d.code
	e.Duration, e.ToolCalls = dialect.Duration(v.Get("ms_total"), time.Millisecond), dialect.Count(v.Get("tool_calls"))
	d.runState = runState{ended: true, failure: d.failure, code: d.code}
}

func (d *decoder) readError(v strictjson.Value, b *event.Batch) {
	d.fail(event.AgentError, wire.MostSpecific(wire.ErrorCode(v.Get("error")), wire.Code(v.Get("code"))), b)
}

func (d *decoder) fail(failure event.Failure, code string, b *event.Batch) {
	if d.failure == event.NoFailure {
		d.failure, d.code = failure, code
	}
	e := b.Add(event.KindError)
	e.Error, e.Code = failure, code
}

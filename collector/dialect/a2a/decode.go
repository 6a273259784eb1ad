package a2a

import (
	"hash/maphash"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	tasks    *simplelru.LRU[string, *task]
	last     *task
	names    wire.Names
	places   wire.Places
	withheld withheld
	answers  []string // of a request that did not name its session, until the stream does
}

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	u := readUpdate(f.JSON)
	b.Recap, b.Refusal = u.shape == shapeTask && d.last == nil, u.shape == shapeFailure
	d.decode(f, u, b)
	d.repeatNot(f, u, b)
	if b.Run != "" {
		b.Said = said(f, u)
	}
}

// said hashes what a frame says to everybody who listens to its task: all but the envelope, which has the id of the request.
func said(f dialect.Frame, u update) uint64 {
	if u.shape == shapeNone || u.shape == shapeOther {
		return maphash.Bytes(seed, f.Data) | 1
	}
	return maphash.Bytes(seed, u.body.Raw()) | 1 // never 0
}

func (d *decoder) decode(f dialect.Frame, u update, b *event.Batch) {
	if !f.JSON.Exists() {
		b.Rejected = f.Malformed
		if string(f.Event) == typeError {
			b.Add(event.KindError).Error = event.AgentError
		}
		d.stay(b)
		return
	}
	switch u.shape {
	case shapeTask:
		d.readTask(u.body, b)
	case shapeStatus:
		d.readStatus(u.body, b)
	case shapeArtifact:
		d.readArtifact(u.body, b)
	case shapeMessage:
		d.readMessage(u.body, b)
	case shapeFailure:
		d.readFailure(u.body, b)
	case shapeOther:
		b.Type, b.Unknown = u.kind, dialect.UnknownKind([]byte(u.kind))
		d.stay(b)
	default:
		b.Rejected = event.ReasonShape
		return
	}
	if u.mixed {
		b.Type = typeWorking
	}
	if b.Type == typeWorking && (u.shape == shapeArtifact || u.shape == shapeMessage) {
		b.Type = typeAside
	}
	addThought(f.JSON, b)
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// stay takes a frame that does not say what it is about for one of the task that was heard of last.
func (d *decoder) stay(b *event.Batch) {
	if d.last != nil {
		b.Run, b.Session = d.last.id, d.last.session
	}
}

// about says what a frame is about. An answer is found by its session, which for the server follows from the task, so that a
// request need not name it.
func (d *decoder) about(t *task, b *event.Batch) {
	if b.Run, b.Session = t.id, t.session; b.Session == "" {
		return
	}
	for _, id := range d.answers {
		b.Add(event.KindInputAnswered).CallID = id
	}
	d.answers = nil
}

// readFailure takes an error for the end of the task that the stream is about: nothing follows it.
func (d *decoder) readFailure(v strictjson.Value, b *event.Batch) {
	b.Type = typeError
	t := d.last
	if t == nil {
		t = &task{}
	}
	d.about(t, b)
	code := wire.Specific(t.code, wire.ErrorCode(v))
	if t.over {
		e := b.Add(event.KindError)
		e.Error, e.Code = event.AgentError, code
		return
	}
	t.finish(event.AgentError, code, b)
}

// readTask takes a snapshot. As the first of a stream it holds what was known before who listens came to listen, unless the task
// is over: then it is the whole answer.
func (d *decoder) readTask(v strictjson.Value, b *event.Batch) {
	t, st := d.task(v.Get("id"), v.Get("contextId")), readStatus(v)
	known := !t.heard && !st.over()
	d.enter(t, st, b)
	d.place(readRemarks(v.Get("metadata"), st.message.Get("metadata")), b)
	b.Type = st.typeOfTask(v)
	for artifact := range v.Get("artifacts").Elements() {
		id, parts := d.name(artifact.Get("artifactId")), partsOfArtifact(artifact, v)
		switch {
		case known:
			t.open(id).keep(parts)
		case t.artifact(id) == nil && !t.over:
			t.open(id)
			d.write(artifact, parts, event.Artifact{Complete: true}, b)
			if t.isNews(parts) {
				addTexts(parts, b)
			}
		}
	}
	d.stand(t, st, remarks{}, b)
}

func (d *decoder) readStatus(v strictjson.Value, b *event.Batch) {
	t, st := d.task(v.Get("taskId"), v.Get("contextId")), readStatus(v)
	d.enter(t, st, b)
	m := readRemarks(v.Get("metadata"), st.message.Get("metadata"))
	d.place(m, b)
	b.Type = st.typeOf(typeStatus)
	d.stand(t, st, m, b)
	if n := len(b.Events); n > 0 && b.Events[n-1].Kind == event.KindRunEnded {
		b.Events[n-1].AwaitsOutcome = true // some agents send the artifact after the last status
	}
}

// enter names the run. One that is over stays so, whatever else is said of it.
func (d *decoder) enter(t *task, st status, b *event.Batch) {
	d.about(t, b)
	b.Time = st.time
	t.begin(st.state, b)
}

// stand takes how a task stands, and what is said with that.
func (d *decoder) stand(t *task, st status, m remarks, b *event.Batch) {
	switch {
	case t.over:
	case st.asks():
		for p := range st.parts.all() {
			if p.kind == partCall { // the responses beside them only say that they wait
				d.addCall(t, p, b)
			}
		}
		t.ask(st, b)
	case !st.over():
		t.goOn(b)
		d.comment(t, st, m, b)
	case st.state == completed:
		d.answer(t, st, b)
		t.finish(event.NoFailure, "", b)
	case st.state == canceled:
		t.finish(event.FailureCanceled, "", b)
	default:
		d.failModel(t, m, b)
		t.finish(event.AgentError, wire.Specific(wire.Code(m.code), st.parts.code(), t.code), b)
	}
}

// comment takes what is said while a task is worked on. Of ADK agents it is an event, of others only talk about the work.
func (d *decoder) comment(t *task, st status, m remarks, b *event.Batch) {
	switch {
	case fromUser(st.message):
		for p := range st.parts.all() {
			if p.kind == partResponse {
				d.addResponse(t, m, p, b)
			}
		}
	case m.spoken:
		b.Partial = m.partial
		d.speak(t, m, st.parts, b)
	default:
		for p := range st.parts.all() {
			if p.kind == partThought {
				addText(p, b)
			}
		}
	}
}

// answer takes the text that a task ends with, and those of artifacts of which nobody said that they are whole.
func (d *decoder) answer(t *task, st status, b *event.Batch) {
	told := false
	for _, a := range t.artifacts {
		if a.growing && !a.headless && len(a.text) > 0 {
			b.Add(event.KindText).SetText(a.text)
			told = true
		}
	}
	if !fromUser(st.message) && st.parts.len() > 0 {
		if news := t.isNews(st.parts); news || !told {
			b.Partial = !news
			addTexts(st.parts, b)
		}
	}
}

// failModel states the model's response that a task failed for, unless an update had it already.
func (d *decoder) failModel(t *task, m remarks, b *event.Batch) {
	failure, code := m.failure()
	if failure == event.NoFailure {
		return
	}
	usage := wire.GeminiUsage(m.usage)
	r := t.response(b)
	if r.failure != event.NoFailure && (r.usage == usage || usage == (event.Usage{})) {
		return
	}
	e := b.Add(event.KindModelEnded)
	e.Usage, e.Error, e.Code = usage, failure, code
}

// readMessage takes an answer without a task, which is all of it; or one that is a task's last word. The protocol has a stream either
// be one message or be about a task, so that one which names no task among the updates of a task is of that. One that names the task
// ends nothing: the task says itself when it is over.
func (d *decoder) readMessage(v strictjson.Value, b *event.Batch) {
	if b.Type = typeOf(typeMessage, partsOf(v)); fromUser(v) && b.Type != typeResults {
		b.Type = typeForeign
	}
	if isAmbiguous(v) {
		b.Type = typeWorking
	}
	t, known := d.taskOf(v)
	if !known {
		t = &task{id: d.name(v.First("taskId", "messageId")), session: d.name(v.Get("contextId"))}
	}
	d.about(t, b)
	switch {
	case t.over || fromUser(v):
		return
	case known && len(v.Get("taskId").Text()) > 0:
		d.readPiece(t, v, b)
		return
	case !known:
		b.Add(event.KindRunStarted)
	}
	d.place(readRemarks(v.Get("metadata")), b)
	addTexts(partsOf(v), b)
	t.finish(event.NoFailure, "", b)
}

// readPiece takes a message of a task that is worked on, as Agno sends its answers: each with some more of the text, under one id. The
// end of the task states all of it.
func (d *decoder) readPiece(t *task, v strictjson.Value, b *event.Batch) {
	d.place(readRemarks(v.Get("metadata")), b)
	message, parts := t.open(d.name(v.Get("messageId"))), partsOf(v)
	message.keep(parts)
	message.growing = true
	b.Partial = addTexts(parts, b)
}

// taskOf is the task that a message is of: the one that it names, else the only one of its context that is worked on.
func (d *decoder) taskOf(v strictjson.Value) (*task, bool) {
	if id := v.Get("taskId"); len(id.Text()) > 0 {
		return d.tasks.Peek(d.name(id))
	}
	var found *task
	session := d.name(v.Get("contextId"))
	for _, t := range d.tasks.Values() {
		if t.over || len(t.asked) > 0 || session != "" && t.session != "" && session != t.session {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = t
	}
	return found, found != nil
}

// addTexts states texts and thoughts. It says whether there is a text.
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

// name returns a string of the wire, cut.
func (d *decoder) name(v strictjson.Value) string { return d.names.Of(v) }

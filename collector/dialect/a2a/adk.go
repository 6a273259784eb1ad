package a2a

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// remarks are what an ADK agent says of an event in the metadata of the update that it became.
type remarks struct {
	author, branch, event, code strictjson.Value
	usage, actions              strictjson.Value
	layer, custom               strictjson.Value
	grounding, citations        strictjson.Value

	spoken  bool // the update is an event
	flagged bool // it says whether it is partial
	partial bool
}

// readRemarks reads the metadata of an update and of what it holds: servers differ in where they write what. The first counts.
func readRemarks(sources ...strictjson.Value) (m remarks) {
	set := func(to *strictjson.Value, v strictjson.Value) {
		if !to.Exists() && v.Kind() > strictjson.Null {
			*to = v
		}
	}
	for _, source := range sources {
		for name, v := range source.Members() {
			switch string(name.Text()) {
			case "adk_author":
				set(&m.author, v)
			case "adk_branch":
				set(&m.branch, v)
			case "adk_event_id":
				set(&m.event, v)
			case "adk_error_code":
				set(&m.code, v)
			case "adk_usage_metadata":
				set(&m.usage, v)
			case "adk_actions":
				set(&m.actions, v)
			case "proof_layer", "proofLayer":
				set(&m.layer, v)
			case "adk_custom_metadata":
				set(&m.custom, v)
			case "adk_grounding_metadata":
				set(&m.grounding, v)
			case "adk_citation_metadata":
				set(&m.citations, v)
			case "adk_invocation_id":
				m.spoken = m.spoken || len(v.Text()) > 0
			case "adk_partial":
				if on, ok := v.Bool(); ok && !m.flagged {
					m.flagged, m.partial = true, on
				}
			}
		}
	}
	m.spoken = m.spoken || len(m.author.Text()) > 0
	return m
}

// failure returns that of a model, with its code.
func (m remarks) failure() (class event.Failure, code string) {
	if len(m.code.Text()) == 0 || !wire.IsFailure(m.code) {
		return event.NoFailure, ""
	}
	return event.ModelError, wire.Code(m.code)
}

// statements returns what an event states of its answer beside its content. The ADK writes objects as JSON in a string.
func (m remarks) statements(b *event.Batch) event.Statements {
	layer := m.layer
	if !layer.Exists() {
		layer = b.Embedded(m.custom).First("proofLayer", "proof_layer")
	}
	return event.Statements{Layer: layer, Grounding: b.Embedded(m.grounding), Citations: b.Embedded(m.citations)}
}

// place says whose event it is.
func (d *decoder) place(m remarks, b *event.Batch) {
	if wire.IsUser(m.author) {
		return
	}
	b.Agent, b.Branch = d.name(m.author), d.name(m.branch)
	b.Place = d.places.Of(wire.Speaker{Author: b.Agent, Branch: m.branch.String()})
}

// speaker is the unit in which model responses follow one another: parallel branches interleave.
type speaker struct{ agent, branch string }

// response is what is known of a speaker's current and last model response.
type response struct {
	open    bool   // partial events came, the whole did not
	event   string // the last
	usage   event.Usage
	failure event.Failure
	pieces  maphash.Hash // of its text so far
}

func (t *task) response(b *event.Batch) *response {
	key := speaker{b.Agent, b.Branch}
	r := t.speakers[key]
	if r == nil {
		r = &response{}
		if len(t.speakers) < maxSpeakers {
			t.speakers[key] = r
		}
	}
	return r
}

// speak takes an event of an ADK agent: its parts, and what it says of the model.
func (d *decoder) speak(t *task, m remarks, parts parts, b *event.Batch) {
	r := t.response(b)
	if b.Partial {
		if !r.open {
			r.open = true
			b.Add(event.KindModelStarted)
		}
		addTexts(parts, b)
		return
	}
	b.Statements = m.statements(b)
	failure, code := m.failure()
	if d.respond(r, m, parts, failure, code, b); b.Partial {
		addTexts(parts, b)
		return
	}
	t.code = code
	b.Partial = !t.isNews(parts) && textOnly(parts) && parts.len() > 0 // the last event again, as the answer
	d.addPauses(m, b)
	for p := range parts.all() {
		d.addPart(t, m, p, failure, b)
	}
	if failure != event.NoFailure {
		e := b.Add(event.KindError)
		e.Error, e.Code, e.FromCode = failure, code, true
	}
}

// respond states what is known of a model's response that an event is. Answers of tools are none, and an event that repeats the
// last one as the answer has no usage.
func (d *decoder) respond(r *response, m remarks, parts parts, failure event.Failure, code string, b *event.Batch) {
	usage := wire.GeminiUsage(m.usage)
	if id := d.name(m.event); id != "" && id == r.event && m.usage.Exists() && failure == event.NoFailure && textOnly(parts) {
		r.goOn(usage, parts, b)
		return
	}
	switch {
	case hasResponse(parts):
	case m.usage.Len() > 0, failure != event.NoFailure, r.open && parts.len() > 0:
		e := b.Add(event.KindModelEnded)
		e.Usage, e.Error, e.Code = usage, failure, code
		*r = response{event: d.name(m.event), usage: usage, failure: failure}
		r.pieces.SetSeed(seed)
		hashTexts(&r.pieces, parts)
	}
}

// goOn takes the next event of the same id. In Python, executors without the ADK extension do not say what is partial: an event
// may be the next piece of a response, or, at the end, all of it; what it counts includes what was counted.
func (r *response) goOn(usage event.Usage, parts parts, b *event.Batch) {
	if sumOf(parts) != r.pieces.Sum64() {
		hashTexts(&r.pieces, parts)
		b.Partial = true
		return
	}
	if rest := less(usage, r.usage); rest != (event.Usage{}) {
		b.Add(event.KindUsage).Usage = rest
		r.usage = usage
	}
}

func (d *decoder) addPart(t *task, m remarks, p part, failure event.Failure, b *event.Batch) {
	switch p.kind {
	case partText, partThought:
		if failure == event.NoFailure { // else the words of an error
			addText(p, b)
		}
	case partCall:
		d.addCall(t, p, b)
	case partResponse:
		d.addResponse(t, m, p, b)
	}
}

// addCall states a call once: the answer of a task that waits repeats it.
func (d *decoder) addCall(t *task, p part, b *event.Batch) {
	name, id := d.name(p.data.Get("name")), dialect.Name(p.data.Get("id").String())
	if _, known := t.calls[id]; known {
		return
	}
	args := p.data.Get("args")
	if id != "" && len(t.calls) < maxCalls {
		t.calls[id] = call{long: p.long, target: d.name(wire.TransferTarget(args))}
	}
	if wire.IsRequest(name) {
		t.wait(id)
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = id, wire.RequestInput(name, args)
		return
	}
	if p.long {
		t.wait(id)
	}
	e := b.Add(event.KindToolStarted)
	e.Name, e.CallID, e.LongRunning = name, id, p.long
	e.SetPayload(args)
}

func (d *decoder) addResponse(t *task, m remarks, p part, b *event.Batch) {
	name, id := d.name(p.data.Get("name")), dialect.Name(p.data.Get("id").String())
	c, known := t.calls[id]
	if c.answered {
		return
	}
	if c.answered = true; known || id != "" && len(t.calls) < maxCalls {
		t.calls[id] = c
	}
	t.answer(id)
	if wire.IsRequest(name) {
		b.Add(event.KindInputAnswered).CallID = id
		return
	}
	e := b.Add(event.KindToolEnded)
	e.Name, e.CallID, e.Settled = name, id, c.long
	e.SetPayload(p.data.Get("response"))
	if wire.SaysError(e.Payload()) {
		e.Error, e.Code = event.ToolError, wire.ResponseCode(e.Payload())
		return
	}
	target := d.name(m.actions.First("transferToAgent", "transfer_to_agent"))
	if target == "" {
		target = c.target
	}
	if name == wire.TransferTool && target != "" {
		e := b.Add(event.KindTransfer)
		e.Name, e.ID, e.CallID = target, dialect.Name(m.event.String()), id
	}
}

// addPauses names the calls that wait for a confirmation or a credential before their responses are read: the response of such a call
// holds an error text that is none.
func (d *decoder) addPauses(m remarks, b *event.Batch) {
	for _, asked := range []strictjson.Value{
		m.actions.First("requestedToolConfirmations", "requested_tool_confirmations"),
		m.actions.First("requestedAuthConfigs", "requested_auth_configs"),
	} {
		for call := range asked.Members() {
			b.Add(event.KindToolPaused).CallID = dialect.Name(call.String())
		}
	}
}

func textOnly(parts parts) bool {
	for p := range parts.all() {
		if p.kind != partText && p.kind != partThought {
			return false
		}
	}
	return true
}

func hasResponse(parts parts) bool {
	for p := range parts.all() {
		if p.kind == partResponse {
			return true
		}
	}
	return false
}

// less is what one usage counts more than another, nothing where that is less than nothing.
func less(u, v event.Usage) event.Usage {
	rest := func(a, b event.Count) event.Count {
		if a.Known && a.N > b.N {
			return event.Count{N: a.N - b.N, Known: true}
		}
		return event.Count{}
	}
	return event.Usage{
		Input: rest(u.Input, v.Input), Output: rest(u.Output, v.Output),
		CacheRead: rest(u.CacheRead, v.CacheRead), Reasoning: rest(u.Reasoning, v.Reasoning),
	}
}

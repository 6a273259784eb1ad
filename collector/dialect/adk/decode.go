package adk

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	oneRun    bool
	run       string
	names     wire.Names
	parts     []part // of the frame at hand
	places    wire.Places
	responses map[string]*response // by the speaker's place: parallel branches interleave
	pending   pending
	failed    bool              // an event said so; an error frame says it again
	reported  errorEvent        // the last
	branches  map[string]string // by agent, the last
	handedTo  string            // by the last transfer of which nothing was heard yet
	lastWhole uint64            // hash of the id of the last event that was not partial; 0 if it had none
}

// response is what is known of a speaker's current and last model response.
type response struct {
	open     bool // partial frames came, the aggregate did not
	model    string
	last     event.Usage
	streamed bool // partial frames came before the last one
	half     bool // the last one had no finish reason, or was refused: it may come in a second frame
	answered bool // the last one was a final answer

	left []response // earlier ones, which handed control over and may end with an empty frame once it comes back
}

// maxLeft bounds how many responses of a speaker are remembered while control is elsewhere.
const maxLeft = 64

// leave remembers a response that handed control over: the next one of this speaker may be that of another invocation.
func (r *response) leave() {
	if len(r.left) < maxLeft {
		r.left = append(r.left, response{last: r.last, streamed: r.streamed, half: r.half})
	}
}

// resume goes back to the response that an empty frame ends. JavaScript, when it streams, writes that frame after all that the response
// caused, and other invocations of the agent may be among that.
func (r *response) resume(fr *frame) {
	if !fr.hasUsage || fr.Parts.Len() > 0 || fr.repeats(r) || fr.continues(r) {
		return
	}
	for i := len(r.left) - 1; i >= 0; i-- {
		if back := r.left[i]; fr.repeats(&back) || fr.continues(&back) {
			back.model, back.left = r.model, r.left[:i]
			*r = back
			return
		}
	}
}

// maxSpeakers bounds what a stream can make the decoder remember. Beyond it a response is judged by its own frame alone.
const maxSpeakers = 1024

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	v := unwrap(f.JSON)
	m := readMembers(v)
	if b.Type = typeEvent; v != f.JSON {
		b.Type = typeWrapped
	}
	switch {
	case !f.JSON.Exists():
		b.Rejected = f.Malformed
		if message, is := bytes.CutPrefix(f.Data, brokenError); is {
			b.Run = d.run
			d.addErrorFrame(message, wire.TextCode(message), b)
		}
	case isErrorFrame(v):
		b.Run, b.Type = d.run, typeError
		b.Time = reportedTime(m.details.Get("timestamp"))
		code := wire.Specific(wire.Code(m.details.Get("error_type")), wire.ErrorCode(v.Get("error")))
		d.addErrorFrame(v.Get("error").Text(), d.reported.refine(code, m.details.Get("error_message")), b)
	case !m.isEvent():
		b.Rejected = event.ReasonShape
	default:
		d.decodeEvent(m, b)
	}
}

func (d *decoder) decodeEvent(m members, b *event.Batch) {
	first := d.run == ""
	b.Run = d.runID(m.invocation)
	user := wire.IsUser(m.author)
	b.Branch = d.name(m.branch)
	switch {
	case user:
	case first && m.isPlugin():
		b.Place = &event.Place{Root: event.RootSilent}
	default:
		b.Agent = d.name(m.author)
		b.Branch = d.branchOf(b.Agent, b.Branch, m)
		path := m.node.Get("path")
		b.Place = d.places.Of(wire.Speaker{
			Author: b.Agent, Path: d.text(path, wire.MaxText), Branch: cmp.Or(d.text(m.branch, wire.MaxText), b.Branch), Scope: d.name(m.scope),
			HasPath: path.Exists(), Runs: m.actions.First("agentState", "agent_state").Kind() == strictjson.Object, Function: m.isFunction(),
		})
		if b.Output = m.node.First("outputFor", "output_for").Len() > 0; b.Output {
			d.places.HasOutput(d.text(path, wire.MaxText))
		}
	}
	b.Time = reportedTime(m.timestamp)
	b.Partial, _ = m.partial.Bool()
	b.Statements = m.statements()
	if b.Agent == d.handedTo {
		d.handedTo = ""
	}
	fr := readFrame(m)
	fr.isNode = b.Place.IsFunction() || fr.isBare() && d.places.IsWorkflow(d.text(m.node.Get("path"), wire.MaxText))
	fr.isStep = b.Place.IsStep()
	if fr.tooMuch() {
		b.Rejected = event.ReasonShape
		return
	}
	d.parts = appendParts(d.parts, fr.Parts)
	fr.parts = d.parts
	switch {
	case user:
		d.addResponses(&fr, b)
	case b.Partial:
		d.addPartial(&fr, b)
	default:
		d.addWhole(&fr, b)
	}
}

// branchOf returns an event's branch. JavaScript leaves it off an error: that is of the branch in which the agent spoke last.
func (d *decoder) branchOf(agent, branch string, m members) string {
	last, known := d.branches[agent]
	switch {
	case branch == "" && m.code.Exists() && !m.node.Exists():
		return last
	case known || branch != "" && len(d.branches) < maxSpeakers:
		d.branches[agent] = branch
	}
	return branch
}

// runID is the id of the stream's run. Python of mid-2025 gave the merged response of parallel calls a fresh id of eight
// characters, so only an id with the prefix of real ones can begin another run, and none does in the answer to one request.
func (d *decoder) runID(v strictjson.Value) string {
	switch {
	case d.run != "" && (d.oneRun || v.Is(d.run)):
		return d.run
	case len(v.Text()) == 0:
		return d.run
	case d.run == "" || strings.HasPrefix(v.String(), "e-"):
		d.run = dialect.Name(v.String())
		clear(d.responses)
		clear(d.branches)
		d.pending, d.handedTo, d.failed, d.reported, d.lastWhole = nil, "", false, errorEvent{}, 0
	}
	return d.run
}

// addPartial takes the text of a delta and the sign that a model responds. Calls in it are previews: incomplete, and with
// ids that need not be those of the whole frame; its usage is repeated by the whole frame.
func (d *decoder) addPartial(fr *frame, b *event.Batch) {
	r := d.response(b)
	if fr.Model.Exists() {
		r.model = cmp.Or(d.name(fr.Model), r.model)
	}
	if !r.open && !fr.goesOn(r) {
		r.open = true
		b.Add(event.KindModelStarted).Model = r.model
	}
	for _, p := range fr.parts {
		if p.kind == partText || p.kind == partThought {
			addText(p, fr, b)
		}
	}
	if fr.hasErrorCode() {
		addErrorCode(fr.failure(r, len(d.pending.of(placeKey(b)))), fr.code(), b)
	}
}

func (d *decoder) addWhole(fr *frame, b *event.Batch) {
	if d.addRest(fr, b) {
		return
	}
	r := d.response(b)
	r.resume(fr)
	var calls []pendingCall // that a failure can be about; there may be many, so frames without one do not look
	if fr.hasErrorCode() {
		calls = d.pending.of(placeKey(b))
	}
	failure, code := fr.failure(r, len(calls)), ""
	if failure == event.ModelError && d.deniesTarget(fr) {
		failure = event.AgentError
	}
	if failure != event.NoFailure {
		code = fr.code()
		d.failed, d.reported = true, newErrorEvent(code, fr.message)
	}
	answered := r.answered
	switch {
	case failure == event.ToolError:
		d.failCall(calls, fr.message.Text(), code, b)
	case failure == event.AgentError:
	case fr.isModelResponse(r):
		e := b.Add(event.KindModelEnded)
		e.Model = cmp.Or(d.name(fr.Model), r.model)
		e.FinishReason, e.Usage, e.Error = dialect.Name(fr.FinishReason.String()), fr.Usage, failure
		e.Code = code
		half := e.FinishReason == "" || failure != event.NoFailure
		e.Unmetered = e.FinishReason == "" && failure == event.NoFailure && fr.hasUsage && (r.open || fr.notPartial)
		*r, answered = response{last: fr.Usage, streamed: r.open, half: half, left: r.left}, true
	case fr.continues(r):
		e := b.Add(event.KindUsage)
		e.Usage.Output = event.Count{N: fr.Usage.Output.N - r.last.Output.N, Known: true}
		r.half, r.last = !fr.FinishReason.Exists(), fr.Usage
		e.Unmetered = r.half
	case fr.repeats(r) && fr.isSection():
		b.Add(event.KindUsage).Unmetered = true
	default:
		r.half = r.half && fr.Parts.Len() == 0 && failure == event.NoFailure
	}
	r.answered = answered && failure == event.NoFailure && fr.isFinal() && fr.LongRunning.Len() == 0 && !fr.awaitsCode()
	d.addPauses(fr, b)
	for _, p := range fr.parts {
		d.addPart(p, fr, b)
	}
	d.addActions(fr, b)
	if e := addErrorCode(failure, code, b); e != nil && failure == event.AgentError && !fr.isNode {
		e.Name = d.handedTo
	}
	if fr.isFinal() {
		b.Add(event.KindFinal)
	}
}

// addResponses takes the answers to calls out of a frame of the user, which is no agent and whose words are no answer.
func (d *decoder) addResponses(fr *frame, b *event.Batch) {
	for _, p := range fr.parts {
		if p.kind == partResponse {
			d.addPart(p, fr, b)
		}
	}
}

func (d *decoder) addPart(p part, fr *frame, b *event.Batch) {
	switch p.kind {
	case partText, partThought:
		addText(p, fr, b)
	case partCall:
		d.addCall(p, fr, b)
	case partResponse:
		name, id := d.name(p.name), dialect.Name(p.id.String())
		if wire.IsRequest(name) {
			b.Add(event.KindInputAnswered).CallID = id
			return
		}
		d.pending.answered(id, name)
		e := b.Add(event.KindToolEnded)
		e.Name, e.CallID, e.Settled = name, id, fr.settles() || b.Output
		e.Pending = b.Agent != "" && bytes.EqualFold(p.body.Get("status").Text(), []byte("pending"))
		e.SetPayload(p.body)
		if wire.SaysError(p.body) {
			e.Error, e.Code = event.ToolError, wire.ResponseCode(p.body)
		}
	case partCode:
		d.addCode(p, b)
	case partCodeResult:
		d.addCodeResult(p, fr, b)
	case partOther:
		if p.unknown.Exists() && b.Unknown == "" {
			b.Unknown = dialect.UnknownKind(append([]byte("part."), p.unknown.Text()...))
		}
		b.Add(event.KindOther)
	}
}

func (d *decoder) addCall(p part, fr *frame, b *event.Batch) {
	name, id := d.name(p.name), dialect.Name(p.id.String())
	if wire.IsRequest(name) {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = id, wire.RequestInput(name, p.body)
		confirmed := p.body.First("originalFunctionCall", "original_function_call").Get("id").String()
		e.SetQuestion(wire.RequestQuestion(name, p.body, fr.actions.confirmations.Get(confirmed).Get("hint")))
		return
	}
	e := b.Add(event.KindToolStarted)
	if e.Name, e.CallID, e.LongRunning = name, id, fr.isLongRunning(p.id); !e.LongRunning {
		d.pending.add(placeKey(b), id, name)
	}
	e.SetPayload(p.body)
}

// addPauses names the calls that wait for a confirmation or a credential before their responses are read: the response of
// such a call holds an error text that is none.
func (d *decoder) addPauses(fr *frame, b *event.Batch) {
	for _, asked := range []strictjson.Value{fr.actions.confirmations, fr.actions.credentials} {
		for call := range asked.Members() {
			b.Add(event.KindToolPaused).CallID = dialect.Name(call.String())
		}
	}
}

func (d *decoder) addActions(fr *frame, b *event.Batch) {
	if target := fr.actions.transfer; len(target.Text()) > 0 {
		e := b.Add(event.KindTransfer)
		e.Name, e.ID, e.CallID = d.name(target), dialect.Name(fr.ID.String()), dialect.Name(fr.transferCall().String())
		d.handedTo = e.Name
		d.response(b).leave()
	}
	fr.addArtifacts(b)
	if fr.actions.state.Len() > 0 {
		b.Add(event.KindState)
	}
}

// addText takes text for an agent's: what stands in another role than the model's is none, whoever is named as its author.
func addText(p part, fr *frame, b *event.Batch) {
	switch {
	case fr.foreign:
		if !p.text.Is("") {
			b.Add(event.KindOther)
		}
	case p.kind == partThought || fr.thinks:
		b.AddText(event.KindThought, p.text)
	default:
		b.AddText(event.KindText, p.text)
	}
}

func addErrorCode(failure event.Failure, code string, b *event.Batch) *event.Event {
	if failure == event.NoFailure {
		return nil
	}
	e := b.Add(event.KindError)
	e.Error, e.Code, e.FromCode = failure, code, true
	return e
}

// deniesTarget reports whether an error is about the agent that control was handed to: there is none of that name.
func (d *decoder) deniesTarget(fr *frame) bool {
	return d.handedTo != "" && !fr.hasUsage && !fr.FinishReason.Exists() && fr.Parts.Len() == 0 &&
		bytes.Contains(fr.message.Text(), []byte(d.handedTo))
}

// addErrorFrame states an error that ends the run or befell it: what had not answered then failed, and an agent that control was handed
// to is none if the message names it.
func (d *decoder) addErrorFrame(message []byte, code string, b *event.Batch) {
	if len(d.pending) > 0 {
		d.failCall(d.pending, message, code, b)
	} else if wire.APIErrorCode(message) != "" && !d.failed {
		e := b.Add(event.KindModelEnded)
		e.Error, e.Code = event.ModelError, code
	}
	e := b.Add(event.KindError)
	if e.Error, e.Code = event.AgentError, code; d.handedTo != "" && bytes.Contains(message, []byte(d.handedTo)) {
		e.Name = d.handedTo
	}
}

func placeKey(b *event.Batch) string {
	if b.Place == nil {
		return ""
	}
	return b.Place.Key
}

func (d *decoder) response(b *event.Batch) *response {
	key := placeKey(b)
	r := d.responses[key]
	if r == nil {
		r = &response{}
		if len(d.responses) < maxSpeakers {
			d.responses[key] = r
		}
	}
	return r
}

// name returns a string of the wire, cut.
func (d *decoder) name(v strictjson.Value) string { return d.names.Of(v) }

// text is name with another bound.
func (d *decoder) text(v strictjson.Value, most int) string { return d.names.Cut(v.Text(), most) }

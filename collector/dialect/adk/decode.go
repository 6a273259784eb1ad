package adk

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	singleRun           bool
	run                 string
	names               wire.NameCache
	parts               []part // of the current frame; reused
	places              wire.Places
	responses           map[string]*response // by the speaker's place, because parallel branches interleave
	last                *response            // of the last event's speaker
	pending             pending
	pauses              wire.Pauses
	errorReported       bool // an event reported a failure, which an error frame may repeat
	errors              errorEvents
	lastBranches        map[string]string    // each agent's last branch
	lastUnbranchedError time.Time            // of the last error that may be in any branch
	transferTarget      string               // target of the last transfer until it speaks
	lastWholeID         uint64               // hash of the id of the last event that was not partial; 0 if it had none
	remoteCalls         wire.Set[remoteCall] // calls of remote agents
	remoteTasks         map[string]string    // the last task of each remote agent, by its place
	calls               withheldCalls
	workflows           wire.Set[string] // names of resumable workflows
	history             eventHistory
}

// maxSpeakers limits the speakers that are remembered per stream. Frames of further speakers are decoded
// without the state of their responses.
const maxSpeakers = 1024

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	v := unwrap(f.JSON)
	var fr frame
	fr.read(v)
	if b.Type = typeEvent; v != f.JSON {
		b.Type = typeWrapped
	}
	switch {
	case !f.JSON.Exists():
		b.Rejected = f.Malformed
		if message, ok := bytes.CutPrefix(f.Data, brokenError); ok {
			b.Run = d.run
			d.addErrorFrame(message, wire.TextCode(message), errorEvent{}, false, b)
		}
	case fr.errorValue.Exists() && isErrorFrame(v):
		b.Run, b.Type = d.run, typeError
		b.Time = wire.Time(fr.errorDetails.Get("timestamp"))
		code := wire.MostSpecific(wire.Code(fr.errorDetails.Get("error_type")), wire.ErrorCode(fr.errorValue))
		repeated, repeats := d.errors.repeatedBy(firstOf(fr.errorDetails.Get("error_message"), fr.errorValue))
		if repeats { // the code in the frame is only the class of the exception
			code = wire.MostSpecific(repeated.code, code)
		}
		d.addErrorFrame(fr.errorValue.Text(), code, repeated, repeats, b)
	case !fr.isEvent():
		b.Rejected = event.ReasonShape
	default:
		d.decodeEvent(&fr, b)
	}
}

func (d *decoder) decodeEvent(fr *frame, b *event.Batch) {
	fr.interpret()
	first := d.run == ""
	if fr.isRepeat = d.history.repeats(fr); fr.isRepeat {
		b.Run = d.run
	} else {
		b.Run = d.runID(fr.invocation)
	}
	user := wire.IsUser(fr.author)
	fr.remote = readRemote(b, fr.customMetadata, user)
	isSummary := fr.isSummary()
	b.Branch = d.name(fr.branch)
	switch {
	case user, isSummary, fr.isRepeat:
	case first && fr.isPlugin():
		b.Place = &event.Place{Root: event.RootSilent}
	case d.readWorkflowRecord(fr):
		b.Agent, b.Place, b.SameStep, fr.isRecord = d.name(fr.author), &event.Place{}, true, true
	default:
		b.Agent = d.name(fr.author)
		b.Branch = d.branchOf(b.Agent, b.Branch, fr)
		path := fr.nodeInfo.Get("path")
		isOutput := fr.isWorkflowOutput()
		if isOutput {
			path = fr.author
		}
		b.Place = d.places.Of(wire.Speaker{
			Author: b.Agent, Path: d.text(path, wire.MaxPath), Branch: cmp.Or(d.text(fr.branch, wire.MaxPath), b.Branch), Scope: d.name(fr.scope),
			HasPath: path.Exists(), RunsNext: fr.hasAgentState() && fr.longRunning.Len() == 0, IsWorkflow: isOutput || fr.isPauseRecord(), IsFunction: fr.isFunction(),
		})
		b.NewTask = d.isNewTask(fr, b)
		if b.Output = fr.nodeInfo.First("outputFor", "output_for").Len() > 0; b.Output {
			d.places.AddOutput(d.text(path, wire.MaxPath))
		}
	}
	if b.Time = d.history.lastTime; !fr.isRepeat {
		b.Time = wire.Time(fr.timestamp)
		d.history.lastTime = b.Time
	}
	d.noteOrder(fr, user, b)
	b.Partial = isTrue(fr.partial)
	if !fr.isRepeat {
		b.Statements = fr.statements(b)
	}
	if b.Agent == d.transferTarget {
		d.transferTarget = ""
	}
	fr.lacksModel = b.Place.IsFunction() || fr.isRelayed() || fr.isBare() && d.places.IsWorkflow(d.text(fr.nodeInfo.Get("path"), wire.MaxPath))
	fr.isStep = b.Place.IsStep()
	d.withhold(fr, b)
	if fr.exceedsLimits() {
		b.Rejected = event.ReasonTooLarge
		return
	}
	d.parts = appendParts(d.parts, fr.partList)
	defer func() { clear(d.parts) }() // they would keep a large frame in memory until the next one
	fr.parts = d.parts
	fr.applyRemote(b)
	b.Type = fr.typeOf(b.Type == typeWrapped)
	switch {
	case isSummary, fr.isRepeat:
		b.Add(event.KindOther)
	case user:
		d.addResponses(fr, b)
	case fr.isRecord:
		d.addActions(fr, b)
		b.Add(event.KindOther)
	case b.Partial:
		d.addPartial(fr, b)
	default:
		d.addWhole(fr, b)
	}
}

// branchOf returns an event's branch. JavaScript leaves the branch out of an error. Such an error belongs to
// the branch in which the agent spoke last.
func (d *decoder) branchOf(agent, branch string, fr *frame) string {
	last, known := d.lastBranches[agent]
	switch {
	case branch == "" && fr.reportsFailure() && !fr.nodeInfo.Exists():
		return last
	case known || branch != "" && len(d.lastBranches) < maxSpeakers:
		d.lastBranches[agent] = branch
	}
	return branch
}

// runID returns the id of the stream's run, given an event's invocation id. The answer to a run request has
// only one run. In other streams, another id with the usual prefix starts another run. An id without the
// prefix does not, because Python of mid-2025 gave the merged response of parallel calls a new id of eight characters.
func (d *decoder) runID(v strictjson.Value) string {
	switch {
	case d.run != "" && (d.singleRun || v.Is(d.run)):
		return d.run
	case len(v.Text()) == 0:
		return d.run
	case d.run == "" || strings.HasPrefix(v.String(), "e-"):
		d.run = dialect.Name(v.String())
		clear(d.responses)
		clear(d.lastBranches)
		clear(d.remoteTasks)
		d.last, d.lastUnbranchedError = nil, time.Time{}
		d.pending, d.transferTarget, d.errorReported, d.errors, d.lastWholeID = nil, "", false, nil, 0
		d.pauses, d.remoteCalls, d.workflows = wire.Pauses{}, wire.Set[remoteCall]{}, wire.Set[string]{}
	}
	return d.run
}

// addPartial reports the text of a partial frame, and that a model is responding. It does not report calls: they
// are incomplete, and their ids may differ from those in the whole frame. It does not report the usage either, because
// the whole frame repeats it.
func (d *decoder) addPartial(fr *frame, b *event.Batch) {
	r := d.speaker(fr, b)
	if fr.model.Exists() {
		r.model = cmp.Or(d.name(fr.model), r.model)
	}
	switch {
	case r.open || fr.lacksModel || fr.continuesUsage(r):
	case fr.followsSection && fr.usesTool():
		b.Add(event.KindUsage).UsageIncomplete = true
	default:
		r.open = true
		b.Add(event.KindModelStarted).Model = r.model
	}
	for _, p := range fr.parts {
		if p.kind == partText || p.kind == partThought {
			addText(p, fr, b)
		}
	}
	if fr.reportsFailure() {
		addErrorCode(fr.failure(r, len(d.pending.byPlace(placeKey(b)))), fr.code(), b)
	}
}

// addWhole reports the contents of a frame that is not partial.
func (d *decoder) addWhole(fr *frame, b *event.Batch) {
	if d.addSplitArtifacts(fr, b) {
		return
	}
	r := d.speaker(fr, b)
	r.resume(fr)
	var calls []pendingCall // the speaker's; collected only for a failure, because there may be many
	if fr.reportsFailure() {
		calls = d.pending.byPlace(placeKey(b))
	}
	failure, code := fr.failure(r, len(calls)), ""
	if failure == event.ModelError && d.rejectsTarget(fr) {
		failure = event.AgentError
	}
	if failure != event.NoFailure {
		code = fr.code()
		d.errorReported = true
		d.errors.add(fr.errorMessage, errorEvent{code, callsAround(b.Place)})
	}
	d.addResponse(fr, r, failure, code, calls, b)
	d.addPauses(fr, b)
	for _, p := range fr.parts {
		d.addPart(p, fr, b)
	}
	d.addActions(fr, b)
	if e := addErrorCode(failure, code, b); e != nil && failure == event.AgentError && !fr.lacksModel {
		e.Name = d.transferTarget
	}
	switch {
	case fr.isCheckpoint():
		b.Add(event.KindOther)
	case fr.isFinal() && !fr.waitsAgain:
		b.Add(event.KindFinal)
	}
}

// addResponse reports what a whole frame adds to the speaker's model response, or the failure of a call.
func (d *decoder) addResponse(fr *frame, r *response, failure event.Failure, code string, calls []pendingCall, b *event.Batch) {
	wasFinal := r.wasFinal
	switch {
	case failure == event.ToolError:
		d.failCall(calls, false, fr.errorMessage.Text(), code, b)
	case failure == event.AgentError, failure == event.FailureCanceled:
	case fr.isModelResponse(r):
		e := b.Add(event.KindModelEnded)
		e.Model = cmp.Or(d.name(fr.model), r.model)
		e.FinishReason, e.Usage, e.Error, e.Code = dialect.Name(fr.finishReason.String()), fr.usage, failure, code
		if failure == event.NoFailure { // the agent goes on with what there is of the answer
			e.Error, e.Code = wire.FinishFailure(e.FinishReason)
		}
		mayContinue := e.FinishReason == "" || failure != event.NoFailure
		e.UsageIncomplete = e.FinishReason == "" && failure == event.NoFailure && (r.open || fr.hasUsage && fr.notPartial)
		*r, wasFinal = response{lastUsage: fr.usage, streamed: r.open, mayContinue: mayContinue, suspended: r.suspended}, true
	case fr.completes():
		b.Add(event.KindUsage).Usage = fr.usage
		r.mayContinue, r.lastUsage = !fr.finishReason.Exists(), fr.usage
	case fr.continues(r):
		e := b.Add(event.KindUsage)
		e.Usage.Output = event.Count{N: fr.usage.Output.N - r.lastUsage.Output.N, Known: true}
		r.mayContinue, r.lastUsage = !fr.finishReason.Exists(), fr.usage
		e.UsageIncomplete = r.mayContinue
	case (fr.repeats(r) || fr.followsSection) && fr.isSection():
		b.Add(event.KindUsage).UsageIncomplete = true
	default:
		r.mayContinue = r.mayContinue && fr.partList.Len() == 0 && failure == event.NoFailure
	}
	r.wasFinal = wasFinal && failure == event.NoFailure && fr.isFinal() && fr.longRunning.Len() == 0 && !fr.awaitsCode()
}

// addResponses reports the tool responses in a frame of the user. The user is no agent, and the user's
// text is no answer.
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
		if wire.IsInputRequest(name) {
			d.pauses.Answer(id)
			b.Add(event.KindInputAnswered).CallID = id
			return
		}
		d.pending.remove(id, name)
		e := b.Add(event.KindToolEnded)
		e.Name, e.CallID, e.TurnMayEnd = name, id, fr.mayEndTurn() || b.Output
		e.Pending = b.Agent != "" && wire.IsPending(p.body)
		e.SetPayload(p.body)
		if wire.HasError(p.body) {
			e.Error, e.Code = event.ToolError, wire.ResponseCode(p.body)
		}
	case partCode:
		d.addCode(p, b)
	case partCodeResult:
		d.addCodeResult(p, fr, b)
	case partOther:
		if p.unknown.Exists() && b.UnknownKind == "" {
			b.UnknownKind = dialect.UnknownKind(append([]byte("part."), p.unknown.Text()...))
		}
		b.Add(event.KindOther)
	}
}

func (d *decoder) addCall(p part, fr *frame, b *event.Batch) {
	name, id := d.name(p.name), dialect.Name(p.id.String())
	if name == "" { // a piece of a call
		b.Add(event.KindOther)
		return
	}
	if d.repeatsRemoteCall(id, fr, b) {
		if fr.isLongRunning(p.id) { // a text since may have looked like a final answer
			e := b.Add(event.KindInputRequested)
			e.CallID, e.Input, fr.waitsAgain = id, event.InputTool, true
		}
		return
	}
	if wire.IsInputRequest(name) {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = id, wire.InputKind(name, p.body)
		confirmed := p.body.First("originalFunctionCall", "original_function_call").Get("id").String()
		e.SetQuestion(wire.Question(name, p.body, fr.actions.confirmations.Get(confirmed).Get("hint")))
		d.pauses.Ask(id, name, p.body)
		return
	}
	e := b.Add(event.KindToolStarted)
	if e.Name, e.CallID, e.LongRunning = name, id, fr.isLongRunning(p.id); !e.LongRunning {
		d.pending.add(id, name, b)
	}
	e.TurnMayEnd = fr.isRelayed() // a remote task completes while a task of its agent waits for the next message
	e.SetPayload(p.body)
}

func (d *decoder) addActions(fr *frame, b *event.Batch) {
	if target := fr.actions.transfer; len(target.Text()) > 0 {
		e := b.Add(event.KindTransfer)
		e.Name, e.ID, e.CallID = d.name(target), dialect.Name(fr.id.String()), dialect.Name(fr.transferCall().String())
		d.transferTarget = e.Name
		d.response(b).suspend()
	}
	fr.addArtifacts(b)
	if fr.actions.state.Len() > 0 {
		b.Add(event.KindState)
	}
}

// addText reports a text. If the role of the content is not the model's, the text is not an answer, even
// if the author is an agent.
func addText(p part, fr *frame, b *event.Batch) {
	switch {
	case fr.otherRole:
		if !p.text.Is("") {
			b.Add(event.KindOther)
		}
	case p.kind == partThought || fr.isThought:
		b.AddText(event.KindThought, p.text)
	default:
		b.AddText(event.KindText, p.text)
	}
}

// name returns a string of the wire, cut to dialect.MaxName.
func (d *decoder) name(v strictjson.Value) string { return d.names.Name(v) }

// text returns a string of the wire, cut to limit.
func (d *decoder) text(v strictjson.Value, limit int) string {
	return d.names.Truncate(v.Text(), limit)
}

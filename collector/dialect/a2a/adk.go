package a2a

import (
	"cmp"
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// adkMetadata is what an ADK agent states about an event in the metadata of the update that carries it.
type adkMetadata struct {
	author, branch, event, code strictjson.Value // code is the error code
	usage, actions              strictjson.Value
	proofLayer, custom          strictjson.Value
	grounding, citations        strictjson.Value

	isEvent     bool // the update carries an event
	hasPartial  bool // the metadata says whether the event is partial
	partial     bool
	inArtifact  bool // the event is in an artifact, not in a status
	isEmpty     bool // the event is in a status that has no parts, and may have lost its calls
	hasAllCalls bool // the server (JavaScript's) does not leave long-running calls out of artifacts

	errorMessage strictjson.Value // the message of the update if it has the error of the event, and not its content
}

// readADKMetadata reads the metadata of an update and of the objects in it. Servers put
// members in different places; the first source that has a value wins.
func readADKMetadata(sources ...strictjson.Value) (m adkMetadata) {
	set := func(to *strictjson.Value, v strictjson.Value) {
		if !to.Exists() && v.Kind() > strictjson.Null {
			*to = v
		}
	}
	for _, source := range sources {
		for name, v := range source.Members() {
			field, isADK := wire.CutADKPrefix(name.Text())
			if !isADK {
				if name.Is("proof_layer") || name.Is("proofLayer") {
					set(&m.proofLayer, v)
				}
				continue
			}
			switch string(field) {
			case "author":
				set(&m.author, v)
			case "branch":
				set(&m.branch, v)
			case "event_id":
				set(&m.event, v)
			case "error_code":
				set(&m.code, v)
			case "usage_metadata":
				set(&m.usage, v)
			case "actions":
				set(&m.actions, v)
			case "custom_metadata":
				set(&m.custom, v)
			case "grounding_metadata":
				set(&m.grounding, v)
			case "citation_metadata":
				set(&m.citations, v)
			case "invocation_id":
				m.isEvent = m.isEvent || len(v.Text()) > 0
			case "is_long_running": // only JavaScript's servers say so of an event
				m.hasAllCalls = true
			case "partial":
				if on, ok := v.Bool(); ok && !m.hasPartial {
					m.hasPartial, m.partial = true, on
				}
			}
		}
	}
	m.isEvent = m.isEvent || len(m.author.Text()) > 0
	return m
}

// statements returns what an event states about its answer besides the content. The ADK writes objects as JSON
// strings.
func (m adkMetadata) statements(b *event.Batch) event.Statements {
	layer := m.proofLayer
	if !layer.Exists() {
		layer = wire.CustomMember(b, m.custom, "proofLayer", "proof_layer")
	}
	return event.Statements{Layer: layer, Grounding: b.Embedded(m.grounding), Citations: b.Embedded(m.citations)}
}

// endsTurn reports whether the agent's turn can end with the tool's response in an event, without another response of its model.
func (m adkMetadata) endsTurn() bool {
	for _, action := range []strictjson.Value{
		m.actions.First("skipSummarization", "skip_summarization"), m.actions.Get("escalate"), m.actions.First("endInvocation", "end_invocation"),
	} {
		if ends, _ := action.Bool(); ends {
			return true
		}
	}
	return false
}

// transferTarget returns the name of the agent to which an event transfers control, or "".
func (d *decoder) transferTarget(m adkMetadata) string {
	return d.name(m.actions.First("transferToAgent", "transfer_to_agent"))
}

// setSpeaker sets the agent, branch and place of the batch. Python's server leaves the branch out of the artifact with a task's
// answer and out of the final status. If the artifact or status has the ID of the agent's last event, or no ID, it gets the branch of that
// event. Python's and Go's servers leave long-running calls out of artifacts. If nothing is left of an event, Python's server sends a status
// without parts. Either may look like a final response although a call was left out of it, so FinalsUnmarked is not set for it.
//
// Source: google/adk/a2a/converters/long_running_functions.py and from_adk_event.py of google-adk 2.13.
func (d *decoder) setSpeaker(t *task, m adkMetadata, b *event.Batch) {
	if wire.IsUser(m.author) || d.isOfWorkflow(t, m) {
		return
	}
	b.Agent, b.Branch = d.name(m.author), d.name(m.branch)
	b.Place = d.places.Of(wire.Speaker{Author: b.Agent, Branch: m.branch.String(), FinalsUnmarked: !m.inArtifact && !m.isEmpty || m.hasAllCalls})
	last, known := t.lastPlaces[b.Agent]
	switch id := d.name(m.event); {
	case known && b.Branch == "" && id == last.event && (id != "" || !m.actions.Exists() && m.usage.Len() == 0):
		b.Branch, b.Place = last.branch, last.place
	case known || b.Branch != "" && len(t.lastPlaces) < maxSpeakers:
		t.lastPlaces[b.Agent] = agentPlace{id, b.Branch, b.Place}
	}
}

// agentPlace is the last ADK event of an agent, and where it spoke.
type agentPlace struct {
	event  string // its id
	branch string
	place  *event.Place
}

// speaker identifies who makes a model response. Responses of parallel branches interleave.
type speaker struct{ agent, branch string }

// response is the state of a speaker's current or last model response.
type response struct {
	streaming bool   // pieces of it arrived, but not the whole response
	artifact  string // the artifact that has the pieces, if they are not marked as partial
	lastEvent string // id of the last event that is not marked as partial
	reported  bool   // the end of the response in lastEvent was reported
	usage     event.Usage
	failure   event.Failure // the failure that was reported for the response, or for a call of the speaker if it is known which one failed
	asksModel bool          // the last event has a tool's response, after which the agent asks its model
	textHash  maphash.Hash  // hash of the text so far
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

// readEvent reads an event of an ADK agent: its parts and its model response.
func (d *decoder) readEvent(t *task, m adkMetadata, parts parts, b *event.Batch) {
	r := t.response(b)
	if b.Partial {
		r.addPiece(m, b)
		addTexts(parts, b)
		return
	}
	b.Statements = m.statements(b)
	if d.repeatsRemoteError(parts) {
		return
	}
	id, isError := d.name(m.event), m.errorMessage.Exists()
	if id != "" && id == t.errorEvent && m.code.Exists() { // the event's response and failure were reported with its error
		d.addParts(t, m, parts, isError, b)
		return
	}
	failure, code := d.failure(t, r, m, parts, b)
	if isError || failure != event.NoFailure {
		t.errorEvent, t.errorMessage, t.lastError = id, d.name(m.errorMessage.Get("messageId")), failure
		isError = !m.inArtifact // servers send the text of an error in a status, and the content of its event in an artifact
	}
	if d.reportResponse(r, m, parts, failure, code, b); b.Partial {
		addTexts(parts, b)
		return
	}
	t.failed, t.code, r.asksModel = failure != event.NoFailure, code, hasPart(parts, partResponse) && !m.endsTurn() && d.transferTarget(m) == ""
	b.Repeats = d.repeatsEvent(t, m, parts) && !isError
	b.Partial = b.Repeats
	t.addPauses(m, b)
	d.addParts(t, m, parts, isError, b)
	if failure != event.NoFailure {
		e := b.Add(event.KindError)
		e.Error, e.Code, e.Inline = failure, code, failure != event.FailureCanceled // a canceled run did not fail
	}
}

// repeatsEvent reports whether a whole event only repeats the last one. It must have the same text. It must also have the same id,
// or be in an artifact if the last one was in a status: Python's server repeats in an artifact what it sent in a status. That
// artifact has the id of the run's last event, which may have had no text.
//
// Source: google/adk/a2a/executor/a2a_agent_executor.py of google-adk 2.13.
func (d *decoder) repeatsEvent(t *task, m adkMetadata, parts parts) bool {
	id := d.name(m.event)
	again := id != "" && id == t.lastEvent || m.inArtifact && !t.lastInArtifact
	t.lastEvent, t.lastInArtifact = id, m.inArtifact
	return !t.isNewText(parts) && again && textOnly(parts) && parts.len() > 0
}

// addPiece adds a piece of a response. The response begins with the first piece that is marked as partial or states
// usage. Other pieces need not be a model's.
func (r *response) addPiece(m adkMetadata, b *event.Batch) {
	if !m.partial && m.usage.Len() == 0 {
		return
	}
	if !r.streaming {
		b.Add(event.KindModelStarted)
	}
	r.streaming, r.artifact, r.usage = true, "", wire.GeminiUsage(m.usage)
}

// addUnmarkedPiece adds a piece that is not marked as partial. Some servers mark the end of an event with lastChunk.
// Others put all events of the run in one artifact.
func (t *task) addUnmarkedPiece(m adkMetadata, artifact string, b *event.Batch) {
	by := speaker{b.Agent, b.Branch}
	if a := t.artifact(artifact); a != nil && by != t.pieceSpeaker {
		a.restart()
	}
	r := t.response(b)
	r.addPiece(m, b)
	r.artifact, t.pieceSpeaker = artifact, by
}

// endPieces ends the response whose pieces are in an artifact, because no more follow. The artifact "" stands for any
// artifact. If several agents sent pieces, it ends only the last agent's response: a frame can name only one agent.
func (d *decoder) endPieces(t *task, artifact string, b *event.Batch) {
	by := t.pieceSpeaker
	r := t.speakers[by]
	if r == nil || !r.streaming || r.artifact == "" || artifact != "" && r.artifact != artifact {
		return
	}
	if b.Agent == "" {
		b.Agent, b.Branch, b.Place = by.agent, by.branch, d.places.Of(wire.Speaker{Author: by.agent, Branch: by.branch})
	}
	if by == (speaker{b.Agent, b.Branch}) {
		b.Add(event.KindModelEnded).Usage = r.usage
		*r = response{usage: r.usage}
	}
}

// reportResponse reports the model response of an event. Tool responses are not model responses. Servers may send an
// event again, for example as the answer, so its usage counts once.
func (d *decoder) reportResponse(r *response, m adkMetadata, parts parts, failure event.Failure, code string, b *event.Batch) {
	usage := wire.GeminiUsage(m.usage)
	if usage == (event.Usage{}) && r.streaming {
		usage = r.usage
	}
	id := d.name(m.event)
	isRepeat, isError := id != "" && id == r.lastEvent && (m.usage.Exists() || !m.inArtifact), m.errorMessage.Exists() || failure != event.NoFailure
	switch {
	case isRepeat && !isError && textOnly(parts) && textHash(parts) != r.textHash.Sum64():
		r.addTextOfPiece(parts, b)
	case isRepeat && r.reported:
		if r.addUsage(usage, b); failure == event.ModelError {
			r.failure = failure
		}
	case hasPart(parts, partResponse):
	case m.usage.Len() > 0, failure == event.ModelError, r.streaming && parts.len() > 0:
		e := b.Add(event.KindModelEnded)
		e.Usage, e.Error, e.Code = usage, failure, code
		*r = response{lastEvent: id, reported: true, usage: usage, failure: failure}
		r.textHash.SetSeed(seed)
		hashTexts(&r.textHash, parts)
	case !m.inArtifact && !m.hasPartial && textOnly(parts): // it may be the first piece of a response
		r.lastEvent, r.reported = id, false
		r.textHash.SetSeed(seed)
		hashTexts(&r.textHash, parts)
	}
}

// addTextOfPiece handles another text with the same event id. Python executors without the ADK extension do not mark partial
// events. Such an event has the next piece of a response or, at the end, the whole response. Its usage includes the usage
// that was reported before. If the first piece had no usage, only the second one shows that both are a model's, so the
// response starts here.
func (r *response) addTextOfPiece(parts parts, b *event.Batch) {
	hashTexts(&r.textHash, parts)
	if b.Partial = true; !r.reported && !r.streaming {
		r.streaming, r.artifact, r.usage = true, "", event.Usage{}
		b.Add(event.KindModelStarted)
	}
}

// addUsage reports by how much a response's usage exceeds the usage that was reported before.
func (r *response) addUsage(usage event.Usage, b *event.Batch) {
	if rest := usage.Since(r.usage); rest != (event.Usage{}) {
		b.Add(event.KindUsage).Usage = rest
		r.usage = usage
	}
}

// addParts reports the parts of an event. The text of an error is no text of the agent.
func (d *decoder) addParts(t *task, m adkMetadata, parts parts, isError bool, b *event.Batch) {
	codes := map[codeKey]int{}
	for p := range parts.all() {
		switch p.kind {
		case partText, partThought:
			if !isError {
				addText(p, b)
			}
		case partCall:
			d.addCall(t, m, p, b)
		case partResponse:
			d.addResponse(t, m, p, b)
		case partCode, partCodeResult:
			t.addCode(m, p, codes, b)
		}
	}
}

// addCall reports a call once. A status that waits for input repeats the call, whatever event it names.
func (d *decoder) addCall(t *task, m adkMetadata, p part, b *event.Batch) {
	name, id, eventID := d.name(p.data.Get("name")), dialect.Name(p.data.Get("id").String()), d.name(m.event)
	earlier := t.callOf(id, b.Branch, name)
	if p.streamed || earlier != nil && earlier.isRepeatedBy(eventID, b.Branch, name, m) {
		return
	}
	args := p.data.Get("args")
	t.keepCall(&call{id: id, event: eventID, inArtifact: m.inArtifact, tool: name, by: speaker{b.Agent, b.Branch}, longRunning: p.longRunning, target: d.name(wire.TransferTarget(args))})
	if wire.IsInputRequest(name) {
		t.addPendingCall(id)
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = id, wire.InputKind(name, args)
		e.SetQuestion(wire.Question(name, args, strictjson.Value{}))
		paused := t.pauses.Ask(id, name, args)
		if c := t.callOf(paused, b.Branch, ""); c != nil && !c.answered {
			c.acknowledged = true
			b.Add(event.KindToolPaused).CallID = paused // JavaScript's agents send no response that says so
		}
		return
	}
	if p.longRunning {
		t.addPendingCall(id)
	}
	e := b.Add(event.KindToolStarted)
	e.Name, e.CallID, e.LongRunning, e.ReusesID = name, id, p.longRunning, earlier != nil
	e.SetPayload(args)
}

// addResponse reports the first response to a call, and the transfer that it confirms. After a pending response, it
// also reports the next one. The ADK answers the call of a task in the user's name when the task's agent is done.
//
// Source: google/adk/workflow/_llm_agent_wrapper.py of google-adk 2.13, _synthesize_task_fr_event.
func (d *decoder) addResponse(t *task, m adkMetadata, p part, b *event.Batch) {
	name, id := d.name(p.data.Get("name")), dialect.Name(p.data.Get("id").String())
	c := t.callOf(id, b.Branch, name)
	if c == nil { // an earlier run made the call
		c = &call{id: id, by: speaker{b.Agent, b.Branch}}
		t.keepCall(c)
	}
	response := p.data.Get("response")
	isPending := b.Agent != "" && wire.IsPending(response)
	if c.answered || isPending && c.acknowledged {
		return
	}
	if t.pauses.Take(id) { // an older ADK, or the policy public, leaves out the action that says so
		b.Add(event.KindToolPaused).CallID = id
		c.paused = true
	}
	c.acknowledged = isPending || c.paused
	c.answered, c.paused = !c.acknowledged, false
	if !isPending {
		t.removePendingCall(id)
	}
	if wire.IsInputRequest(name) {
		b.Add(event.KindInputAnswered).CallID = id
		return
	}
	e := b.Add(event.KindToolEnded)
	e.Name, e.CallID, e.TurnMayEnd = name, id, c.longRunning || m.endsTurn()
	e.Pending, e.EndsAgent = isPending, wire.IsUser(m.author)
	e.SetPayload(response)
	if wire.HasError(e.Payload()) {
		e.Error, e.Code = event.ToolError, wire.ResponseCode(e.Payload())
		return
	}
	target := cmp.Or(d.transferTarget(m), c.target)
	if name == wire.TransferTool && target != "" {
		e := b.Add(event.KindTransfer)
		e.Name, e.ID, e.CallID = target, dialect.Name(m.event.String()), id
	}
}

package tracker

import (
	"cmp"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// modelStarted opens a response at its first partial frame.
func (r *openRun) modelStarted(e *event.Event, b *event.Batch, agent *Operation) {
	agent = agent.firstOpen()
	if key := (responseKey{agent, b.Response}); r.partialResponses[key] == nil {
		if op := r.chat(e, b, agent); op != nil {
			op.firstChunk, op.response, op.causeUnknown = r.now, b.Response, e.Uncertain
			op.startUnknown = op.startUnknown || e.Uncertain
			r.startWhenAsked(op, e.Asked)
			put(&r.partialResponses, key, op)
		}
	}
}

// modelEnded ends a model's response, unless its usage may still grow.
func (r *openRun) modelEnded(e *event.Event, b *event.Batch, agent *Operation) {
	if e.Error != event.NoFailure && b.Agent == "" && b.Place == nil && b.Has(event.KindError) && r.runnerOfSeveral(agent) != nil {
		return // the model of another agent may have failed
	}
	agent = agent.failingOperation(e.Error).firstOpen()
	key := responseKey{agent, b.Response}
	if r.endAwaitingUsage(key); b.AgentUnknown {
		r.endAllAwaitingUsage() // a later frame names the agent, but only that of the last response
	}
	op := r.partialResponses[key]
	if op == nil {
		op = r.chat(e, b, agent)
		if op != nil && endsSeveral(b) { // nothing shows which of them came first
			op.startUnknown, e.Uncertain = true, true
		}
		if op != nil {
			r.startWhenAsked(op, e.Asked)
		}
	}
	delete(r.partialResponses, key)
	r.Usage = r.Usage.Add(e.Usage)
	if op == nil {
		return
	}
	op.startUnknown = op.startUnknown || !op.isAsked && r.mayFollowCutOffResponse(op)
	op.endUnknown = e.Uncertain
	op.Name, op.Response = cmp.Or(e.Model, op.Name), &Response{reasonCode(e.FinishReason), e.Usage, op.firstChunk}
	status := OperationOK
	if e.Error != event.NoFailure {
		status = OperationError
	}
	if e.UsageIncomplete || b.AgentUnknown {
		op.Status, op.Failure, op.ErrorCode, op.Ended = status, e.Error, e.Code, r.now
		op.response = b.Response
		put(&r.awaitingUsage, key, op)
		return
	}
	r.end(op, status, failureOf(e))
	r.endedResponse = op
}

// maxReason is the maximum length of a finish reason, in bytes.
const maxReason = 64

// reasonCode returns a finish reason if it is one word, or a filter and Gemini's reason ("content_filter: RECITATION").
// Otherwise it returns "". Anything else could be free text, which is content.
func reasonCode(reason string) string {
	own := reason
	if filter, behind, found := strings.Cut(reason, "_filter: "); found && isWord(filter) {
		own = behind
	}
	if len(reason) > maxReason || !isWord(own) {
		return ""
	}
	return reason
}

func isWord(s string) bool {
	for _, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > ':') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

// mayFollowCutOffResponse reports whether another open response of the agent had its last piece before the first piece of op. The
// start of op is then unknown. If the other response was cut off, op was requested after it. If it continues, op may have been
// requested earlier.
func (r *openRun) mayFollowCutOffResponse(op *Operation) bool {
	first := cmp.Or(op.firstChunk.Frame, r.now.Frame)
	for key, other := range r.partialResponses {
		if key.agent == op.parent && other.task == op.task && other.lastPiece.Frame > 0 && other.lastPiece.Frame < first {
			return true
		}
	}
	return false
}

// chat begins a model's response. The response starts at the last frame that can have caused the
// request: the last whole frame of the agent's lane, or the frame that gave the agent control. Without
// such a frame, it starts with the run request. If that was not seen either, the start is unknown.
func (r *openRun) chat(e *event.Event, b *event.Batch, agent *Operation) *Operation {
	op := r.begin(Chat, e.Model, agent)
	if op == nil {
		return nil
	}
	op.Agent, op.Branch, op.senderUnknown = senderOf(b, agent), b.Branch, b.AgentUnknown
	r.keepRequest(op, agent)
	op.task = e.Task.ID
	cause, delayUnknown := r.causeOfResponse(e, b, agent)
	op.startAt(latest(cause, r.Root.Started))
	op.startUnknown = delayUnknown || cause.Frame == 0 && !r.isRequested || r.mayLackCause(cause)
	op.askerUnknown = b.AgentUnknown && r.mayAsk(nil) > 1
	return op
}

// endsSeveral reports whether a frame has the ends of several responses.
func endsSeveral(b *event.Batch) bool {
	ends := 0
	for i := range b.Events {
		if b.Events[i].Kind == event.KindModelEnded {
			ends++
		}
	}
	return ends > 1
}

func (r *openRun) toolStarted(e *event.Event, b *event.Batch, caller *Operation) {
	if last := r.callIn(b.Branch, e.CallID); last != nil && last.open && !e.ReusesID {
		return // a repeated call
	}
	op := r.beginTool(e, b, caller)
	if op == nil {
		return
	}
	if op.endsTurn = e.TurnMayEnd; e.CallID == "" {
		r.callsWithoutID.add(op)
	}
	r.keepPayload(op, e)
	if e.LongRunning {
		op.awaitsAnswer = true
		r.requestInput(&event.Event{CallID: e.CallID, Input: event.InputTool}, caller)
	}
}

func (r *openRun) beginTool(e *event.Event, b *event.Batch, caller *Operation) *Operation {
	op := r.begin(ExecuteTool, e.Name, caller)
	if op == nil {
		return nil
	}
	op.Agent, op.CallID, op.Branch, op.senderUnknown = senderOf(b, caller), e.CallID, b.Branch, b.AgentUnknown
	if b.Step != "" {
		op.Agent = b.Agent
	}
	if known := r.tracker.settings.IsAgentTool; known != nil {
		op.AgentTool = known(r.Source, e.Name)
	}
	if e.CallID != "" {
		r.countCallUse(op)
		r.indexCall(op)
	}
	return op
}

// noteArguments lets a call begin with the last piece of its arguments, because its tool runs only with all of them.
func (r *openRun) noteArguments(b *event.Batch) {
	if b.ArgumentsOf == "" {
		return
	}
	if op := r.call(b.Branch, b.ArgumentsOf); op != nil && op.open && op.openChildren == 0 && op.innerFrame == 0 {
		op.startAt(r.now)
	}
}

func (r *openRun) toolEnded(e *event.Event, b *event.Batch, caller *Operation) {
	op := r.callOf(e, b)
	if e.EndsAgent {
		op = cmp.Or(r.taskInControl(e.CallID), op)
	}
	if op != nil && e.CallID == "" {
		op.ResponseInferred = true
	}
	paused := op != nil && op.openState != nil && op.pausedFrame == r.now.Frame // this frame pauses the call: its response brings no result
	switch {
	case paused:
	case e.Pending:
		r.acknowledgeInput(e.CallID)
	default:
		r.answerInput(e.CallID)
	}
	switch {
	case op != nil:
	case e.CallID == "" && r.callsWithoutID.wasAdded(e.Name):
		return // another part of a result, or a repeat
	default:
		if op = r.beginPausedEarlier(e, b, caller); op == nil {
			return
		}
	}
	if !op.open {
		return
	}
	if op.Kind.Invokes() {
		r.taskEnded(op, e, b)
		return
	}
	r.keepPayload(op, e)
	op.statedDuration, op.startUnknown = e.Duration, op.startUnknown || e.StartUnknown || op.Started.Frame == r.now.Frame // a duration within one frame is unknown
	r.judgeWithin(op, e)
	answered := op.answeredWithin()
	if op.parent.lastCallFailure = failureOf(e); e.Error != event.NoFailure {
		r.markUnfinishedWithin(op, e.Code)
	}
	r.endWithin(op)
	switch {
	case paused:
		r.end(op, OperationInterrupted, failure{})
	case e.Error != event.NoFailure:
		r.end(op, OperationError, failureOf(e))
	default:
		r.end(op, OperationOK, failure{})
	}
	switch {
	case answered.Frame > 0 && answersSeveral(b):
		op.Ended = answered
	case e.Uncertain && r.mayLackCause(op.Started) && !r.now.At.IsZero():
		op.endUnknown = true
	}
	if op.parent.oweReply(op); !e.TurnMayEnd {
		r.expectReply(b.Branch, op.parent)
	}
}

// beginPausedEarlier begins a call of which this run shows only the response, because an earlier run made the call and
// paused. Its start is unknown here.
func (r *openRun) beginPausedEarlier(e *event.Event, b *event.Batch, caller *Operation) *Operation {
	tool := r.linkToCaller(e.CallID)
	op := r.beginTool(e, b, caller)
	if op != nil {
		op.Name = cmp.Or(op.Name, tool)
		op.Started.At = time.Time{}
	}
	return op
}

// answeredWithin returns the last frame of the agents within a call that have given their final answer, or
// the zero value.
func (op *Operation) answeredWithin() (at Timestamp) {
	for agent := op.lastChild; agent != nil; agent = agent.prevSibling {
		if agent.node != nil && agent.node.gaveFinalAnswer {
			at = latest(at, agent.node.lastBelow)
		}
	}
	return at
}

// answersSeveral reports whether a frame has the responses of several calls. Such a frame is sent
// after the last of them, so its time is not the end of the others.
func answersSeveral(b *event.Batch) bool {
	responses := 0
	for i := range b.Events {
		if b.Events[i].Kind == event.KindToolEnded {
			responses++
		}
	}
	return responses > 1
}

// taskEnded ends an agent that was invoked by a call, and gives control back to its caller.
func (r *openRun) taskEnded(op *Operation, e *event.Event, b *event.Batch) {
	r.endWithin(op)
	r.clearReplies(op) // its last call needs no reply
	if op.endStated, op.failureCode = true, e.Code; e.Error != event.NoFailure {
		op.statedFailure = event.AgentError
	}
	r.endIfDone(op)
	caller := op.runner()
	caller.node.taskReturned, caller.node.lastTaskAnswer = true, r.now
	r.expectReply(b.Branch, caller)
}

// requestInput opens a request for input. owner is the operation that waits for the answer.
func (r *openRun) requestInput(e *event.Event, owner *Operation) {
	if in := r.inputs[e.CallID]; in != nil && in.Status == InputOpen {
		in.reopen()
		return
	}
	in := &InputRequest{ID: e.CallID, Kind: e.Input, Routing: e.Routing, Status: InputOpen, Requested: r.now, expires: e.ExpiresIn, owner: owner}
	if !keepFact(r, &r.Inputs, LostInput, in) {
		return
	}
	in.Question = r.questionOf(e)
	put(&r.inputs, e.CallID, in)
	owner.openInputs++
	r.rememberQuestion(e.CallID)
}

func (r *openRun) answerInput(id string) {
	if in := r.inputs[id]; in != nil && in.Status == InputOpen {
		in.Status, in.Answered = InputAnswered, r.now
		in.resolve()
	}
}

// acknowledgeInput records that the agent itself responded to its long-running call, which does not
// answer the request.
func (r *openRun) acknowledgeInput(id string) {
	if in := r.inputs[id]; in != nil && in.Status == InputOpen {
		in.acknowledged = true
	}
}

// abandonInputs marks the requests that an agent had only acknowledged as abandoned, because it gave
// its final answer without their results.
func (r *openRun) abandonInputs(owner *Operation) {
	for _, in := range r.Inputs {
		if owner.openInputs == 0 {
			return // most agents ask for nothing
		}
		if in.owner == owner && in.acknowledged && in.Status == InputOpen {
			in.resolve()
			in.abandoned = true
		}
	}
}

// resolve ends the owner's wait for the request. An abandoned request is already resolved.
func (in *InputRequest) resolve() {
	if !in.abandoned {
		in.owner.openInputs--
	}
}

// reopen makes the owner of an abandoned request wait again.
func (in *InputRequest) reopen() {
	if in.abandoned {
		in.abandoned = false
		in.owner.openInputs++
	}
}

func (r *openRun) pauseCall(branch, id string) {
	if op := r.call(branch, id); op != nil && op.open {
		op.awaitsAnswer, op.pausedFrame = true, r.now.Frame
		r.rememberQuestion(id)
	}
}

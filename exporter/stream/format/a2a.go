package format

import (
	"cmp"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// a2a writes updates of the Agent2Agent protocol. A run is a task, and its first update on a
// connection is a snapshot of the task, as for a client that subscribes to it. Tool calls are data
// parts in the form that agents of Google's ADK use.
type a2a struct {
	runs
	version    a2aVersion
	rereading  bool // frames only update the state, see writer
	callOwners callOwners
}

func newA2A(s *Settings, out *output) *a2a {
	return &a2a{runs: newRuns(s, out), version: a2aVersion{v03: s.Format == A2A03}, callOwners: newCallOwners(true)}
}

func (a *a2a) setRereading(on bool) { a.rereading = on }

// noteGap keeps the gap for the next snapshot or update. It writes no frame for the gap alone, because clients take every
// SSE event for a response, whatever its name.
func (a *a2a) noteGap(g *replay.Gap) bool {
	a.out.noteGap(g)
	return false
}

func (a *a2a) frame(f replay.Frame, b *event.Batch) {
	for _, over := range a.runsEndedBefore(f, b) {
		a.endRun(over, b, over.finalStatus(event.EndOfStream))
	}
	r := a.runOf(f, b)
	isOver := r.ended && !r.failsLate(b)
	ended := false
	r.observeFrame(b)
	paused := pausedBy(b)
	for i := range b.Events {
		e := &b.Events[i]
		if isOver && !allowedAfterEnd(e) {
			continue
		}
		r.observe(b, e)
		if !paused.isPlaceholder(e) {
			a.writeEvent(r, b, e)
		}
		ended = ended || endsRun(f, e)
	}
	if ended { // the rest of the frame belongs to the run too
		a.endRun(r, b, r.finalStatus(event.EndOfStream))
	}
}

func (a *a2a) streamEnded(f replay.Frame, last *event.Batch) {
	for _, r := range a.runsEndedBy(f.Stream) {
		a.endRun(r, last, r.finalStatus(f.End))
	}
}

func (a *a2a) writeEvent(r *run, b *event.Batch, e *event.Event) {
	switch e.Kind {
	case event.KindRunStarted:
		a.ensureTask(r, b, stateSubmitted)
	case event.KindText:
		a.writeText(r, b, e)
	case event.KindThought:
		a.writeThought(r, b, e)
	case event.KindModelStarted, event.KindModelEnded:
		for _, ended := range r.texts.observeResponse(b, e) {
			a.writeChunk(r, b, ended, nil, true)
		}
	case event.KindToolStarted:
		id := a.callOwners.idOfStart(r, b, e, a.out.newID)
		a.writeWorking(r, b, a2aPart{Data: toolPart{ID: id, Name: e.Name, Args: asStruct(e.Payload())}, Metadata: &partMetadata{Type: "function_call", LongRunning: e.LongRunning}})
	case event.KindToolEnded:
		id := a.callOwners.idOfEnd(r, b, e, a.out.newID)
		a.writeWorking(r, b, a2aPart{Data: toolPart{ID: id, Name: e.Name, Response: toolResult(e)}, Metadata: &partMetadata{Type: "function_response"}})
	case event.KindInputRequested:
		a.writeQuestion(r, b, newInput(e))
	case event.KindArtifact:
		a.writeArtifact(r, b, e)
	case event.KindChildRun:
		a.adopt(e.ID, r)
	case event.KindTransfer, event.KindInputAnswered, event.KindAgentStarted, event.KindAgentEnded, event.KindToolProgress, event.KindPlan,
		event.KindConfidence, event.KindCitation, event.KindReasoning:
		c := newContent(e, b.Partial)
		c.Call = a.callOwners.idOf(r, b.Branch, c.Call, a.out.newID)
		a.writeWorking(r, b, a2aPart{Data: otherEvent{Kind: e.Kind.String(), content: c}})
	}
}

// otherEvent carries an event that A2A has no form for, in the normalized format.
type otherEvent struct {
	Kind string `json:"kind"`
	*content
}

// ensureTask announces the task, unless the reader knows it. It returns false if the frames are only reread. Then the
// caller must write nothing.
func (a *a2a) ensureTask(r *run, b *event.Batch, state a2aState) bool {
	if a.rereading || r.announced {
		return !a.rereading
	}
	r.announced = true
	if r.ended {
		state = r.finalState
	}
	task := a2aTask{ID: r.id, ContextID: r.session, Status: a2aStatus{State: state, Timestamp: timestamp(b)}}
	if untold := a.out.takeGap(); untold != nil {
		task.Metadata = &taskMetadata{Gap: untold}
	}
	a.out.add(a.version.task(task))
	return true
}

func (a *a2a) writeStatus(r *run, b *event.Batch, state a2aState, final bool, parts ...a2aPart) {
	u := a2aStatusUpdate{TaskID: r.id, ContextID: r.session, Status: a2aStatus{State: state, Timestamp: timestamp(b)}, Final: final}
	author := ""
	if len(parts) > 0 {
		u.Status.Message = &a2aMessage{MessageID: a.out.newMessageID(), TaskID: r.id, ContextID: r.session, Parts: parts}
		author = b.Agent
	}
	u.Metadata = a.updateMetadata(author)
	a.out.add(a.version.status(u))
}

// writeWorking writes a part in the message of a status. The state is working, or the final one if the run has ended.
func (a *a2a) writeWorking(r *run, b *event.Batch, part a2aPart) {
	switch {
	case !a.ensureTask(r, b, stateWorking):
	case r.ended:
		a.writeStatus(r, b, r.finalState, true, part)
	default:
		a.writeStatus(r, b, stateWorking, false, part)
	}
}

// writeText writes a text as an artifact, which ends with its last chunk.
func (a *a2a) writeText(r *run, b *event.Batch, e *event.Event) {
	t, added, isLast := r.texts.add(b, e, a.out.newID)
	if t == nil {
		return
	}
	a.endSuperseded(r, b, t)
	a.writeChunk(r, b, t, added, isLast)
}

// endSuperseded ends the text that next supersedes. If both have the same message ID, next takes over the artifact ID, so that
// it replaces the text at the reader.
func (a *a2a) endSuperseded(r *run, b *event.Batch, next *text) {
	switch ended := next.takeSuperseded(); {
	case ended == nil:
	case ended.key == next.key && next.key.message != "":
		next.id = ended.id
	default:
		a.writeChunk(r, b, ended, nil, true)
	}
}

// writeChunk writes a piece of a text. It writes an empty last chunk only to a reader that has received
// an earlier chunk.
func (a *a2a) writeChunk(r *run, b *event.Batch, t *text, added []byte, isLast bool) {
	if len(added) == 0 && !(isLast && t.announced) {
		return
	}
	continues := t.announced
	if a.rereading { // only a reader that resumes has the text so far
		t.announced = a.settings.Resumed && !isLast
		return
	}
	t.announced = !isLast
	a.ensureTask(r, b, stateWorking)
	u := a2aArtifactUpdate{
		TaskID: r.id, ContextID: r.session, Append: continues, LastChunk: isLast,
		Artifact: a2aArtifact{ID: t.id, Parts: []a2aPart{textPart(string(added))}},
	}
	u.Metadata = a.updateMetadata(t.agent)
	a.out.add(a.version.artifact(u))
}

// updateMetadata returns the metadata of an update by an agent, with the gap before it, or nil.
func (a *a2a) updateMetadata(author string) *updateMetadata {
	untold := a.out.takeGap()
	if author == "" && untold == nil {
		return nil
	}
	return &updateMetadata{Author: author, Gap: untold}
}

// writeThought writes a thought as a message about the work.
func (a *a2a) writeThought(r *run, b *event.Batch, e *event.Event) {
	t, added, _ := r.texts.add(b, e, a.out.newID)
	if t == nil {
		return
	}
	if a.endSuperseded(r, b, t); len(added) == 0 {
		return
	}
	part := textPart(string(added))
	part.Metadata = &partMetadata{Thought: true, ThoughtType: e.ThoughtType}
	a.writeWorking(r, b, part)
}

// writeQuestion writes a request for input. The update is not final. If the run ends with the request, endRun repeats it.
func (a *a2a) writeQuestion(r *run, b *event.Batch, asked input) {
	if a.ensureTask(r, b, stateWorking) {
		a.writeStatus(r, b, inputState(asked.Kind), false, inputParts(asked)...)
	}
}

// inputParts returns a request for input as text for people and as data for programs.
func inputParts(asked input) []a2aPart {
	parts := []a2aPart{{Data: asked}}
	if asked.Prompt != "" {
		parts = append([]a2aPart{textPart(asked.Prompt)}, parts...)
	}
	return parts
}

// writeArtifact writes an artifact. It appends only to content that the reader has.
func (a *a2a) writeArtifact(r *run, b *event.Batch, e *event.Event) {
	object := r.revisableOf(e, a.out.newID)
	continues := e.Artifact.Append && object.contentSent
	if object.contentSent = !a.rereading || a.settings.Resumed; !a.ensureTask(r, b, stateWorking) {
		return
	}
	a.out.add(a.version.artifact(a2aArtifactUpdate{
		TaskID: r.id, ContextID: r.session, Append: continues, LastChunk: e.Artifact.Complete,
		Artifact: a2aArtifact{ID: cmp.Or(e.ID, object.id), Name: e.Name, Parts: a.version.parts(e)}, Metadata: a.updateMetadata(""),
	}))
}

// endRun writes the end of a run, and the end of its open texts.
func (a *a2a) endRun(r *run, b *event.Batch, outcome status) {
	last, parts := lastState(r, outcome)
	if a.ensureTask(r, b, stateWorking) {
		for _, open := range r.texts.open {
			a.writeChunk(r, b, open, nil, true)
		}
		a.writeStatus(r, b, last, true, parts...)
	}
	r.ended, r.outcome, r.finalState = true, outcome, last
	r.dropDetails()
}

// lastState returns the last state of a task on its stream, and the parts of the message about it. The message repeats open
// questions, because clients only look at the final status.
func lastState(r *run, outcome status) (a2aState, []a2aPart) {
	switch outcome {
	case interrupted:
		parts := make([]a2aPart, 0, len(r.inputs))
		for _, one := range r.inputs {
			parts = append(parts, inputParts(one)...)
		}
		return inputState(r.inputs[0].Kind), parts
	case completed:
		return stateCompleted, nil
	case canceled:
		return stateCanceled, nil
	case failed:
		return stateFailed, []a2aPart{textPart("the run failed")}
	}
	notice := textPart("the stream ended before the run did")
	notice.Metadata = &partMetadata{Status: outcome}
	return stateWorking, []a2aPart{notice} // the agent has not ended the task, and another stream may bring the rest
}

// asStruct returns a value as an object, the form that the protocol requires for calls.
func asStruct(v strictjson.Value) any {
	switch v.Kind() {
	case strictjson.Object:
		return raw(v)
	case strictjson.Array, strictjson.String, strictjson.Number, strictjson.Bool:
		return struct {
			Value any `json:"value"`
		}{raw(v)}
	}
	return nil
}

// toolResult returns the result of a tool, or its failure if it failed without a result.
func toolResult(e *event.Event) any {
	if result := asStruct(e.Payload()); result != nil {
		return result
	}
	if e.Error != event.NoFailure {
		return struct {
			Error event.Failure `json:"error"`
		}{e.Error}
	}
	return nil
}

func timestamp(b *event.Batch) string {
	if b.Time.IsZero() {
		return ""
	}
	return b.Time.UTC().Format(time.RFC3339Nano)
}

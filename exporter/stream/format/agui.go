package format

import (
	"cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// agui writes events of the Agent-User Interaction protocol 1.0. The protocol's verifier treats each connection as a
// complete stream. A run starts before its other events, nothing is open when it ends, and only one run is open at a
// time. Therefore concurrent runs take turns.
type agui struct {
	runs
	current    *run // the run that is open for the reader
	rereading  bool // frames only update the state, see writer
	callOwners callOwners
}

func newAGUI(s *Settings, out *output) *agui {
	return &agui{runs: newRuns(s, out), callOwners: newCallOwners(false)}
}

func (a *agui) setRereading(on bool) { a.rereading = on }

// noteGap keeps the gap for the next event: the protocol allows no event outside a run.
func (a *agui) noteGap(g *replay.Gap) bool {
	a.out.noteGap(g)
	return false
}

func (a *agui) frame(f replay.Frame, b *event.Batch) {
	for _, over := range a.runsEndedBefore(f, b) {
		if !a.isOpenElsewhere(over) {
			a.endRun(over, over.finalStatus(event.EndOfStream))
		}
	}
	r := a.runOf(f, b)
	if a.isOpenElsewhere(r) {
		return
	}
	if r.ended && !r.failsLate(b) {
		a.writeAfterEnd(r, b)
		return
	}
	ended := false
	r.observeFrame(b)
	paused := pausedBy(b)
	for i := range b.Events {
		e := &b.Events[i]
		r.observe(b, e)
		if !paused.isPlaceholder(e) {
			a.writeEvent(r, b, e)
		}
		ended = ended || endsRun(f, e)
	}
	if ended { // the rest of the frame belongs to the run too
		a.endRun(r, r.finalStatus(event.EndOfStream))
	}
}

// isOpenElsewhere reports whether the run of a reread frame is open for the reader. The reader then gets the run on another
// stream, and the reread frame must not change what is open there.
func (a *agui) isOpenElsewhere(r *run) bool { return a.rereading && a.current == r }

// writeAfterEnd writes events after the end of a run, as another turn of that run.
func (a *agui) writeAfterEnd(r *run, b *event.Batch) {
	for i := range b.Events {
		if e := &b.Events[i]; allowedAfterEnd(e) {
			a.writeEvent(r, b, e)
		}
	}
	if a.current == r {
		a.endTurn(aguiEvent{Type: "RUN_FINISHED", Result: runStatus{r.outcome}})
	}
}

func (a *agui) streamEnded(f replay.Frame, _ *event.Batch) {
	for _, r := range a.runsEndedBy(f.Stream) {
		a.endRun(r, r.finalStatus(f.End))
	}
}

func (a *agui) writeEvent(r *run, b *event.Batch, e *event.Event) {
	switch e.Kind {
	case event.KindRunStarted:
		a.switchTo(r)
	case event.KindText, event.KindThought:
		a.writeText(r, b, e)
	case event.KindModelStarted, event.KindModelEnded:
		for _, ended := range r.texts.observeResponse(b, e) {
			if !a.rereading {
				a.endText(ended)
			}
		}
	case event.KindToolStarted:
		a.writeToolCall(r, b, e)
	case event.KindToolEnded:
		a.writeToolResult(r, b, e)
	case event.KindAgentStarted:
		writes := a.ensureCurrent(r) // before beginStep, because a new turn starts all open steps
		if begun, named := r.beginStep(cmp.Or(b.Step, b.Agent), b.Branch, writes); named && writes {
			a.add(b, aguiEvent{Type: "STEP_STARTED", StepName: begun.name})
		}
	case event.KindAgentEnded:
		writes := a.ensureCurrent(r)
		if ended, known := r.endStep(cmp.Or(b.Step, b.Agent), b.Branch); known && writes && ended.shown {
			a.add(b, aguiEvent{Type: "STEP_FINISHED", StepName: ended.name})
		}
	case event.KindArtifact:
		a.writeArtifact(r, b, e)
	case event.KindPlan:
		a.writeActivity(r, b, e, (*plan)(&e.Plan))
	case event.KindChildRun:
		a.adopt(e.ID, r)
	case event.KindTransfer, event.KindInputRequested, event.KindInputAnswered, event.KindToolPaused, event.KindToolProgress,
		event.KindConfidence, event.KindCitation, event.KindReasoning:
		c := newContent(e, b.Partial)
		c.Call = a.callOwners.idOf(r, b.Branch, c.Call, a.out.newID)
		a.writeCustom(r, b, "delegraph."+e.Kind.String(), c)
	}
}

// ensureCurrent starts a turn of the run if needed. It returns false if the frames are only reread. Then the caller must
// write nothing.
func (a *agui) ensureCurrent(r *run) bool {
	a.switchTo(r)
	return !a.rereading
}

// switchTo makes a run the current one, and writes the untold gap.
func (a *agui) switchTo(r *run) {
	switch {
	case a.rereading:
	case a.current != r:
		a.startTurn(r)
	default:
		a.writeGap()
	}
}

// startTurn ends the turn of the current run and starts one of another. Open steps are started again.
func (a *agui) startTurn(r *run) {
	if a.current != nil {
		a.endTurn(aguiEvent{Type: "RUN_FINISHED", Result: runStatus{running}})
	}
	a.current = r
	a.out.add(aguiEvent{Type: "RUN_STARTED", ThreadID: r.session, RunID: r.id})
	a.writeGap()
	for i := range r.steps {
		r.steps[i].shown = true
		a.out.add(aguiEvent{Type: "STEP_STARTED", StepName: r.steps[i].name})
	}
}

func (a *agui) writeGap() {
	if untold := a.out.takeGap(); untold != nil {
		a.out.add(aguiEvent{Type: "CUSTOM", Name: gapName, Value: untold})
	}
}

// runStatus is the status of a run whose turn ends. AG-UI has no form for a run that continues.
type runStatus struct {
	Status status `json:"status"`
}

// endTurn closes what is open for the reader, and writes the event that ends the turn.
func (a *agui) endTurn(last aguiEvent) {
	r := a.current
	for _, open := range r.texts.open {
		a.endText(open)
	}
	for i := range r.steps {
		if r.steps[i].shown {
			a.out.add(aguiEvent{Type: "STEP_FINISHED", StepName: r.steps[i].name})
		}
		r.steps[i].shown = false
	}
	if last.Type == "RUN_FINISHED" {
		last.ThreadID, last.RunID = r.session, r.id
	}
	a.out.add(last)
	a.current = nil
}

// endRun writes the end of a run, in a turn of that run.
func (a *agui) endRun(r *run, outcome status) {
	r.ended, r.outcome = true, outcome
	defer r.dropDetails()
	if a.rereading {
		return
	}
	a.switchTo(r)
	last := aguiEvent{Type: "RUN_FINISHED", Usage: aguiUsage(r), Result: runStatus{outcome}}
	switch outcome {
	case completed:
		last.Outcome = &aguiOutcome{Type: "success", Pending: a.callIDs(r, r.paused)}
	case canceled:
		last.Outcome = &aguiOutcome{Type: "cancelled"}
	case interrupted:
		last.Outcome = &aguiOutcome{Type: "interrupt", Interrupts: interruptsOf(r)}
	case failed:
		last = aguiEvent{Type: "RUN_ERROR", Message: "the run failed", Code: string(r.failureClass()), Usage: last.Usage}
	default:
		last = aguiEvent{Type: "RUN_ERROR", Message: "the stream ended before the run did", Code: string(outcome), Usage: last.Usage}
	}
	a.endTurn(last)
}

// writeText writes the new part of a text. A thought becomes a reasoning message.
func (a *agui) writeText(r *run, b *event.Batch, e *event.Event) {
	t, added, isLast := r.texts.add(b, e, a.out.newID)
	if t == nil {
		return
	}
	ended := t.takeSuperseded()
	if a.rereading {
		return
	}
	if ended != nil {
		a.endText(ended)
	}
	if len(added) > 0 {
		a.switchTo(r)
		a.startText(t, b)
		kind := "TEXT_MESSAGE_CONTENT"
		if t.key.thought {
			kind = "REASONING_MESSAGE_CONTENT"
		}
		a.add(b, aguiEvent{Type: kind, MessageID: t.id, Delta: string(added)})
	}
	if isLast {
		a.endText(t)
	}
}

// startText starts a text unless the reader knows it.
func (a *agui) startText(t *text, b *event.Batch) {
	if t.announced {
		return
	}
	t.announced = true
	if t.key.thought {
		a.out.add(aguiEvent{Type: "REASONING_START", MessageID: t.id})
		a.add(b, aguiEvent{Type: "REASONING_MESSAGE_START", MessageID: t.id, Role: "reasoning"})
		return
	}
	a.add(b, aguiEvent{Type: "TEXT_MESSAGE_START", MessageID: t.id, Role: "assistant", Name: t.agent})
}

func (a *agui) endText(t *text) {
	switch {
	case !t.announced:
	case t.key.thought:
		a.out.add(aguiEvent{Type: "REASONING_MESSAGE_END", MessageID: t.id})
		a.out.add(aguiEvent{Type: "REASONING_END", MessageID: t.id})
	default:
		a.out.add(aguiEvent{Type: "TEXT_MESSAGE_END", MessageID: t.id})
	}
	t.announced = false
}

func (a *agui) callIDs(r *run, onWire []string) (all []string) {
	for _, id := range onWire {
		all = append(all, a.callOwners.idOf(r, "", id, a.out.newID))
	}
	return all
}

// writeToolCall writes a complete call: its arguments arrive at once.
func (a *agui) writeToolCall(r *run, b *event.Batch, e *event.Event) {
	id := a.callOwners.idOfStart(r, b, e, a.out.newID)
	if !a.ensureCurrent(r) {
		return
	}
	a.add(b, aguiEvent{Type: "TOOL_CALL_START", ToolCallID: id, ToolCallName: &e.Name})
	if e.Payload().Exists() {
		a.add(b, aguiEvent{Type: "TOOL_CALL_ARGS", ToolCallID: id, Delta: string(e.Payload().Raw())})
	}
	a.add(b, aguiEvent{Type: "TOOL_CALL_END", ToolCallID: id})
}

func (a *agui) writeToolResult(r *run, b *event.Batch, e *event.Event) {
	id := a.callOwners.idOfEnd(r, b, e, a.out.newID)
	if !a.ensureCurrent(r) {
		return
	}
	content := string(e.Payload().Raw())
	switch {
	case e.Payload().Kind() == strictjson.String:
		content = e.Payload().String()
	case content == "" && e.Error != event.NoFailure: // the protocol has no other place for it
		content = string(e.Error)
	}
	a.add(b, aguiEvent{Type: "TOOL_CALL_RESULT", MessageID: a.out.newMessageID(), ToolCallID: id, Content: &content, Role: "tool"})
}

// writeActivity writes a complete activity.
func (a *agui) writeActivity(r *run, b *event.Batch, e *event.Event, content any) {
	id := r.revisableOf(e, a.out.newID).id
	if a.ensureCurrent(r) {
		a.add(b, aguiEvent{Type: "ACTIVITY_SNAPSHOT", MessageID: id, ActivityType: "delegraph." + e.Kind.String(), Content: content})
	}
}

// writeArtifact writes an artifact, or only what is added if the reader has part of its contents.
func (a *agui) writeArtifact(r *run, b *event.Batch, e *event.Event) {
	object, revision := r.revisableOf(e, a.out.newID), newArtifact(e, e.Pieces())
	grows := e.Artifact.Append && object.contentSent
	object.contentSent = grows || len(revision.Contents) > 0
	switch {
	case a.rereading: // only a reader that resumes has the content so far
		object.contentSent = object.contentSent && a.settings.Resumed
	case !grows:
		a.writeActivity(r, b, e, revision)
	default:
		a.switchTo(r)
		a.add(b, aguiEvent{Type: "ACTIVITY_DELTA", MessageID: object.id, ActivityType: "delegraph.artifact", Patch: artifactPatch(revision)})
	}
}

func (a *agui) writeCustom(r *run, b *event.Batch, name string, value any) {
	if a.ensureCurrent(r) {
		a.add(b, aguiEvent{Type: "CUSTOM", Name: name, Value: value})
	}
}

// add writes an event with the time of its frame.
func (a *agui) add(b *event.Batch, e aguiEvent) {
	if !b.Time.IsZero() {
		e.Timestamp = b.Time.UnixMilli()
	}
	a.out.add(e)
}

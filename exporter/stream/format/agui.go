package format

import (
	"cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// agui writes events of the Agent-User Interaction protocol, 1.0, so that its own verifier takes each connection for a whole
// stream: a run begins before anything of it, nothing is open when it is over, and there is one run at a time. Runs that go on
// side by side take turns.
type agui struct {
	runs
	turn   *run // that the reader knows to have begun
	quiet  bool
	missed *gap
}

func newAGUI(s *Settings, out *output) *agui { return &agui{runs: newRuns(s, out)} }

func (a *agui) silent(quiet bool) { a.quiet = quiet }

// gap waits for the next turn: before it the protocol lets nobody say anything.
func (a *agui) gap(g *replay.Gap) bool {
	a.missed = gapOf(g)
	return false
}

func (a *agui) frame(f replay.Frame, b *event.Batch) {
	r := a.of(f, b)
	if a.knows(r) {
		return
	}
	if r.over {
		a.complete(r, b)
		return
	}
	ended := false
	r.hear(b)
	for i := range b.Events {
		e := &b.Events[i]
		r.take(b, e)
		a.state(r, b, e)
		ended = ended || e.Kind == event.KindRunEnded
	}
	if ended { // whatever else the frame says is of the run too
		a.end(r, r.ended(true, event.EndOfStream))
	}
}

// complete writes what comes after the end of a run, as another turn of it.
func (a *agui) complete(r *run, b *event.Batch) {
	for i := range b.Events {
		if e := &b.Events[i]; completes(e) {
			a.state(r, b, e)
		}
	}
	if a.turn == r {
		a.leave(aguiEvent{Type: "RUN_FINISHED", Result: turnResult{r.outcome}})
	}
}

func (a *agui) over(f replay.Frame, _ *event.Batch) {
	for _, r := range a.on(f.Stream) {
		if !a.knows(r) {
			a.end(r, r.ended(false, f.End))
		}
	}
}

// knows says whether what is read in silence is of the run whose turn it is: on another stream of the same run, which comes too
// late to say anything of what the reader has already.
func (a *agui) knows(r *run) bool { return a.quiet && a.turn == r }

// state writes what a fact says.
func (a *agui) state(r *run, b *event.Batch, e *event.Event) {
	switch e.Kind {
	case event.KindRunStarted:
		a.enter(r)
	case event.KindText, event.KindThought:
		a.say(r, b, e)
	case event.KindToolStarted:
		a.call(r, b, e)
	case event.KindToolEnded:
		a.answer(r, b, e)
	case event.KindAgentStarted:
		listens := a.enters(r) // a turn begins with the steps that are open before it
		if begun, named := r.beginStep(cmp.Or(b.Step, b.Agent), b.Branch, listens); named && listens {
			a.add(b, aguiEvent{Type: "STEP_STARTED", StepName: begun.name})
		}
	case event.KindAgentEnded:
		listens := a.enters(r)
		if ended, known := r.endStep(cmp.Or(b.Step, b.Agent), b.Branch); known && listens && ended.shown {
			a.add(b, aguiEvent{Type: "STEP_FINISHED", StepName: ended.name})
		}
	case event.KindArtifact:
		a.write(r, b, e)
	case event.KindPlan:
		a.activity(r, b, e, plan{e.Plan.Pending, e.Plan.InProgress, e.Plan.Completed, e.Plan.Canceled})
	case event.KindAdopted:
		a.adopt(e.ID, r)
	case event.KindTransfer, event.KindInputRequested, event.KindInputAnswered, event.KindToolPaused, event.KindToolProgress,
		event.KindConfidence, event.KindCitation, event.KindReasoning:
		a.custom(r, b, "delegraph."+e.Kind.String(), contentOf(e, b.Partial))
	}
}

// enters makes it the run's turn. It says no where nobody listens.
func (a *agui) enters(r *run) bool {
	a.enter(r)
	return !a.quiet
}

func (a *agui) enter(r *run) {
	if a.quiet || a.turn == r {
		return
	}
	if a.turn != nil {
		a.leave(aguiEvent{Type: "RUN_FINISHED", Result: turnResult{"running"}})
	}
	a.turn = r
	a.out.add(aguiEvent{Type: "RUN_STARTED", ThreadID: r.session, RunID: r.id})
	if a.missed != nil {
		a.out.add(aguiEvent{Type: "CUSTOM", Name: gapName, Value: a.missed})
		a.missed = nil
	}
	for i := range r.steps {
		r.steps[i].shown = true
		a.out.add(aguiEvent{Type: "STEP_STARTED", StepName: r.steps[i].name})
	}
}

// turnResult says how a run stands whose turn is over. AG-UI has no word for one that goes on.
type turnResult struct {
	Status status `json:"status"`
}

// leave closes what the reader knows to be open, and ends the turn.
func (a *agui) leave(last aguiEvent) {
	r := a.turn
	for _, open := range r.texts.open {
		a.hush(open)
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
	a.turn = nil
}

// end ends a run for good.
func (a *agui) end(r *run, how status) {
	r.over, r.outcome = true, how
	defer r.forget()
	if a.quiet {
		return
	}
	a.enter(r)
	last := aguiEvent{Type: "RUN_FINISHED", Usage: aguiUsage(r), Result: turnResult{how}}
	switch how {
	case completed:
		last.Outcome = &aguiOutcome{Type: "success", Pending: r.paused}
	case canceled:
		last.Outcome = &aguiOutcome{Type: "cancelled"}
	case interrupted:
		last.Outcome = &aguiOutcome{Type: "interrupt", Interrupts: interruptsOf(r)}
	case failed:
		last = aguiEvent{Type: "RUN_ERROR", Message: "the run failed", Code: string(r.reason()), Usage: last.Usage}
	default:
		last = aguiEvent{Type: "RUN_ERROR", Message: "the stream ended before the run did", Code: string(how), Usage: last.Usage}
	}
	a.leave(last)
}

// say writes a text, or what of it is news. A thought is one of the protocol's spans of reasoning.
func (a *agui) say(r *run, b *event.Batch, e *event.Event) {
	of, news, over := r.texts.say(speakerOf(b, e), e.Text(), b.Partial, a.out.id)
	if of == nil || a.quiet {
		return
	}
	if of.after != nil {
		a.hush(of.after)
	}
	if len(news) > 0 {
		a.enter(r)
		a.speak(of, b)
		kind := "TEXT_MESSAGE_CONTENT"
		if of.by.thinks {
			kind = "REASONING_MESSAGE_CONTENT"
		}
		a.add(b, aguiEvent{Type: kind, MessageID: of.id, Delta: string(news)})
	}
	if over {
		a.hush(of)
	}
}

// speak begins a text for who does not know of it.
func (a *agui) speak(t *text, b *event.Batch) {
	if t.shown {
		return
	}
	t.shown = true
	if t.by.thinks {
		a.out.add(aguiEvent{Type: "REASONING_START", MessageID: t.id})
		a.add(b, aguiEvent{Type: "REASONING_MESSAGE_START", MessageID: t.id, Role: "reasoning"})
		return
	}
	a.add(b, aguiEvent{Type: "TEXT_MESSAGE_START", MessageID: t.id, Role: "assistant", Name: t.by.agent})
}

func (a *agui) hush(t *text) {
	switch {
	case !t.shown:
	case t.by.thinks:
		a.out.add(aguiEvent{Type: "REASONING_MESSAGE_END", MessageID: t.id})
		a.out.add(aguiEvent{Type: "REASONING_END", MessageID: t.id})
	default:
		a.out.add(aguiEvent{Type: "TEXT_MESSAGE_END", MessageID: t.id})
	}
	t.shown = false
}

// call writes a call whole: its arguments come whole.
func (a *agui) call(r *run, b *event.Batch, e *event.Event) {
	id := r.callID(e, a.out.id)
	if !a.enters(r) {
		return
	}
	a.add(b, aguiEvent{Type: "TOOL_CALL_START", ToolCallID: id, ToolCallName: &e.Name})
	if e.Payload().Exists() {
		a.add(b, aguiEvent{Type: "TOOL_CALL_ARGS", ToolCallID: id, Delta: string(e.Payload().Raw())})
	}
	a.add(b, aguiEvent{Type: "TOOL_CALL_END", ToolCallID: id})
}

func (a *agui) answer(r *run, b *event.Batch, e *event.Event) {
	id := r.endedID(e, a.out.id)
	if !a.enters(r) {
		return
	}
	content := string(e.Payload().Raw())
	if e.Payload().Kind() == strictjson.String {
		content = e.Payload().String()
	}
	a.add(b, aguiEvent{Type: "TOOL_CALL_RESULT", MessageID: a.out.messageID(), ToolCallID: id, Content: &content, Role: "tool"})
}

// activity writes the whole of something.
func (a *agui) activity(r *run, b *event.Batch, e *event.Event, content any) {
	id := r.thing(e, a.out.id).id
	if a.enters(r) {
		a.add(b, aguiEvent{Type: "ACTIVITY_SNAPSHOT", MessageID: id, ActivityType: "delegraph." + e.Kind.String(), Content: content})
	}
}

// write writes an artifact: whole, or, where the reader has something of its contents, what is added to that.
func (a *agui) write(r *run, b *event.Batch, e *event.Event) {
	of, now := r.thing(e, a.out.id), writtenOf(e, e.Pieces())
	grows := e.Artifact.Append && of.begun
	of.begun = grows || len(now.Contents) > 0
	switch {
	case a.quiet: // who comes back has the beginning
		of.begun = of.begun && a.settings.Resumed
	case !grows:
		a.activity(r, b, e, now)
	default:
		a.enter(r)
		a.add(b, aguiEvent{Type: "ACTIVITY_DELTA", MessageID: of.id, ActivityType: "delegraph.artifact", Patch: added(now)})
	}
}

func (a *agui) custom(r *run, b *event.Batch, name string, value any) {
	if a.enters(r) {
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

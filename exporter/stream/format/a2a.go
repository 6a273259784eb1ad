package format

import (
	"cmp"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// a2a writes the updates of the Agent2Agent protocol. A run is a task; its first update on a connection is a snapshot of the task,
// as for who subscribes to one. Calls of tools are data parts as agents of Google's ADK have them.
type a2a struct {
	runs
	wire   a2aWire
	quiet  bool
	missed *gap
}

func newA2A(s *Settings, out *output) *a2a {
	return &a2a{runs: newRuns(s, out), wire: a2aWire{old: s.Format == A2A03}}
}

func (a *a2a) silent(quiet bool) { a.quiet = quiet }

// gap waits for the next snapshot: clients take every event for a response, whatever its name.
func (a *a2a) gap(g *replay.Gap) bool {
	a.missed = gapOf(g)
	return false
}

func (a *a2a) frame(f replay.Frame, b *event.Batch) {
	r := a.of(f, b)
	ended := false
	r.hear(b)
	for i := range b.Events {
		e := &b.Events[i]
		if r.over && !completes(e) {
			continue
		}
		r.take(b, e)
		a.state(r, b, e)
		ended = ended || e.Kind == event.KindRunEnded
	}
	if ended { // whatever else the frame says is of the run too
		a.end(r, b, r.ended(true, event.EndOfStream))
	}
}

func (a *a2a) over(f replay.Frame, last *event.Batch) {
	for _, r := range a.on(f.Stream) {
		a.end(r, last, r.ended(false, f.End))
	}
}

// state writes what a fact says.
func (a *a2a) state(r *run, b *event.Batch, e *event.Event) {
	switch e.Kind {
	case event.KindRunStarted:
		a.tells(r, b, stateSubmitted)
	case event.KindText:
		a.say(r, b, e)
	case event.KindThought:
		a.think(r, b, e)
	case event.KindToolStarted:
		id := r.callID(e, a.out.id)
		a.work(r, b, a2aPart{Data: toolPart{ID: id, Name: e.Name, Args: object(e.Payload())}, Metadata: &partRemarks{Type: "function_call", Long: e.LongRunning}})
	case event.KindToolEnded:
		id := r.endedID(e, a.out.id)
		a.work(r, b, a2aPart{Data: toolPart{ID: id, Name: e.Name, Response: resultOf(e)}, Metadata: &partRemarks{Type: "function_response"}})
	case event.KindInputRequested:
		a.ask(r, b, inputOf(e))
	case event.KindArtifact:
		a.artifact(r, b, e)
	case event.KindAdopted:
		a.adopt(e.ID, r)
	case event.KindTransfer, event.KindInputAnswered, event.KindAgentStarted, event.KindAgentEnded, event.KindToolProgress, event.KindPlan,
		event.KindConfidence, event.KindCitation, event.KindReasoning:
		a.work(r, b, a2aPart{Data: remark{Kind: e.Kind.String(), content: contentOf(e, b.Partial)}})
	}
}

// remark is what A2A has no word for, in our own.
type remark struct {
	Kind string `json:"kind"`
	*content
}

// tells says whether the reader listens, who first learns of the task.
func (a *a2a) tells(r *run, b *event.Batch, now a2aState) bool {
	if a.quiet || r.known {
		return !a.quiet
	}
	r.known = true
	if r.over {
		now = r.last
	}
	task := a2aTask{ID: r.id, ContextID: r.session, Status: a2aStatus{State: now, Timestamp: timestamp(b)}}
	if a.missed != nil {
		task.Metadata = &taskRemarks{Gap: a.missed}
		a.missed = nil
	}
	a.out.add(a.wire.task(task))
	return true
}

// update writes how a task stands.
func (a *a2a) update(r *run, b *event.Batch, now a2aState, final bool, parts ...a2aPart) {
	u := a2aStatusUpdate{TaskID: r.id, ContextID: r.session, Status: a2aStatus{State: now, Timestamp: timestamp(b)}, Final: final}
	if len(parts) > 0 {
		u.Status.Message = &a2aMessage{MessageID: a.out.messageID(), TaskID: r.id, ContextID: r.session, Role: "agent", Parts: parts}
	}
	if b.Agent != "" && len(parts) > 0 {
		u.Metadata = &updateRemarks{Author: b.Agent}
	}
	a.out.add(a.wire.status(u))
}

func (a *a2a) work(r *run, b *event.Batch, part a2aPart) {
	switch {
	case !a.tells(r, b, stateWorking):
	case r.over:
		a.update(r, b, r.last, true, part)
	default:
		a.update(r, b, stateWorking, false, part)
	}
}

// say writes a text as an artifact, which ends with its last chunk.
func (a *a2a) say(r *run, b *event.Batch, e *event.Event) {
	of, news, over := r.texts.say(speakerOf(b, e), e.Text(), b.Partial, a.out.id)
	if of == nil {
		return
	}
	if of.after != nil {
		a.chunk(r, b, of.after, nil, true)
	}
	a.chunk(r, b, of, news, over)
}

// chunk writes a piece of a text. The last may be empty, and is for who got the others.
func (a *a2a) chunk(r *run, b *event.Batch, of *text, news []byte, over bool) {
	if len(news) == 0 && !(over && of.shown) {
		return
	}
	going := of.shown
	if a.quiet { // who comes back has the beginning
		of.shown = a.settings.Resumed && !over
		return
	}
	of.shown = !over
	a.tells(r, b, stateWorking)
	u := a2aArtifactUpdate{
		TaskID: r.id, ContextID: r.session, Append: going, LastChunk: over,
		Artifact: a2aArtifact{ID: of.id, Parts: []a2aPart{textPart(string(news))}},
	}
	if of.by.agent != "" {
		u.Metadata = &updateRemarks{Author: of.by.agent}
	}
	a.out.add(a.wire.artifact(u))
}

// think writes a thought as talk about the work.
func (a *a2a) think(r *run, b *event.Batch, e *event.Event) {
	of, news, _ := r.texts.say(speakerOf(b, e), e.Text(), b.Partial, a.out.id)
	if of == nil || len(news) == 0 {
		return
	}
	part := textPart(string(news))
	part.Metadata = &partRemarks{Thought: true, Kind: e.Thought}
	a.work(r, b, part)
}

// ask writes that somebody is asked. It is the task's last word only where its run ends with it.
func (a *a2a) ask(r *run, b *event.Batch, asked input) {
	if a.tells(r, b, stateWorking) {
		a.update(r, b, a.wire.asking(asked.Kind), false, questionParts(asked)...)
	}
}

// questionParts returns what is asked, for people and for programs.
func questionParts(asked input) []a2aPart {
	parts := []a2aPart{{Data: asked}}
	if asked.Prompt != "" {
		parts = append([]a2aPart{textPart(asked.Prompt)}, parts...)
	}
	return parts
}

// artifact writes what was written. It goes on only with what the reader has.
func (a *a2a) artifact(r *run, b *event.Batch, e *event.Event) {
	of := r.thing(e, a.out.id)
	going := e.Artifact.Append && of.begun
	if of.begun = !a.quiet || a.settings.Resumed; !a.tells(r, b, stateWorking) {
		return
	}
	a.out.add(a.wire.artifact(a2aArtifactUpdate{
		TaskID: r.id, ContextID: r.session, Append: going, LastChunk: e.Artifact.Complete,
		Artifact: a2aArtifact{ID: cmp.Or(e.ID, of.id), Name: e.Name, Parts: a.wire.parts(e)},
	}))
}

// end ends a run for good.
func (a *a2a) end(r *run, b *event.Batch, how status) {
	last, parts := a.lastWord(r, how)
	if !a.quiet && a.tells(r, b, stateWorking) {
		for _, open := range r.texts.open {
			a.chunk(r, b, open, nil, true)
		}
		a.update(r, b, last, true, parts...)
	}
	r.over, r.last = true, last
	r.forget()
}

// lastWord returns the last state of a task, and what is said with it. What it waits for is said once more, since clients look only at
// how the task stands at last.
func (a *a2a) lastWord(r *run, how status) (a2aState, []a2aPart) {
	switch how {
	case interrupted:
		parts := make([]a2aPart, 0, len(r.asked))
		for _, one := range r.asked {
			parts = append(parts, questionParts(one)...)
		}
		return a.wire.asking(r.asked[0].Kind), parts
	case completed:
		return stateCompleted, nil
	case canceled:
		return stateCanceled, nil
	case failed:
		return stateFailed, []a2aPart{textPart("the run failed")}
	}
	return stateFailed, []a2aPart{textPart("the stream ended before the run did")}
}

// object is a value as the protocol has calls: a struct.
func object(v strictjson.Value) any {
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

// resultOf is what a tool gave back; of one that failed without a word, that it did.
func resultOf(e *event.Event) any {
	if result := object(e.Payload()); result != nil {
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

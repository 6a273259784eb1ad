package tracker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// addArtifact adds an artifact, or a chunk to an existing one.
func (r *openRun) addArtifact(e *event.Event) {
	if at, known := r.artifactIndex[e.ID]; known {
		r.Artifacts[at].add(e)
		return
	}
	a := Artifact{ID: e.ID, Name: e.Name, Artifact: event.Artifact{Kind: e.Artifact.Kind}}
	a.add(e)
	if keepFact(r, &r.Artifacts, event.KindArtifact.String(), a) && e.ID != "" {
		put(&r.artifactIndex, e.ID, len(r.Artifacts)-1)
	}
}

// add adds a chunk. A chunk whose number has been seen is a duplicate and is ignored, unless it is
// empty and only states that the artifact is complete. Skipped numbers are a gap until they come.
func (a *Artifact) add(e *event.Event) {
	chunk := e.Artifact
	a.Complete = a.Complete || chunk.Complete
	if chunk.Index.Known {
		switch {
		case chunk.Index.N < a.next && chunk.Complete && chunk.Bytes == (event.Count{Known: true}):
			return
		case chunk.Index.N < a.next && !a.fillGap(chunk.Index.N):
			a.Duplicates++
			return
		case chunk.Index.N > a.next:
			a.addGap(chunkRange{a.next, chunk.Index.N})
		}
		a.next = max(a.next, chunk.Index.N+1)
	}
	if !chunk.Append && !chunk.Index.Known {
		a.Bytes = event.Count{} // the write replaces the artifact
	}
	a.Bytes = a.Bytes.Add(chunk.Bytes)
	a.Name = cmp.Or(a.Name, e.Name)
}

// chunkRange is a range of chunk numbers. to is not part of it.
type chunkRange struct{ from, to int64 }

// maxSkipped bounds Artifact.skipped. A chunk of a gap beyond it counts as a duplicate.
const maxSkipped = 8

func (a *Artifact) addGap(gap chunkRange) {
	a.Gaps++
	if len(a.skipped) < maxSkipped {
		a.skipped = append(a.skipped, gap)
	}
}

// fillGap removes a chunk number from the gap in which it is. It returns false if it is in none.
func (a *Artifact) fillGap(n int64) bool {
	i := slices.IndexFunc(a.skipped, func(gap chunkRange) bool { return gap.from <= n && n < gap.to })
	if i < 0 {
		return false
	}
	gap := a.skipped[i]
	a.skipped = slices.Delete(a.skipped, i, i+1)
	a.Gaps--
	for _, rest := range []chunkRange{{gap.from, n}, {n + 1, gap.to}} {
		if rest.from < rest.to {
			a.addGap(rest)
		}
	}
	return true
}

// endAwaitingUsage stops waiting for the usage of a response. The response keeps the end that it had.
func (r *openRun) endAwaitingUsage(key responseKey) {
	op := r.awaitingUsage[key]
	if op == nil {
		return
	}
	delete(r.awaitingUsage, key)
	ended := op.Ended
	r.end(op, op.Status, failure{op.Failure, op.ErrorCode})
	op.Ended = ended
}

// attribute moves a response and a call to the agent that the stream has now named as their sender.
func (r *openRun) attribute(sent *event.Sent, agent *Operation) {
	for key, op := range r.awaitingUsage {
		if !sent.OnlyCall && key.response == sent.Response && op.Agent == "" {
			r.attributeTo(agent, op)
			r.endAwaitingUsage(key)
			break
		}
	}
	for key, op := range r.partialResponses {
		if sent.IsOpen && key.response == sent.Response && op.Agent == "" {
			r.attributeTo(agent, op)
			delete(r.partialResponses, key)
			put(&r.partialResponses, responseKey{agent, key.response}, op)
			break
		}
	}
	if call := r.calls[sent.Call]; call != nil && call.open && call.Agent == "" {
		r.attributeTo(agent, call)
	}
}

func (r *openRun) attributeTo(agent, op *Operation) {
	op.Agent = agent.agentName()
	r.reparent(op, agent)
	if op.Kind == Chat {
		agent.finalFrame, agent.debt = max(agent.finalFrame, op.finalFrame), noDebt
	}
	switch cause := agent.causeOf(agent.laneOr("")); {
	case int(agent.firstFrame) > int(op.firstFrame) && r.mayAsk(agent) > 0: // it may have worked beside those
		op.startUnknown, agent.startUnknown = true, true
	case op.askerUnknown && cause.Frame < int(op.firstFrame):
		op.startAt(latest(cause, r.Root.Started))
		op.startUnknown, op.askerUnknown = op.causeUnknown || agent.hasUnknownDelay(cause), false
	}
}

// mayAsk returns the number of open agents that may ask their models: those that have given no final answer. It leaves out an agent, which may
// be nil, and those around it.
func (r *openRun) mayAsk(except *Operation) (n int) {
	for _, op := range r.agents {
		if op.open && op.Kind == InvokeAgent && op.finalFrame == 0 && op != except && (except == nil || !except.isBelow(op)) {
			n++
		}
	}
	return n
}

// senderOf returns the name of the agent that sends a response or a call, or "" if it is not known.
func senderOf(b *event.Batch, speaker *Operation) string {
	if b.AgentUnknown {
		return ""
	}
	return speaker.agentName()
}

// endAllAwaitingUsage ends the responses of all agents, in the order in which they began.
func (r *openRun) endAllAwaitingUsage() {
	for _, op := range slices.SortedFunc(maps.Values(r.awaitingUsage), byOrdinal) {
		r.endAwaitingUsage(op.responseKey())
	}
}

// addUsage adds tokens to the response that awaits them, else to the run.
func (r *openRun) addUsage(e *event.Event, b *event.Batch, agent *Operation) {
	r.Usage = r.Usage.Add(e.Usage)
	if op := r.awaitingUsage[responseKey{agent, b.Response}]; op != nil {
		op.Response = &Response{op.Response.FinishReason, op.Response.Usage.Add(e.Usage), op.Response.FirstChunk}
		op.Name = cmp.Or(e.Model, op.Name)
		if e.UsageIncomplete || b.Has(event.KindText) {
			op.Ended = r.now
		}
		return
	}
	r.addUnattributedUsage(e.Model, e.Usage)
}

func (r *openRun) addUnattributedUsage(model string, used event.Usage) {
	if used != (event.Usage{}) {
		keepFact(r, &r.UnattributedUsage, event.KindUsage.String(), UnattributedUsage{model, used})
	}
}

// runEnded records that the protocol stated the run's end. The event's usage is the run's total. The part of it that no
// response reported is unattributed.
func (r *openRun) runEnded(e *event.Event) {
	r.endStated, r.endCuts, r.outcomePending, r.endStatedAt = true, e.Cuts, e.AwaitsOutcome, r.now
	r.ReportedDuration, r.ReportedToolCalls = e.Duration, e.ToolCalls
	r.Root.keepIterations(e)
	if e.Error == event.NoFailure {
		r.lastFinal = r.now.Frame
		clear(r.unrecovered)
	}
	rest := e.Usage.Since(r.Usage)
	r.Usage = r.Usage.Add(rest)
	r.addUnattributedUsage(e.Model, rest)
}

// addThought counts a thought by its type, once for all its pieces.
func (r *openRun) addThought(e *event.Event, b *event.Batch, agent *Operation) {
	if e.ThoughtType == "" || b.Partial && e.ID == "" { // another event repeats these pieces as a whole
		return
	}
	limit := r.tracker.settings.MaxFacts
	if d := agent.details(); !slices.Contains(d.Thoughts, e.ThoughtType) && len(d.Thoughts) < limit {
		d.Thoughts = append(d.Thoughts, e.ThoughtType)
	}
	for i := range r.Thoughts {
		t := &r.Thoughts[i]
		if t.Agent != agent.Agent || t.Type != e.ThoughtType {
			continue
		}
		if e.ID == "" || e.ID != t.last {
			t.Count++
		}
		t.last = e.ID
		return
	}
	keepFact(r, &r.Thoughts, event.KindThought.String(), ThoughtCount{Agent: agent.Agent, Type: e.ThoughtType, Count: 1, last: e.ID})
}

// noteProgress records the progress of a call.
func (r *openRun) noteProgress(e *event.Event, b *event.Batch) {
	if op := r.call(b.Branch, e.CallID); op != nil && op.open && e.Progress.Known {
		op.details().Progress = e.Progress
	}
}

// keepFact appends a fact to a list and returns true, or counts it as evicted if there is no room.
func keepFact[T any](r *openRun, to *[]T, kind string, fact T) bool {
	fits := r.hasRoomForFact(len(*to), kind)
	if fits {
		*to = append(*to, fact)
	}
	return fits
}

// hasRoomForFact reports whether a run that has n facts of a kind has room for another one. If not, it
// counts a loss.
func (r *openRun) hasRoomForFact(n int, kind string) bool {
	if n < r.tracker.settings.MaxFacts && r.reserve(factSize) {
		return true
	}
	r.tracker.losses.CountEvicted(kind)
	return false
}

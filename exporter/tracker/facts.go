package tracker

import (
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// write keeps an artifact, or adds a chunk to the one it is of.
func (r *openRun) write(e *event.Event) {
	if at, known := r.artifacts[e.ID]; known && e.ID != "" {
		r.Artifacts[at].add(e)
		return
	}
	r.keepFact(len(r.Artifacts), "artifact", func() {
		a := Artifact{ID: e.ID, Name: e.Name, Artifact: event.Artifact{Kind: e.Artifact.Kind}}
		a.add(e)
		if e.ID != "" {
			put(&r.artifacts, e.ID, len(r.Artifacts))
		}
		r.Artifacts = append(r.Artifacts, a)
	})
}

// add takes a chunk. One whose number was already there is a duplicate and counts for nothing, unless it is empty and only says
// that the artifact is complete; a number that was left out is a gap.
func (a *Artifact) add(e *event.Event) {
	w := e.Artifact
	a.Complete = a.Complete || w.Complete
	if w.Index.Known {
		switch {
		case w.Index.N < a.next && w.Complete && w.Bytes == (event.Count{Known: true}):
			return
		case w.Index.N < a.next:
			a.Duplicates++
			return
		case w.Index.N > a.next:
			a.Gaps++
		}
		a.next = w.Index.N + 1
	}
	if !w.Append && !w.Index.Known {
		a.Bytes = event.Count{} // written anew
	}
	a.Bytes = a.Bytes.Add(w.Bytes)
	if a.Name == "" {
		a.Name = e.Name
	}
}

// settle ends a response whose usage was waited for, at the moment at which it was whole.
func (r *openRun) settle(agent *Operation) {
	op := r.settling[agent]
	if op == nil {
		return
	}
	delete(r.settling, agent)
	whole := op.Ended
	r.end(op, op.Status, failure{op.Error, op.Code})
	op.Ended = whole
}

// settleAll settles in an order that is the same each time.
func (r *openRun) settleAll() {
	for _, agent := range slices.SortedFunc(maps.Keys(r.settling), func(a, b *Operation) int {
		return r.settling[a].ordinal - r.settling[b].ordinal
	}) {
		r.settle(agent)
	}
}

// meter gives the tokens to the speaker's last response, else to the run as a whole.
func (r *openRun) meter(e *event.Event, b *event.Batch, agent *Operation) {
	r.Usage = r.Usage.Add(e.Usage)
	if op := r.settling[agent]; op != nil {
		op.Response = &Response{op.Response.FinishReason, op.Response.Usage.Add(e.Usage), op.Response.FirstChunk}
		if e.Model != "" {
			op.Name = e.Model
		}
		if e.Unmetered || states(b, event.KindText) {
			op.Ended = r.now
		}
		return
	}
	if e.Usage == (event.Usage{}) {
		return
	}
	r.keepFact(len(r.Metered), "usage", func() { r.Metered = append(r.Metered, Metered{e.Model, e.Usage}) })
}

// runEnded takes the protocol's word that the run is over.
func (r *openRun) runEnded(e *event.Event) {
	r.over, r.awaits, r.overAt = true, e.AwaitsOutcome, r.now
	r.Took, r.ToolCalls = e.Took, e.ToolCalls
	r.Root.keepIterations(e)
	if e.Error == event.NoFailure {
		r.lastFinal = r.now.Frame
	}
	if e.Usage != (event.Usage{}) {
		r.Usage = r.Usage.Add(e.Usage)
		r.keepFact(len(r.Metered), "usage", func() { r.Metered = append(r.Metered, Metered{e.Model, e.Usage}) })
	}
}

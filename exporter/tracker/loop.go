package tracker

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// request is what an agent says that it asks a model.
type request struct {
	event.Loop
	model string
}

// iterate notes where an agent's loop stands. A request belongs to the agent's next response.
func (r *openRun) iterate(e *event.Event, agent *Operation) {
	d := agent.details()
	if e.Loop.Iteration.Known {
		d.Loop.Iteration = e.Loop.Iteration
	}
	if e.Loop.Messages.Known {
		d.Loop.Messages = e.Loop.Messages
	}
	if e.Loop.Tools.Known {
		d.Loop.Tools = e.Loop.Tools
	}
	if e.AsksModel && agent.open {
		put(&r.asking, agent, request{e.Loop, e.Model})
	}
}

// keepRequest gives a response that begins what the agent said of its request.
func (r *openRun) keepRequest(response, agent *Operation) {
	if asked, known := r.asking[agent]; known {
		delete(r.asking, agent)
		d := response.details()
		d.Loop, d.RequestModel = asked.Loop, asked.model
	}
}

// keepIterations notes how many rounds of its loop an agent took, by the protocol's word at its end.
func (op *Operation) keepIterations(e *event.Event) {
	if e.Iterations.Known {
		op.details().Iterations = e.Iterations
	}
}

// think counts a thought by its type, once however many pieces it comes in.
func (r *openRun) think(e *event.Event, agent *Operation) {
	if e.Thought == "" {
		return
	}
	limit := r.tracker.settings.MaxFacts
	if d := agent.details(); !slices.Contains(d.Thoughts, e.Thought) && len(d.Thoughts) < limit {
		d.Thoughts = append(d.Thoughts, e.Thought)
	}
	for i := range r.Thoughts {
		t := &r.Thoughts[i]
		if t.Agent != agent.Agent || t.Type != e.Thought {
			continue
		}
		if e.ID == "" || e.ID != t.last {
			t.Count++
		}
		t.last = e.ID
		return
	}
	r.keepFact(len(r.Thoughts), event.KindThought.String(), func() {
		r.Thoughts = append(r.Thoughts, Thought{Agent: agent.Agent, Type: e.Thought, Count: 1, last: e.ID})
	})
}

// progress notes how far a call is.
func (r *openRun) progress(e *event.Event, b *event.Batch) {
	if op := r.call(b.Branch, e.CallID); op != nil && op.open && e.CallID != "" && e.Progress.Known {
		op.details().Progress = e.Progress
	}
}

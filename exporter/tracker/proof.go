package tracker

import (
	"math"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// addProof adds a confidence, a citation or a reasoning chain to the run and to the operation that stated it.
func (r *openRun) addProof(e *event.Event, b *event.Batch, caller *Operation) {
	op := caller
	if call := r.call(b.Branch, e.CallID); call != nil {
		op = call
	}
	d := op.details()
	d.DroppedStatements += e.Omitted
	for range e.Omitted {
		r.tracker.losses.CountEvicted(e.Kind.String())
	}
	limit := r.tracker.settings.MaxFacts
	if len(d.Confidence)+len(d.Citations) >= limit {
		d.DroppedStatements++
		r.tracker.losses.CountEvicted(e.Kind.String())
		return
	}
	switch e.Kind {
	case event.KindConfidence:
		s := Confidence{Agent: e.Name, Confidence: e.Confidence, Restated: r.restates(e, op)}
		op.rateAround(e)
		d.Confidence = append(d.Confidence, s)
		keepFact(r, &r.Confidence, e.Kind.String(), s)
	case event.KindCitation:
		d.Citations = append(d.Citations, e.Citation)
		keepFact(r, &r.Citations, e.Kind.String(), Citation{e.Name, e.Citation})
	case event.KindReasoning:
		d.ReasoningSteps = event.Count{N: int64(e.Steps), Known: true}
		keepFact(r, &r.Reasoning, e.Kind.String(), Reasoning{e.Name, e.Steps})
	}
}

// restates reports whether a confidence repeats an earlier one: in an agent's text, that of another agent; in a call's result, that of an
// agent within the call. An overall confidence of an agent repeats none.
func (r *openRun) restates(e *event.Event, op *Operation) bool {
	isSame := func(value float64) bool { return math.Abs(value-e.Confidence.Value) < confidenceTolerance }
	switch {
	case !e.Confidence.Known:
		return false
	case !op.Kind.Invokes():
		return op.openState != nil && slices.ContainsFunc(op.ratedWithin, isSame)
	case e.Confidence.Overall || e.Confidence.Origin != event.OriginText:
		return false
	}
	return slices.ContainsFunc(r.Confidence, func(s Confidence) bool { return s.Known && s.Agent != e.Name && isSame(s.Value) })
}

// maxRatedWithin bounds openState.ratedWithin.
const maxRatedWithin = 16

// rateAround records an agent's confidence in the open calls around it. A result of such a call may repeat it.
func (op *Operation) rateAround(e *event.Event) {
	if !op.Kind.Invokes() || !e.Confidence.Known {
		return
	}
	for up := op.parent; up != nil; up = up.parent {
		if up.Kind == ExecuteTool && up.openState != nil && len(up.ratedWithin) < maxRatedWithin {
			up.ratedWithin = append(up.ratedWithin, e.Confidence.Value)
		}
	}
}

// confidenceTolerance is the largest difference of confidences that count as equal. "33.3%" and "0.333" may differ by a
// rounding error, because only the first is divided by 100.
const confidenceTolerance = 1e-9

package aisdk

import (
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxSteps bounds the unfinished steps of an answer. Further ones are not reported.
const maxSteps = 64

// step is one response of a model, and the calls of its tools. It lasts from a start-step to a finish-step.
//
// Source: ai/docs/04-ai-sdk-ui/50-stream-protocol.mdx ("one LLM API call in the backend").
type step struct {
	response   string // see event.Batch.Response
	state      stepState
	hasContent bool // a part, a call or a result belongs to the step
	failed     bool // an error came while the model responded
	uncertain  bool // another model responded at the same time, and no chunk says to which step it belongs
	mayBeOver  bool // a tool has returned since its last piece, so the response may have ended before
}

type stepState uint8

const (
	responding stepState = iota // the model's response has started
	responded                   // the response has ended, unless another part of it follows
	ended                       // the response has ended: tools have returned, or the step has
)

// mayBe reports whether two steps may be the same. A nil step is an unknown one.
func (s *step) mayBe(other *step) bool { return s == nil || other == nil || s == other }

// unknownResponse is the name of no response. It stands in chunks that belong to one of several.
const unknownResponse = "?"

// steps holds the unfinished steps of an answer in the order in which they began. There are several if an application
// merges streams, such as those of agents that work in a tool.
type steps []*step

func (s steps) responding() (all steps) {
	for _, known := range s {
		if known.state == responding {
			all = append(all, known)
		}
	}
	return all
}

// current returns the step to which a new part or call belongs. It is nil if no step is open, or if several models respond. If no model
// responds, it is the last step.
func (s steps) current() *step {
	candidates := s.responding()
	if len(candidates) == 0 {
		candidates = s
	}
	if len(candidates) == 0 || candidates[len(candidates)-1].uncertain {
		return nil
	}
	return candidates[len(candidates)-1]
}

// next returns the step that a finish-step ends, or nil. It is the oldest one with a model that responds, if possible without
// a failure. If no model responds, it is the last step, because an agent in a tool ends before the tool.
func (s steps) next() *step {
	candidates := s.responding()
	if i := slices.IndexFunc(candidates, func(known *step) bool { return !known.failed }); i >= 0 {
		return candidates[i]
	}
	switch {
	case len(candidates) > 0:
		return candidates[0]
	case len(s) > 0:
		return s[len(s)-1]
	}
	return nil
}

// startStep starts a response. It does not end an unfinished step or its parts, because an application may merge
// several streams.
//
// Source: ai/src/ui/process-ui-message-stream.ts. Since ai 7.0, finish-step ends no parts either.
func (d *decoder) startStep(_ strictjson.Value, b *event.Batch) {
	d.finalReported = false
	if len(d.steps) == maxSteps {
		return
	}
	started := &step{}
	others := d.steps.responding()
	for _, other := range others {
		started.uncertain, other.uncertain = true, true
	}
	// If all open steps respond, none waits for a tool in which the new one works. Their streams may go on after finish-step, so the cause of
	// later responses is unknown.
	d.hadParallelModels = d.hadParallelModels || len(others) > 0 && len(others) == len(d.steps)
	startUnknown := d.hadParallelModels || len(d.steps) > 0
	d.stepCount++
	if d.hadOpenSteps = d.hadOpenSteps || len(d.steps) > 0; d.hadOpenSteps {
		started.response = strconv.Itoa(d.stepCount)
	}
	d.steps = append(d.steps, started)
	b.Response = started.response
	b.Add(event.KindModelStarted).Uncertain = startUnknown
}

// finishStep ends the response if no call has ended it. After calls the frame counts as partial, because
// it does not cause the next response: pydantic-ai sends it when that response begins.
func (d *decoder) finishStep(_ strictjson.Value, b *event.Batch) {
	finished := d.steps.next()
	b.Partial = finished == nil || finished.state != responding
	if d.parts.endStep(); finished == nil {
		return
	}
	b.Response = finished.response
	if finished.state == responding && !finished.failed {
		finished.reportEnd(b)
	}
	finished.state = ended
	d.steps = slices.DeleteFunc(d.steps, func(known *step) bool { return known == finished })
}

// resetStep starts the response over. The client discards what the step has brought. Before the step has brought anything, the chunk
// only begins the first attempt. If several models respond, the step that it resets is unknown.
//
// Source: do-stream-step.ts of @ai-sdk/workflow.
func (d *decoder) resetStep(_ strictjson.Value, b *event.Batch) {
	d.parts.endStep()
	reset := d.steps.next()
	if reset == nil || reset.uncertain {
		return
	}
	b.Response = reset.response
	if !reset.hasContent {
		return
	}
	if reset.state == responding && !reset.failed {
		reset.reportEnd(b).Error = event.ModelError
	}
	d.calls.discard(reset)
	d.parts.discard(reset)
	reset.state, reset.failed, reset.hasContent, reset.mayBeOver = responding, false, false, false
	b.Add(event.KindModelStarted).Uncertain = true // the failure of the attempt before it is not on the wire
}

// reportEnd reports the end of the response.
func (s *step) reportEnd(b *event.Batch) *event.Event {
	e := b.Add(event.KindModelEnded)
	e.Uncertain = s.uncertain || s.mayBeOver
	return e
}

// modelPart handles a part of the response that states no fact.
func (d *decoder) modelPart(_ strictjson.Value, b *event.Batch) { d.continueResponse(nil, b) }

// belongTo records the step of a chunk: the step of its part or call, else the current one. It returns nil if that is unknown.
func (d *decoder) belongTo(known *step, b *event.Batch) *step {
	if known == nil {
		known = d.steps.current()
	}
	switch {
	case known != nil:
		b.Response, known.hasContent = known.response, true
	case len(d.steps) > 0:
		b.Response = unknownResponse
	}
	return known
}

// continueResponse records that the response of a part goes on. It returns the step of the response, or nil if that is unknown.
func (d *decoder) continueResponse(of *step, b *event.Batch) *step {
	s := d.belongTo(of, b)
	if s == nil {
		return nil
	}
	if s.mayBeOver = false; s.state == responded {
		b.Add(event.KindUsage).UsageIncomplete = true
	}
	return s
}

// endResponse reports the end of the response when a call is complete and no other part is open. The protocol states
// the end only after the tools have returned. So another part of the response may still follow.
func (d *decoder) endResponse(of *step, b *event.Batch) {
	s := d.belongTo(of, b)
	switch {
	case s == nil:
	case s.state == responded:
		d.continueResponse(s, b)
	case s.state == responding && !d.parts.anyOpen(s) && !d.calls.anyStreaming(s):
		e := b.Add(event.KindModelEnded)
		e.UsageIncomplete, e.Uncertain = true, s.mayBeOver
		s.state = responded
	}
}

// toolReturned records a result. The model's response ended before it, unless a part of the response is open. If a call has incomplete
// arguments, the end is uncertain: pydantic-ai completes calls that a person must approve only after the results of the others.
func (d *decoder) toolReturned(known *call, b *event.Batch) {
	of := known.madeIn()
	if isOpen := d.parts.anyOpen(of); isOpen || d.calls.anyStreaming(of) {
		if s := d.continueResponse(of, b); s != nil {
			s.mayBeOver = !isOpen && s.state == responding && !known.hasEnded()
		}
	} else if s := d.belongTo(of, b); s != nil && s.state == responded {
		s.state = ended
	}
}

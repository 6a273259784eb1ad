package aisdk

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// stepState is the state of the current step: one response of a model, and the calls of its tools.
//
// Source: ai/docs/04-ai-sdk-ui/50-stream-protocol.mdx ("one LLM API call in the backend").
type stepState uint8

const (
	noStep     stepState = iota
	responding           // the model's response has started
	responded            // the response has ended, unless another part of it follows
	executing            // the response has ended, and tools have returned
)

// startStep starts a response. It does not end the parts of an unfinished step, because an application may merge
// several streams.
//
// Source: ai/src/ui/process-ui-message-stream.ts. Since ai 7.0, finish-step ends no parts either.
func (d *decoder) startStep(_ strictjson.Value, b *event.Batch) {
	d.step, d.stepFailed = responding, false
	b.Add(event.KindModelStarted)
}

// finishStep ends the response if no call has ended it. After calls the frame counts as partial, so that it
// is not taken for the cause of the next response: pydantic-ai sends it when that response begins.
func (d *decoder) finishStep(_ strictjson.Value, b *event.Batch) {
	if d.step == responding && !d.stepFailed {
		b.Add(event.KindModelEnded)
	}
	b.Partial = d.step != responding
	d.step = noStep
	d.parts.endStep()
}

// resetStep ends the response. The client discards it.
func (d *decoder) resetStep(_ strictjson.Value, b *event.Batch) {
	if d.step == responding {
		b.Add(event.KindModelEnded).Error = event.ModelError
		d.step = noStep
	}
	d.parts.endStep()
}

// modelPart handles a part of the response that states no fact.
func (d *decoder) modelPart(_ strictjson.Value, b *event.Batch) { d.continueResponse(b) }

// continueResponse records that the model's response goes on.
func (d *decoder) continueResponse(b *event.Batch) {
	if d.step == responded {
		b.Add(event.KindUsage).UsageIncomplete = true
	}
}

// endResponse reports the end of the response when a call is complete and no other part is open. The protocol states
// the end only after the tools have returned. So another part of the response may still follow.
func (d *decoder) endResponse(b *event.Batch) {
	switch {
	case d.step == responded:
		d.continueResponse(b)
	case d.step == responding && !d.parts.anyOpen() && !d.calls.anyStreaming():
		b.Add(event.KindModelEnded).UsageIncomplete = true
		d.step = responded
	}
}

// toolReturned records a result. The model's response has ended before it, unless a part of it is
// open.
func (d *decoder) toolReturned(b *event.Batch) {
	if d.parts.anyOpen() || d.calls.anyStreaming() {
		d.continueResponse(b)
	} else if d.step == responded {
		d.step = executing
	}
}

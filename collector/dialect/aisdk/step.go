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
	responded            // it has ended, unless another part of it follows
	executing            // it has ended, and tools have returned
)

// startStep starts a response. Parts of an earlier step that has not finished go on: an application may merge several
// streams.
//
// Source: ai/src/ui/process-ui-message-stream.ts of ai 5.0, which forgets parts at finish-step.
func (d *decoder) startStep(_ strictjson.Value, b *event.Batch) {
	d.step = responding
	b.Add(event.KindModelStarted)
}

// finishStep ends the response if no call has ended it. After calls it is not a frame that the model
// waited for: pydantic-ai sends it when the next response begins.
func (d *decoder) finishStep(_ strictjson.Value, b *event.Batch) {
	if d.step == responding && d.failure == event.NoFailure {
		b.Add(event.KindModelEnded)
	}
	b.Partial = d.step != responding
	d.step = noStep
	d.clearParts()
}

// resetStep ends the response, of which the client keeps nothing.
func (d *decoder) resetStep(_ strictjson.Value, b *event.Batch) {
	if d.step == responding {
		b.Add(event.KindModelEnded).Error = event.ModelError
		d.step = noStep
	}
	d.clearParts()
}

// modelPart handles a part of the response without a fact of its own.
func (d *decoder) modelPart(_ strictjson.Value, b *event.Batch) { d.continueResponse(b) }

// continueResponse records that the model's response goes on.
func (d *decoder) continueResponse(b *event.Batch) {
	if d.step == responded {
		b.Add(event.KindUsage).UsageIncomplete = true
	}
}

// endResponse reports the end of the response when a call is complete and no other part is open. It does not wait for
// the protocol, which states the end only after the tools have returned. Another part may follow.
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
	switch {
	case d.step == responded && (d.parts.anyOpen() || d.calls.anyStreaming()):
		d.continueResponse(b)
	case d.step == responded:
		d.step = executing
	}
}

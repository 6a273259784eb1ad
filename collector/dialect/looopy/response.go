package looopy

import (
	"cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// response is the state of a task's model response.
type response struct {
	stage        stage
	usage        event.Usage // usage that arrived before the open response ended
	usageModel   string      // the model of that usage
	pendingCalls int         // calls of the last response that have not appeared yet
}

type stage uint8

const (
	idle        stage = iota // the model may be called
	responding               // a response has started
	awaitsUsage              // the response has ended; its usage may follow
	hasUsage                 // the response has ended, and its usage is known
)

// openResponse reports the first sign of a response, unless the task has ended.
func (t *task) openResponse(b *event.Batch) {
	if t.stage == responding || t.ended {
		return
	}
	t.stage = responding
	b.Add(event.KindModelStarted).Model = t.modelName()
}

// mayRespond records that the model may be called again.
func (t *task) mayRespond() {
	if t.stage != responding {
		t.stage = idle
	}
}

func (t *task) modelName() string { return cmp.Or(t.usageModel, t.model) }

// closeResponse ends a response. Providers send the usage before content-complete (LiteLLM) or
// after it.
func (t *task) closeResponse(finish strictjson.Value, failure event.Failure, code string, b *event.Batch) *event.Event {
	e := b.Add(event.KindModelEnded)
	e.Model, e.FinishReason, e.Usage, e.Error, e.Code = t.modelName(), dialect.Name(finish.String()), t.usage, failure, code
	if failure == event.NoFailure {
		e.Error, e.Code = wire.FinishFailure(e.FinishReason)
	}
	t.response = response{stage: hasUsage}
	return e
}

func (d *decoder) contentDelta(t *task, fr frame, b *event.Batch) {
	b.Partial = true // content-complete or task-complete repeats it
	t.openResponse(b)
	b.AddText(event.KindText, fr.data.Get("delta"))
}

// contentComplete ends a response. The response is the answer unless the model calls tools, because
// the servers' loop continues only then. In the design document it has no finish reason. There, the
// end of the task marks the answer.
func (d *decoder) contentComplete(t *task, fr frame, b *event.Batch) {
	if t.ended {
		d.addOutcome(t, fr, b)
		return
	}
	finish := wire.FinishReason(fr.data.Get("finishReason"))
	if e := t.closeResponse(finish, event.NoFailure, "", b); e.Usage == (event.Usage{}) {
		e.UsageIncomplete, t.stage = true, awaitsUsage
	}
	t.pendingCalls = fr.data.Get("toolCalls").Len()
	if e := b.AddText(event.KindText, fr.data.Get("content")); e != nil {
		t.isNewText(e.Text())
	}
	if t.answerReported = finish.Exists() && !finish.Is("tool_calls"); t.answerReported {
		b.Add(event.KindFinal)
	}
}

// llmUsage adds the usage to the response that has just ended, else to the open one. A response
// that only calls tools shows nothing else before its end.
func (d *decoder) llmUsage(t *task, fr frame, b *event.Batch) {
	usage, model := readUsage(fr.data), d.member(fr, "model")
	if t.ended || t.stage == awaitsUsage || t.stage == hasUsage {
		t.stage = hasUsage
		e := b.Add(event.KindUsage)
		e.Usage, e.Model = usage, model
		return
	}
	t.usage, t.usageModel = t.usage.Add(usage), model
	t.openResponse(b)
}

// toolCall handles a call that a model requests. The call itself starts with tool-start, which is
// not sent for a tool that does not exist. Servers of 2025 send tool-call within a response. Today's
// servers send it after the response, and only for tools that do not exist.
func (d *decoder) toolCall(t *task, _ frame, b *event.Batch) {
	if t.pendingCalls == 0 && (t.stage == idle || t.stage == responding) {
		b.Partial = true // content-complete lists the calls
		t.openResponse(b)
	}
	t.pendingCalls = max(t.pendingCalls-1, 0)
	if t.pendingCalls == 0 {
		t.mayRespond()
	}
}

package looopy

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// response is where a task's model stands.
type response struct {
	stage  stage
	usage  event.Usage // of the response that is open, where its usage came first
	by     string      // the model that it is of
	called int         // calls that the last response made and that nothing was heard of yet
}

type stage uint8

const (
	silent    stage = iota // the model may be asked
	open                   // it responds
	unmetered              // it has responded, and its usage may follow
	metered                // so it has
)

// openResponse notes the first sign of a response. A task that has ended has none.
func (t *task) openResponse(b *event.Batch) {
	if t.stage == open || t.ended {
		return
	}
	t.stage = open
	b.Add(event.KindModelStarted).Model = t.modelName()
}

// mayRespond notes that the model may be asked again.
func (t *task) mayRespond() {
	if t.stage != open {
		t.stage = silent
	}
}

func (t *task) modelName() string {
	if t.by != "" {
		return t.by
	}
	return t.model
}

// closeResponse ends a response. Providers meter it before content-complete (LiteLLM's) or after.
func (t *task) closeResponse(finish strictjson.Value, failure event.Failure, code string, b *event.Batch) *event.Event {
	e := b.Add(event.KindModelEnded)
	e.Model, e.FinishReason, e.Usage, e.Error, e.Code = t.modelName(), dialect.Name(finish.String()), t.usage, failure, code
	t.response = response{stage: metered}
	return e
}

func (d *decoder) contentDelta(t *task, fr frame, b *event.Batch) {
	b.Partial = true // content-complete repeats it, or task-complete
	t.openResponse(b)
	b.AddText(event.KindText, fr.data.Get("delta"))
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// contentComplete is a whole response. It is the answer unless the model calls tools; the servers' loop goes on only then. The
// design document's events have no reason: there, the end of the task says that the answer has come.
func (d *decoder) contentComplete(t *task, fr frame, b *event.Batch) {
	if t.ended {
		d.addOutcome(t, fr, b)
		return
	}
	finish := fr.data.Get("finishReason")
	if e := t.closeResponse(finish, event.NoFailure, "", b); e.Usage == (event.Usage{}) {
		e.Unmetered, t.stage = true, unmetered
	}
	t.called = fr.data.Get("toolCalls").Len()
	if e := b.AddText(event.KindText, fr.data.Get("content")); e != nil {
		t.isNews(e.Text())
	}
	if t.final = len(finish.Text()) > 0 && !finish.Is("tool_calls"); t.final {
		b.Add(event.KindFinal)
	}
}

// llmUsage gives the tokens to the response that has just ended, else to the one on its way: one that only calls tools shows
// nothing else before its end.
func (d *decoder) llmUsage(t *task, fr frame, b *event.Batch) {
	usage, model := readUsage(fr.data), d.member(fr, "model")
	if t.ended || t.stage == unmetered || t.stage == metered {
		t.stage = metered
		e := b.Add(event.KindUsage)
		e.Usage, e.Model = usage, model
		return
	}
	t.usage, t.by = t.usage.Add(usage), model
	if t.openResponse(b); len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// toolCall is what a model asks for; the call itself begins with tool-start. A tool that nobody has never begins. Servers of 2025
// send it as part of a response, today's only for such a tool, after it.
func (d *decoder) toolCall(t *task, _ frame, b *event.Batch) {
	if t.called == 0 && (t.stage == silent || t.stage == open) {
		b.Partial = true // content-complete lists the calls
		t.openResponse(b)
	}
	t.called = max(t.called-1, 0)
	if t.called == 0 {
		t.mayRespond()
	}
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// thoughtStream is a thought, which judges itself. Those that were found in a model's text are signs of its response; the others
// are the loop's own.
func (d *decoder) thoughtStream(t *task, fr frame, b *event.Batch) {
	if source := fr.metadata.Get("source"); source.Is("content") || source.Is("content-delta") {
		t.openResponse(b)
	}
	if e := b.AddText(event.KindThought, fr.data.Get("content")); e != nil {
		e.ID = d.member(fr, "thoughtId")
		e.Verbosity, e.Thought = verbosity(fr.data.Get("verbosity")), d.member(fr, "thoughtType")
	}
	if value, ok := fr.metadata.Get("confidence").Float(); ok && value >= 0 && value <= 1 {
		e := b.Add(event.KindConfidence)
		e.Name, e.Confidence = t.agent, event.Confidence{Value: value, Known: true, Origin: event.OriginThought}
	}
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// verbosity is how detailed a thought is; none where it does not say.
func verbosity(v strictjson.Value) event.Verbosity {
	switch {
	case v.Is("brief"):
		return event.ThoughtsBrief
	case v.Is("normal"):
		return event.ThoughtsNormal
	case v.Is("detailed"):
		return event.ThoughtsDetailed
	}
	return event.ThoughtsNone
}

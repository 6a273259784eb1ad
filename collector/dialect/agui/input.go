package agui

import (
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxPending bounds the calls that a run is said to leave to its client, and the questions that it asks.
const maxPending = 16

// leave states which calls a run that is over has left to its client, whose next request brings their results: those that the
// run names, else those that it gave no result for.
func (d *decoder) leave(pending strictjson.Value, b *event.Batch) {
	n := 0
	add := func(id string) {
		if n++; id != "" && n <= maxPending {
			b.Add(event.KindToolPaused).CallID = id
		}
	}
	for id := range pending.Elements() {
		add(d.name(id))
	}
	if pending.Len() == 0 {
		for _, open := range d.calls {
			add(open.id)
		}
	}
}

// ask states what a run waits for: where it names nothing, for whatever goes on with it.
func (d *decoder) ask(interrupts strictjson.Value, b *event.Batch) {
	n := 0
	for v := range interrupts.Elements() {
		if n++; n > maxPending {
			break
		}
		if call := d.name(v.Get("toolCallId")); call != "" {
			b.Add(event.KindToolPaused).CallID = call
		}
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = d.name(v.Get("id")), inputOf(v)
		e.Expires = remaining(v.Get("expiresAt"), b)
	}
	if n == 0 {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = d.run, event.InputClarification
	}
}

// remaining is how long a question stands, from the moment at which it is asked.
func remaining(until strictjson.Value, b *event.Batch) event.Duration {
	at := dialect.TextTime(until)
	now := b.Time
	if now.IsZero() {
		now = b.Received
	}
	if at.IsZero() || now.IsZero() || at.Before(now) || at.Sub(now) > longest {
		return event.Duration{}
	}
	return event.Duration{D: at.Sub(now), Known: true}
}

// longest bounds a duration that is believed.
const longest = 30 * 24 * time.Hour

// inputOf is what a question asks for, by its reason; of reasons that a framework has of its own, by whether it says how the
// answer is to look.
func inputOf(v strictjson.Value) event.InputKind {
	switch reason := v.Get("reason"); {
	case reason.Is("tool_call"), reason.Is("confirmation"):
		return event.InputConfirmation
	case reason.Is("input_required"), v.Get("responseSchema").Kind() == strictjson.Object:
		return event.InputData
	}
	return event.InputClarification
}

// onInterrupt is the name under which adapters of LangGraph, CrewAI and Mastra ask, by default still: then the run ends as if it
// was done.
const onInterrupt = "on_interrupt"

// custom finds the events of frameworks' own that say how a run ends or that a step is an agent.
func (d *decoder) custom(v strictjson.Value, b *event.Batch) {
	if v.Get("name").Is(onInterrupt) {
		b.Type = typeInterrupt
		d.asked = true
	}
	d.agentSpoke(v, b)
}

// askAsBefore states the question that such an event asked. Its answer names no question.
func (d *decoder) askAsBefore(b *event.Batch) {
	if d.asked {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = onInterrupt, event.InputClarification
	}
}

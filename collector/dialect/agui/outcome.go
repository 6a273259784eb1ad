package agui

import (
	"iter"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// outcome says how a run or a subagent ended.
type outcome uint8

const (
	outcomeUnknown outcome = iota
	outcomeSucceeded
	outcomeFailed
	outcomeCanceled
	outcomeInterrupted // it waits for an input; a later run continues it
)

// outcomes maps the outcomes on the wire. Drafts before 1.0 have no "cancelled" and no "suspended"; Umbraco sends "error".
var outcomes = map[string]outcome{
	"": outcomeSucceeded, "success": outcomeSucceeded, "error": outcomeFailed, "cancelled": outcomeCanceled, "canceled": outcomeCanceled,
	"interrupt": outcomeInterrupted, "suspended": outcomeInterrupted,
}

// outcomeOf returns the outcome that an event states: an object with a type or, before 1.0, a string. An event
// without an outcome succeeded, unless it has the interrupt of a draft or of Microsoft's Agent Framework.
func outcomeOf(v strictjson.Value) outcome {
	stated := v.Get("outcome")
	name := stated
	switch stated.Kind() {
	case strictjson.Object:
		name = stated.Get("type")
	case strictjson.String:
	default:
		for range interrupts(v) {
			return outcomeInterrupted
		}
	}
	return outcomes[name.String()]
}

// interrupts returns the questions at the end of a run. Before 1.0, they are in the member interrupt: one, or a list.
func interrupts(v strictjson.Value) iter.Seq[strictjson.Value] {
	current, legacy := questionLists(v)
	if current.Len() == 0 {
		current = legacy
	}
	return elementsOf(current)
}

// questionLists returns the questions at the end of a run in both forms. A reader may take either.
func questionLists(v strictjson.Value) (current, legacy strictjson.Value) {
	return v.Get("outcome").Get("interrupts"), v.Get("interrupt")
}

// elementsOf yields the elements of a list, or an object itself.
func elementsOf(v strictjson.Value) iter.Seq[strictjson.Value] {
	if v.Kind() == strictjson.Object {
		return func(yield func(strictjson.Value) bool) { yield(v) }
	}
	return v.Elements()
}

func (o outcome) failure() event.Failure {
	switch o {
	case outcomeFailed:
		return event.AgentError
	case outcomeCanceled:
		return event.FailureCanceled
	}
	return event.NoFailure
}

// endAgent reports the end of an agent, unless it waits or the outcome is unknown.
func (o outcome) endAgent(b *event.Batch) {
	if o != outcomeInterrupted && o != outcomeUnknown {
		b.Add(event.KindAgentEnded).Error = o.failure()
	}
}

package format

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// frameOf returns a frame of an agent in a branch.
func frameOf(agent, branch string, facts ...event.Event) *event.Batch {
	return &event.Batch{Agent: agent, Branch: branch, Events: facts}
}

func partialOf(b *event.Batch) *event.Batch {
	b.Partial = true
	return b
}

// TestVerdicts checks the status of a run whose stream has ended without stating it.
func TestVerdicts(t *testing.T) {
	of := func(kind event.Kind) event.Event { return event.Event{Kind: kind} }
	called := func(id string) event.Event { return event.Event{Kind: event.KindToolStarted, Name: "look", CallID: id} }
	returned := func(id string) event.Event { return event.Event{Kind: event.KindToolEnded, Name: "look", CallID: id} }
	final, text := of(event.KindFinal), of(event.KindText)
	failure := event.Event{Kind: event.KindError, Error: event.ModelError, Inline: true}
	long := event.Event{Kind: event.KindToolStarted, CallID: "c", LongRunning: true}
	pending := event.Event{Kind: event.KindToolEnded, CallID: "c", Pending: true, TurnMayEnd: true}
	paused := event.Event{Kind: event.KindToolPaused, CallID: "c"}
	asked := event.Event{Kind: event.KindInputRequested, CallID: "c"}
	settled := event.Event{Kind: event.KindToolEnded, Name: "look", CallID: "c", TurnMayEnd: true}
	handsOver := event.Event{Kind: event.KindToolStarted, CallID: "c", TurnMayEnd: true}
	asks := of(event.KindModelStarted)
	written := func(agent, branch string) *event.Batch {
		b := frameOf(agent, branch, text, final)
		b.IsWritten = true
		return b
	}
	step := frameOf("", "n:1", text)
	step.Step = "n"
	below := func(above, agent string, facts ...event.Event) *event.Batch {
		b := frameOf(agent, "", facts...)
		b.Place = &event.Place{Nodes: []event.Node{{Name: above}, {Name: agent}}}
		return b
	}
	for _, c := range []struct {
		name   string
		frames []*event.Batch
		end    event.End
		want   status
	}{
		{"an answer", []*event.Batch{frameOf("a", "", text, final)}, event.EndOfStream, completed},
		{"no answer", []*event.Batch{frameOf("a", "", text)}, event.EndOfStream, incomplete},
		{"an error and an answer in one frame", []*event.Batch{frameOf("a", "", failure, final)}, event.EndOfStream, failed},
		{"an error before an answer", []*event.Batch{frameOf("a", "", failure), frameOf("a", "", final)}, event.EndOfStream, completed},
		{"an error after an answer", []*event.Batch{frameOf("a", "", final), frameOf("a", "", failure)}, event.EndOfStream, failed},
		{"an error in a branch and an answer in another", []*event.Batch{frameOf("a", "p.a", failure), frameOf("b", "p.b", final)}, event.EndOfStream, failed},
		{"an error in a branch and an answer above it", []*event.Batch{frameOf("a", "p.a", failure), frameOf("b", "p", final)}, event.EndOfStream, completed},
		{"a call without a result", []*event.Batch{frameOf("a", "", called("c"), final)}, event.EndOfStream, incomplete},
		{"a call without an id and without a result", []*event.Batch{frameOf("a", "", called(""), final)}, event.EndOfStream, incomplete},
		{"a result that no model answers", []*event.Batch{frameOf("a", "", called("c")), frameOf("a", "", returned("c"), final)}, event.EndOfStream, incomplete},
		{"a result that a model answers", []*event.Batch{frameOf("a", "", called("c")), frameOf("a", "", returned("c")), frameOf("a", "", text, final)}, event.EndOfStream, completed},
		{"a result that a model answers in another branch", []*event.Batch{frameOf("a", "x", called("c")), frameOf("a", "x", returned("c")), frameOf("a", "y", text, final)}, event.EndOfStream, incomplete},
		{"a result that needs no answer", []*event.Batch{frameOf("a", "", called("c")), frameOf("a", "", settled, final)}, event.EndOfStream, completed},
		{"a response that was cut off before an answer", []*event.Batch{frameOf("a", "", of(event.KindModelStarted)), frameOf("a", "", of(event.KindModelStarted)), frameOf("a", "", text, of(event.KindModelEnded), final)}, event.EndOfStream, completed},
		{"a response that was cut off before another agent's answer", []*event.Batch{frameOf("a", "a", of(event.KindModelStarted)), frameOf("b", "b", text, final)}, event.EndOfStream, incomplete},
		{"a response that was cut off before an answer above it", []*event.Batch{frameOf("a", "p.a", of(event.KindModelStarted)), frameOf("p", "p", text, final)}, event.EndOfStream, completed},
		{"a response that was cut off before its agent's end", []*event.Batch{frameOf("a", "a", of(event.KindModelStarted)), frameOf("a", "a", of(event.KindAgentEnded)), frameOf("b", "b", text, final)}, event.EndOfStream, completed},
		{"a response that was cut off before another agent's end", []*event.Batch{frameOf("a", "a", of(event.KindModelStarted)), frameOf("b", "b", text, final, of(event.KindAgentEnded))}, event.EndOfStream, incomplete},
		{"a call that ends a turn, and another agent's answer", []*event.Batch{frameOf("a", "a", handsOver), frameOf("b", "b", text, final)}, event.EndOfStream, completed},
		{"a call that ends a turn, and no answer after it", []*event.Batch{frameOf("a", "a", text, handsOver, final)}, event.EndOfStream, incomplete},
		{"another call, and another agent's answer", []*event.Batch{frameOf("a", "a", called("c")), frameOf("b", "b", text, final)}, event.EndOfStream, incomplete},
		{"a response that was cut off before a text of the run's code", []*event.Batch{frameOf("", "", asks), written("n", "n:1")}, event.EndOfStream, completed},
		{"a response that was cut off before a text in the name of an agent", []*event.Batch{frameOf("n", "n:1", text), frameOf("", "", asks), written("n", "n:1")}, event.EndOfStream, incomplete},
		{"a response that was cut off before a text in the name of the root", []*event.Batch{frameOf("n", "", text), frameOf("b", "b:1", asks), written("n", "n:1")}, event.EndOfStream, incomplete},
		{"a response that was cut off before a text of a step", []*event.Batch{step, frameOf("", "", asks), written("n", "n:1")}, event.EndOfStream, incomplete},
		{"a response that was cut off before a text in the name of a target", []*event.Batch{frameOf("", "", event.Event{Kind: event.KindTransfer, Name: "n"}, asks), written("n", "n:1")}, event.EndOfStream, incomplete},
		{"a call of an agent that another one replaces", []*event.Batch{below("w", "a", called("c")), below("w", "b", text, final)}, event.EndOfStream, completed},
		{"a response of an agent that another one replaces", []*event.Batch{below("w", "a", asks), below("w", "b", text, final)}, event.EndOfStream, completed},
		{"a call of an agent beside another one", []*event.Batch{below("w", "b", text), below("w", "a", called("c")), below("w", "b", text, final)}, event.EndOfStream, incomplete},
		{"a call of an agent elsewhere", []*event.Batch{below("w", "a", called("c")), below("v", "b", text, final)}, event.EndOfStream, incomplete},
		{"a call of an agent that hands over", []*event.Batch{below("w", "a", called("c"), event.Event{Kind: event.KindTransfer, Name: "b"}), below("w", "b", text, final)}, event.EndOfStream, incomplete},
		{"a response that goes on beside another agent", []*event.Batch{
			below("w", "a", asks), below("w", "b", text), partialOf(below("w", "a", text)), below("w", "b", text, final)}, event.EndOfStream, incomplete},
		{"a response that breaks off", []*event.Batch{frameOf("a", "", final), frameOf("a", "", of(event.KindModelStarted))}, event.EndOfStream, incomplete},
		{"a transfer that nobody takes up", []*event.Batch{frameOf("a", "", of(event.KindTransfer), final)}, event.EndOfStream, incomplete},
		{"a transfer that is taken up", []*event.Batch{frameOf("a", "", of(event.KindTransfer), final), frameOf("b", "p.b", text, final)}, event.EndOfStream, completed},
		{"a transfer by an agent without a name that is taken up", []*event.Batch{frameOf("", "s", of(event.KindTransfer), final), frameOf("b", "b", text, final)}, event.EndOfStream, completed},
		{"a transfer by an agent without a name that nobody takes up", []*event.Batch{frameOf("", "s", of(event.KindTransfer), final), frameOf("", "p", text, final)}, event.EndOfStream, incomplete},
		{"an agent that is invoked by a call and answers", []*event.Batch{frameOf("a", "", called("c")), frameOf("b", "b@c", text, final)}, event.EndOfStream, completed},
		{"an agent whose invocation ends with a result", []*event.Batch{frameOf("a", "", called("c")), frameOf("b", "b@c", called("d")), frameOf("b", "b@c", returned("d")), frameOf("", "", settled), frameOf("a", "", final)}, event.EndOfStream, completed},
		{"a call that waits", []*event.Batch{frameOf("a", "", long, final)}, event.EndOfStream, interrupted},
		{"a call that only its agent answers", []*event.Batch{frameOf("a", "", long), frameOf("a", "", pending)}, event.EndOfStream, interrupted},
		{"an agent that goes on without what it waited for", []*event.Batch{frameOf("a", "", long), frameOf("a", "", pending), frameOf("a", "", text, final)}, event.EndOfStream, completed},
		{"a call that waits for a yes", []*event.Batch{frameOf("a", "", called("c")), frameOf("a", "", paused, asked, settled)}, event.EndOfStream, interrupted},
		{"a client that leaves", []*event.Batch{frameOf("a", "", final)}, event.EndClientLeft, canceled},
		{"a connection that breaks", []*event.Batch{frameOf("a", "", final)}, event.EndBroken, incomplete},
		{"an answer with work left", []*event.Batch{frameOf("a", "", text, final)}, event.EndUnfinished, incomplete},
		{"a question with work left", []*event.Batch{frameOf("a", "", asked)}, event.EndUnfinished, interrupted},
		{"a stated end with work left", []*event.Batch{frameOf("a", "", of(event.KindRunEnded))}, event.EndUnfinished, completed},
	} {
		t.Run(c.name, func(t *testing.T) {
			var v statusTracker
			for _, b := range c.frames {
				v.observeFrame(b)
				for i := range b.Events {
					v.observe(b, &b.Events[i])
				}
			}
			if got := v.finalStatus(c.end); got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}

// TestVerdictIsBounded sends more of a run than is kept.
func TestVerdictIsBounded(t *testing.T) {
	var v statusTracker
	for i := range 2 * maxOpen {
		id := fmt.Sprint(i)
		b := frameOf(id, id, event.Event{Kind: event.KindToolStarted, CallID: id}, event.Event{Kind: event.KindToolPaused, CallID: id},
			event.Event{Kind: event.KindInputRequested, CallID: id}, event.Event{Kind: event.KindError, Inline: true})
		v.observeFrame(b)
		for i := range b.Events {
			v.observe(b, &b.Events[i])
		}
		v.expect(expectation{branch: id})
	}
	if len(v.open) != maxOpen || len(v.expectations) != maxOpen || len(v.failedBranches) != maxOpen || len(v.inputs) != maxInputs || len(v.paused) != maxOpen {
		t.Errorf("kept: %d, %d, %d, %d and %d", len(v.open), len(v.expectations), len(v.failedBranches), len(v.inputs), len(v.paused))
	}
}

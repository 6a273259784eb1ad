package tracker_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestOrderUnknown has agents work beside each other in an order that the protocol does not state.
func TestOrderUnknown(t *testing.T) {
	unordered := func(place string) fact {
		return func(b *event.Batch) { b.Branch, b.MayBeRoot, b.OrderUnknown = place, true, true }
	}
	request := says("", fresh(event.KindRunStarted))
	a, b := says("a", unordered("a"), responds("m1"), final), says("b", unordered("b"), responds("m2"), final)
	sameStep := func(b *event.Batch) { b.SameStep = true }
	mayBe := func(b *event.Batch) *event.Batch { // of a protocol that states the order
		known := new(*b)
		known.OrderUnknown = false
		return known
	}
	asks, returned := mayBe(says("a", unordered("a"), calls("c", "t"))), mayBe(says("a", unordered("a"), returns("c", "t")))
	within := func(place string) fact { // the call
		return func(b *event.Batch) {
			b.Branch, b.ParentBranch, b.EnclosingCall, b.OrderUnknown = place, "a", "c", place != "c"
		}
	}
	below := func(step, place string) fact { // in a step that has not spoken
		return func(b *event.Batch) {
			b.MayBeRoot, b.ParentBranch, b.Around = false, step, &event.Around{Step: step, Branch: step, OrderUnknown: true}
			b.Branch, b.OrderUnknown = place, true
		}
	}
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   string // the timing of the last chat, and its lower bound
	}{
		"the first":                        {[]*event.Batch{request, a}, "observed 1"},
		"after another":                    {[]*event.Batch{request, a, b}, "unknown 1"},
		"after two others":                 {[]*event.Batch{request, a, b, says("c", unordered("c"), responds("m3"))}, "unknown 1"},
		"beside one that has not ended":    {[]*event.Batch{request, says("a", unordered("a"), begins("m1")), b}, "observed 1"},
		"after a frame of the run":         {[]*event.Batch{request, a, says("", text), b}, "observed 3"},
		"after the same step":              {[]*event.Batch{request, says("", text), mayBe(a), says("", text, sameStep), mayBe(b)}, "observed 2"},
		"after the same step and a next":   {[]*event.Batch{request, mayBe(a), says("", text, sameStep), says("", text), mayBe(b)}, "observed 4"},
		"after its own call":               {[]*event.Batch{request, says("a", unordered("a"), calls("c", "t")), says("a", unordered("a"), returns("c", "t")), b, a}, "observed 3"},
		"again after its final answer":     {[]*event.Batch{request, a, b, says("a", unordered("a"), responds("m3"))}, "unknown 2"},
		"again after a frame of the run":   {[]*event.Batch{request, a, b, says("", text), says("a", unordered("a"), responds("m3"))}, "observed 4"},
		"first in a step":                  {[]*event.Batch{request, says("c", below("s", "c"), responds("m3"))}, "observed 1"},
		"first in a step after another":    {[]*event.Batch{request, a, says("c", below("s", "c"), responds("m3"))}, "unknown 1"},
		"in a step after two others":       {[]*event.Batch{request, a, b, says("c", below("s", "c"), responds("m3")), says("d", below("s", "d"), responds("m4"))}, "unknown 1"},
		"after a frame of its task":        {[]*event.Batch{request, a, says("", sameStep, ofTask("s", "")), says("", sameStep, ofTask("c", "")), says("c", below("s", "c"), responds("m3"))}, "observed 4"},
		"after an answer of its task":      {[]*event.Batch{request, a, says("", sameStep, responds("m2"), asked("c", "")), says("c", below("s", "c"), responds("m3"))}, "unknown 3"},
		"the order is known":               {[]*event.Batch{request, a, says("b", mayBeRoot("b"), responds("m2"))}, "observed 1"},
		"known, after a frame of its task": {[]*event.Batch{request, mayBe(a), says("", sameStep, ofTask("b", "")), mayBe(b)}, "observed 3"},
		"after a frame of its own task":    {[]*event.Batch{request, mayBe(a), asks, returned, says("", sameStep, ofTask("a", "")), mayBe(a)}, "observed 5"},
		"after a frame beside it":          {[]*event.Batch{request, asks, returned, says("", sameStep), mayBe(a)}, "observed 3"},
		"after a frame of another task":    {[]*event.Batch{request, asks, returned, says("", sameStep, ofTask("b", "")), mayBe(a)}, "observed 3"},
		"first in a call":                  {[]*event.Batch{request, asks, says("c", within("c"), responds("m3"))}, "observed 2"},
		"in a call after another":          {[]*event.Batch{request, asks, says("c", within("c"), responds("m3")), says("d", within("d"), responds("m4"))}, "unknown 2"},
		"in a call, after its beginning":   {[]*event.Batch{request, asks, says("c", within("c"), responds("m3")), says("d", within("d")), says("d", within("d"), responds("m4"))}, "observed 4"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, app := range []string{"app", ""} { // without an application, the first agent seems to be the root
				frames := slices.Clone(c.frames)
				for i, b := range frames {
					frames[i] = new(*b)
				}
				stream := proxied()
				stream.App = app
				var chat *tracker.Operation
				for _, op := range follow(t, stream, frames...).Operations {
					if op.Kind == tracker.Chat && op.Status != tracker.OperationUnfinished && (chat == nil || op.Ended.Frame > chat.Ended.Frame) {
						chat = op
					}
				}
				if got := fmt.Sprint(chat.Timing, " ", chat.Started.Frame); got != c.want {
					t.Errorf("of the application %q: %s, want %s", app, got, c.want)
				}
			}
		})
	}
}

// TestTurns has a frame with turns of several agents. It counts as one frame, and nothing in it says which agent began first.
func TestTurns(t *testing.T) {
	turns := says("a", mayBeRoot("a"), calls("c1", "add"))
	turns.BeginTurn(event.Speaker{Agent: "b", Branch: "b", MayBeRoot: true})
	responds("m1")(turns)
	final(turns)
	turns.BeginTurn(event.Speaker{Agent: "a", Branch: "a", MayBeRoot: true})
	returns("c1", "add")(turns)
	settles(turns)
	final(turns)
	turns.EndTurns()
	stream := proxied()
	stream.App = ""
	run := follow(t, stream, says("", fresh(event.KindRunStarted)), says("", text), turns)
	if run.Events != 3 {
		t.Errorf("the run has %d frames, want 3", run.Events)
	}
	got := outline(run)
	for _, op := range run.Operations {
		if op.Kind == tracker.Chat || op.Kind == tracker.ExecuteTool {
			got += fmt.Sprint("\n", op.Name, " ", op.Timing)
		}
	}
	const want = `completed
invoke_workflow  ok 0-4
  invoke_agent a ok 2-3
    execute_tool add ok 3-3
  invoke_agent b ok 2-3
    chat m1 ok 2-3
m1 unknown
add unknown`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestShownBeginnings has frames show when agents begin.
func TestShownBeginnings(t *testing.T) {
	sameStep := func(b *event.Batch) { b.SameStep = true }
	within := func(place string) fact {
		return func(b *event.Batch) {
			b.Branch, b.ParentBranch, b.EnclosingCall, b.OrderUnknown = place, "a:1", "c", true
		}
	}
	stream := proxied()
	stream.App = ""
	run := follow(t, stream, says("", fresh(event.KindRunStarted)), says("", text), says("", sameStep, ofTask("a:1", "")), says("a", mayBeRoot("a:1"), calls("c", "t")),
		says("c", within("c"), responds("m1"), final), says("d", within("d"), beginsRound), says("d", within("d"), responds("m2"), final), says("", sameStep, ofTask("e", "")), says("e", within("e"), responds("m3"), final), says("a", mayBeRoot("a:1"), returns("c", "t"), settles, final), says("b", mayBeRoot("b:1"), responds("m4"), final))
	equal(t, outline(run), `
completed
invoke_workflow  ok 0-12
  invoke_agent a ok 3-10
    execute_tool t ok 4-10
      invoke_agent c ok 4-5
        chat m1 ok 4-5
      invoke_agent d ok 6-7
        chat m2 ok 6-7
      invoke_agent e ok 8-9
        chat m3 ok 8-9
  invoke_agent b ok 2-11
    chat m4 ok 2-11`)
	for name, want := range map[string]tracker.Timing{"c": tracker.TimingUnknown, "d": tracker.TimingObserved, "e": tracker.TimingObserved} {
		if op := findOperation(t, run, tracker.InvokeAgent, name); op.Timing != want {
			t.Errorf("the timing of %s is %v", name, op.Timing)
		}
	}
}

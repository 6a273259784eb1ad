package tracker_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// asked sets the task of the model's response before it.
func asked(id, step string) fact {
	return func(b *event.Batch) { b.Events[len(b.Events)-1].Task = event.Task{ID: id, Step: step} }
}

func askedSometime(b *event.Batch) { b.Events[len(b.Events)-1].Task.Unknown = true }

// ofTask sets the task of a frame.
func ofTask(id, step string) fact {
	return func(b *event.Batch) { b.Task = event.Task{ID: id, Step: step} }
}

// TestTasks has several tasks of an agent work at the same time. A task does not ask a model because of a frame of another task.
func TestTasks(t *testing.T) {
	begin := says("", fresh(event.KindRunStarted))
	within := func(b *event.Batch) { b.Branch, b.SameStep = "b:1", true }
	for _, c := range []struct {
		name   string
		frames []*event.Batch
		want   string
	}{
		{"frames show their beginning", []*event.Batch{says("", ofTask("1", "")), says("", ofTask("2", "")), says("", responds("m1"), asked("1", "")), says("", responds("m2"), asked("2", ""))},
			"m1 2-4 observed, m2 3-5 observed"},
		{"partial frames show their beginning", []*event.Batch{says("", partial, ofTask("1", "")), says("", text), says("", responds("m1"), asked("1", ""))}, "m1 2-4 observed"},
		{"frames show their step", []*event.Batch{says("", responds("m1"), asked("1", "1")), says("", responds("m2"), asked("2", "1")), says("", responds("m3"), asked("3", "2"))},
			"m1 1-2 observed, m2 1-3 observed, m3 3-4 observed"},
		{"pieces at the same time", []*event.Batch{says("", begins("m1"), asked("1", "1")), says("", text, ofTask("3", "1")), says("", responds("m1"), asked("1", "1")), says("", responds("m2"), asked("2", "1"))},
			"m1 1-4 observed, m2 1-5 observed"},
		{"a text of the step comes first", []*event.Batch{says("", text, ofTask("", "1")), says("", responds("m1"), asked("1", "1"))}, "m1 1-3 observed"},
		{"a task answers twice", []*event.Batch{says("", ofTask("1", "")), says("", responds("m1"), asked("1", "")), says("", responds("m2"), asked("1", ""))},
			"m1 2-3 observed, m2 3-4 unknown"},
		{"a step after the work of another agent", []*event.Batch{says("b", within, text), says("", responds("m1"), asked("1", "1"))}, "m1 1-3 unknown"},
		{"nothing shows the task", []*event.Batch{says("", responds("m1")), says("", responds("m2"), askedSometime)}, "m1 1-2 observed, m2 2-3 unknown"},
		{"several responses in a frame", []*event.Batch{says("", responds("m1"), responds("m2"))}, "m1 1-2 unknown, m2 1-2 unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream := proxied()
			stream.App = ""
			started := *begin
			run := follow(t, stream, append([]*event.Batch{&started}, c.frames...)...)
			var got []string
			for _, op := range run.Operations {
				if op.Kind == tracker.Chat {
					from, to, _ := run.Interval(op)
					got = append(got, fmt.Sprintf("%s %.0f-%.0f %s", op.Name, from.Sub(second(0)).Seconds(), to.Sub(second(0)).Seconds(), op.Timing))
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestTooManyTasks has more tasks than there is room for. The beginning of a response of a further task is unknown.
func TestTooManyTasks(t *testing.T) {
	s, stream := watch(func(set *tracker.Settings) { set.MaxOperations = 4 }), proxied()
	for i := range 6 {
		s.feed(stream, says("", ofTask(fmt.Sprint(i), "")))
	}
	run := s.feed(stream, says("", responds("m"), asked("5", "1"))).end(stream, event.EndOfStream).only(t)
	if op := run.Operations[1]; op.Timing != tracker.TimingUnknown {
		t.Errorf("the timing is %v", op.Timing)
	}
}

// TestAgentOfTask has a task of an agent begin later than the agent, which begins after the last frame before it.
func TestAgentOfTask(t *testing.T) {
	stream := proxied()
	stream.App = ""
	within := func(b *event.Batch) { b.Branch = "b:1" }
	sameStep := func(b *event.Batch) { b.SameStep = true }
	run := follow(t, stream, says("", fresh(event.KindRunStarted)), says("", text), says("", sameStep, ofTask("1", "")), says("b", within, responds("m"), asked("1", ""), final))
	const want = `completed
invoke_agent  ok 0-5
  invoke_agent b ok 2-4
    chat m ok 3-4`
	if diff := cmp.Diff(want, outline(run)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

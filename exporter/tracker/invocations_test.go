package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestStepFails checks that a failure reported for an agent that had answered belongs to its
// container.
func TestStepFails(t *testing.T) {
	tell(t, []story{
		{"by the code of a model's API", proxied(), []*event.Batch{at2("a", "app@1/pair@1", "", concludes),
			at2("a", "app@1/pair@1", "", responds(""), wrong(event.ModelError), coded("UNAVAILABLE"), errorCode, wrong(event.ModelError), coded("UNAVAILABLE"))}, `
failed, error_code
invoke_workflow app error agent_error (UNAVAILABLE) 0-3
  invoke_agent pair error agent_error (UNAVAILABLE) 0-2
    invoke_agent a ok 0-2
      chat m ok 0-1
    chat  error model_error (UNAVAILABLE) 1-2`},
	})
}

// TestTasksTakeTurns checks that a task starts after the one before it in the same answer, as in
// ADK.
func TestTasksTakeTurns(t *testing.T) {
	tell(t, []story{
		{"two tasks of one answer", proxied(), []*event.Batch{
			at2("app", "app@1", "", responds("m"), calls("c1", "one"), calls("c2", "two")),
			task("one", "app@1/one@c1", "one@c1", "c1", concludes, gives), says("", returns("c1", "one")),
			task("two", "app@1/two@c2", "two@c2", "c2", concludes, gives), says("", returns("c2", "two")), at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-7
  invoke_agent one ok 1-2
    chat m ok 1-2
  invoke_agent two ok 3-4
    chat m ok 3-4
  chat m ok 0-1
  invoke_agent app ok 5-6
    chat m ok 5-6`},
	})
}

// TestSharedResponse checks that a call ends with its agent's answer if its response came with
// those of other calls.
func TestSharedResponse(t *testing.T) {
	asked := []*event.Batch{
		at2("app", "app@1", "", responds("m"), calls("c1", "kid"), calls("c2", "tool")),
		at2("kid", "app@1/kid@1", "kid@c1", concludes, gives), at2("x", "app@1/x@1", "x@9", text)}
	for name, c := range map[string]struct {
		responses []*event.Batch
		want      string
	}{
		"with another's": {[]*event.Batch{at2("app", "app@1", "", returns("c1", "kid"), returns("c2", "tool"))}, "2"},
		"alone":          {[]*event.Batch{at2("app", "app@1", "", returns("c1", "kid"))}, "4"},
	} {
		t.Run(name, func(t *testing.T) {
			r := follow(t, proxied(), append(clone(asked), c.responses...)...)
			if op := findOperation(t, r, tracker.ExecuteTool, "kid"); seconds(op.Ended) != c.want {
				t.Errorf("the call ended at %s", seconds(op.Ended))
			}
		})
	}
}

func clone(frames []*event.Batch) (own []*event.Batch) {
	for _, b := range frames {
		copied := *b
		own = append(own, &copied)
	}
	return own
}

// TestPauseBeforeRetry checks that the start of a retry is unknown, because of the pause before it.
func TestPauseBeforeRetry(t *testing.T) {
	r := follow(t, proxied(),
		at2("app", "app@1/flaky@1", "", errorCode), at2("flaky", "app@1/flaky@1", "", responds("m"), calls("c", "tool")),
		at2("flaky", "app@1/flaky@1", "", returns("c", "tool")), at2("flaky", "app@1/flaky@1", "", concludes, gives))
	var got []tracker.Timing
	for _, op := range r.Operations {
		got = append(got, op.Timing)
	}
	// The run, the first try, the second, its first response, its call and its second response.
	want := []tracker.Timing{tracker.TimingObserved, tracker.TimingObserved, tracker.TimingUnknown, tracker.TimingUnknown, tracker.TimingObserved, tracker.TimingObserved}
	if len(got) != len(want) {
		t.Fatalf("%s", outline(r))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s %s is %s, want %s", r.Operations[i].Kind, r.Operations[i].Name, got[i], want[i])
		}
	}
}

// TestRemoteTasks checks that a remote agent is invoked again if it works on another task after another agent has spoken.
func TestRemoteTasks(t *testing.T) {
	another := func(b *event.Batch) { b.NewTask = true }
	tell(t, []story{
		{"after another agent", proxied(), []*event.Batch{at2("far", "", "", text), at2("a", "", "", responds("m")), at2("far", "", "", another), at2("far", "", "", text), at2("a", "", "", concludes)}, `
completed
invoke_workflow app ok 0-6
  invoke_agent far ok 0-1
  invoke_agent a ok 1-2
    chat m ok 1-2
  invoke_agent far ok 2-4
  invoke_agent a ok 4-5
    chat m ok 4-5`},
		{"at once", proxied(), []*event.Batch{at2("far", "", "", text), at2("far", "", "", another), at2("a", "", "", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent far ok 0-2
  invoke_agent a ok 2-3
    chat m ok 2-3`},
	})
}

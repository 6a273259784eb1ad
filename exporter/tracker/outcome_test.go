package tracker_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// awaiting marks the fact before it as followed by an outcome.
func awaiting(b *event.Batch) { b.Events[len(b.Events)-1].AwaitsOutcome = true }

// outcome adds an outcome with a duration and a number of iterations.
func outcome(seconds float64, rounds int64) fact {
	return func(b *event.Batch) {
		e := b.Add(event.KindOutcome)
		e.Duration = event.Duration{D: time.Duration(seconds * float64(time.Second)), Known: true}
		e.Iterations = event.Count{N: rounds, Known: true}
	}
}

func sure(value float64) fact {
	return func(b *event.Batch) {
		e := b.Add(event.KindConfidence)
		e.Name, e.Confidence = b.Agent, event.Confidence{Value: value, Known: true, Origin: event.OriginText}
	}
}

// TestOutcomeOfARun checks that frames after the stated end of a run add facts and do not move the
// end.
func TestOutcomeOfARun(t *testing.T) {
	over := func() *event.Batch { return says("app", of("e-1"), runOver, awaiting) }
	for _, c := range []struct {
		name   string
		stream *event.Stream
		frames []*event.Batch
		want   string // the run, its duration, iterations and confidences; then what was lost
	}{
		{"on a tail", tailed(), []*event.Batch{says("app", of("e-1"), text), over(), says("app", of("e-1"), text, sure(0.9), outcome(2.5, 3))}, `
completed
invoke_agent app ok 1-2
took 2.5s, 3 iterations, [0.9]`},
		{"in a file", file(), []*event.Batch{says("app", of("e-1"), text), over(), says("app", of("e-1"), text, sure(0.9), outcome(2.5, 3))}, `
completed
invoke_agent app ok 1-2
took 2.5s, 3 iterations, [0.9]`},
		{"of a failed run, which stays failed", tailed(), []*event.Batch{
			says("app", of("e-1"), fails, runOver, wrong(event.AgentError), awaiting), says("app", of("e-1"), final, outcome(2.5, 3))}, `
failed, error_frame
invoke_agent app error agent_error 1-1
took 2.5s, 3 iterations, []`},
		{"that is a failure", file(), []*event.Batch{says("app", of("e-1"), text), over(), says("app", of("e-1"), fails, runOver, wrong(event.AgentError))}, `
failed, error_frame
invoke_agent app error agent_error 1-2
took 0s, 0 iterations, []`},
		{"that never comes", file(), []*event.Batch{says("app", of("e-1"), text), over()}, `
completed
invoke_agent app ok 1-2
took 0s, 0 iterations, []`},
		{"the response to an open call", file(), []*event.Batch{says("app", of("e-1"), calls("c", "tool")), over(), says("app", of("e-1"), returns("c", "tool"))}, `
completed
invoke_agent app ok 1-3
  execute_tool tool ok 1-3
took 0s, 0 iterations, []`},
		{"begins nothing", file(), []*event.Batch{says("app", of("e-1"), text), over(),
			says("app", of("e-1"), calls("c", "tool")), says("app", of("e-1"), returns("d", "tool")), says("sub", of("e-1"), lane("s"), text), says("app", of("e-1"), asks("q", event.InputData)), says("app", of("e-1"), handsOver("", "sub")), says("app", of("e-1"), fails)}, `
completed
invoke_agent app ok 1-2
took 0s, 0 iterations, []
late capture.sse
late capture.sse
late capture.sse
late capture.sse
late capture.sse`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := watch().feed(c.stream, c.frames...).end(c.stream, event.EndOfStream)
			r := s.only(t)
			var values []float64
			for _, said := range r.Confidence {
				values = append(values, said.Value)
			}
			got := fmt.Sprintf("%s\ntook %s, %d iterations, %v", outline(r), r.ReportedDuration.D, r.Root.Details.OrZero().ReportedIterations.N, values)
			equal(t, lines(append([]string{got}, s.lost...)...), c.want)
		})
	}
}

// TestRunFailedIsReported checks that a stream learns of the failure of its run, and of nothing else.
func TestRunFailedIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		last *event.Batch
		want []string
	}{
		"failed":    {says("app", of("e-1"), fails, wrong(event.AgentError)), []string{"agent_error"}},
		"completed": {says("app", of("e-1"), final), nil},
	} {
		var got []string
		stream := tailed()
		stream.RunFailed = func(errorType string) { got = append(got, errorType) }
		watch().feed(stream, says("app", of("e-1"), text), c.last).end(stream, event.EndOfStream)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// TestWaitForAnOutcome checks that a run ends when its outcome has come or is overdue.
func TestWaitForAnOutcome(t *testing.T) {
	begin := func(stream *event.Stream) *scene {
		s := watch().feed(stream, says("app", of("e-1"), text), says("app", of("e-1"), runOver, awaiting))
		if len(s.runs) != 0 {
			t.Fatal("the run did not wait")
		}
		return s
	}
	ended := func(s *scene, want int) {
		t.Helper()
		if len(s.runs) != want {
			t.Fatalf("%d runs ended, want %d", len(s.runs), want)
		}
		if want == 0 {
			return
		}
		if r := s.runs[0]; r.Status != tracker.Completed || !r.Root.Ended.At.Equal(second(2)) || len(s.lost) != 0 {
			t.Errorf("%s, ended %s, lost %q", r.Status, seconds(r.Root.Ended), s.lost)
		}
	}
	t.Run("its outcome", func(t *testing.T) {
		stream := tailed()
		ended(begin(stream).feed(stream, says("app", of("e-1"), outcome(1, 1))), 1)
	})
	t.Run("a second", func(t *testing.T) {
		s := begin(tailed())
		select {
		case <-s.Due():
		default:
			t.Error("Expire is not due")
		}
		if next := s.Expire(second(2).Add(time.Millisecond)); !next.Equal(second(3)) {
			t.Errorf("next at %s", next)
		}
		ended(s, 0)
		s.Expire(second(3))
		ended(s, 1)
	})
	t.Run("a later frame of its stream", func(t *testing.T) {
		stream := tailed()
		ended(begin(stream).feed(stream, says("app", of("e-2"), text)), 1)
		capture := file()
		ended(begin(capture).feed(capture, says("app", of("e-2"), text)), 1)
	})
	t.Run("many frames of a file without times", func(t *testing.T) {
		s, stream := watch(), file()
		s.feed(stream, says("app", of("e-1"), text, undated), says("app", of("e-1"), runOver, awaiting, undated))
		for range 64 {
			s.feed(stream, says("app", of("e-2"), text, undated))
		}
		if len(s.runs) != 0 {
			t.Fatal("the run did not wait")
		}
		if s.feed(stream, says("app", of("e-2"), text, undated)); len(s.runs) != 1 {
			t.Errorf("%d runs ended", len(s.runs))
		}
	})
	t.Run("another run of its id", func(t *testing.T) {
		stream := tailed()
		s := begin(stream)
		s.last[stream] = 1 // the clock stands still
		ended(s.feed(stream, says("app", of("e-1"), fresh(event.KindRunStarted), text)), 1)
	})
	t.Run("the end of its stream", func(t *testing.T) {
		stream := tailed()
		ended(begin(stream).end(stream, event.EndBroken), 1)
	})
	t.Run("our end", func(t *testing.T) {
		s := begin(tailed())
		s.stop()
		ended(s, 1)
	})
	t.Run("too many runs", func(t *testing.T) {
		s, stream := watch(func(s *tracker.Settings) { s.MaxOpenRuns = 1 }), tailed()
		s.feed(stream, says("app", of("e-1"), text), says("app", of("e-1"), runOver, awaiting))
		other := tailed()
		s.feed(other, says("app", of("e-2"), text))
		ended(s, 1)
	})
}

// TestOutcomeOfAnAgent checks that frames after the stated end of an agent add facts to its
// operation.
func TestOutcomeOfAnAgent(t *testing.T) {
	sub := func(facts ...fact) *event.Batch { return says("sub", append([]fact{at("s1", "t1", "")}, facts...)...) }
	called := says("app", calls("t1", "task"))
	begun := sub(fresh(event.KindAgentStarted))
	tell(t, []story{
		{"gives it its duration", proxied(), []*event.Batch{called, says("app"), says("app"), begun, sub(ends, awaiting), sub(text, outcome(3, 1)),
			says("app", returns("t1", "task"), settles), says("app", final)}, `
completed
invoke_agent app ok 0-9
  execute_tool task ok 1-7
    invoke_agent sub ok 2-5`},
		{"need not come", proxied(), []*event.Batch{called, begun, sub(ends, awaiting), says("app", returns("t1", "task"), settles), says("app", final)}, `
completed
invoke_agent app ok 0-6
  execute_tool task ok 1-4
    invoke_agent sub ok 2-3`},
		{"of one that failed, which stays failed", proxied(), []*event.Batch{called, begun, sub(ends, wrong(event.AgentError), awaiting), sub(final, outcome(1, 1)),
			says("app", returns("t1", "task"), settles), says("app", final)}, `
completed
invoke_agent app ok 0-7
  execute_tool task ok 1-5
    invoke_agent sub error agent_error 2-3`},
		{"comes after its call's response", proxied(), []*event.Batch{called, begun, sub(ends, awaiting), says("app", returns("t1", "task"), settles), sub(text, outcome(1, 1)), says("app", final)}, `
completed
invoke_agent app ok 0-7
  execute_tool task ok 1-4
    invoke_agent sub ok 2-3`},
		{"of one whose caller ends before", proxied(), []*event.Batch{
			says("a", at("1", "", ""), fresh(event.KindAgentStarted)), says("b", at("2", "", "1"), fresh(event.KindAgentStarted)),
			says("b", at("2", "", "1"), ends, awaiting), says("a", at("1", "", ""), ends), says("b", at("2", "", "1"), outcome(1, 1)), says("app", final)}, `
completed
invoke_agent app ok 0-7
  invoke_agent a ok 1-4
    invoke_agent b ok 2-3`},
	})
	t.Run("makes room where there is none", func(t *testing.T) {
		s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 16 }), proxied()
		for i := range 40 {
			in := at(fmt.Sprint(i), "", "")
			s.feed(stream, says("sub", in, fresh(event.KindAgentStarted)), says("sub", in, ends, awaiting))
		}
		s.feed(stream, says("app", final)).end(stream, event.EndOfStream)
		if len(s.ops) != 41 {
			t.Errorf("%d operations, lost %q", len(s.ops), s.lost)
		}
	})
}

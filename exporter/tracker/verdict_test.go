package tracker_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// ending ends the only stream of a scene.
type ending func(*scene, *event.Stream)

func ended(by event.End) ending { return func(s *scene, stream *event.Stream) { s.end(stream, by) } }

// idle lets the idle timeout of an hour pass.
func idle(s *scene, stream *event.Stream) {
	s.Expire(second(s.last[stream]).Add(time.Hour))
	s.end(stream, event.EndOfStream)
}

func stopped(s *scene, stream *event.Stream) {
	s.EndAll(second(s.last[stream] + 1))
	s.end(stream, event.EndOfStream)
}

// crowded opens as many other runs as allowed.
func crowded(s *scene, stream *event.Stream) {
	for range 100 {
		s.Open(proxied())
	}
	s.end(stream, event.EndOfStream)
}

var endings = []struct {
	name   string
	end    ending
	reason tracker.StatusReason
}{
	{"end of stream", ended(event.EndOfStream), tracker.ReasonStreamEnded},
	{"client left", ended(event.EndClientLeft), tracker.ReasonClientLeft},
	{"shutdown", ended(event.EndShutdown), tracker.ReasonShutdown},
	{"unobserved", ended(event.EndUnobserved), tracker.ReasonEvicted},
	{"idle", idle, tracker.ReasonIdle},
	{"evicted", crowded, tracker.ReasonEvicted},
	{"stopped", stopped, tracker.ReasonShutdown},
	{"broken off", ended(event.EndBroken), tracker.ReasonBrokenOff},
}

// TestVerdicts checks the status of runs, by their last frames, by what is left open and by how
// they end.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames func() []*event.Batch
		want   map[tracker.StatusReason]string // by the reason of the ending; "" stands for all other reasons, and without an entry the ending's own reason counts
	}{
		{"finished", func() []*event.Batch { return []*event.Batch{says("a", text), says("a", final)} },
			map[tracker.StatusReason]string{tracker.ReasonStreamEnded: "completed"}},
		{"not finished", func() []*event.Batch { return []*event.Batch{says("a", text)} }, nil},
		{"finished with a call open", func() []*event.Batch { return []*event.Batch{says("a", calls("c1", "tool")), says("a", final)} }, nil},
		{"a call that ends a turn, and another agent's answer", func() []*event.Batch { return []*event.Batch{says("a", endsTurn("c1")), says("b", final)} },
			map[tracker.StatusReason]string{tracker.ReasonStreamEnded: "completed"}},
		{"a call that ends a turn, in the last answer", func() []*event.Batch { return []*event.Batch{says("a", endsTurn("c1"), final)} }, nil},
		{"finished with work left", func() []*event.Batch { return []*event.Batch{says("a", text), says("a", final, workLeft)} }, nil},
		{"finished after work was left", func() []*event.Batch { return []*event.Batch{says("a", text, workLeft), says("a", final)} },
			map[tracker.StatusReason]string{tracker.ReasonStreamEnded: "completed"}},
		{"a question with work left", func() []*event.Batch { return []*event.Batch{says("a", asks("q", event.InputData), final, workLeft)} },
			map[tracker.StatusReason]string{tracker.ReasonIdle: "timed_out, idle", "": "interrupted, awaiting_input"}},
		{"finished with a result that nobody took up", func() []*event.Batch {
			return []*event.Batch{says("a", calls("c1", "tool")), says("a", returns("c1", "tool"), final)}
		}, nil},
		{"an error and a final frame after it", func() []*event.Batch { return []*event.Batch{says("", fails), says("a", final)} },
			map[tracker.StatusReason]string{tracker.ReasonStreamEnded: "completed"}},
		{"waiting", func() []*event.Batch { return []*event.Batch{says("a", asks("q", event.InputData), final)} },
			map[tracker.StatusReason]string{tracker.ReasonIdle: "timed_out, idle", "": "interrupted, awaiting_input"}},
		{"error frame", func() []*event.Batch { return []*event.Batch{says("a", final), says("", fails)} },
			map[tracker.StatusReason]string{"": "failed, error_frame"}},
		{"an error code in one of two branches", func() []*event.Batch {
			return []*event.Batch{says("a", branch("p.a"), errorCode), says("b", branch("p.b"), final)}
		}, map[tracker.StatusReason]string{"": "failed, error_code"}},
		{"an error code in a branch, and a final frame after its container", func() []*event.Batch {
			return []*event.Batch{says("a", branch("p.a"), errorCode), says("b", branch("p.b"), final), says("c", branch(""), final)}
		}, map[tracker.StatusReason]string{tracker.ReasonStreamEnded: "completed"}},
		{"the agent gave up and went on", func() []*event.Batch { return []*event.Batch{says("", gaveUp), says("a", final)} },
			map[tracker.StatusReason]string{tracker.ReasonStreamEnded: "completed"}},
		{"error code in a final frame", func() []*event.Batch {
			return []*event.Batch{says("a", asks("q", event.InputData)), says("a", errorCode, final)}
		}, map[tracker.StatusReason]string{"": "failed, error_code"}},
		{"the agent gave up", func() []*event.Batch { return []*event.Batch{says("a", final), says("", gaveUp)} },
			map[tracker.StatusReason]string{"": "canceled, agent_canceled"}},
	} {
		for _, e := range endings {
			t.Run(c.name+", "+e.name, func(t *testing.T) {
				s, stream := watch(), proxied()
				e.end(s.feed(stream, c.frames()...), stream)
				want := map[tracker.StatusReason]string{tracker.ReasonClientLeft: "canceled, client_left", tracker.ReasonIdle: "timed_out, idle"}[e.reason]
				for _, key := range []tracker.StatusReason{"", e.reason} {
					if special, ok := c.want[key]; ok && e.reason != tracker.ReasonClientLeft {
						want = special
					}
				}
				if want == "" {
					want = "incomplete, " + string(e.reason)
				}
				r := s.runs[0]
				if verdict, _, _ := strings.Cut(outline(r), "\n"); verdict != want {
					t.Errorf("%s, want %s", verdict, want)
				}
				if !slices.Contains(tracker.Statuses(), r.Status) {
					t.Errorf("%s is not among the statuses", r.Status)
				}
			})
		}
	}
}

// TestEndings ends a run with an agent that is done, one in the middle of its work, one that control was transferred to, and one
// that waits.
func TestEndings(t *testing.T) {
	const doneAndAt = `
  invoke_agent done ok 0-1
    chat m ok 0-1`
	for i, want := range []string{`
interrupted, awaiting_input
invoke_agent app interrupted 0-7` + doneAndAt + `
  invoke_agent busy unfinished 1-7
    chat n unfinished 1-7
    execute_tool tool unfinished 3-7
  invoke_agent called unfinished 4-?
  invoke_agent asks interrupted 5-5
    execute_tool approve interrupted 5-?`, `
canceled, client_left
invoke_agent app unfinished canceled 0-7` + doneAndAt + `
  invoke_agent busy unfinished canceled 1-7
    chat n unfinished canceled 1-7
    execute_tool tool unfinished canceled 3-7
  invoke_agent called unfinished canceled 4-?
  invoke_agent asks unfinished canceled 5-7
    execute_tool approve unfinished canceled 5-7`, `
interrupted, awaiting_input
invoke_agent app interrupted 0-7` + doneAndAt + `
  invoke_agent busy unfinished 1-7
    chat n unfinished 1-7
    execute_tool tool unfinished 3-7
  invoke_agent called unfinished 4-?
  invoke_agent asks interrupted 5-5
    execute_tool approve interrupted 5-?`, `
interrupted, awaiting_input
invoke_agent app interrupted 0-7` + doneAndAt + `
  invoke_agent busy unfinished 1-7
    chat n unfinished 1-7
    execute_tool tool unfinished 3-7
  invoke_agent called unfinished 4-?
  invoke_agent asks interrupted 5-5
    execute_tool approve interrupted 5-?`, `
timed_out, idle
invoke_agent app error timeout 0-3606` + doneAndAt + `
  invoke_agent busy unfinished timeout 1-3606
    chat n unfinished timeout 1-3606
    execute_tool tool unfinished timeout 3-3606
  invoke_agent called unfinished timeout 4-?
  invoke_agent asks unfinished timeout 5-3606
    execute_tool approve unfinished timeout 5-3606`, `
interrupted, awaiting_input
invoke_agent app interrupted 0-6` + doneAndAt + `
  invoke_agent busy unfinished 1-6
    chat n unfinished 1-6
    execute_tool tool unfinished 3-6
  invoke_agent called unfinished 4-?
  invoke_agent asks interrupted 5-5
    execute_tool approve interrupted 5-?`,
	} {
		t.Run(endings[i].name, func(t *testing.T) {
			s, stream := watch(), proxied()
			s.feed(stream,
				says("done", responds("m"), text, final), says("busy", begins("n")), says("busy", calls("c1", "tool")),
				says("", lane("p"), handsOver("", "called")), says("asks", callsOutside("c2", "approve")), says("", text))
			endings[i].end(s, stream)
			equal(t, outline(s.runs[0]), want)
			wantInput := tracker.InputOpen
			if endings[i].name == "idle" {
				wantInput = tracker.InputExpired
			}
			if in := s.runs[0].Inputs; len(in) != 1 || in[0].Status != wantInput {
				t.Errorf("input %+v", in[0])
			}
		})
	}
}

// TestWhatWeLetGoOf checks that a run that we drop ends with its last frame.
func TestWhatWeLetGoOf(t *testing.T) {
	for _, e := range endings {
		s, stream := watch(), proxied()
		s.feed(stream, says("app", text), says("app", final), says("", text))
		s.last[stream] += 5
		e.end(s, stream)
		want := second(9)
		if e.reason == tracker.ReasonIdle || e.reason == tracker.ReasonEvicted {
			want = second(3)
		}
		if got := s.runs[0].Root.Ended.At; !got.Equal(want) {
			t.Errorf("%s: the run ends at %s, want %s", e.name, got, want)
		}
	}
}

// TestAnswersStay checks that an answered request stays answered if its run times out later.
func TestAnswersStay(t *testing.T) {
	s, stream := watch(), proxied()
	s.feed(stream, says("app", asks("q1", event.InputData), asks("q2", event.InputData)), says("app", answers("q1")))
	idle(s, stream)
	if in := s.runs[0].Inputs; in[0].Status != tracker.InputAnswered || in[1].Status != tracker.InputExpired {
		t.Errorf("%s, %s", in[0].Status, in[1].Status)
	}
}

// TestOperationsOfFailedRuns checks which agents of a failed run failed.
func TestOperationsOfFailedRuns(t *testing.T) {
	tell(t, []story{
		{"an error frame befell the agent in control", proxied(), []*event.Batch{
			says("a", text), says("b", calls("c1", "tool")), says("", text), says("", fails)}, `
failed, error_frame
invoke_agent app error agent_error 0-5
  invoke_agent a ok 1-1
  invoke_agent b error agent_error 2-5
    execute_tool tool unfinished 2-5`},
		{"but not one that has given its final answer", proxied(), []*event.Batch{
			at2("a", "-", "", responds("m"), text, final), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-3
  invoke_agent a ok 0-1
    chat m ok 0-1`},
		{"also where control has just been handed over", proxied(), []*event.Batch{
			says("a", text), says("a", handsOver("", "b")), says("", fails)}, `
failed, error_frame
invoke_agent app error agent_error 0-4
  invoke_agent a ok 1-2
    invoke_agent b error agent_error 2-?`},
		{"an error code befell its frame's author", proxied(), []*event.Batch{
			says("a", text), says("b", errorCode, final), says("a", text)}, `
failed, error_code
invoke_agent app error agent_error 0-4
  invoke_agent a ok 1-3
  invoke_agent b error agent_error 2-2`},
		{"an agent recovers by a final frame of its own", proxied(), []*event.Batch{
			says("a", errorCode, final), says("b", errorCode, final), says("a", final)}, `
completed
invoke_agent app ok 0-4
  invoke_agent a ok 1-3
  invoke_agent b error agent_error 2-2`},
		{"an agent that gave up did not fail", proxied(), []*event.Batch{
			says("a", text), says("b", begins("m")), says("", gaveUp)}, `
canceled, agent_canceled
invoke_agent app unfinished canceled 0-4
  invoke_agent a ok 1-1
  invoke_agent b unfinished canceled 1-4
    chat m unfinished canceled 1-4`},
		{"nor did one that finished what it owed", proxied(), []*event.Batch{
			says("a", calls("c1", "tool")), says("a", returns("c1", "tool")), says("a", text), says("", gaveUp)}, `
canceled, agent_canceled
invoke_agent app unfinished canceled 0-5
  invoke_agent a unfinished canceled 1-3
    execute_tool tool ok 1-2`},
		{"a lone error frame is a failed run of nobody", file(), []*event.Batch{says("", fails)}, `
failed, error_frame
invoke_agent  error agent_error 1-1`},
		{"an error may be one of time", proxied(), []*event.Batch{says("a", text), says("", fails, wrong(event.FailureTimeout))}, `
failed, error_frame
invoke_agent app error timeout 0-3
  invoke_agent a error agent_error 1-1`},
		{"unless another follows", proxied(), []*event.Batch{says("a", text), says("", fails, wrong(event.FailureTimeout)), says("", fails)}, `
failed, error_frame
invoke_agent app error agent_error 0-4
  invoke_agent a error agent_error 1-1`},
		{"so is one that cannot be read", file(), []*event.Batch{says("", unreadable, fails)}, `
failed, error_frame
invoke_agent  error agent_error 1-1`},
	})
}

// TestBrokenAfterTheEnd checks a connection that breaks after the stated end of a run.
func TestBrokenAfterTheEnd(t *testing.T) {
	s, stream := watch(), proxied()
	s.feed(stream, says("a", text), says("a", runOver)).end(stream, event.EndBroken)
	if r := s.runs[0]; r.Status != tracker.Completed {
		t.Errorf("%s, %s", r.Status, r.Reason)
	}
}

// TestClientLeavesAtTheEnd lets the client leave when the protocol has just ended the run, before the agent ends the stream.
func TestClientLeavesAtTheEnd(t *testing.T) {
	over := func(b *event.Batch) { b.Add(event.KindRunEnded) }
	failed := func(b *event.Batch) { b.Add(event.KindRunEnded).Error = event.AgentError }
	for _, c := range []struct {
		name   string
		frames []*event.Batch
		want   string
	}{
		{"completed", []*event.Batch{says("a", text), says("", over)}, "completed"},
		{"failed", []*event.Batch{says("a", text), says("", fails), says("", failed)}, "failed, error_frame"},
		{"waiting", []*event.Batch{says("a", asks("q", event.InputData)), says("", over)}, "interrupted, awaiting_input"},
		{"not the last frame", []*event.Batch{says("a", text), says("", over), says("a", calls("c1", "tool"))}, "canceled, client_left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, stream := watch(), proxied()
			ended(event.EndClientLeft)(s.feed(stream, c.frames...), stream)
			if verdict, _, _ := strings.Cut(outline(s.runs[0]), "\n"); verdict != c.want {
				t.Errorf("%s, want %s", verdict, c.want)
			}
		})
	}
}

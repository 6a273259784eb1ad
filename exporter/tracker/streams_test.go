package tracker_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestRunsOfAStream checks which run a frame belongs to.
func TestRunsOfAStream(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream *event.Stream
		frames []*event.Batch
		want   string // id: frames, unreadable ones, internal ones
	}{
		{"a file holds many", file(), []*event.Batch{says("a", of("e-1")), says("a", of("e-2")), says("a", of("e-1")), says("a", of("e-2"), internal)}, `
e-1: 2 0 0
e-2: 2 0 1`},
		{"the answer to a request holds one, whatever its ids say", proxied(), []*event.Batch{says("a"), says("a", of("e-1")), says("a", of("e-2"))}, `
e-1: 3 0 0`},
		{"frames without an id are of the run that follows", file(), []*event.Batch{says("a"), says("a"), says("a", of("e-1")), says("a", of("e-1"))}, `
e-1: 4 0 0`},
		{"but of no run that follows another", file(), []*event.Batch{says("a", of("e-1")), says("a"), says("a", of("e-2"))}, `
e-1: 1 0 0
: 1 0 0
e-2: 1 0 0`},
		{"a frame that cannot be read is of the run of the last frame", file(), []*event.Batch{
			says("a", of("e-1")), says("a", of("e-2")), says("a", of("e-1")), says("", unreadable)}, `
e-1: 2 1 0
e-2: 1 0 0`},
		{"and begins none", file(), []*event.Batch{says("", unreadable), says("a", of("e-1"))}, `
e-1: 1 0 0`},
		{"unless it says something", file(), []*event.Batch{says("", unreadable, fails)}, `
: 0 1 0`},
		{"in the answer to a request it is of that", proxied(), []*event.Batch{says("", unreadable), says("a", of("e-1"))}, `
e-1: 1 1 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := watch().feed(c.stream, c.frames...).end(c.stream, event.EndOfStream)
			var got []string
			for _, r := range s.runs {
				got = append(got, fmt.Sprintf("%s: %d %d %d", r.ID, r.Events, r.ParseErrors, r.Internal))
			}
			equal(t, lines(got...), c.want)
			if len(s.lost) != 0 {
				t.Errorf("lost %q", s.lost)
			}
		})
	}
}

// TestAnUnreadableFrame checks that an undecodable frame does not change a run that has ended.
func TestAnUnreadableFrame(t *testing.T) {
	s, stream := watch(), tailed()
	s.feed(stream, says("a", of("e-1")))
	s.Expire(second(1).Add(time.Hour))
	s.feed(stream, says("", unreadable))
	s.end(stream, event.EndOfStream)
	if r := s.only(t); r.ParseErrors != 0 || !slices.Equal(s.lost, []string{"expired run"}) {
		t.Errorf("%d errors, lost %q", r.ParseErrors, s.lost)
	}
}

// TestWhoARunIs checks that a run is identified by its request and its first frames.
func TestWhoARunIs(t *testing.T) {
	stream := proxied()
	stream.Dialect = ""
	stream.ParentSpan = event.SpanContext{Trace: [16]byte{1}, Span: [8]byte{2}}
	s := watch()
	s.Open(stream)
	s.last[stream] = 0
	stream.Dialect = "adk" // found before the first frame
	r := s.feed(stream, says("", of("e-1")), says("a"), says("b")).end(stream, event.EndOfStream).only(t)
	got := lines(r.ID, r.Source, r.Dialect, r.Session, r.App, r.Agent, fmt.Sprint(r.Live, r.Parent == stream.ParentSpan))
	equal(t, got, lines("e-1", "briefing", "adk", "session", "app", "a", "true true"))
	if root := follow(t, file(), says("a"), says("b")).Root; root.Agent != "a" {
		t.Errorf("the run's own operation is of %q", root.Agent)
	}
}

// TestLateFrames checks that frames of a run that we ended count as late.
func TestLateFrames(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream *event.Stream
		id     fact
	}{{"of a request", proxied(), of("")}, {"of a run among others", tailed(), of("e-1")}, {"of a run without an id", tailed(), of("")}} {
		t.Run(c.name, func(t *testing.T) {
			s := watch()
			s.feed(c.stream, says("a", c.id)).stop()
			s.feed(c.stream, says("a", c.id), says("a", c.id, unreadable)).end(c.stream, event.EndOfStream)
			if r := s.only(t); r.Events != 1 || r.ParseErrors != 0 {
				t.Errorf("the run has %d frames and %d errors", r.Events, r.ParseErrors)
			}
			equal(t, lines(s.lost...), lines("late "+c.stream.Source, "late "+c.stream.Source))
		})
	}
	t.Run("another run of the stream is not late", func(t *testing.T) {
		s, stream := watch(), tailed()
		s.feed(stream, says("a", of("e-1"))).stop()
		s.feed(stream, says("a", of("e-2"), final)).end(stream, event.EndOfStream)
		if len(s.runs) != 2 || s.runs[1].ID != "e-2" || s.runs[1].Status != tracker.Completed || len(s.lost) != 0 {
			t.Errorf("%d runs, lost %q", len(s.runs), s.lost)
		}
	})
	t.Run("one of an agent whose run has ended is late", func(t *testing.T) {
		s, stream := watch(), tailed()
		s.feed(stream, says("b", of("e-2"), orphan, text), says("a", of("e-1"), adopts("e-2", "b", ""), runOver), says("b", of("e-2"), text)).end(stream, event.EndOfStream)
		if s.only(t); !slices.Equal(s.lost, []string{"late support"}) {
			t.Errorf("lost %q", s.lost)
		}
	})
	t.Run("nor is one that ended with its stream", func(t *testing.T) {
		s := watch(func(s *tracker.Settings) { s.MaxOpenRuns = 1 })
		for range 3 {
			stream := tailed()
			s.feed(stream, says("a", of("e-1"), final)).end(stream, event.EndOfStream)
		}
		if len(s.runs) != 3 || len(s.lost) != 0 {
			t.Errorf("%d runs, lost %q", len(s.runs), s.lost)
		}
	})
}

// TestUnknownStreams checks that frames of streams that are not open are ignored.
func TestUnknownStreams(t *testing.T) {
	s, stream := watch(), proxied()
	s.Consume(&event.Batch{Stream: stream, Agent: "a"})
	s.Close(stream, event.EndOfStream, second(1))
	s.feed(stream, says("a", final)).end(stream, event.EndOfStream)
	s.Consume(&event.Batch{Stream: stream, Agent: "a"})
	s.end(stream, event.EndClientLeft)
	if r := s.only(t); r.Events != 1 || r.Status != tracker.Completed || len(s.lost) != 0 {
		t.Errorf("%d frames, %s, lost %q", r.Events, r.Status, s.lost)
	}
}

// TestExpire checks that idle runs end, others do not, and when Expire is due again.
func TestExpire(t *testing.T) {
	s, early, late := watch(), proxied(), proxied()
	late.Source = "silent"
	hour := func(sec int) time.Time { return second(sec).Add(time.Hour) }
	next := func(at, want time.Time) {
		t.Helper()
		if got := s.Expire(at); !got.Equal(want) {
			t.Errorf("at %s, next at %s, want %s", at, got, want)
		}
	}
	next(second(0), hour(0))
	s.feed(early, says("app", calls("c", "tool"))).feed(late, says("a"))
	s.last[early] = 4
	s.feed(early, says("app", text))
	next(hour(1).Add(-1), hour(1))
	if len(s.runs) != 0 {
		t.Fatal("a run expired too early")
	}
	next(hour(1), hour(5))
	if r := s.only(t); r.Source != "silent" || r.Status != tracker.TimedOut {
		t.Fatalf("%s is %s", r.Source, r.Status)
	}
	next(hour(7), hour(7).Add(time.Hour))
	if len(s.runs) != 2 || s.runs[1].Source != "briefing" {
		t.Errorf("%d runs expired", len(s.runs))
	}
	equal(t, lines(s.lost...), lines("expired run", "expired invoke_agent", "expired run", "expired execute_tool"))
}

// TestASilentRequest checks that a run without frames expires after its request was forwarded.
func TestASilentRequest(t *testing.T) {
	s, stream := watch(), proxied()
	s.Open(stream)
	if next := s.Expire(second(0)); !next.Equal(second(3600)) || len(s.runs) != 0 {
		t.Errorf("%d runs expired, next at %s", len(s.runs), next)
	}
	s.Expire(second(3600))
	equal(t, outline(s.only(t)), "timed_out, idle\ninvoke_workflow app error timeout 0-3600")
}

// TestConfigure checks that new settings also apply to open runs.
func TestConfigure(t *testing.T) {
	s, stream := watch(), proxied()
	s.feed(stream, says("app", calls("c1", "tool")))
	s.Configure(tracker.Settings{
		MaxOpenRuns: 1, MaxOperations: 100, MaxFacts: 1, IdleTimeout: time.Second,
		IsAgentTool: func(string, string) bool { return true },
	})
	s.feed(stream, says("app", calls("c2", "agent"), asks("q1", event.InputData), asks("q2", event.InputData)))
	if next := s.Expire(second(2)); !next.Equal(second(3)) {
		t.Errorf("next at %s", next)
	}
	s.feed(proxied(), says("a"))
	if len(s.runs) != 0 {
		t.Error("the bound on open runs changed under those that are open")
	}
	s.Expire(second(3))
	r := s.runs[0]
	if before, after := findOperation(t, r, tracker.ExecuteTool, "tool"), findOperation(t, r, tracker.ExecuteTool, "agent"); before.AgentTool || !after.AgentTool {
		t.Errorf("agents as tools: %v before, %v after", before.AgentTool, after.AgentTool)
	}
	if len(r.Inputs) != 1 {
		t.Errorf("%d inputs", len(r.Inputs))
	}
}

// TestOrderOfTelling checks the order of notifications: the run's start, its operations with
// children before parents, the run's end.
func TestOrderOfTelling(t *testing.T) {
	s, stream := watch(), proxied()
	s.feed(stream,
		says("a", begins("open")), says("b", calls("c1", "done"), calls("c2", "open")), says("b", returns("c1", "done"), handsOver("", "c")),
		says("c", responds("whole"), text))
	equal(t, lines(s.told...), lines("begins briefing", "execute_tool done", "chat whole"))
	s.end(stream, event.EndOfStream)
	equal(t, lines(s.told...), `
begins briefing
execute_tool done
chat whole
chat open
execute_tool open
invoke_agent c
invoke_agent b
invoke_agent a
invoke_agent app
ends briefing`)
}

// TestSeveralRunsEnd checks that the runs of a stream end in the order in which they began.
func TestSeveralRunsEnd(t *testing.T) {
	s, stream := watch(), file()
	for i := range 20 {
		s.feed(stream, says("a", of(fmt.Sprint("e-", i)), final))
	}
	s.end(stream, event.EndOfStream)
	for i, r := range s.runs {
		if r.ID != fmt.Sprint("e-", i) {
			t.Errorf("%s is number %d", r.ID, i)
		}
	}
	if len(s.runs) != 20 {
		t.Errorf("%d runs", len(s.runs))
	}
}

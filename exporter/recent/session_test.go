package recent_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// sessionRun returns an ended run of a session that starts at a second, or at an unknown time if that is negative, and lasts a second.
func sessionRun(id string, start int) *tracker.Run {
	run := endedRun(id)
	run.Source, run.Session, run.Agent, run.Status = "agent", "s", "agent", tracker.Completed
	run.Root.Ended.At, run.Root.Timing = time.Unix(int64(start)+1, 0), tracker.TimingObserved
	if run.Root.Started.At = time.Unix(int64(start), 0); start < 0 {
		run.Root.Started.At, run.Root.Ended.At, run.Root.Timing = time.Time{}, time.Time{}, tracker.TimingUnknown
	}
	return run
}

func store(limit int, runs ...*tracker.Run) *recent.Runs {
	r := recent.New(limit, 1<<20)
	for _, run := range runs {
		r.RunStarted(run)
	}
	for _, run := range runs {
		r.RunEnded(run)
	}
	return r
}

func sessionIDs(s recent.Session) (ids []string) {
	for _, run := range s.Runs {
		ids = append(ids, run.Run)
	}
	return ids
}

// TestSession checks which runs belong to a session, and their order.
func TestSession(t *testing.T) {
	elsewhere, other, unnamed := sessionRun("elsewhere", 1), sessionRun("other", 2), sessionRun("unnamed", 3)
	elsewhere.Source, other.Session, unnamed.Session = "other", "other", ""
	r := store(100, sessionRun("c", 30), sessionRun("a", 10), sessionRun("after a", -1), sessionRun("b", 20), elsewhere, other, unnamed)
	s, known := r.Session("agent", "s", 10)
	if got, want := sessionIDs(s), []string{"a", "after a", "b", "c"}; !known || !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	if s.Kept != 4 || s.Untimed != 1 || !s.Started.Equal(time.Unix(10, 0)) || !s.Ended.Equal(time.Unix(31, 0)) || s.Statuses[tracker.Completed] != 4 || !slices.Equal(s.Agents, []string{"agent"}) {
		t.Errorf("%+v", s)
	}
	for _, unknown := range [][2]string{{"agent", ""}, {"agent", "none"}, {"", "s"}, {"none", "s"}} {
		if s, known := r.Session(unknown[0], unknown[1], 10); known {
			t.Errorf("source %q, session %q: %+v", unknown[0], unknown[1], s)
		}
	}
}

// TestSessionLimits checks that a session lists its newest runs and counts all, and that each list of a run has a limit.
func TestSessionLimits(t *testing.T) {
	var runs []*tracker.Run
	for i := range 20 {
		run := sessionRun(fmt.Sprint("e-", i), i*10)
		run.Agent = fmt.Sprint("agent ", i)
		if i%2 == 0 {
			run.Usage.Input = event.Count{N: 10, Known: true}
		}
		runs = append(runs, run)
	}
	last := runs[19]
	for i := range 50 {
		last.Inputs = append(last.Inputs, &tracker.InputRequest{ID: fmt.Sprint(i)})
		last.Links = append(last.Links, tracker.Link{Run: fmt.Sprint(i)})
		last.Operations = append(last.Operations, &tracker.Operation{Kind: tracker.ExecuteTool, Name: "t", Status: tracker.OperationError, ErrorCode: "NO"})
	}
	s, _ := store(100, runs...).Session("agent", "s", 2)
	if got, want := sessionIDs(s), []string{"e-18", "e-19"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	if s.Kept != 20 || s.Input != 10 || s.Output != 0 || s.Usage.Input.N != 100 || s.Usage.Output.Known || len(s.Agents) != 10 || !s.AgentsMore {
		t.Errorf("%d kept, input tokens of %d: %v, output tokens of %d: %v, agents %q", s.Kept, s.Input, s.Usage.Input, s.Output, s.Usage.Output, s.Agents)
	}
	if one := s.Runs[1]; len(one.Inputs) != 20 || one.More != 30 || len(one.Links) != 20 || len(one.Failures) != 3 || one.Failures[0] != (recent.Failure{Callee: recent.Callee{Kind: tracker.ExecuteTool, Name: "t"}, Type: "NO"}) {
		t.Errorf("%d requests for input and %d more, %d links, failures %v", len(one.Inputs), one.More, len(one.Links), one.Failures)
	}
}

// TestSessionOfFullStore checks that a session reports evicted runs, and which of its runs ended before one of them.
func TestSessionOfFullStore(t *testing.T) {
	failed := sessionRun("failed", 10)
	failed.Status = tracker.Failed
	for limit, want := range map[int]string{4: "0 evicted: failed true, a true, b true, c true, ", 3: "1 evicted: failed false, b true, c true, ", 2: "2 evicted: failed false, c true, "} {
		s, _ := store(limit, failed, sessionRun("a", 20), sessionRun("b", 30), sessionRun("c", 40)).Session("agent", "s", 10)
		got := fmt.Sprint(s.Evicted, " evicted: ")
		for _, run := range s.Runs {
			got += fmt.Sprint(run.Run, " ", run.LaterKept, ", ")
		}
		if got != want {
			t.Errorf("with room for %d: %s; want %s", limit, got, want)
		}
	}
}

// TestSessionOfLargeOpenRuns checks that the tracker's lock is not held for many large runs of a session.
func TestSessionOfLargeOpenRuns(t *testing.T) {
	r := recent.New(10, 1<<20)
	e := newExporter(tracker.Settings{MaxOpenRuns: 100, MaxOperations: 10_000, MaxFacts: 10, IdleTimeout: time.Hour}, r)
	r.SetTracker(e.Tracker())
	r.RunEnded(sessionRun("before", 0))
	for i := range 5 {
		s := &event.Stream{Source: "agent", Live: true, SingleRun: true, Nonce: fmt.Sprint(i), OpenedAt: time.Unix(int64(i), 0)}
		s.Session = "s"
		e.Open(s)
		b := &event.Batch{Stream: s, Run: fmt.Sprint("e-", i), Agent: "agent", Received: time.Unix(int64(i), 5)}
		for call := range 9_000 {
			b.Events = append(b.Events, event.Event{Kind: event.KindToolStarted, CallID: fmt.Sprint(call), Name: "search"})
		}
		e.Consume(b)
	}
	s, _ := r.Session("agent", "s", 100)
	if got, want := sessionIDs(s), []string{"e-3", "e-4"}; !slices.Equal(got, want) || s.Kept != 6 || s.Statuses[tracker.Running] != 5 {
		t.Errorf("%q of %d, %v; want %q", got, s.Kept, s.Statuses, want)
	}
}

// TestSessionWhileOpen checks that a session contains its open runs, with the keys that they keep after their end.
func TestSessionWhileOpen(t *testing.T) {
	r := recent.New(10, 1<<20)
	e, streams := follow(t, r, 2)
	open, known := r.Session("agent", "s-1", 10)
	if !known || len(open.Runs) != 1 || open.Runs[0].Status != tracker.Running || open.Runs[0].Tools != 1 || open.Statuses[tracker.Running] != 1 || !open.Ended.IsZero() || open.Untimed != 0 {
		t.Fatalf("%+v", open)
	}
	e.Close(streams[1], event.EndOfStream, time.Unix(9, 0))
	if ended, _ := r.Session("agent", "s-1", 10); len(ended.Runs) != 1 || ended.Runs[0].Key != open.Runs[0].Key || ended.Runs[0].Status == tracker.Running {
		t.Errorf("%+v; before %+v", ended, open)
	}
}

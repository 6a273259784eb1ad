package recent_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func failedRun(id string) *tracker.Run {
	run := endedRun(id)
	run.Status = tracker.Failed
	return run
}

func ids(runs []tracker.Report) (ids []string) {
	for _, r := range runs {
		ids = append(ids, *r.Run)
	}
	return ids
}

// TestFailuresStay checks that failed runs are kept while they use at most half of the limit.
func TestFailuresStay(t *testing.T) {
	r := recent.New(6, 1<<20)
	r.RunEnded(failedRun("bad-0"))
	for i := range 20 {
		r.RunEnded(endedRun(fmt.Sprint("good-", i)))
	}
	if got, want := ids(r.Reports()), []string{"good-19", "good-18", "good-17", "good-16", "good-15", "bad-0"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	for i := range 4 {
		r.RunEnded(failedRun(fmt.Sprint("bad-", i+1)))
	}
	if got, want := ids(r.Reports()), []string{"bad-4", "bad-3", "bad-2", "good-19", "good-18", "good-17"}; !slices.Equal(got, want) {
		t.Errorf("of many failures: %q; want %q", got, want)
	}
	onlyBad := recent.New(3, 1<<20)
	for i := range 5 {
		onlyBad.RunEnded(failedRun(fmt.Sprint("bad-", i)))
	}
	if got, want := ids(onlyBad.Reports()), []string{"bad-4", "bad-3", "bad-2"}; !slices.Equal(got, want) {
		t.Errorf("only failures: %q; want %q", got, want)
	}
	onlyBad.RunEnded(endedRun("good"))
	if got, want := ids(onlyBad.Reports()), []string{"good", "bad-4", "bad-3"}; !slices.Equal(got, want) {
		t.Errorf("then a completed run: %q; want %q", got, want)
	}
}

// follow returns an exporter with a list of runs, and streams that each received one frame.
func follow(t *testing.T, r *recent.Runs, streams int) (*exporter.Exporter, []*event.Stream) {
	t.Helper()
	e := newExporter(tracker.Settings{MaxOpenRuns: 10_000, MaxOperations: 1_000, MaxFacts: 1_000, IdleTimeout: time.Hour}, r)
	r.SetTracker(e.Tracker())
	all := make([]*event.Stream, streams)
	for i := range all {
		all[i] = &event.Stream{Source: "agent", Live: true, SingleRun: true, Nonce: fmt.Sprint(i), OpenedAt: time.Unix(int64(i), 0)}
		all[i].Session = fmt.Sprint("s-", i)
		e.Open(all[i])
		e.Consume(&event.Batch{Stream: all[i], Run: fmt.Sprint("e-", i), Agent: "agent", Received: time.Unix(int64(i), 5), Events: []event.Event{{Kind: event.KindToolStarted, CallID: "c-1", Name: "search"}}})
	}
	return e, all
}

// TestOpenRuns checks that open runs come before ended ones, and that keys do not change.
func TestOpenRuns(t *testing.T) {
	r := recent.New(10, 1<<20)
	before := r.Version()
	e, streams := follow(t, r, 3)
	if r.Version() == before {
		t.Error("no change was reported when runs began")
	}
	page := r.Page(recent.Query{}, true)
	if page.Open != 3 || page.Ended != 0 || len(page.Runs) != 3 || page.Runs[0].Run != "e-2" || page.Runs[0].Tools != 1 || page.Runs[0].Status != tracker.Running {
		t.Fatalf("%+v", page)
	}
	tool := page.Whole[0].Report().Operations[1]
	if tool.Ended != nil || tool.Status != tracker.OperationUnfinished || *tool.Name != "search" || len(tool.ID) != 16 || tool.Parent == nil {
		t.Errorf("a call that is open is %+v", tool)
	}
	key := page.Runs[1].Key
	e.Consume(&event.Batch{Stream: streams[1], Run: "e-1", Agent: "agent", Events: []event.Event{{Kind: event.KindToolEnded, CallID: "c-1"}}})
	e.Consume(&event.Batch{Stream: streams[1], Run: "e-1", Agent: "agent", Events: []event.Event{{Kind: event.KindFinal}}})
	e.Close(streams[1], event.EndOfStream, time.Unix(9, 0))
	run, summary, known := r.Run(key)
	if !known || run.ID != "e-1" || summary.Status != tracker.Completed || run.Report().Operations[1].ID != page.Whole[1].Report().Operations[1].ID {
		t.Errorf("under its key: %+v", summary)
	}
	page = r.Page(recent.Query{}, false)
	if page.Open != 2 || page.Ended != 1 || page.Runs[2].Key != key || page.Runs[0].Run != "e-2" {
		t.Errorf("%+v", page)
	}
	first := r.Page(recent.Query{Limit: 2}, false)
	rest := r.Page(recent.Query{Limit: 2, After: first.Next}, false)
	if len(first.Runs) != 2 || len(rest.Runs) != 1 || rest.Runs[0].Run != "e-1" || rest.Next != (recent.Cursor{}) {
		t.Errorf("%+v, then %+v", first, rest)
	}
	if running := r.Page(recent.Query{Status: tracker.Running}, false); len(running.Runs) != 2 {
		t.Errorf("running: %+v", running)
	}
	sources, agents := r.Names(10)
	if !slices.Equal(sources, []string{"agent"}) || !slices.Equal(agents, []string{"agent"}) {
		t.Errorf("%q, %q", sources, agents)
	}
}

// TestLookingChangesNothing checks that the span ids of a run whose id and session come late are the same whether or not it was
// read before.
func TestLookingChangesNothing(t *testing.T) {
	ended := func(look bool) string {
		r := recent.New(10, 1<<20)
		e := newExporter(tracker.Settings{MaxOpenRuns: 10, MaxOperations: 10, MaxFacts: 10, IdleTimeout: time.Hour}, r)
		r.SetTracker(e.Tracker())
		s := &event.Stream{Source: "agent", Live: true, SingleRun: true, OpenedAt: time.Unix(1, 0)}
		e.Open(s)
		for i, b := range []event.Batch{
			{Events: []event.Event{{Kind: event.KindToolStarted, Name: "a", CallID: "1"}}},
			{Run: "e-1"}, {Session: "s-1", Agent: "b"},
			{Events: []event.Event{{Kind: event.KindToolEnded, CallID: "1"}}},
		} {
			if b.Stream, b.Received = s, time.Unix(int64(2+i), 0); look {
				r.Page(recent.Query{}, true)
			}
			e.Consume(&b)
		}
		e.Close(s, event.EndOfStream, time.Unix(9, 0))
		report, err := r.Reports()[0].JSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(report)
	}
	if looked, alone := ended(true), ended(false); looked != alone {
		t.Errorf("%s\nwithout reading %s", looked, alone)
	}
}

// TestOpenRunsAtOnce reads open runs concurrently while frames come and runs end, for the race detector.
func TestOpenRunsAtOnce(t *testing.T) {
	r := recent.New(50, 16<<20)
	e, streams := follow(t, r, 20)
	var work sync.WaitGroup
	for _, s := range streams {
		work.Go(func() {
			for i := range 50 {
				call := fmt.Sprint("call-", i)
				e.Consume(&event.Batch{Stream: s, Agent: "agent", Received: time.Unix(50, 0), Events: []event.Event{
					{Kind: event.KindToolStarted, CallID: call, Name: "t"}, {Kind: event.KindArtifact, ID: "a", Name: "a"},
					{Kind: event.KindInputRequested, CallID: call}, {Kind: event.KindConfidence, Confidence: event.Confidence{Known: true, Value: 0.5}},
				}})
				e.Consume(&event.Batch{Stream: s, Agent: "agent", Received: time.Unix(51, 0), Events: []event.Event{{Kind: event.KindToolEnded, CallID: call}, {Kind: event.KindInputAnswered, CallID: call}}})
			}
			e.Close(s, event.EndOfStream, time.Unix(60, 0))
		})
	}
	for range 4 {
		work.Go(func() {
			for range 20 {
				page := r.Page(recent.Query{Limit: 10}, true)
				for _, run := range page.Whole {
					if _, err := run.Report().JSON(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	work.Wait()
	if page := r.Page(recent.Query{}, false); page.Open != 0 || page.Ended != 20 {
		t.Errorf("%d open, %d ended", page.Open, page.Ended)
	}
}

// TestMissingAgent checks that an agent that an error calls missing is in no view of its open run, and counts in no list of names.
func TestMissingAgent(t *testing.T) {
	r := recent.New(10, 1<<20)
	e, streams := follow(t, r, 1)
	for _, happened := range []event.Event{
		{Kind: event.KindTransfer, Name: "ghost"}, {Kind: event.KindError, Name: "ghost", Error: event.AgentError},
	} {
		e.Consume(&event.Batch{Stream: streams[0], Run: "e-0", Agent: "agent", Received: time.Unix(6, 0), Events: []event.Event{happened}})
	}
	page := r.Page(recent.Query{}, true)
	_, one, _ := r.Run(page.Runs[0].Key)
	session, _ := r.Session("agent", "s-0", 10)
	for from, summary := range map[string]recent.Summary{"page": page.Runs[0], "run": one, "session": session.Runs[0].Summary} {
		if want := []recent.Callee{{Kind: tracker.ExecuteTool, Name: "search"}}; !slices.Equal(summary.Called, want) {
			t.Errorf("%s: %v worked for the run, want %v", from, summary.Called, want)
		}
	}
	for _, op := range page.Whole[0].Operations {
		if op.Name == "ghost" {
			t.Error("the full run has the missing agent")
		}
	}
}

// TestWholePagesAreBounded checks that a page of large runs ends early and that the next page continues after it.
func TestWholePagesAreBounded(t *testing.T) {
	r := recent.New(10, 1<<30)
	for i := range 5 {
		run := endedRun(fmt.Sprint(i))
		for range 9_999 {
			run.Operations = append(run.Operations, run.Root)
		}
		r.RunEnded(run)
	}
	first := r.Page(recent.Query{Limit: 10}, true)
	rest := r.Page(recent.Query{Limit: 10, After: first.Next}, true)
	if len(first.Whole) != 3 || len(rest.Whole) != 2 || rest.Whole[0].ID != "1" {
		t.Errorf("%d runs, then %d", len(first.Whole), len(rest.Whole))
	}
}

// TestMemory checks that 10,000 ended runs stay near the configured memory limit, and limits the memory of each of 1,000 open
// runs.
func TestMemory(t *testing.T) {
	const bytes, openRun = 16 << 20, 16 << 10
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	r := recent.New(10_000, bytes)
	e, streams := follow(t, r, 10_000)
	for i, s := range streams {
		for n := range 10 {
			call := fmt.Sprint("call-", n)
			e.Consume(&event.Batch{Stream: s, Agent: fmt.Sprint("agent-", i%30), Received: time.Unix(50, 0), Events: []event.Event{{Kind: event.KindToolStarted, CallID: call, Name: "search"}}})
			e.Consume(&event.Batch{Stream: s, Agent: fmt.Sprint("agent-", i%30), Received: time.Unix(51, 0), Events: []event.Event{{Kind: event.KindToolEnded, CallID: call}}})
		}
		e.Close(s, event.EndOfStream, time.Unix(60, 0))
	}
	ended := heap() - before
	kept := r.Page(recent.Query{}, false).Ended
	if kept < 500 || kept > 10_000 || ended > 2*bytes {
		t.Errorf("%d runs are kept in %d bytes", kept, ended)
	}
	e2, open := follow(t, recent.New(1, bytes), 1_000)
	growth := heap() - before - ended
	if growth > 1_000*openRun {
		t.Errorf("1,000 open runs have %d bytes", growth)
	}
	t.Logf("%d of 10,000 runs that ended are kept, in %.1f MiB of %d; 1,000 open runs have %.1f MiB", kept, float64(ended)/(1<<20), bytes>>20, float64(growth)/(1<<20))
	runtime.KeepAlive(e2)
	runtime.KeepAlive(open)
	huge := recent.New(10_000, bytes)
	for i := range 100 {
		huge.RunEnded(endedRun(strings.Repeat(fmt.Sprint(i%10), 1<<20)))
	}
	if n := len(huge.Reports()); n > 16 {
		t.Errorf("%d runs with a megabyte of name are kept", n)
	}
	runtime.KeepAlive(r)
}

// TestLargeOpenRunsArePaged checks that the tracker's lock is not held for all operations of many large runs, and that the next pages list
// the runs that are left out.
func TestLargeOpenRunsArePaged(t *testing.T) {
	r := recent.New(10, 1<<20)
	e, streams := follow(t, r, 15)
	e.Tracker().Configure(tracker.Settings{MaxOperations: 10_000, MaxFacts: 10, IdleTimeout: time.Hour})
	for _, s := range streams {
		b := &event.Batch{Stream: s, Agent: "agent", Received: time.Unix(50, 0)}
		for call := range 9_000 {
			b.Events = append(b.Events, event.Event{Kind: event.KindToolStarted, CallID: fmt.Sprint("call-", call), Name: "search"})
		}
		e.Consume(b)
	}
	r.RunEnded(endedRun("before"))
	for _, by := range append(recent.Sorts(), recent.SortDefault) {
		q, listed := recent.Query{Limit: 100, Sort: by}, map[string]bool{}
		var pages []int
		for {
			page := r.Page(q, false)
			for _, run := range page.Runs {
				listed[run.Key] = true
			}
			pages, q.After = append(pages, len(page.Runs)), page.Next
			if page.Next == (recent.Cursor{}) {
				break
			}
		}
		if len(listed) != 16 || !slices.Equal(pages, []int{12, 4}) {
			t.Errorf("in order %q the pages have %d runs, %d in total; want 12 and 4", by, pages, len(listed))
		}
	}
}

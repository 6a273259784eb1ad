package recent_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestOverview checks the numbers of open and ended runs of two sources.
func TestOverview(t *testing.T) {
	r := recent.New(100, 1<<20)
	e := newExporter(tracker.Settings{MaxOpenRuns: 10, MaxOperations: 10, IdleTimeout: time.Hour}, r)
	r.SetTracker(e.Tracker())
	for i := range int64(2) {
		e.Open(&event.Stream{Source: "agent", SingleRun: true, Nonce: fmt.Sprint(i), OpenedAt: time.Unix(i, 0)})
	}
	for i := range 20 {
		run := timedRun(fmt.Sprint(i), 10, i+1)
		run.Source, run.Usage.Input = "other", event.Count{N: 5, Known: i > 0}
		if i == 0 {
			run.Usage.Input, run.Status = event.Count{}, tracker.TimedOut
		}
		r.RunEnded(run)
	}
	unended := timedRun("unended", 10, -1)
	unended.Source, unended.Status = "other", tracker.Failed
	r.RunEnded(unended)
	bounded := timedRun("bounded", 10, 3) // its end is only a bound
	bounded.Source, bounded.Root.Timing = "other", tracker.TimingUnknown
	r.RunEnded(bounded)
	now := time.Unix(300, 0)
	other := recent.Figures{
		Source: "other", Runs: 22, Ended: 22, Failed: 2, P50: 10 * time.Second, P95: 19 * time.Second, Timed: 20,
		Usage: event.Usage{Input: event.Count{N: 95, Known: true}}, Input: 19,
	}
	total := other
	total.Source, total.Runs = "", 24
	want := recent.Overview{From: time.Unix(0, 0), To: now, Oldest: time.Unix(0, 0), Total: total, Sources: []recent.Figures{{Source: "agent", Runs: 2}, other}}
	check := func(q recent.Query, want recent.Overview) {
		t.Helper()
		got := r.Overview(q, now)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(recent.Figures{})); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", q, diff)
		}
	}
	check(recent.Query{Limit: 1, Sort: recent.SortTokens}, want)
	want.Total, want.Sources = other, want.Sources[1:]
	want.Total.Source = ""
	check(recent.Query{Source: "other"}, want)
	want.From, want.To = time.Unix(5, 0), time.Unix(100, 0)
	check(recent.Query{From: want.From, To: want.To}, want)
	want.Total, want.Sources, want.From, want.To = recent.Figures{}, nil, time.Unix(200, 0), now
	check(recent.Query{From: want.From, To: now.Add(time.Hour)}, want)
	if rate, known := want.PerMinute(recent.Figures{Runs: 5}); !known || rate != 3 {
		t.Errorf("%v runs a minute, %t; want 3", rate, known)
	}
	want.From = now.Add(-59 * time.Second)
	if rate, known := want.PerMinute(other); known {
		t.Errorf("%v runs a minute in less than a minute", rate)
	}
	for _, q := range []recent.Query{{}, {From: time.Unix(100, 0)}} {
		empty := recent.New(1, 1<<20).Overview(q, now)
		if diff := cmp.Diff(recent.Overview{To: now}, empty, cmpopts.IgnoreUnexported(recent.Figures{})); diff != "" {
			t.Errorf("an overview of nothing (-want +got):\n%s", diff)
		}
	}
}

// TestOverviewOfKeptRuns checks that an overview leaves out the time of which runs were evicted, because failed runs stay longer.
func TestOverviewOfKeptRuns(t *testing.T) {
	r := recent.New(4, 1<<20)
	failed := timedRun("failed", 0, 1)
	failed.Status = tracker.Failed
	r.RunEnded(failed)
	for i := range 10 {
		r.RunEnded(timedRun(fmt.Sprint(i), 100+i, 1))
	}
	unknown := endedRun("without a start")
	unknown.Status = tracker.Completed
	r.RunEnded(unknown) // it counts as started now; of those with a start, only two remain: 8 and 9
	now := time.Unix(400, 0)
	for _, c := range []struct {
		from, covered int64
		evicted       bool
		runs          int
	}{{0, 107, true, 3}, {107, 107, true, 2}, {108, 108, false, 2}, {109, 109, false, 1}} {
		q := recent.Query{From: time.Unix(c.from, 0)}
		if c.from == 0 {
			q.From = time.Time{}
		}
		o := r.Overview(q, now)
		if o.From != time.Unix(c.covered, 0) || o.Evicted != c.evicted || o.Total.Runs != c.runs || o.Total.Failed != 0 || o.Oldest != time.Unix(0, 0) {
			t.Errorf("from %d: %+v", c.from, o)
		}
	}
}

// TestOverviewOfNoTime checks that an overview states no time if it covers none: runs were evicted that started later than the
// range that is asked for, or the oldest run started later.
func TestOverviewOfNoTime(t *testing.T) {
	r := recent.New(1, 1<<20)
	r.RunEnded(timedRun("first", 100, 1))
	check := func(q recent.Query, evicted bool) {
		t.Helper()
		want := recent.Overview{To: q.To, Oldest: time.Unix(100, 0), Evicted: evicted}
		if evicted {
			want.Oldest = time.Unix(200, 0)
		}
		if diff := cmp.Diff(want, r.Overview(q, time.Unix(400, 0)), cmpopts.IgnoreUnexported(recent.Figures{})); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", q, diff)
		}
	}
	check(recent.Query{To: time.Unix(50, 0)}, false)
	r.RunEnded(timedRun("second", 200, 1))
	check(recent.Query{To: time.Unix(50, 0)}, true)
	check(recent.Query{From: time.Unix(20, 0), To: time.Unix(100, 0)}, true)
}

// TestOverviewOfUndatedRuns checks that a run without a start is noted when it is evicted.
func TestOverviewOfUndatedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := recent.New(1, 1<<20)
		evicted := time.Now()
		r.RunEnded(endedRun("first"))
		time.Sleep(time.Hour)
		r.RunEnded(endedRun("second"))
		if o := r.Overview(recent.Query{}, time.Now().Add(time.Hour)); !o.Evicted || !o.From.Equal(evicted) || o.Total.Runs != 1 {
			t.Errorf("%+v; want one run since %s", o, evicted)
		}
	})
}

// TestOverviewOfWrongClocks checks that neither the rate nor the time that is covered depends on the clock of an agent that is
// years ahead or behind.
func TestOverviewOfWrongClocks(t *testing.T) {
	for name, started := range map[string]int{"ahead": 1 << 40, "behind": 0, "unknown": -1} {
		synctest.Test(t, func(t *testing.T) {
			r := recent.New(100, 1<<20)
			end := func(clock int) {
				run := endedRun("")
				run.Live, run.Status = true, tracker.Completed
				if clock >= 0 {
					run.Root.Started.At = time.Unix(int64(clock), 0)
				}
				r.RunStarted(run)
				time.Sleep(time.Second)
				r.RunEnded(run)
			}
			begun := time.Now()
			end(started)
			for range 59 {
				end(int(time.Now().Unix()))
			}
			check := func(runs, from, oldest int) {
				t.Helper()
				o := r.Overview(recent.Query{}, time.Now())
				if rate, known := o.PerMinute(o.Total); !known || rate < 59 || rate > 60 || o.Total.Runs != runs {
					t.Errorf("%s: %v runs a minute, %d in all, want 60 and %d", name, rate, o.Total.Runs, runs)
				}
				if o.From.Sub(begun) != time.Duration(from)*time.Second || o.Oldest.Sub(begun) != time.Duration(oldest)*time.Second {
					t.Errorf("%s: from %s, the oldest from %s; want %d and %d s after %s", name, o.From, o.Oldest, from, oldest, begun)
				}
			}
			check(60, 0, 0)
			lately := recent.Query{From: begun.Add(30 * time.Second)} // of the stated start, as in the list
			if n, listed := r.Overview(lately, time.Now()).Total.Runs, len(r.Page(lately, false).Runs); n != listed {
				t.Errorf("%s: the overview has %d runs, and the list %d", name, n, listed)
			}
			for range 100 {
				end(int(time.Now().Unix()))
			}
			check(100, 59, 60)
		})
	}
}

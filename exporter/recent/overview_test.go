package recent_test

import (
	"fmt"
	"testing"
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
	follow(t, r, 2) // of the source "agent", started at 0 and 1 s
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
	now := time.Unix(300, 0)
	other := recent.Figures{
		Source: "other", Runs: 21, Ended: 21, Failed: 2, P50: 10 * time.Second, P95: 19 * time.Second, Timed: 20,
		Usage: event.Usage{Input: event.Count{N: 95, Known: true}}, Input: 19,
	}
	total := other
	total.Source, total.Runs = "", 23
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
	empty := recent.New(1, 1<<20).Overview(recent.Query{}, now)
	if diff := cmp.Diff(recent.Overview{To: now}, empty, cmpopts.IgnoreUnexported(recent.Figures{})); diff != "" {
		t.Errorf("an overview of nothing (-want +got):\n%s", diff)
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
	r.RunEnded(unknown) // only two of those with a start remain: 8 and 9
	now := time.Unix(400, 0)
	for _, c := range []struct {
		from, covered int64
		evicted       bool
		runs          int
	}{{0, 107, true, 2}, {107, 107, true, 2}, {108, 108, false, 2}, {109, 109, false, 1}} {
		q := recent.Query{From: time.Unix(c.from, 0)}
		if c.from == 0 {
			q.From = time.Time{}
		}
		o := r.Overview(q, now)
		if o.From != time.Unix(c.covered, 0) || o.Evicted != c.evicted || o.Total.Runs != c.runs || o.Total.Failed != 0 || o.Oldest != time.Unix(0, 0) {
			t.Errorf("from %d: %+v", c.from, o)
		}
	}
	future := timedRun("future", 0, 0)
	future.Root.Started.At = time.Now().Add(24 * 365 * time.Hour)
	r.RunEnded(future)
	for i := range 5 {
		r.RunEnded(timedRun(fmt.Sprint(i), 200+i, 1))
	}
	if o := r.Overview(recent.Query{}, time.Now().Add(time.Hour)); o.From.After(time.Now()) {
		t.Errorf("an evicted run that claims to start in the future makes the overview begin at %s", o.From)
	}
}

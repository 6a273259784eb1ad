package recent_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func endedRun(id string) *tracker.Run {
	root := &tracker.Operation{Kind: tracker.InvokeAgent}
	return &tracker.Run{ID: id, Root: root, Operations: []*tracker.Operation{root}}
}

// TestRecent checks that the last runs are kept, newest first, as they were when they ended.
func TestRecent(t *testing.T) {
	for kept := range 5 {
		r := recent.New(3, 1<<20)
		for i := range kept {
			run := endedRun(fmt.Sprint(i))
			r.RunStarted(run)
			r.OperationEnded(run, run.Root)
			r.RunEnded(run)
			run.ID = "changed"
		}
		runs := r.Reports()
		if len(runs) != min(kept, 3) {
			t.Fatalf("of %d runs, %d are kept", kept, len(runs))
		}
		for i, run := range runs {
			if want := fmt.Sprint(kept - 1 - i); *run.Run != want {
				t.Errorf("number %d of %d is %s, want %s", i, kept, *run.Run, want)
			}
		}
	}
}

// TestRecentList checks that a returned list does not change when more runs end.
func TestRecentList(t *testing.T) {
	r := recent.New(2, 1<<20)
	r.RunEnded(endedRun("0"))
	r.RunEnded(endedRun("1"))
	runs := r.Reports()
	r.RunEnded(endedRun("2"))
	runs[1] = tracker.Report{}
	if *runs[0].Run != "1" || *r.Reports()[1].Run != "1" {
		t.Errorf("%s, then %s", *runs[0].Run, *r.Reports()[1].Run)
	}
}

// TestRecentAtOnce reads the list concurrently while runs end.
func TestRecentAtOnce(t *testing.T) {
	r := recent.New(10, 1<<20)
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for range 100 {
				r.RunEnded(endedRun(fmt.Sprint(i)))
				if n := len(r.Reports()); n < 1 || n > 10 {
					t.Errorf("%d runs are kept", n)
				}
			}
		})
	}
	work.Wait()
	if n := len(r.Reports()); n != 10 {
		t.Errorf("%d runs are kept", n)
	}
}

// TestRecentIsBounded checks that fewer runs are kept if they are large, and the last one whatever its size.
func TestRecentIsBounded(t *testing.T) {
	r := recent.New(100, 6<<20)
	large := func(id string, operations int) *tracker.Run {
		run := endedRun(id)
		for range operations - 1 {
			run.Operations = append(run.Operations, run.Root)
		}
		return run
	}
	for i := range 5 {
		r.RunEnded(large(fmt.Sprint(i), 9_000))
	}
	if runs := r.Reports(); len(runs) != 2 || *runs[0].Run != "4" {
		t.Errorf("%d runs of 9,000 operations are kept", len(runs))
	}
	r.RunEnded(large("5", 50_000))
	if runs := r.Reports(); len(runs) != 1 || *runs[0].Run != "5" {
		t.Errorf("%d runs are kept beside one of 50,000 operations", len(runs)-1)
	}
	r.RunEnded(endedRun("6"))
	r.RunEnded(endedRun("7"))
	if runs := r.Reports(); len(runs) != 2 {
		t.Errorf("%d runs are kept after it was evicted", len(runs))
	}
}

// TestThoughtsCountOnce checks that two runs are kept whose thoughts fit.
func TestThoughtsCountOnce(t *testing.T) {
	r := recent.New(100, 6<<20)
	for _, id := range []string{"1", "2"} {
		run := endedRun(id)
		run.Thoughts = make([]tracker.ThoughtCount, 20_000)
		r.RunEnded(run)
	}
	if runs := r.Reports(); len(runs) != 2 {
		t.Errorf("%d runs of 3 MB are kept in 6 MiB, want 2", len(runs))
	}
}

func newExporter(s tracker.Settings, o tracker.Observer) *exporter.Exporter {
	return exporter.New(metrics.New(prometheus.NewRegistry(), metrics.Settings{Names: conventions.Released(), MaxLabelValues: 10, MaxLabelSets: 10}), s, nil, o)
}

package recent

import (
	"slices"
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// openRun is an open run and its start.
type openRun struct {
	run tracker.RunView
	start
}

// keptRuns are the ended runs that are kept, and what is known of the others. The runs no longer change.
type keptRuns struct {
	runs         []*endedRun // the latest ended first
	evicted      uint64      // number of evicted runs
	lastEvicted  uint64      // see Runs
	evictedStart time.Time   // see Runs
}

// view calls see with the open runs, with the tracker's lock held, and returns the ended runs of the same moment: a run that ends
// meanwhile is in exactly one of the two lists.
func (r *Runs) view(see func([]openRun)) (kept keptRuns) {
	look := func(open []tracker.RunView) {
		var numbered []openRun
		numbered, kept = r.snapshot(open)
		see(numbered)
	}
	if r.tracker == nil {
		look(nil)
	} else {
		r.tracker.ViewOpen(look)
	}
	return kept
}

func (r *Runs) snapshot(open []tracker.RunView) ([]openRun, keptRuns) {
	r.mu.Lock()
	defer r.mu.Unlock()
	numbered := make([]openRun, 0, len(open))
	for _, o := range open {
		if began, known := r.open[o.Run()]; known {
			numbered = append(numbered, openRun{o, began})
		}
	}
	kept := slices.Collect(r.newest())
	return numbered, keptRuns{kept, r.ends - uint64(len(kept)), r.lastEvicted, r.evictedStart}
}

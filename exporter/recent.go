package exporter

import (
	"sync"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// maxItems bounds the operations and facts in all reports that are kept, whatever the number of runs: a run may have ten thousand.
const maxItems = 20_000

// Recent keeps the reports of the runs that ended last. It is a tracker.Observer.
type Recent struct {
	limit int

	mu    sync.Mutex
	runs  []tracker.Report
	items int
}

// NewRecent keeps at most limit reports.
func NewRecent(limit int) *Recent { return &Recent{limit: limit} }

// RunStarted has nothing to keep.
func (r *Recent) RunStarted(*tracker.Run) {}

// OperationEnded has nothing to keep: the run's report holds its operations.
func (r *Recent) OperationEnded(*tracker.Run, *tracker.Operation) {}

// RunEnded keeps the run's report, in the place of the oldest where there is no room.
func (r *Recent) RunEnded(run *tracker.Run) {
	report := run.Report()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs, r.items = append(r.runs, report), r.items+items(report)
	gone := 0
	for ; len(r.runs)-gone > 1 && (len(r.runs)-gone > r.limit || r.items > maxItems); gone++ {
		r.items -= items(r.runs[gone])
	}
	if gone > 0 {
		r.runs = append(r.runs[:0:0], r.runs[gone:]...)
	}
}

func items(r tracker.Report) int {
	return 1 + len(r.Operations) + len(r.Transfers) + len(r.Confidence) + len(r.Citations) + len(r.Reasoning) + len(r.Inputs) + len(r.Artifacts) + len(r.Links)
}

// Runs lists the reports, the newest first.
func (r *Recent) Runs() []tracker.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]tracker.Report, 0, len(r.runs))
	for i := range r.runs {
		out = append(out, r.runs[len(r.runs)-1-i])
	}
	return out
}

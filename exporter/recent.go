package exporter

import (
	"sync"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// Recent keeps the reports of the runs that ended last. It is a tracker.Observer.
type Recent struct {
	limit int

	mu   sync.Mutex
	runs []tracker.Report
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
	if len(r.runs) >= r.limit {
		r.runs = append(r.runs[:0:0], r.runs[1:]...)
	}
	r.runs = append(r.runs, report)
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

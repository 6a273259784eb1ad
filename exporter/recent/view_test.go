package recent

import (
	"testing"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestViewOfOneMoment checks that a run that ends while open runs are read does not count as an ended one too.
func TestViewOfOneMoment(t *testing.T) {
	r := New(10, 1<<20)
	root := &tracker.Operation{}
	run := &tracker.Run{Root: root, Operations: []*tracker.Operation{root}}
	r.RunStarted(run)
	kept := r.view(func([]openRun) { r.RunEnded(run) })
	if after := r.view(func([]openRun) {}); len(kept.runs) != 0 || len(after.runs) != 1 {
		t.Errorf("%d ended runs, and %d after it has ended; want 0 and 1", len(kept.runs), len(after.runs))
	}
}

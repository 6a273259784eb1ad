package waterfall

import (
	"testing"
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestWaits checks that a wait reaches from its request to its answer, to the end without one, and that one without a time is left out.
func TestWaits(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) tracker.Timestamp {
		return tracker.Timestamp{At: noon.Add(time.Duration(seconds) * time.Second), Frame: 1}
	}
	root := &tracker.Operation{ID: tracker.SpanID{1}, Kind: tracker.InvokeAgent, Started: at(0), Ended: at(10), Timing: tracker.TimingReported}
	run := &tracker.Run{Root: root, Operations: []*tracker.Operation{root}, Status: tracker.Completed, Inputs: []*tracker.InputRequest{
		{ID: "answered", Requested: at(2), Answered: at(7)}, {ID: "open", Requested: at(8)}, {ID: "untimed"}, {ID: "set back", Requested: at(8), Answered: at(3)},
	}}
	waits := New(run, time.Time{}).Waits(run)
	if len(waits) != 3 {
		t.Fatalf("%d waits", len(waits))
	}
	if w := waits[0]; w.Input.ID != "answered" || w.From != 0.2 || w.To != 0.7 || w.Duration != 5*time.Second || !w.Answered {
		t.Errorf("%+v", w)
	}
	if w := waits[1]; w.Input.ID != "open" || w.From != 0.8 || w.To != 1 || w.Duration != 0 || w.Answered {
		t.Errorf("%+v", w)
	}
	if w := waits[2]; w.Input.ID != "set back" || w.Answered || w.Duration != 0 {
		t.Errorf("%+v", w)
	}
	for range 2 * maxWaits {
		run.Inputs = append(run.Inputs, run.Inputs[0])
	}
	if waits := New(run, time.Time{}).Waits(run); len(waits) > maxWaits {
		t.Errorf("%d waits", len(waits))
	}
}

package metrics

import (
	"slices"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestCallsBelowAnotherRoot checks that calls are counted if the root operation of their run changes later, and that no
// counter is left for them.
func TestCallsBelowAnotherRoot(t *testing.T) {
	m, reg := newTest(10, 100)
	tr := tracker.New(tracker.Settings{MaxOpenRuns: 3, MaxOperations: 50, MaxFacts: 10, IdleTimeout: time.Minute}, m, m)
	s := &event.Stream{Source: "s", Dialect: "adk", Live: true, SingleRun: true, OpenedAt: start, Identity: event.Identity{App: "app"}}
	tr.Open(s)
	for _, agent := range []string{"app", "other", "third"} {
		b := &event.Batch{Stream: s, Agent: agent, Place: new(wire.Places).Of(wire.Speaker{Author: agent}), Received: start}
		b.Add(event.KindModelEnded).Model = "m"
		b.Add(event.KindFinal)
		tr.Consume(b)
	}
	tr.Close(s, event.EndOfStream, start)
	if got := series(t, reg, "delegraph_run_model_calls"); !slices.Equal(got, []string{`agent="app",source="s" 1 of 3`}) || len(m.calls.runs) > 0 {
		t.Errorf("the series are %q, and %d runs have call counters", got, len(m.calls.runs))
	}
}

package exporter_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ledger records when and how runs end.
type ledger struct {
	begun time.Time

	mu    sync.Mutex
	lines []string
}

func (l *ledger) RunStarted(*tracker.Run)                         {}
func (l *ledger) OperationEnded(*tracker.Run, *tracker.Operation) {}
func (l *ledger) RunEnded(r *tracker.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%s %s %s after %s", r.Session, r.Status, r.Reason, time.Since(l.begun)))
}

func (l *ledger) since(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.lines, want) {
		t.Errorf("ended\n%s\nwant\n%s", strings.Join(l.lines, "\n"), strings.Join(want, "\n"))
	}
	l.lines = nil
}

// answerTo returns the stream that answers a request forwarded now.
func answerTo(session string) *event.Stream {
	return &event.Stream{Source: "source", Live: true, SingleRun: true, OpenedAt: time.Now(), Identity: event.Identity{Session: session}}
}

func settings(idle time.Duration) tracker.Settings {
	return tracker.Settings{MaxOpenRuns: 10, MaxOperations: 10, MaxFacts: 10, IdleTimeout: idle}
}

func testMetrics(reg prometheus.Registerer) *metrics.Metrics {
	return metrics.New(reg, metrics.Settings{Names: conventions.Released(), MaxLabelValues: 10, MaxLabelSets: 10})
}

// TestConfigure checks that new settings apply to open runs.
func TestConfigure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{begun: time.Now()}
		e := exporter.New(testMetrics(prometheus.NewRegistry()), settings(time.Hour), nil, l)
		e.Open(answerTo("short"))
		e.Configure(settings(time.Minute))
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e.Run(ctx, time.Now)
		l.since(t, "short timed_out idle after 1m0s")
	})
}

// TestRun checks that each run ends after the idle time, and open runs at a stop.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l := &ledger{begun: time.Now()}
		e := exporter.New(testMetrics(prometheus.NewRegistry()), settings(30*time.Minute), nil, l)
		var running sync.WaitGroup
		running.Go(func() { e.Run(ctx, time.Now) })
		frame := func(s *event.Stream) { e.Consume(&event.Batch{Stream: s, Received: time.Now(), Agent: "agent"}) }

		silent, spoke := answerTo("silent"), answerTo("spoke")
		e.Open(silent)
		e.Open(spoke)
		time.Sleep(10 * time.Minute)
		frame(spoke)
		time.Sleep(20*time.Minute - 1)
		l.since(t)
		time.Sleep(time.Nanosecond)
		l.since(t, "silent timed_out idle after 30m0s")
		time.Sleep(10 * time.Minute)
		l.since(t, "spoke timed_out idle after 40m0s")

		last, done := answerTo("last"), answerTo("done")
		e.Open(last)
		e.Open(done)
		e.Consume(&event.Batch{Stream: done, Received: time.Now(), Agent: "agent", Events: []event.Event{{Kind: event.KindFinal}}})
		e.Close(done, event.EndOfStream, time.Now())
		l.since(t, "done completed  after 40m0s")
		time.Sleep(time.Minute)
		cancel()
		running.Wait()
		l.since(t, "last incomplete shutdown after 41m0s")
	})
}

// TestRunRests checks that Run sleeps at least a second between two checks, however close together runs fall due.
func TestRunRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := &ledger{begun: time.Now()}
		e := exporter.New(testMetrics(prometheus.NewRegistry()), settings(time.Minute), nil, l)
		asked := 0
		var running sync.WaitGroup
		running.Go(func() {
			e.Run(ctx, func() time.Time { asked++; return time.Now() })
		})
		for i := range 10 {
			e.Open(answerTo(fmt.Sprint(i)))
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		l.since(t, "0 timed_out idle after 1m0s")
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(l.lines); n != 9 {
			t.Errorf("%d runs ended a second later", n)
		}
		cancel()
		running.Wait()
		if asked > 10 {
			t.Errorf("the clock was read %d times", asked)
		}
	})
}

// sum adds up the series of a counter that have a label of this value, or all of them.
func sum(t *testing.T, reg prometheus.Gatherer, name, value string) (n float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, series := range family.Metric {
			if value == "" || slices.ContainsFunc(series.Label, func(l *dto.LabelPair) bool { return l.GetValue() == value }) {
				n += series.Counter.GetValue()
			}
		}
	}
	return n
}

// TestConsume checks that a frame is counted and followed, and that the end of its run is counted too.
func TestConsume(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	recent := recent.New(1, 1<<20)
	e := exporter.New(testMetrics(reg), settings(time.Hour), nil, recent)
	s := &event.Stream{Source: "source"}
	e.Open(s)
	e.Consume(&event.Batch{Stream: s, Agent: "agent", Events: []event.Event{{Kind: event.KindFinal}}})
	e.Close(s, event.EndOfStream, time.Time{})
	if frames := sum(t, reg, "delegraph_frames_total", ""); frames != 1 {
		t.Errorf("%g frames", frames)
	}
	if all, completed := sum(t, reg, "delegraph_runs_ended_total", ""), sum(t, reg, "delegraph_runs_ended_total", "completed"); all != 1 || completed != 1 {
		t.Errorf("%g runs ended, %g of them completed", all, completed)
	}
	if runs := recent.Reports(); len(runs) != 1 || runs[0].Status != tracker.Completed {
		t.Errorf("recent: %+v", runs)
	}
}

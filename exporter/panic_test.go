package exporter_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/exporter/tracker"
)

const quoted = "c4n4ry"

// faults names the places where the exporter panics.
type faults struct {
	started, ended, closed, sample, publish, kind bool
}

func (f faults) boom(now bool) {
	if now {
		panic(quoted)
	}
}

func (f faults) RunStarted(*tracker.Run)                         { f.boom(f.started) }
func (f faults) OperationEnded(*tracker.Run, *tracker.Operation) { f.boom(f.ended) }
func (f faults) RunEnded(*tracker.Run)                           { f.boom(f.closed) }

// TestPanics checks that if one part panics, the other parts and later streams are not affected.
func TestPanics(t *testing.T) {
	for name, c := range map[string]struct {
		faults
		want  recovery.Component
		place string
		ends  string // of the run
	}{
		"a run's start, in an observer":      {faults{started: true}, recovery.Spans, "exporter_test.faults.boom", "completed"},
		"an operation's end, in an observer": {faults{ended: true}, recovery.Spans, "exporter_test.faults.boom", "completed"},
		"a run's end, in an observer":        {faults{closed: true}, recovery.Spans, "exporter_test.faults.boom", "completed"},
		"the tracker":                        {faults{sample: true}, recovery.Tracker, "exporter_test.faults.boom", ""},
		"the metrics":                        {faults{kind: true}, recovery.Metrics, "exporter/metrics.", "completed"},
		"the external stream":                {faults{publish: true}, recovery.Stream, "exporter_test.faults.boom", "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				var counted []recovery.Component
				s, l := settings(time.Hour), &ledger{begun: time.Now()}
				s.Panics = recovery.New(slog.New(slog.NewTextHandler(&log, nil)), func(c recovery.Component) { counted = append(counted, c) })
				s.Sample = func(*tracker.Run) bool { c.boom(c.sample); return true }
				published := 0
				publisher := stream.NewPublisher(filter.Settings{Policy: event.PolicyClient}, func(replay.Entry) { published++; c.boom(c.publish) }, func(filter.Reason) {})
				e := exporter.New(testMetrics(prometheus.NewRegistry()), s, []exporter.Sink{{Component: recovery.Stream, Sink: publisher}}, exporter.RecoverPanics(s.Panics, recovery.Spans, c.faults), l)
				for range 2 {
					a := answerTo("s")
					e.Open(a)
					for _, kind := range []event.Kind{event.KindRunStarted, event.KindText, event.KindRunEnded} {
						b := batch(a, kind)
						if c.kind && kind == event.KindText {
							b.Events[0].Kind = 200
						}
						e.Consume(b)
					}
					e.Close(a, event.EndOfStream, time.Now())
				}
				if len(counted) == 0 || counted[0] != c.want || published != 8 && !c.publish {
					t.Errorf("panics %v, %d published", counted, published)
				}
				if lines := strings.Count(log.String(), "recovered from an internal error"); lines != 1 || !strings.Contains(log.String(), c.place) || strings.Contains(log.String(), quoted) {
					t.Errorf("%d lines: %s", lines, &log)
				}
				if got := strings.Join(l.lines, "\n"); c.ends != "" && strings.Count(got, c.ends) != 2 {
					t.Errorf("ended\n%s", got)
				}
			})
		})
	}
}

var table = event.Table{Types: map[string]event.Type{"x": {Client: true}}}

// batch returns a frame with one event.
func batch(s *event.Stream, kind event.Kind) *event.Batch {
	b := &event.Batch{}
	b.Begin(s, sse.Frame{Data: []byte("{}")}, time.Now())
	b.Parse(8)
	b.Table, b.Type = &table, "x"
	b.Events = append(b.Events, event.Event{Kind: kind})
	return b
}

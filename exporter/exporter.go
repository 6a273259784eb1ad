// Package exporter is the sink of all streams: it counts their frames, follows their runs, shows both as metrics and spans, and publishes what may leave.
package exporter

import (
	"context"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Exporter is an event.Sink.
type Exporter struct {
	metrics   *metrics.Metrics
	tracker   *tracker.Tracker
	publisher *stream.Publisher // nil: nothing leaves
}

// New shows runs in the metrics and to the other observers, and their frames to the publisher, if there is one.
func New(m *metrics.Metrics, settings tracker.Settings, publisher *stream.Publisher, observers ...tracker.Observer) *Exporter {
	return &Exporter{metrics: m, tracker: tracker.New(settings, m, append(observers, m)...), publisher: publisher}
}

// Open begins a stream.
func (e *Exporter) Open(s *event.Stream) { e.tracker.Open(s) }

// Consume takes a frame.
func (e *Exporter) Consume(b *event.Batch) {
	e.metrics.Consume(b)
	if e.publisher != nil {
		e.publisher.Consume(b)
	}
	e.tracker.Consume(b)
}

// Close ends a stream.
func (e *Exporter) Close(s *event.Stream, end event.End, at time.Time) {
	if e.publisher != nil {
		e.publisher.Close(s, end, at)
	}
	e.tracker.Close(s, end, at)
}

// Configure replaces the tracker's settings for what comes.
func (e *Exporter) Configure(settings tracker.Settings) { e.tracker.Configure(settings) }

// Run ends idle runs until the context is done, and then every run.
func (e *Exporter) Run(ctx context.Context, now func() time.Time) {
	for {
		timer := time.NewTimer(max(e.tracker.Expire(now()).Sub(now()), time.Second))
		select {
		case <-ctx.Done():
			timer.Stop()
			e.tracker.End(now())
			return
		case <-timer.C:
		}
	}
}

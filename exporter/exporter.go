// Package exporter is the sink of all streams: it counts their frames, follows their runs, shows both as metrics and spans, and publishes what may leave.
package exporter

import (
	"context"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Exporter is an event.Sink.
type Exporter struct {
	metrics   *metrics.Metrics
	tracker   *tracker.Tracker
	publisher *stream.Publisher  // nil: nothing leaves
	panics    *recovery.Recorder // nil: a panic goes on to the caller
}

// New shows runs in the metrics and to the other observers, and their frames to the publisher, if there is one.
func New(m *metrics.Metrics, settings tracker.Settings, publisher *stream.Publisher, observers ...tracker.Observer) *Exporter {
	return &Exporter{
		metrics: m, tracker: tracker.New(settings, m, append(observers, Guard(settings.Panics, recovery.Metrics, m))...),
		publisher: publisher, panics: settings.Panics,
	}
}

// do calls f. A panic in it costs what f would have done.
func (e *Exporter) do(c recovery.Component, f func()) {
	if e.panics == nil {
		f()
		return
	}
	e.panics.Do(c, f)
}

// Open begins a stream.
func (e *Exporter) Open(s *event.Stream) { e.do(recovery.Tracker, func() { e.tracker.Open(s) }) }

// Consume takes a frame.
func (e *Exporter) Consume(b *event.Batch) {
	e.do(recovery.Metrics, func() { e.metrics.Consume(b) })
	if e.publisher != nil {
		e.do(recovery.Stream, func() { e.publisher.Consume(b) })
	}
	tracked := false
	e.do(recovery.Tracker, func() { e.tracker.Consume(b); tracked = true })
	if !tracked { // what it holds of the stream may be half a frame: its runs end here
		e.do(recovery.Tracker, func() { e.tracker.Close(b.Stream, event.EndUnobserved, b.Received) })
	}
}

// Close ends a stream.
func (e *Exporter) Close(s *event.Stream, end event.End, at time.Time) {
	if e.publisher != nil {
		e.do(recovery.Stream, func() { e.publisher.Close(s, end, at) })
	}
	e.do(recovery.Tracker, func() { e.tracker.Close(s, end, at) })
}

// Tracker returns the tracker of the exporter's runs.
func (e *Exporter) Tracker() *tracker.Tracker { return e.tracker }

// Configure replaces the tracker's settings for what comes.
func (e *Exporter) Configure(settings tracker.Settings) { e.tracker.Configure(settings) }

// Run ends runs whose time is up until the context is done, and then every run.
func (e *Exporter) Run(ctx context.Context, now func() time.Time) {
	for {
		var next time.Time
		e.do(recovery.Tracker, func() { next = e.tracker.Expire(now()) })
		timer := time.NewTimer(max(next.Sub(now()), time.Second))
		select {
		case <-ctx.Done():
			timer.Stop()
			e.do(recovery.Tracker, func() { e.tracker.End(now()) })
			return
		case <-timer.C:
		case <-e.tracker.Due():
		}
		timer.Stop()
	}
}

// Package exporter implements the sink of all streams. An Exporter counts their frames, tracks their
// runs, reports both as metrics and spans, and passes the frames on to other sinks. A Deduplicator in
// front of it removes what several streams bring.
package exporter

import (
	"context"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Exporter implements event.Sink.
type Exporter struct {
	metrics *metrics.Metrics
	tracker *tracker.Tracker
	sinks   []Sink
	panics  *recovery.Recorder // nil lets panics reach the caller
}

// Sink is a sink beside the tracker. Its panics are recorded as those of the component and cost only
// the call in which they happened.
type Sink struct {
	Component recovery.Component
	event.Sink
}

// New returns an exporter that reports runs to the metrics and the other observers, and frames to the
// sinks, which may be nil.
func New(m *metrics.Metrics, settings tracker.Settings, sinks []Sink, observers ...tracker.Observer) *Exporter {
	return &Exporter{
		metrics: m, tracker: tracker.New(settings, m, append(observers, RecoverPanics(settings.Panics, recovery.Metrics, m))...),
		sinks: sinks, panics: settings.Panics,
	}
}

// do calls f. It recovers and records a panic unless there is no recorder.
func (e *Exporter) do(c recovery.Component, f func()) {
	if e.panics == nil {
		f()
		return
	}
	e.panics.Do(c, f)
}

// Open begins a stream.
func (e *Exporter) Open(s *event.Stream) {
	for _, sink := range e.sinks {
		e.do(sink.Component, func() { sink.Open(s) })
	}
	e.do(recovery.Tracker, func() { e.tracker.Open(s) })
}

// Consume takes a frame.
func (e *Exporter) Consume(b *event.Batch) {
	e.do(recovery.Metrics, func() { e.metrics.Consume(b) })
	for _, sink := range e.sinks {
		e.do(sink.Component, func() { sink.Consume(b) })
	}
	tracked := false
	e.do(recovery.Tracker, func() { e.tracker.Consume(b); tracked = true })
	if !tracked { // its state of the stream may be inconsistent: end the stream's runs
		e.do(recovery.Tracker, func() { e.tracker.Close(b.Stream, event.EndUnobserved, b.Received) })
	}
}

// Close ends a stream.
func (e *Exporter) Close(s *event.Stream, end event.End, at time.Time) {
	for _, sink := range e.sinks {
		e.do(sink.Component, func() { sink.Close(s, end, at) })
	}
	e.do(recovery.Tracker, func() { e.tracker.Close(s, end, at) })
}

// Tracker returns the tracker of the exporter's runs.
func (e *Exporter) Tracker() *tracker.Tracker { return e.tracker }

// Configure replaces the tracker's settings.
func (e *Exporter) Configure(settings tracker.Settings) { e.tracker.Configure(settings) }

// Run ends idle and overdue runs until the context is done, and then every run.
func (e *Exporter) Run(ctx context.Context, now func() time.Time) {
	for {
		var next time.Time
		e.do(recovery.Tracker, func() { next = e.tracker.Expire(now()) })
		select {
		case <-ctx.Done():
			e.do(recovery.Tracker, func() { e.tracker.EndAll(now()) })
			return
		case <-time.After(max(next.Sub(now()), time.Second)):
		case <-e.tracker.Due():
		}
	}
}

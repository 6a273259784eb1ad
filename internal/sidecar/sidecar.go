// Package sidecar runs Delegraph as a long-lived process: it wires sources, tracker, spans, metrics and the external stream, applies new
// configurations, and drains everything at the end. A gateway is the same without sources.
package sidecar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/otlp"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/build"
	"github.com/delegraph/delegraph/internal/settings"
)

// grace is the default of Sidecar.Grace.
const grace = 10 * time.Second

// Sidecar reads the streams of agents and serves their signals. It is made by New and used once.
type Sidecar struct {
	Grace    time.Duration // how long Run may take to stop: for streams to end and spans to be delivered
	Registry *prometheus.Registry
	Recent   *recent.Runs    // the latest runs
	Sources  *recent.Sources // the state of the configured sources

	logger   *slog.Logger
	metrics  *metrics.Metrics
	panics   *recovery.Recorder
	memory   *memory
	delivery *metrics.Delivery // of metrics over OTLP
	exporter *exporter.Exporter
	tracing  source.Tracing
	shutdown func(context.Context) error // delivers the last spans
	pipeline func([]dialect.Dialect) *collector.Collector
	external *external // nil if there is no external stream
	sample   func(*tracker.Run) bool
	ready    atomic.Bool

	bySession atomic.Pointer[[]*source.Sessions] // of the tails that read one stream for each session
	started   chan struct{}                      // closed by start
	failed    chan error                         // the error that ends Run
	work      sync.WaitGroup                     // of everything that Run started
	drained   context.Context                    // done when no port waits for streams any more
	cutOff    context.CancelFunc

	mu            sync.Mutex // guards what a reload replaces
	running       bool
	stopping      bool
	config        config.Config
	named         bool // a tail needs the sessions that requests name
	proxies       []*port
	leaving       []*port // closed ports with open streams
	tails         []*subscription
	agentsAsTools map[string][]string // by source
}

// New prepares everything and opens the ports, so that every mistake shows before anything runs. The given observers are called after
// all others. Call Run, or Close to release a sidecar that never runs.
func New(ctx context.Context, c config.Config, logger *slog.Logger, env spans.Environment, last ...tracker.Observer) (*Sidecar, error) {
	if len(c.Sources) == 0 {
		return nil, errors.New("there is no source; to serve what others publish, there is delegraph gateway")
	}
	s := &Sidecar{
		config: c, logger: logger, Registry: prometheus.NewRegistry(), Grace: grace,
		Recent:  recent.New(c.Runs.MaxEnded, int(c.Runs.MaxEndedSize)),
		started: make(chan struct{}), failed: make(chan error, 1),
	}
	s.drained, s.cutOff = context.WithCancel(context.Background())
	s.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	names := settings.Names(env)
	counting := settings.Metrics(c, names)
	counting.UnknownKind = settings.WarnUnknownKind(logger)
	s.metrics = metrics.New(s.Registry, counting)
	s.panics = recovery.New(logger, s.metrics.Panicked)
	s.memory = newMemory(c)
	s.metrics.ObserveMemory(s.memory.Budget)
	observers := append([]tracker.Observer{exporter.Guard(s.panics, recovery.Admin, s.Recent)}, last...)
	sample, provider, err := s.traces(ctx, env, names)
	if err != nil {
		return nil, err
	}
	if sample != nil {
		// Spans first, because the other observers of a run see whether it is sampled.
		observers = append([]tracker.Observer{exporter.Guard(s.panics, recovery.Spans, spans.NewObserver(provider, names, build.Version()))}, observers...)
	} else {
		sample = func(*tracker.Run) bool { return false }
	}
	s.sample = sample
	delivered := settings.Metrics(c, names)
	delivered.Panics = s.panics
	if s.delivery, err = metrics.NewDelivery(ctx, otlp.Environment(env), delivered, s.Registry, settings.Resource, logger); err != nil {
		return nil, err
	}
	if s.external, err = newExternal(c, true, s.memory.replay, s.metrics, s.panics, logger); err != nil {
		return nil, err
	}
	var publisher *stream.Publisher
	if s.external != nil {
		publisher = s.external.publisher
	}
	followed := s.trackerSettings(c)
	followed.Panics = s.panics
	s.exporter = exporter.New(s.metrics, followed, publisher, observers...)
	s.Recent.Follow(s.exporter.Tracker())
	s.Sources = recent.NewSources(s.exporter, time.Now)
	reading := settings.Collector(c)
	reading.Foreign, reading.Panics = settings.WarnForeign(logger), s.panics
	reading.Unrecognized = func(stream *event.Stream) { s.metrics.Unrecognized(stream.Source) }
	listeners := exporter.NewListeners(s.Sources, s.metrics)
	s.pipeline = func(dialects []dialect.Dialect) *collector.Collector {
		return collector.New(dialects, reading, listeners)
	}
	first, err := s.prepare(c)
	if err != nil {
		return nil, errors.Join(err, s.closePorts())
	}
	s.apply(first)
	s.metrics.Reloaded(true, time.Now())
	return s, nil
}

// traces prepares the export of spans as the OTEL_* environment says. A nil sampler means that there are none.
func (s *Sidecar) traces(ctx context.Context, env spans.Environment, names conventions.Table) (func(*tracker.Run) bool, trace.TracerProvider, error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { s.logger.Debug("OpenTelemetry", "err", err) }))
	propagator, err := spans.NewPropagator(env)
	if err != nil {
		return nil, nil, err
	}
	s.tracing = source.Tracing{Tracer: noop.NewTracerProvider().Tracer(""), Propagator: propagator, Methods: env.KnownMethods()}
	s.shutdown = func(context.Context) error { return nil }
	if env.Disabled() {
		return nil, nil, nil
	}
	sampler, err := spans.NewSampler(env)
	if err != nil {
		return nil, nil, err
	}
	queue, err := spans.NewSettings(env, s.config.Limits.SpanQueue, int(s.config.Limits.SpanQueueSize), s.logger)
	if err != nil {
		return nil, nil, err
	}
	export, err := spans.NewExporter(ctx, env)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare the trace exporter: %w", err)
	}
	described, err := settings.Resource(ctx)
	if err != nil {
		return nil, nil, err
	}
	queue.Panics, queue.Memory = s.panics, s.memory.spans
	processor := spans.NewProcessor(export, queue)
	provider := spans.NewProvider(sampler, processor, described)
	s.metrics.ObserveSpans(func() (uint64, int, map[string]uint64) {
		stats := processor.Stats()
		return stats.Exported, stats.Queued, stats.Dropped
	}, spans.DropReasons())
	s.tracing.Tracer = spans.NewTracer(provider, names, build.Version())
	s.shutdown = provider.Shutdown
	return spans.Decide(sampler, names), provider, nil
}

// Run serves until the context is done or a port fails. Then it lets streams end, ends their runs and delivers their spans, within Grace.
func (s *Sidecar) Run(ctx context.Context) error {
	publishing, stopPublishing := context.WithCancel(context.Background())
	defer stopPublishing()
	if s.external != nil {
		s.work.Go(func() { s.fail(s.external.serve(publishing)) })
	}
	sweeping, stopSweeping := context.WithCancel(context.Background())
	defer stopSweeping()
	swept := make(chan struct{})
	s.work.Go(func() { defer close(swept); s.exporter.Run(sweeping, time.Now) })
	s.start()
	var err error
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	s.stop()
	within, cancel := context.WithTimeout(context.Background(), s.Grace)
	defer cancel()
	for _, t := range s.tails {
		t.interrupt()
	}
	s.drain(within)
	for _, t := range s.tails {
		t.end()
	}
	stopSweeping()
	<-swept          // every run has ended, and its last spans are queued
	stopPublishing() // while spans are delivered, so that neither waits for the other
	most, cancelMost := share(within, 0.9)
	defer cancelMost()
	if undelivered := s.shutdown(most); undelivered != nil {
		s.logger.Warn("not every span was delivered", "err", undelivered)
	}
	s.work.Wait()
	if s.external != nil {
		s.external.close(within)
	}
	if undelivered := s.delivery.Shutdown(within); undelivered != nil { // after everything that is counted
		s.logger.Warn("the last metrics were not delivered", "err", undelivered)
	}
	return err
}

// Reloaded notes the outcome of a reload.
func (s *Sidecar) Reloaded(ok bool, at time.Time) { s.metrics.Reloaded(ok, at) }

// ObserveLog takes a function that returns the number of dropped log lines.
func (s *Sidecar) ObserveLog(lost func() uint64) { s.metrics.ObserveLog(lost) }

// start begins to serve what is configured.
func (s *Sidecar) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
	s.begin(&change{opened: s.proxies, begun: s.tails})
	s.ready.Store(true)
	close(s.started)
}

// stop refuses further configurations.
func (s *Sidecar) stop() {
	s.ready.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
}

// fail ends Run. The first error counts.
func (s *Sidecar) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// drain waits for streams to end for half of the remaining grace period, then closes them.
func (s *Sidecar) drain(ctx context.Context) {
	polite, cancel := share(ctx, 0.5)
	defer cancel()
	s.mu.Lock()
	open := slices.Concat(s.proxies, s.leaving)
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, p := range open {
		closing.Go(func() { p.drain(polite, ctx) })
	}
	closing.Wait()
	s.cutOff()
}

// share returns a context that ends after a part of the time that is left.
func share(ctx context.Context, part float64) (context.Context, context.CancelFunc) {
	deadline, _ := ctx.Deadline()
	return context.WithTimeout(ctx, time.Duration(part*float64(time.Until(deadline))))
}

func (s *Sidecar) closePorts() (err error) {
	if s.external != nil {
		if s.external.listener != nil {
			err = s.external.listener.Close()
		}
		s.external.close(context.Background())
	}
	for _, p := range s.proxies {
		err = errors.Join(err, p.listener.Close())
	}
	return err
}

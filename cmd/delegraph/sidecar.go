package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
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
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// grace is how long a stop may take: streams to end, spans to be delivered.
const grace = 10 * time.Second

// sidecar is everything that serve runs, wired.
type sidecar struct {
	logger   *slog.Logger
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	panics   *recovery.Recorder
	memory   *memory
	delivery *metrics.Delivery // of the metrics, to whom does not scrape
	exporter *exporter.Exporter
	recent   *exporter.Recent
	sources  *exporter.Sources
	tracing  source.Tracing
	shutdown func(context.Context) error // delivers the last spans
	pipeline func([]dialect.Dialect) *collector.Collector
	external *external // nil: there is none
	sample   func(*tracker.Run) bool
	ready    atomic.Bool
	grace    time.Duration

	bySession atomic.Pointer[[]*source.Sessions] // of the tails that read a stream for each session
	started   chan struct{}                      // closed when it runs
	failed    chan error                         // what ends it
	work      sync.WaitGroup                     // of serving
	drained   context.Context                    // done when no port waits for streams any more
	cutOff    context.CancelFunc

	mu            sync.Mutex // of what a reload replaces
	running       bool
	stopping      bool
	config        config.Config
	named         bool // some tail wants to know the sessions that requests name
	proxies       []*port
	leaving       []*port // which take no connection any more, with streams under way
	tails         []*subscription
	agentsAsTools map[string][]string // by source
}

// newSidecar prepares everything and opens the proxies' ports, so that every mistake shows before anything runs. The observers see
// runs after everybody else.
func newSidecar(ctx context.Context, c config.Config, logger *slog.Logger, env spans.Environment, last ...tracker.Observer) (*sidecar, error) {
	if len(c.Sources) == 0 {
		return nil, errors.New("there is no source; to serve what others publish, there is delegraph gateway")
	}
	s := &sidecar{
		config: c, logger: logger, registry: prometheus.NewRegistry(), grace: grace,
		recent:  exporter.NewRecent(c.Runs.MaxEnded, int(c.Runs.MaxEndedSize)),
		started: make(chan struct{}), failed: make(chan error, 1),
	}
	s.drained, s.cutOff = context.WithCancel(context.Background())
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	names := vocabulary(env)
	counting := metricsSettings(c, names)
	counting.UnknownKind = warnUnknownKind(logger)
	s.metrics = metrics.New(s.registry, counting)
	s.panics = recovery.New(logger, s.metrics.Panicked)
	s.memory = newMemory(c)
	s.metrics.ObserveMemory(s.memory.Budget)
	observers := append([]tracker.Observer{exporter.Guard(s.panics, recovery.Admin, s.recent)}, last...)
	sample, provider, err := s.traces(ctx, env, names)
	if err != nil {
		return nil, err
	}
	if sample != nil {
		// Spans first: a run's other observers see whether it is sampled.
		observers = append([]tracker.Observer{exporter.Guard(s.panics, recovery.Spans, spans.NewObserver(provider, names, version()))}, observers...)
	} else {
		sample = func(*tracker.Run) bool { return false }
	}
	s.sample = sample
	delivered := metricsSettings(c, names)
	delivered.Panics = s.panics
	if s.delivery, err = metrics.NewDelivery(ctx, otlp.Environment(env), delivered, s.registry, describe, logger); err != nil {
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
	s.recent.Follow(s.exporter)
	s.sources = exporter.NewSources(s.exporter, time.Now)
	reading := collectorSettings(c)
	reading.Foreign, reading.Panics = warnForeign(logger), s.panics
	reading.Unrecognized = func(stream *event.Stream) { s.metrics.Unrecognized(stream.Source) }
	listeners := exporter.NewListeners(s.sources, s.metrics)
	s.pipeline = func(dialects []dialect.Dialect) *collector.Collector {
		return collector.New(dialects, reading, listeners)
	}
	first, err := s.prepare(c)
	if err != nil {
		return nil, errors.Join(err, s.closePorts())
	}
	s.take(first)
	s.metrics.Reloaded(true, time.Now())
	return s, nil
}

// traces prepares the delivery of spans as the OTEL_* environment says; without a sampler there are none.
func (s *sidecar) traces(ctx context.Context, env spans.Environment, names conventions.Table) (func(*tracker.Run) bool, trace.TracerProvider, error) {
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
	settings, err := spans.NewSettings(env, s.config.Limits.SpanQueue, int(s.config.Limits.SpanQueueSize), s.logger)
	if err != nil {
		return nil, nil, err
	}
	delivery, err := spans.NewExporter(ctx, env)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare the trace exporter: %w", err)
	}
	described, err := describe(ctx)
	if err != nil {
		return nil, nil, err
	}
	settings.Panics, settings.Memory = s.panics, s.memory.spans
	processor := spans.NewProcessor(delivery, settings)
	provider := spans.NewProvider(sampler, processor, described)
	s.metrics.ObserveSpans(func() (uint64, int, map[string]uint64) {
		stats := processor.Stats()
		return stats.Exported, stats.Queued, stats.Dropped
	}, spans.DropReasons())
	s.tracing.Tracer = spans.NewTracer(provider, names, version())
	s.shutdown = provider.Shutdown
	return spans.Decide(sampler, names), provider, nil
}

// run serves until the context is done, then lets streams end, ends their runs and delivers their spans, within the grace period.
func (s *sidecar) run(ctx context.Context) error {
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
	within, cancel := context.WithTimeout(context.Background(), s.grace)
	defer cancel()
	for _, t := range s.tails {
		t.interrupt()
	}
	s.drain(within)
	for _, t := range s.tails {
		t.end()
	}
	stopSweeping()
	<-swept          // every run has ended, and made its last spans
	stopPublishing() // while spans are delivered: neither takes from the other's time
	most, cancelMost := share(within, 0.9)
	defer cancelMost()
	if undelivered := s.shutdown(most); undelivered != nil {
		s.logger.Warn("not every span was delivered", "err", undelivered)
	}
	s.work.Wait()
	if s.external != nil {
		s.external.close(within)
	}
	if undelivered := s.delivery.Shutdown(within); undelivered != nil { // after all that counts
		s.logger.Warn("the last metrics were not delivered", "err", undelivered)
	}
	return err
}

func (s *sidecar) reloaded(ok bool, at time.Time) { s.metrics.Reloaded(ok, at) }

func (s *sidecar) logs(lost func() uint64) { s.metrics.ObserveLog(lost) }

// start begins with what is configured.
func (s *sidecar) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
	s.begin(&change{opened: s.proxies, begun: s.tails})
	s.ready.Store(true)
	close(s.started)
}

// stop lets nothing be changed any more.
func (s *sidecar) stop() {
	s.ready.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
}

// fail ends a sidecar that runs. The first error counts.
func (s *sidecar) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// drain lets streams end for half of what is left of the grace period, then cuts them.
func (s *sidecar) drain(ctx context.Context) {
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

// share is a part of what is left of a deadline.
func share(ctx context.Context, part float64) (context.Context, context.CancelFunc) {
	deadline, _ := ctx.Deadline()
	return context.WithTimeout(ctx, time.Duration(part*float64(time.Until(deadline))))
}

func (s *sidecar) closePorts() (err error) {
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

// environment reads the process's own.
func environment(name string) string { return os.Getenv(name) }

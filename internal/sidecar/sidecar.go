// Package sidecar runs Delegraph as a long-lived process. A Sidecar connects sources, tracker, spans,
// metrics and the external stream, applies new configurations, and drains everything at the end. A Gateway
// has only the external stream. Process runs either of them with a configuration file and an admin server.
package sidecar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
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
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/build"
	"github.com/delegraph/delegraph/internal/settings"
)

// grace is the default of Sidecar.Grace.
const grace = 10 * time.Second

// gracefulPart is the part of Grace during which streams may end on their own. After it they are cut off.
const gracefulPart = 0.5

// Sidecar reads the streams of agents and serves their signals. New creates it, and it can run once.
type Sidecar struct {
	Grace    time.Duration // how long Run may take to stop: for streams to end and spans to be delivered
	Registry *prometheus.Registry
	Recent   *recent.Runs    // the latest runs
	Sources  *recent.Sources // the state of the configured sources

	logger    *slog.Logger
	client    *http.Client // for OTLP within this process; nil for the exporters of the environment
	metrics   *metrics.Metrics
	panics    *recovery.Recorder
	memory    *memory
	delivery  *metrics.Delivery // of metrics over OTLP
	exporter  *exporter.Exporter
	listeners *exporter.Deduplicator
	tracing   source.Tracing
	tracesTo  Notice
	shutdown  func(context.Context) error // delivers the last spans
	external  *external                   // nil if there is no external stream
	sample    func(*tracker.Run) bool
	ready     atomic.Bool // Run has started and not begun to stop

	newCollector func([]dialect.Dialect) *collector.Collector

	bySession   atomic.Pointer[[]*source.Sessions] // of the tails that read one stream for each session
	started     chan struct{}                      // closed by start
	failed      chan error                         // the error that ends Run
	stopped     chan context.Context               // the context of Stop
	work        sync.WaitGroup                     // of everything that Run started
	drainEnded  context.Context                    // done when a stop no longer waits for streams
	endDrain    context.CancelFunc
	cutRequests atomic.Int64 // requests that a stop cut off

	mu             sync.Mutex // guards what a reload replaces
	running        bool
	stopping       bool
	config         config.Config
	reportSessions bool // a tail needs the sessions that requests name
	proxies        []*port
	draining       []*port // closed ports with open streams
	tails          []*subscription
	agentsAsTools  map[string][]string // by source
}

// New prepares everything and opens the ports, so that it reports every mistake before anything runs. The
// observers in last are called after all others. Call Run, or Close to release a sidecar that never runs.
func New(ctx context.Context, c config.Config, logger *slog.Logger, env spans.Environment, last ...tracker.Observer) (*Sidecar, error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Debug("OpenTelemetry", "err", err) }))
	return newSidecar(ctx, c, logger, env, nil, last...)
}

// NewInProcess is like New, for a sidecar within another program. The client receives the spans and metrics
// that New would send over OTLP as the environment says.
func NewInProcess(ctx context.Context, c config.Config, logger *slog.Logger, env spans.Environment, client *http.Client) (*Sidecar, error) {
	return newSidecar(ctx, c, logger, env, client)
}

func newSidecar(ctx context.Context, c config.Config, logger *slog.Logger, env spans.Environment, client *http.Client, last ...tracker.Observer) (_ *Sidecar, err error) {
	if len(c.Sources) == 0 {
		return nil, errors.New("there is no source; to serve the stream that sidecars publish, run delegraph gateway")
	}
	s := &Sidecar{
		config: c, logger: logger, Registry: prometheus.NewRegistry(), Grace: grace,
		Recent: recent.New(c.Runs.MaxEnded, int(c.Runs.MaxEndedSize)), Sources: recent.NewSources(time.Now),
		client: client, started: make(chan struct{}), failed: make(chan error, 1), stopped: make(chan context.Context, 1),
	}
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	s.drainEnded, s.endDrain = context.WithCancel(context.Background())
	names := settings.Names(env)
	s.openMetrics(names)
	observers, err := s.observers(ctx, env, names, last)
	if err != nil {
		return nil, err
	}
	delivered := settings.Metrics(c, names)
	delivered.Panics, delivered.OTLPClient = s.panics, client
	if s.delivery, err = metrics.NewDelivery(ctx, otlp.Environment(env), delivered, s.Registry, settings.Resource, logger); err != nil {
		return nil, err
	}
	if s.external, err = newExternal(c, true, s.memory, s.metrics, s.panics, logger); err != nil {
		return nil, err
	}
	s.connect(observers)
	first, err := s.prepare(c)
	if err != nil {
		return nil, errors.Join(err, s.closePorts())
	}
	s.apply(first)
	s.metrics.SetReload(true, time.Now())
	return s, nil
}

// openMetrics creates the metrics, and the memory budget and the panic counter that they show.
func (s *Sidecar) openMetrics(names conventions.Table) {
	s.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	counted := settings.Metrics(s.config, names)
	counted.UnknownKind = settings.WarnUnknownKind(s.logger)
	s.metrics = metrics.New(s.Registry, counted)
	s.panics = recovery.New(s.logger, s.metrics.CountPanic)
	s.memory = newMemory(s.config.Limits, s.config.Limits.LogQueue+s.config.Runs.MaxEndedSize, max(defaultBudget, budgetOfSubscribers(s.config.Stream)))
	s.metrics.ObserveMemory(s.memory.Budget)
}

// observers returns the tracker's observers except for the metrics, in the order in which they are called.
func (s *Sidecar) observers(ctx context.Context, env spans.Environment, names conventions.Table, last []tracker.Observer) ([]tracker.Observer, error) {
	all := append([]tracker.Observer{exporter.RecoverPanics(s.panics, recovery.Admin, s.Recent)}, last...)
	sample, provider, err := s.traces(ctx, env, names)
	switch {
	case err != nil:
		return nil, err
	case sample == nil:
		s.sample = func(*tracker.Run) bool { return false }
		return all, nil
	}
	s.sample = sample
	// Spans first, because the other observers of a run see whether it is sampled.
	return append([]tracker.Observer{exporter.RecoverPanics(s.panics, recovery.Spans, spans.NewObserver(provider, names, build.Version()))}, all...), nil
}

// connect creates the exporter, and the function that creates the collectors that feed it.
func (s *Sidecar) connect(observers []tracker.Observer) {
	sinks := []exporter.Sink{{Component: recovery.Admin, Sink: s.Sources}}
	if s.external != nil {
		sinks = append(sinks, exporter.Sink{Component: recovery.Stream, Sink: s.external.publisher})
	}
	tracking := s.trackerSettings(s.config)
	tracking.Panics = s.panics
	s.exporter = exporter.New(s.metrics, tracking, sinks, observers...)
	s.Recent.SetTracker(s.exporter.Tracker())
	reading := settings.Collector(s.config)
	reading.Turns = s.memory.turns
	reading.OnForeign, reading.Panics = settings.WarnForeign(s.logger), s.panics
	reading.OnUnrecognized = func(stream *event.Stream) { s.metrics.CountUnrecognizedStream(stream.Source) }
	s.listeners = exporter.NewDeduplicator(s.exporter, s.metrics)
	s.newCollector = func(dialects []dialect.Dialect) *collector.Collector {
		return collector.New(dialects, reading, s.listeners)
	}
}

// release stops the delivery of spans and metrics that a failed New has started. No span is queued yet.
func (s *Sidecar) release() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.shutdown != nil {
		_ = s.shutdown(ctx)
	}
	cancel() // do not send the metrics of a sidecar that never ran
	if s.delivery != nil {
		_ = s.delivery.Shutdown(ctx)
	}
}

// traces prepares the export of spans according to the OTEL_* environment. If no spans are exported, the
// sampler is nil.
func (s *Sidecar) traces(ctx context.Context, env spans.Environment, names conventions.Table) (func(*tracker.Run) bool, *spans.Provider, error) {
	s.tracesTo = tracesNotice(env)
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
	export, err := s.newSpanExporter(ctx, env)
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
	return spans.RunSampler(sampler, names), provider, nil
}

func (s *Sidecar) newSpanExporter(ctx context.Context, env spans.Environment) (sdktrace.SpanExporter, error) {
	if s.client != nil {
		return spans.NewInProcessExporter(ctx, s.client)
	}
	return spans.NewExporter(ctx, env)
}

// Run serves until the context is done, Stop is called or a port fails. Then it lets streams end, ends their
// runs, and delivers their spans and the last metrics, within Grace.
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
	parent := context.Background()
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	case parent = <-s.stopped:
	}
	s.stop()
	within, cancel := context.WithTimeout(parent, s.Grace)
	defer cancel()
	for _, t := range s.tails {
		t.interrupt()
	}
	s.drain(within)
	for _, t := range s.tails {
		t.end()
	}
	s.listeners.EndDelayed()
	stopSweeping()
	<-swept                                        // every run has ended, and its last spans are queued
	stopPublishing()                               // while spans are delivered, so that neither waits for the other
	forSpans, cancelSpans := withPart(within, 0.9) // the rest is for the store and the metrics
	defer cancelSpans()
	if undelivered := s.shutdown(forSpans); undelivered != nil {
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

// Stop makes Run stop as if its context were done. Run then returns within Grace, or earlier if the given
// context is done.
func (s *Sidecar) Stop(ctx context.Context) {
	select {
	case s.stopped <- ctx:
	default: // it was called before
	}
}

// RecordReload records the outcome of a reload.
func (s *Sidecar) RecordReload(ok bool, at time.Time) { s.metrics.SetReload(ok, at) }

// ObserveDroppedLines takes a function that returns the number of dropped log lines, for the metrics.
func (s *Sidecar) ObserveDroppedLines(lost func() uint64) { s.metrics.ObserveLog(lost) }

// start begins to serve what is configured.
func (s *Sidecar) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
	s.begin(&change{newPorts: s.proxies, newTails: s.tails})
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

// drain waits for streams to end for gracefulPart of the remaining grace period, then closes them.
func (s *Sidecar) drain(ctx context.Context) {
	graceful, cancel := withPart(ctx, gracefulPart)
	defer cancel()
	s.mu.Lock()
	open := slices.Concat(s.proxies, s.draining)
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, p := range open {
		closing.Go(func() { s.cutRequests.Add(p.drain(graceful, ctx)) })
	}
	closing.Wait()
	s.endDrain()
}

// withPart returns a context that ends after a part of the time that is left.
func withPart(ctx context.Context, part float64) (context.Context, context.CancelFunc) {
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

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/otlp"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/access"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/web"
)

// grace is how long a stop may take: streams to end, spans to be delivered.
const grace = 10 * time.Second

// sidecar is everything that serve runs, wired.
type sidecar struct {
	config   config.Config
	logger   *slog.Logger
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	delivery *metrics.Delivery // of the metrics, to whom does not scrape
	exporter *exporter.Exporter
	recent   *exporter.Recent
	tracing  source.Tracing
	shutdown func(context.Context) error // delivers the last spans
	proxies  []*listeningProxy
	tails    []*source.Tail
	sessions []*source.Sessions // of the tails that read a stream for each session
	external *external          // nil: there is none
	sample   func(*tracker.Run) bool
	ready    atomic.Bool
	grace    time.Duration
}

// newSidecar prepares everything and opens the proxies' ports, so that every mistake shows before anything runs.
func newSidecar(ctx context.Context, c config.Config, logger *slog.Logger, env spans.Environment) (*sidecar, error) {
	s := &sidecar{config: c, logger: logger, registry: prometheus.NewRegistry(), recent: exporter.NewRecent(c.Runs.MaxEnded), grace: grace}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.metrics = metrics.New(s.registry, metricsSettings(c))
	observers := []tracker.Observer{s.recent}
	sample, provider, err := s.traces(ctx, env)
	if err != nil {
		return nil, err
	}
	if sample != nil {
		// Spans first: a run's other observers see whether it is sampled.
		observers = append([]tracker.Observer{spans.NewObserver(provider)}, observers...)
	} else {
		sample = func(*tracker.Run) bool { return false }
	}
	s.sample = sample
	if s.delivery, err = metrics.NewDelivery(ctx, otlp.Environment(env), s.registry, describe, logger); err != nil {
		return nil, err
	}
	if s.external, err = newExternal(c.Stream, s.metrics, logger); err != nil {
		return nil, err
	}
	var publisher *stream.Publisher
	if s.external != nil {
		publisher = s.external.publisher
	}
	s.exporter = exporter.New(s.metrics, trackerSettings(c, sample), publisher, observers...)
	reading := collectorSettings(c)
	reading.Foreign = warnForeign(logger)
	pipeline := collector.New(collector.Dialects(), reading, s.exporter)
	for _, configured := range c.Sources {
		if err := s.addSource(configured, pipeline); err != nil {
			return nil, errors.Join(err, s.closePorts())
		}
	}
	s.metrics.Reloaded(true, time.Now())
	return s, nil
}

// traces prepares the delivery of spans as the OTEL_* environment says; without a sampler there are none.
func (s *sidecar) traces(ctx context.Context, env spans.Environment) (func(*tracker.Run) bool, trace.TracerProvider, error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { s.logger.Debug("OpenTelemetry", "err", err) }))
	propagator, err := spans.NewPropagator(env)
	if err != nil {
		return nil, nil, err
	}
	s.tracing = source.Tracing{Tracer: noop.NewTracerProvider().Tracer(""), Propagator: propagator}
	s.shutdown = func(context.Context) error { return nil }
	if env.Disabled() {
		return nil, nil, nil
	}
	sampler, err := spans.NewSampler(env)
	if err != nil {
		return nil, nil, err
	}
	settings, err := spans.NewSettings(env, s.config.Limits.SpanQueue, s.logger)
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
	processor := spans.NewProcessor(delivery, settings)
	provider := spans.NewProvider(sampler, processor, described)
	s.metrics.ObserveSpans(func() (uint64, int, map[string]uint64) {
		stats := processor.Stats()
		return stats.Exported, stats.Queued, stats.Dropped
	}, spans.DropReasons())
	s.tracing.Tracer = provider.Tracer("github.com/delegraph/delegraph")
	s.shutdown = provider.Shutdown
	return spans.Decide(sampler), provider, nil
}

// admin is what the admin server shows.
func (s *sidecar) admin(reload func() error, profile bool) http.Handler {
	return web.Handler(web.Settings{
		Gatherer: s.registry,
		Ready: func() error {
			if !s.ready.Load() {
				return errors.New("delegraph is starting or stopping")
			}
			return nil
		},
		Reload: reload, Runs: s.recent.Runs, Version: version(), Logger: s.logger, PProf: profile,
	})
}

// run serves until the context is done, then lets streams end, ends their runs and delivers their spans, within the grace period.
func (s *sidecar) run(ctx context.Context) error {
	var work sync.WaitGroup
	failed := make(chan error, len(s.proxies)+1)
	for _, p := range s.proxies {
		work.Go(func() {
			if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	publishing, stopPublishing := context.WithCancel(context.Background())
	defer stopPublishing()
	if s.external != nil {
		work.Go(func() { failed <- s.external.serve(publishing) })
	}
	tailing, stopTailing := context.WithCancel(context.Background())
	defer stopTailing()
	var tails sync.WaitGroup
	for _, t := range s.tails {
		tails.Go(func() { t.Run(tailing, "", func() {}) })
	}
	sweeping, stopSweeping := context.WithCancel(context.Background())
	defer stopSweeping()
	swept := make(chan struct{})
	work.Go(func() { defer close(swept); s.exporter.Run(sweeping, time.Now) })
	s.ready.Store(true)
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.ready.Store(false)
	within, cancel := context.WithTimeout(context.Background(), s.grace)
	defer cancel()
	stopTailing()
	s.drain(within)
	for _, t := range s.sessions {
		t.Close()
	}
	tails.Wait()
	stopSweeping()
	<-swept          // every run has ended, and made its last spans
	stopPublishing() // while spans are delivered: neither takes from the other's time
	most, cancelMost := share(within, 0.9)
	defer cancelMost()
	if undelivered := s.shutdown(most); undelivered != nil {
		s.logger.Warn("not every span was delivered", "err", undelivered)
	}
	work.Wait()
	if undelivered := s.delivery.Shutdown(within); undelivered != nil { // after all that counts
		s.logger.Warn("the last metrics were not delivered", "err", undelivered)
	}
	return err
}

// drain lets streams end for half of what is left of the grace period, then cuts them.
func (s *sidecar) drain(ctx context.Context) {
	polite, cancel := share(ctx, 0.5)
	defer cancel()
	var closing sync.WaitGroup
	for _, p := range s.proxies {
		closing.Go(func() {
			if p.server.Shutdown(polite) != nil {
				p.Stop()
				p.server.Close()
			}
			over := make(chan struct{})
			go func() { p.Wait(); close(over) }()
			select {
			case <-over:
			case <-ctx.Done():
			}
		})
	}
	closing.Wait()
}

// share is a part of what is left of a deadline.
func share(ctx context.Context, part float64) (context.Context, context.CancelFunc) {
	deadline, _ := ctx.Deadline()
	return context.WithTimeout(ctx, time.Duration(part*float64(time.Until(deadline))))
}

// configure replaces what a reload may: how runs are followed. The other limits are those of the start.
func (s *sidecar) configure(c config.Config) error {
	if c.Limits != s.config.Limits || c.Metrics != s.config.Metrics || c.Runs.MaxEnded != s.config.Runs.MaxEnded {
		return errors.New("limits, metrics and runs.max_ended cannot be changed by a reload: restart delegraph")
	}
	if !reflect.DeepEqual(c.Stream, s.config.Stream) {
		return errors.New("the section stream cannot be changed by a reload, except for what is in its files: restart delegraph")
	}
	if s.external != nil {
		if err := access.CheckListen(c.Stream.Listen, accessSettings(c.Stream, s.logger)); err != nil {
			return err // the toolkit reads its file at each connection, and would say nothing
		}
		if err := s.external.gate.Reload(); err != nil {
			return err
		}
	}
	for _, configured := range c.Sources {
		s.metrics.Admit(configured.AgentsAsTools)
	}
	s.exporter.Configure(trackerSettings(c, s.sample))
	return nil
}

func (s *sidecar) closePorts() (err error) {
	if s.external != nil {
		err = s.external.listener.Close()
	}
	for _, p := range s.proxies {
		err = errors.Join(err, p.listener.Close())
	}
	return err
}

// environment reads the process's own.
func environment(name string) string { return os.Getenv(name) }

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/web"
	"github.com/delegraph/delegraph/internal/build"
	"github.com/delegraph/delegraph/internal/settings"
)

// Gateway serves the external stream alone, as sidecars publish it.
type Gateway struct {
	config   config.Config
	logger   *slog.Logger
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	panics   *recovery.Recorder
	external *external
	stopping atomic.Bool
}

// NewGateway opens the stream's port. The store may become reachable later.
func NewGateway(c config.Config, logger *slog.Logger) (*Gateway, error) {
	if err := fitsGateway(c); err != nil {
		return nil, err
	}
	g := &Gateway{config: c, logger: logger, registry: prometheus.NewRegistry()}
	g.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	g.metrics = metrics.New(g.registry, settings.Metrics(c, settings.Names(os.Getenv)))
	g.panics = recovery.New(logger, g.metrics.Panicked)
	var err error
	if g.external, err = newExternal(c, false, nil, g.metrics, g.panics, logger); err != nil {
		return nil, err
	}
	g.metrics.Reloaded(true, time.Now())
	return g, nil
}

// fitsGateway refuses settings that would have no effect.
func fitsGateway(c config.Config) error {
	switch {
	case len(c.Sources) > 0:
		return errors.New("sources: a gateway listens to no agent; give it a configuration without sources")
	case c.Stream.Store != config.StoreJetStream:
		return errors.New("stream.store: a gateway has nothing to serve of its own; use jetstream")
	case c.Stream.Listen == "":
		return errors.New("stream.listen: a gateway has nothing else to do; give host:port")
	}
	return nil
}

// Run serves until the context is done, and then lets the subscribers leave.
func (g *Gateway) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { g.stopping.Store(true) })()
	err := g.external.serve(ctx)
	within, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	g.external.close(within)
	return err
}

// Configure reads the tokens again. Nothing else of a gateway can change while it runs.
func (g *Gateway) Configure(c config.Config) error {
	if err := fitsGateway(c); err != nil {
		return err
	}
	if keys := config.NeedRestart(g.config, c); len(keys) > 0 {
		return fmt.Errorf("a reload cannot change %s: restart delegraph", strings.Join(keys, ", "))
	}
	if err := g.external.check(c.Stream); err != nil {
		return err
	}
	return g.external.configure(c)
}

// Reloaded notes the outcome of a reload.
func (g *Gateway) Reloaded(ok bool, at time.Time) { g.metrics.Reloaded(ok, at) }

// ObserveLog takes a function that returns the number of dropped log lines.
func (g *Gateway) ObserveLog(lost func() uint64) { g.metrics.ObserveLog(lost) }

// Admin returns the handler of the admin server, which has no runs.
func (g *Gateway) Admin(reload func() error, profile bool) http.Handler {
	return web.Handler(web.Settings{
		Gatherer: g.registry,
		Ready: func() error {
			if g.stopping.Load() {
				return errors.New("delegraph is stopping")
			}
			return g.external.store.Ready()
		},
		Reload: reload, Runs: recent.New(1, 1),
		Version: build.Version(), Logger: g.logger, Panics: g.panics, PProf: profile,
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/web"
)

// gateway serves the external stream alone, as sidecars publish it.
type gateway struct {
	config   config.Config
	logger   *slog.Logger
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	panics   *recovery.Recorder
	external *external
	stopping atomic.Bool
}

// newGateway opens the stream's port. What it serves may be reached later.
func newGateway(c config.Config, logger *slog.Logger) (*gateway, error) {
	if err := fitsGateway(c); err != nil {
		return nil, err
	}
	g := &gateway{config: c, logger: logger, registry: prometheus.NewRegistry()}
	g.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	g.metrics = metrics.New(g.registry, metricsSettings(c, vocabulary(environment)))
	g.panics = recovery.New(logger, g.metrics.Panicked)
	var err error
	if g.external, err = newExternal(c, false, nil, g.metrics, g.panics, logger); err != nil {
		return nil, err
	}
	g.metrics.Reloaded(true, time.Now())
	return g, nil
}

// fitsGateway refuses what would be without effect.
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

// run serves until the context is done, and lets the subscribers leave.
func (g *gateway) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { g.stopping.Store(true) })()
	err := g.external.serve(ctx)
	within, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	g.external.close(within)
	return err
}

// configure reads the tokens again. Nothing else of a gateway's changes while it runs.
func (g *gateway) configure(c config.Config) error {
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

func (g *gateway) reloaded(ok bool, at time.Time) { g.metrics.Reloaded(ok, at) }

func (g *gateway) logs(lost func() uint64) { g.metrics.ObserveLog(lost) }

// admin is what the admin server shows: there are no runs here.
func (g *gateway) admin(reload func() error, profile bool) http.Handler {
	return web.Handler(web.Settings{
		Gatherer: g.registry,
		Ready: func() error {
			if g.stopping.Load() {
				return errors.New("delegraph is stopping")
			}
			return g.external.store.Ready()
		},
		Reload: reload, Runs: exporter.NewRecent(1, 1),
		Version: version(), Logger: g.logger, Panics: g.panics, PProf: profile,
	})
}

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
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

// Gateway serves only the external stream, which sidecars publish to NATS JetStream.
type Gateway struct {
	config   config.Config
	logger   *slog.Logger
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	panics   *recovery.Recorder
	external *external
}

// NewGateway opens the stream's port. The store may become reachable later.
func NewGateway(c config.Config, logger *slog.Logger) (*Gateway, error) {
	if err := fitsGateway(c); err != nil {
		return nil, err
	}
	g := &Gateway{config: c, logger: logger, registry: prometheus.NewRegistry()}
	g.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	g.metrics = metrics.New(g.registry, settings.Metrics(c, settings.Names(os.Getenv)))
	g.panics = recovery.New(logger, g.metrics.CountPanic)
	// Without a memory limit, the budget has room for all feeds, which may use half of it, and for all subscribers.
	memory := newMemory(c.Limits, c.Limits.LogQueue, max(2*c.Stream.JetStream.AllFeeds, budgetOfSubscribers(c.Stream)))
	g.metrics.ObserveMemory(memory.Budget)
	var err error
	if g.external, err = newExternal(c, false, memory, g.metrics, g.panics, logger); err != nil {
		return nil, err
	}
	g.external.drainDelay = c.Stream.DrainDelay
	g.metrics.SetReload(true, time.Now())
	return g, nil
}

// fitsGateway refuses settings that would have no effect.
func fitsGateway(c config.Config) error {
	switch {
	case len(c.Sources) > 0:
		return errors.New("sources: a gateway reads no agents; remove the sources")
	case c.Stream.Store != config.StoreJetStream:
		return errors.New("stream.store: a gateway serves only a stored stream; use jetstream")
	case c.Stream.Listen == "":
		return errors.New("stream.listen: a gateway only serves the stream; give host:port")
	}
	return nil
}

// Run serves until the context is done, and then lets the subscribers leave.
func (g *Gateway) Run(ctx context.Context) error {
	err := g.external.serve(ctx)
	within, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	g.external.close(within)
	return err
}

// Starting returns where the stream is served.
func (g *Gateway) Starting() []Notice { return []Notice{g.external.notice()} }

// OpenRequests returns the number of subscribers.
func (g *Gateway) OpenRequests() int { return int(totals(g.registry)["delegraph_stream_subscribers"]) }

// DrainTime returns how long subscribers may take to leave.
func (g *Gateway) DrainTime() time.Duration { return g.external.drainDelay + drainTimeout }

// Stopped returns what was delivered and lost.
func (g *Gateway) Stopped() Notice { return stoppedNotice(totals(g.registry), 0) }

// Configure reads the tokens and the shards again. Nothing else of a gateway can change while it runs.
func (g *Gateway) Configure(c config.Config) error {
	if err := fitsGateway(c); err != nil {
		return err
	}
	if keys := config.RestartKeys(g.config, c); len(keys) > 0 {
		return fmt.Errorf("a reload cannot change %s: restart delegraph", strings.Join(keys, ", "))
	}
	if err := g.external.check(c.Stream); err != nil {
		return err
	}
	return g.external.configure(c)
}

// RecordReload records the outcome of a reload.
func (g *Gateway) RecordReload(ok bool, at time.Time) { g.metrics.SetReload(ok, at) }

// ObserveDroppedLines takes a function that returns the number of dropped log lines.
func (g *Gateway) ObserveDroppedLines(lost func() uint64) { g.metrics.ObserveLog(lost) }

// Admin returns the handler of the admin server, which has no runs.
func (g *Gateway) Admin(reload func() error, profile bool) http.Handler {
	return web.Handler(web.Settings{
		Gatherer: g.registry, Ready: g.external.ready, Reload: reload, Runs: recent.New(1, 1),
		Version: build.Version(), Logger: g.logger, Panics: g.panics, PProf: profile,
	})
}

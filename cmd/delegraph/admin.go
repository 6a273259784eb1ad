package main

import (
	"context"
	"errors"
	"io"
	"net/http"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/web"
)

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
		Reload: reload, Runs: s.recent, Sources: s.sources, OTLP: writeRun, TraceURL: s.config.Web.TraceURL,
		Version: version(), Logger: s.logger, Panics: s.panics, PProf: profile,
	})
}

// observed are the configured sources, as the pages show them.
func observed(c config.Config) (of []exporter.Source) {
	for _, configured := range c.Sources {
		kind := "proxy"
		if configured.Tail != nil {
			kind = "tail"
		}
		of = append(of, exporter.Source{Name: configured.Name, Kind: kind})
	}
	return of
}

// counters are told how sources fare, for the metrics and for the page.
type counters struct {
	*metrics.Metrics
	sources *exporter.Sources
}

// Up notes whether a source's agent was reached. Of a source that is gone, which may have a request under way, nobody asks.
func (c counters) Up(source string, up bool) {
	if c.sources.Up(source, up) {
		c.Metrics.Up(source, up)
	}
}

// writeRun writes a run's spans as `replay --format=otlp` does, without content, which went with the operations that had it.
func writeRun(ctx context.Context, out io.Writer, run *tracker.Run) error {
	described, err := describe(ctx)
	if err != nil {
		return err
	}
	lines, err := spans.NewLines(ctx, out)
	if err != nil {
		return err
	}
	whole := *run
	whole.Sampled = true // whoever asks has decided
	observer := spans.NewObserver(spans.NewProvider(sdktrace.AlwaysSample(), lines, described), vocabulary(environment), version())
	for _, op := range whole.Operations {
		observer.OperationEnded(&whole, op)
	}
	return lines.ForceFlush(ctx)
}

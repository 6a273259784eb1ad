package sidecar

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/web"
	"github.com/delegraph/delegraph/internal/build"
	"github.com/delegraph/delegraph/internal/settings"
)

// Admin returns the handler of the admin server.
func (s *Sidecar) Admin(reload func() error, profile bool) http.Handler {
	return web.Handler(web.Settings{
		Gatherer: s.Registry,
		Ready: func() error {
			if !s.ready.Load() {
				return errors.New("delegraph is starting or stopping")
			}
			return nil
		},
		Reload: reload, Runs: s.Recent, Sources: s.Sources, OTLP: writeRun, TraceURL: s.config.Web.TraceURL,
		Version: build.Version(), Logger: s.logger, Panics: s.panics, PProf: profile,
	})
}

// pageSources returns the configured sources as the page shows them. The ports are those of the proxies, in
// the order of the configuration.
func pageSources(c config.Config, ports []*port) (shown []recent.Source) {
	for _, configured := range c.Sources {
		of := recent.Source{Name: configured.Name, Kind: "tail"}
		if configured.Tail != nil {
			of.Agent = withoutSecrets(configured.Tail.URL)
		} else {
			of.Kind, of.Address, of.Agent = "proxy", clientURL(ports[0].listener.Addr().String()), withoutSecrets(configured.Proxy.Upstream)
			ports = ports[1:]
		}
		shown = append(shown, of)
	}
	return shown
}

// upRecorder records in the metrics and on the page whether a source's agent was reached.
type upRecorder struct {
	*metrics.Metrics
	sources *recent.Sources
}

// SetSourceUp records whether a source's agent was reached. It ignores a removed source, which may still have
// an open request.
func (u upRecorder) SetSourceUp(source string, up bool) {
	if u.sources.Up(source, up) {
		u.Metrics.SetSourceUp(source, up)
	}
}

// writeRun writes a run's spans as "replay --format=otlp" does. They have no content, because the kept
// operations of a run have none.
func writeRun(ctx context.Context, out io.Writer, run *tracker.Run) error {
	described, err := settings.Resource(ctx)
	if err != nil {
		return err
	}
	lines, err := spans.NewJSONLines(ctx, out)
	if err != nil {
		return err
	}
	whole := *run
	whole.Sampled = true // it was asked for
	observer := spans.NewObserver(spans.NewProvider(sdktrace.AlwaysSample(), lines, described), settings.Names(os.Getenv), build.Version())
	for _, op := range whole.Operations {
		observer.OperationEnded(&whole, op)
	}
	return lines.ForceFlush(ctx)
}

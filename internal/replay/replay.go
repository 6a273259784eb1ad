// Package replay implements the replay command: it sends captures of streams through the pipeline and prints the result.
package replay

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/build"
	"github.com/delegraph/delegraph/internal/settings"
)

// ErrNotReplayed is the error for a capture that cannot be read or is no event stream.
var ErrNotReplayed = errors.New("not replayed")

// Command is one replay: it sends captures through the same pipeline as a sidecar and prints what comes out. Set the exported fields and
// call Run once.
type Command struct {
	ConfigFile   string // captures are read with its settings and those of its source Source; "" for the defaults
	Source       string // "" for the only source
	Dialect      string // config.DialectAuto to detect it
	Format       string // one of Formats
	Policy       string // of the format stream; "" for that of the configuration
	StreamFormat string // of the format stream: one of StreamFormats
	HTML         string // also write the runs as a page to this file; "" for none
	Follow       bool   // wait for more at the end of the file
	Files        []string
	Out, Stderr  io.Writer

	config config.Config                   // of ConfigFile, or the defaults
	origin config.Source                   // the source that Source names, or the zero value
	logger *slog.Logger                    // to Stderr
	panics *recovery.Recorder              // of the pipeline
	now    func() time.Time                // for the progress bar
	wait   func(ctx context.Context) error // at the end of a followed file
}

// Formats returns the names of the output formats.
func Formats() []string { return []string{"text", "json", "otlp", "metrics", "stream"} }

// New returns a replay that prints to out.
func New(out, stderr io.Writer) *Command {
	return &Command{Out: out, Stderr: stderr, now: time.Now, wait: source.WaitForPoll}
}

// Run replays the captures. It joins the errors of all captures, with ErrNotReplayed if one of them contains no stream.
func (r *Command) Run(ctx context.Context) error {
	if r.Follow && len(r.Files) > 1 {
		return errors.New("--follow takes one file; start one replay for each")
	}
	if err := r.readSource(); err != nil {
		return err
	}
	bar := newProgress(r.Stderr, r.now)
	r.logger = slog.New(slog.NewTextHandler(bar.above(r.Stderr), nil))
	o, sink, err := r.prepare(ctx, bufio.NewWriter(bar.above(r.Out)))
	if err != nil {
		return err
	}
	if r.Follow {
		return r.followOne(ctx, sink, o)
	}
	pipeline := collector.New(settings.Dialects(r.origin), r.reading(), sink)
	var failures []error
	for _, name := range r.Files {
		capture := r.capture(name)
		bar.begin(capture.Name)
		capture.OnRead = bar.report
		before := o.summary.Frames
		err := source.ReadCapture(ctx, pipeline, capture)
		bar.erase()
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("stopped within %q", capture.Name), o.out.Flush())
		}
		failures = append(failures, o.checkCapture(capture, before, err), o.endFile(ctx))
	}
	return errors.Join(append(failures, o.end())...)
}

// readSource finds the configured source whose settings apply to the captures, if a configuration is given.
func (r *Command) readSource() error {
	if r.ConfigFile == "" {
		if r.Source != "" {
			return errors.New("--source names a source of --config.file; give that too")
		}
		r.config = config.Default()
		return nil
	}
	c, err := settings.Load(r.ConfigFile)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.Name == r.Source || r.Source == "" && len(c.Sources) == 1 })
	if i < 0 {
		var names []string
		for _, s := range c.Sources {
			names = append(names, s.Name)
		}
		return fmt.Errorf("--source=%s: %s has the sources %s; name one of them", r.Source, r.ConfigFile, strings.Join(names, ", "))
	}
	r.config, r.origin = c, c.Sources[i]
	if r.Dialect == config.DialectAuto {
		r.Dialect = r.origin.Dialect
	}
	return nil
}

// reading returns the settings of the collector. Call prepare first, which sets r.panics.
func (r *Command) reading() collector.Settings {
	s := settings.Collector(r.config)
	s.Panics = r.panics
	return s
}

// prepare returns the output, and the end of the pipeline that feeds it.
func (r *Command) prepare(ctx context.Context, out *bufio.Writer) (*output, *countingSink, error) {
	o := &output{format: r.Format, out: out, registry: prometheus.NewPedanticRegistry()}
	o.summary = &summary{Reasons: map[event.Reason]int{}, lines: json.NewEncoder(out), silent: r.Format != "json"}
	o.summary.lines.SetEscapeHTML(false)
	observers := []tracker.Observer{o.summary}
	if r.HTML != "" {
		page, err := newHTMLPage(r.HTML)
		if err != nil {
			return nil, nil, err
		}
		o.page, observers = page, append(observers, page)
	}
	var sinks []exporter.Sink
	switch r.Format {
	case "text":
		o.text = newTextReporter(r.Out, out)
		observers = append(observers, o.text)
	case "otlp":
		resource, err := settings.Resource(ctx)
		if err != nil {
			return nil, nil, err
		}
		if o.lines, err = spans.NewJSONLines(ctx, out); err != nil {
			return nil, nil, fmt.Errorf("prepare OTLP/JSON: %w", err)
		}
		observers = append(observers, spans.NewObserver(spans.NewProvider(sdktrace.AlwaysSample(), o.lines, resource), settings.Names(os.Getenv), build.Version()))
	case "stream":
		publisher, frames, err := newStreamPrinter(r.config, settings.CustomDialects(config.Config{Sources: []config.Source{r.origin}})[r.origin.Name], r.filterSettings(), r.StreamFormat, out)
		if err != nil {
			return nil, nil, err
		}
		o.frames, sinks = frames, []exporter.Sink{{Component: recovery.Stream, Sink: publisher}}
	}
	metricSettings := settings.Metrics(r.config, settings.Names(os.Getenv))
	metricSettings.UnknownKind = settings.WarnUnknownKind(r.logger)
	m := metrics.New(o.registry, metricSettings)
	m.AllowTools(r.origin.AgentsAsTools)
	r.panics = recovery.New(r.logger, m.CountPanic)
	tracking := settings.Tracker(r.config, nil)
	tracking.Panics = r.panics
	tracking.IsAgentTool = func(_, tool string) bool { return slices.Contains(r.origin.AgentsAsTools, tool) }
	return o, &countingSink{Exporter: exporter.New(m, tracking, sinks, observers...), summary: o.summary}, nil
}

// capture returns the capture that an argument names. kingpin turns a dash into an empty argument.
func (r *Command) capture(name string) source.Capture {
	return source.Capture{Name: cmp.Or(name, source.Stdin), Dialect: r.Dialect, Agent: cmp.Or(r.origin.Agent, r.origin.Name)}
}

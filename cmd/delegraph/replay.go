package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
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
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// replayCommand is the command of that name: captures through the pipeline of serve, and out.
type replayCommand struct {
	file    string // a configuration, of whose source named the captures are; "" for none
	named   string // "" for the only one
	origin  config.Source
	dialect string
	format  string
	policy  string
	as      string
	follow  bool
	files   []string
	out     io.Writer
	stderr  io.Writer
	panics  *recovery.Recorder              // of the pipeline that prepare made
	now     func() time.Time                // of the progress bar
	wait    func(ctx context.Context) error // at the end of a file that is followed
}

func addReplay(app *kingpin.Application, commands map[string]func() error, ctx context.Context, out, stderr io.Writer) {
	r := &replayCommand{out: out, stderr: stderr, now: time.Now, wait: source.Poll}
	c := app.Command("replay", "Send captures through the pipeline and print what comes out of it.")
	c.Flag("dialect", "The captures' dialect, or auto to find out.").Default(config.DialectAuto).EnumVar(&r.dialect, append([]string{config.DialectAuto}, dialectNames()...)...)
	c.Flag("config.file", "A configuration: the captures are read as the streams of its source, by that source's dialect and mapping.").NoEnvar().StringVar(&r.file)
	c.Flag("source", "The source of --config.file, where that has more than one.").NoEnvar().StringVar(&r.named)
	c.Flag("format", "text: a waterfall for people; json: a line a run; otlp: OTLP/JSON trace lines; metrics: the Prometheus text format; stream: what a subscriber of the external stream gets.").Default("text").EnumVar(&r.format, "text", "json", "otlp", "metrics", "stream")
	c.Flag("policy", "Whom --format=stream is for: public, or client for the protocol's own client.").Default(config.PolicyPublic).EnumVar(&r.policy, config.PolicyPublic, config.PolicyClient)
	c.Flag("stream-format", "The format of --format=stream: "+strings.Join(streamFormats(), ", ")+".").Default(nativeFormat).EnumVar(&r.as, streamFormats()...)
	c.Flag("follow", "Wait at the end for more, as tail -F does, and print each run when it ends, until Ctrl-C; --format=metrics is printed then. Of one file, or of a pipe until it ends.").Short('F').BoolVar(&r.follow)
	c.Arg("file", "Captures of SSE streams; - is standard input.").Required().StringsVar(&r.files)
	commands[c.FullCommand()] = func() error { return r.run(ctx) }
}

func (r *replayCommand) run(ctx context.Context) error {
	if r.follow && len(r.files) > 1 {
		return errors.New("--follow takes one file; start one replay for each")
	}
	if err := r.readSource(); err != nil {
		return err
	}
	bar := newProgress(r.stderr, r.now)
	c := config.Default()
	p, sink, err := r.prepare(ctx, c, bufio.NewWriter(bar.above(r.out)))
	if err != nil {
		return err
	}
	if r.follow {
		return r.followOne(ctx, c, sink, p)
	}
	pipeline := collector.New(dialectsOf(r.origin), r.reading(c), sink)
	var failures []error
	for _, name := range r.files {
		capture := r.capture(name)
		bar.begin(capture.Name)
		capture.Seen = bar.see
		before := p.sum.Frames
		err := source.File(ctx, pipeline, capture)
		bar.erase()
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("stopped within %q", capture.Name), p.out.Flush())
		}
		failures = append(failures, p.account(capture, before, err), p.endFile(ctx))
	}
	return errors.Join(append(failures, p.end())...)
}

// readSource finds the source that says how the captures are read, if one is named.
func (r *replayCommand) readSource() error {
	if r.file == "" {
		if r.named != "" {
			return errors.New("--source names a source of --config.file; give that too")
		}
		return nil
	}
	c, err := load(r.file)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.Name == r.named || r.named == "" && len(c.Sources) == 1 })
	if i < 0 {
		var names []string
		for _, s := range c.Sources {
			names = append(names, s.Name)
		}
		return fmt.Errorf("--source=%s: %s has the sources %s; name one of them", r.named, r.file, strings.Join(names, ", "))
	}
	r.origin = c.Sources[i]
	if r.dialect == config.DialectAuto {
		r.dialect = r.origin.Dialect
	}
	return nil
}

// reading returns the settings by which streams are read, once all is prepared.
func (r *replayCommand) reading(c config.Config) collector.Settings {
	s := collectorSettings(c)
	s.Panics = r.panics
	return s
}

// prepare makes what the format prints of, and the pipeline's end that it is fed by.
func (r *replayCommand) prepare(ctx context.Context, c config.Config, out *bufio.Writer) (*printing, event.Sink, error) {
	p := &printing{format: r.format, out: out, registry: prometheus.NewPedanticRegistry()}
	p.sum = &summary{Reasons: map[event.Reason]int{}, lines: json.NewEncoder(out), silent: r.format != "json"}
	p.sum.lines.SetEscapeHTML(false)
	observers := []tracker.Observer{p.sum}
	var publisher *stream.Publisher
	switch r.format {
	case "text":
		p.people = newTexts(r.out, out)
		observers = append(observers, p.people)
	case "otlp":
		described, err := describe(ctx)
		if err != nil {
			return nil, nil, err
		}
		if p.lines, err = spans.NewLines(ctx, out); err != nil {
			return nil, nil, fmt.Errorf("prepare OTLP/JSON: %w", err)
		}
		observers = append(observers, spans.NewObserver(spans.NewProvider(sdktrace.AlwaysSample(), p.lines, described), vocabulary(environment), version()))
	case "stream":
		var err error
		if publisher, p.frames, err = newPrinter(c, mappings(config.Config{Sources: []config.Source{r.origin}})[r.origin.Name], r.policy, r.as, out); err != nil {
			return nil, nil, err
		}
	}
	m := metrics.New(p.registry, metricsSettings(c, vocabulary(environment)))
	r.panics = recovery.New(slog.New(slog.NewTextHandler(r.stderr, nil)), m.Panicked)
	followed := trackerSettings(c, nil)
	followed.Panics = r.panics
	return p, &counted{Exporter: exporter.New(m, followed, publisher, observers...), sum: p.sum}, nil
}

// capture is that of an argument, of which kingpin makes an empty word where it is a dash.
func (r *replayCommand) capture(name string) source.Capture {
	return source.Capture{Name: cmp.Or(name, source.Stdin), Dialect: r.dialect}
}

func dialectNames() []string {
	var names []string
	for _, d := range collector.Dialects() {
		names = append(names, d.Name())
	}
	return slices.Clip(names)
}

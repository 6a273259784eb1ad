package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
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
	dialect string
	format  string
	policy  string
	as      string
	follow  bool
	files   []string
	out     io.Writer
	stderr  io.Writer
	now     func() time.Time                // of the progress bar
	wait    func(ctx context.Context) error // at the end of a file that is followed
}

func addReplay(app *kingpin.Application, commands map[string]func() error, ctx context.Context, out, stderr io.Writer) {
	r := &replayCommand{out: out, stderr: stderr, now: time.Now, wait: source.Poll}
	c := app.Command("replay", "Send captures through the pipeline and print what comes out of it.")
	c.Flag("dialect", "The captures' dialect, or auto to find out.").Default(config.DialectAuto).EnumVar(&r.dialect, append([]string{config.DialectAuto}, dialectNames()...)...)
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
	bar := newProgress(r.stderr, r.now)
	out := bufio.NewWriter(bar.above(r.out))
	c := config.Default()
	p := &printing{format: r.format, out: out, registry: prometheus.NewPedanticRegistry()}
	m := metrics.New(p.registry, metricsSettings(c))
	p.sum = &summary{Reasons: map[event.Reason]int{}, lines: json.NewEncoder(out), silent: r.format != "json"}
	p.sum.lines.SetEscapeHTML(false)
	observers := []tracker.Observer{p.sum}
	var publisher *stream.Publisher
	var err error
	switch r.format {
	case "text":
		p.people = newTexts(r.out, out)
		observers = append(observers, p.people)
	case "otlp":
		described, err := describe(ctx)
		if err != nil {
			return err
		}
		if p.lines, err = spans.NewLines(ctx, out); err != nil {
			return fmt.Errorf("prepare OTLP/JSON: %w", err)
		}
		observers = append(observers, spans.NewObserver(spans.NewProvider(sdktrace.AlwaysSample(), p.lines, described)))
	case "stream":
		if publisher, p.frames, err = newPrinter(c, r.policy, r.as, out); err != nil {
			return err
		}
	}
	sink := &counted{Exporter: exporter.New(m, trackerSettings(c, nil), publisher, observers...), sum: p.sum}
	if r.follow {
		return r.followOne(ctx, c, sink, p)
	}
	pipeline := collector.New(collector.Dialects(), collectorSettings(c), sink)
	var failures []error
	for _, name := range r.files {
		capture := r.capture(name)
		bar.begin(capture.Name)
		capture.Seen = bar.see
		before := p.sum.Frames
		err := source.File(pipeline, capture)
		bar.erase()
		failures = append(failures, p.account(capture, before, err), p.endFile(ctx))
	}
	return errors.Join(append(failures, p.end())...)
}

// capture is that of an argument, of which kingpin makes an empty word where it is a dash.
func (r *replayCommand) capture(name string) source.Capture {
	return source.Capture{Name: cmp.Or(name, source.Stdin), Dialect: r.dialect}
}

// followOne prints what comes of a capture as it comes, until the context is done.
func (r *replayCommand) followOne(ctx context.Context, c config.Config, sink event.Sink, p *printing) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	at := &prompt{Sink: sink, p: p, lost: cancel}
	capture := r.capture(r.files[0])
	if _, isTerminal := terminal(r.stderr); isTerminal {
		fmt.Fprintf(r.stderr, "Reading %s until Ctrl-C.\n", printable(filepath.Base(capture.Name)))
	}
	err := source.Follow(ctx, collector.New(collector.Dialects(), collectorSettings(c), at), capture, r.wait)
	if ctx.Err() == nil { // else there may have been nothing yet
		err = p.account(capture, 0, err)
	}
	if at.err != nil {
		return at.err // nothing more can be printed
	}
	return errors.Join(err, p.endFile(context.WithoutCancel(ctx)), p.end())
}

// prompt hands out what was printed as soon as it is, and lets go of what is followed where it cannot.
type prompt struct {
	event.Sink
	p    *printing
	lost func()
	err  error
}

// Consume passes the batch on, and hands out what came of it.
func (s *prompt) Consume(b *event.Batch) {
	s.Sink.Consume(b)
	s.flush()
}

// Close ends the stream, and hands out what came of that.
func (s *prompt) Close(of *event.Stream, end event.End, at time.Time) {
	s.Sink.Close(of, end, at)
	s.flush()
}

func (s *prompt) flush() {
	if s.err == nil {
		if s.err = errors.Join(s.p.endRuns(context.Background()), s.p.out.Flush()); s.err != nil {
			s.lost()
		}
	}
}

func dialectNames() []string {
	var names []string
	for _, d := range collector.Dialects() {
		names = append(names, d.Name())
	}
	return slices.Clip(names)
}

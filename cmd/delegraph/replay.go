package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
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
	files   []string
	out     io.Writer
}

func addReplay(app *kingpin.Application, commands map[string]func() error, ctx context.Context, out io.Writer) {
	r := &replayCommand{out: out}
	c := app.Command("replay", "Send captures through the pipeline and print what comes out of it.")
	c.Flag("dialect", "The captures' dialect, or auto to find out.").Default(config.DialectAuto).EnumVar(&r.dialect, append([]string{config.DialectAuto}, dialectNames()...)...)
	c.Flag("format", "text: a waterfall for people; json: a line a run; otlp: OTLP/JSON trace lines; metrics: the Prometheus text format; stream: what a subscriber of the external stream gets.").Default("text").EnumVar(&r.format, "text", "json", "otlp", "metrics", "stream")
	c.Flag("policy", "Whom --format=stream is for: public, or client for the protocol's own client.").Default(config.PolicyPublic).EnumVar(&r.policy, config.PolicyPublic, config.PolicyClient)
	c.Flag("stream-format", "The format of --format=stream: "+strings.Join(streamFormats(), ", ")+".").Default(nativeFormat).EnumVar(&r.as, streamFormats()...)
	c.Arg("file", "Captures of SSE streams; - is standard input.").Required().StringsVar(&r.files)
	commands[c.FullCommand()] = func() error { return r.run(ctx) }
}

func (r *replayCommand) run(ctx context.Context) error {
	out := bufio.NewWriter(r.out)
	reg := prometheus.NewPedanticRegistry()
	c := config.Default()
	m := metrics.New(reg, metricsSettings(c))
	sum := &summary{Reasons: map[event.Reason]int{}, lines: json.NewEncoder(out), silent: r.format != "json"}
	sum.lines.SetEscapeHTML(false)
	observers := []tracker.Observer{sum}
	people := newTexts(r.out, out)
	if r.format == "text" {
		observers = append(observers, people)
	}

	var lines *spans.Lines
	if r.format == "otlp" {
		described, err := describe(ctx)
		if err != nil {
			return err
		}
		if lines, err = spans.NewLines(ctx, out); err != nil {
			return fmt.Errorf("prepare OTLP/JSON: %w", err)
		}
		provider := spans.NewProvider(sdktrace.AlwaysSample(), lines, described)
		observers = append(observers, spans.NewObserver(provider))
	}
	var publisher *stream.Publisher
	var printed *printer
	if r.format == "stream" {
		var err error
		if publisher, printed, err = newPrinter(c, r.policy, r.as, out); err != nil {
			return err
		}
	}
	sink := &counted{Exporter: exporter.New(m, trackerSettings(c, nil), publisher, observers...), sum: sum}
	pipeline := collector.New(collector.Dialects(), collectorSettings(c), sink)

	var failures []error
	for _, name := range r.files {
		if name == "" {
			name = source.Stdin // kingpin makes an empty word of it
		}
		before := sum.Frames
		if err := source.File(pipeline, name, r.dialect); err != nil {
			failures = append(failures, fmt.Errorf("%w: %w", errNothing, err))
		} else if sum.Frames == before {
			failures = append(failures, fmt.Errorf("%w: %q holds no whole SSE frame; give what the agent answered as text/event-stream", errNothing, name))
		}
		if lines != nil {
			failures = append(failures, lines.ForceFlush(ctx))
		}
	}
	switch r.format {
	case "text":
		failures = append(failures, people.err, sum.tell(out))
	case "json":
		failures = append(failures, sum.print())
	case "metrics":
		failures = append(failures, printMetrics(out, reg))
	case "stream":
		failures = append(failures, printed.err)
	}
	return errors.Join(append(failures, out.Flush())...)
}

// printMetrics writes what a scrape would get.
func printMetrics(out io.Writer, reg prometheus.Gatherer) error {
	families, err := reg.Gather()
	if err != nil {
		return err
	}
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(out, family); err != nil {
			return err
		}
	}
	return nil
}

// summary prints each run as it ends, and the sums at last. It sees batches before the tracker does.
type summary struct {
	Frames   int
	Events   int
	Internal int
	Runs     int
	Reasons  map[event.Reason]int

	lines  *json.Encoder
	silent bool
	err    error
}

// RunStarted has nothing to print.
func (s *summary) RunStarted(*tracker.Run) {}

// OperationEnded has nothing to print: the run's line holds its operations.
func (s *summary) OperationEnded(*tracker.Run, *tracker.Operation) {}

// RunEnded prints the run.
func (s *summary) RunEnded(r *tracker.Run) {
	s.Runs++
	if !s.silent {
		s.err = errors.Join(s.err, s.lines.Encode(r.Report()))
	}
}

func (s *summary) count(b *event.Batch) {
	switch {
	case b.Rejected == event.ReasonTruncated:
	case b.Rejected == "":
		s.Events++
		fallthrough
	default:
		s.Frames++
	}
	if b.Rejected != "" {
		s.Reasons[b.Rejected]++
	}
	if b.Internal {
		s.Internal++
	}
}

func (s *summary) print() error {
	type sums struct {
		Frames      int                  `json:"frames"`
		Events      int                  `json:"events"`
		ParseErrors map[event.Reason]int `json:"parse_errors"`
		Internal    int                  `json:"internal_events"`
		Runs        int                  `json:"runs"`
	}
	return errors.Join(s.err, s.lines.Encode(struct {
		Summary sums `json:"summary"`
	}{sums{s.Frames, s.Events, s.Reasons, s.Internal, s.Runs}}))
}

// tell says the sums to people.
func (s *summary) tell(out io.Writer) error {
	line := counts(s.Runs, "run") + " in " + counts(s.Frames, "frame")
	for _, reason := range slices.Sorted(maps.Keys(s.Reasons)) {
		line += fmt.Sprintf(", %d unreadable (%s)", s.Reasons[reason], reason)
	}
	if s.Internal > 0 {
		line += fmt.Sprintf(", %d internal", s.Internal)
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

// counted lets the summary see each batch.
type counted struct {
	*exporter.Exporter
	sum *summary
}

// Consume counts the batch and passes it on.
func (c *counted) Consume(b *event.Batch) {
	c.sum.count(b)
	c.Exporter.Consume(b)
}

func dialectNames() []string {
	var names []string
	for _, d := range collector.Dialects() {
		names = append(names, d.Name())
	}
	return slices.Clip(names)
}

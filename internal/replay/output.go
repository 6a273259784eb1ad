package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/terminal"
)

// output prints the result of a replay in one of its formats. Only the parts of that format are set.
type output struct {
	format   string
	out      *bufio.Writer
	registry *prometheus.Registry
	summary  *summary
	text     *textReporter
	lines    *spans.JSONLines
	frames   *streamPrinter
	page     *htmlPage
	flushed  int // runs whose spans were written
}

// checkCapture returns an error if a capture could not be read or contained no frame. framesBefore is the number of frames
// before the capture.
func (o *output) checkCapture(capture source.Capture, framesBefore int, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotReplayed, err)
	case o.summary.Frames == framesBefore:
		return fmt.Errorf("%w: %q contains no complete SSE frame; record the agent's text/event-stream answer", ErrNotReplayed, capture.Name)
	}
	return nil
}

// endFile writes the output that is buffered until the end of a file.
func (o *output) endFile(ctx context.Context) error {
	if o.lines == nil {
		return nil
	}
	return o.lines.ForceFlush(ctx)
}

// endRuns writes the output that is buffered until the end of a run, if a run has ended.
func (o *output) endRuns(ctx context.Context) error {
	if o.flushed == o.summary.Runs {
		return nil
	}
	o.flushed = o.summary.Runs
	return o.endFile(ctx)
}

// end prints the output that comes after the last file.
func (o *output) end() error {
	var err error
	switch o.format {
	case "text":
		err = errors.Join(o.text.err, o.summary.printText(o.out))
	case "json":
		err = o.summary.printJSON()
	case "metrics":
		err = printMetrics(o.out, o.registry)
	case "stream":
		err = o.frames.err
	}
	if o.page != nil {
		err = errors.Join(err, o.page.write(o.summary.Runs))
	}
	return errors.Join(err, o.out.Flush())
}

// printMetrics writes what a scrape would return.
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

// summary counts frames and runs, and prints each run as a line of JSON when it ends. It sees batches before the tracker does.
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

// RunStarted does nothing.
func (s *summary) RunStarted(*tracker.Run) {}

// OperationEnded does nothing: RunEnded prints all operations of the run.
func (s *summary) OperationEnded(*tracker.Run, *tracker.Operation) {}

// RunEnded prints the run.
func (s *summary) RunEnded(r *tracker.Run) {
	s.Runs++
	if !s.silent && s.err == nil {
		s.err = s.lines.Encode(r.Report())
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

func (s *summary) printJSON() error {
	if s.err != nil {
		return s.err
	}
	return s.lines.Encode(LastLine{Totals{s.Frames, s.Events, s.Reasons, s.Internal, s.Runs}})
}

// LastLine is the line of --format=json after those of the runs.
type LastLine struct {
	Summary Totals `json:"summary"`
}

// Totals counts what all captures contain.
type Totals struct {
	Frames      int                  `json:"frames"`          // complete SSE frames
	Events      int                  `json:"events"`          // frames that could be decoded
	ParseErrors map[event.Reason]int `json:"parse_errors"`    // frames that could not be decoded, by reason
	Internal    int                  `json:"internal_events"` // frames that the protocol calls internal
	Runs        int                  `json:"runs"`
}

// printText prints the sums as text.
func (s *summary) printText(out io.Writer) error {
	line := terminal.Count(s.Runs, "run") + " in " + terminal.Count(s.Frames, "frame")
	for _, reason := range slices.Sorted(maps.Keys(s.Reasons)) {
		line += fmt.Sprintf(", %d unreadable (%s)", s.Reasons[reason], reason)
	}
	if s.Internal > 0 {
		line += fmt.Sprintf(", %d internal", s.Internal)
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

// countingSink counts each batch in the summary before it passes it on.
type countingSink struct {
	*exporter.Exporter
	summary *summary
}

// Consume counts the batch and passes it on.
func (c *countingSink) Consume(b *event.Batch) {
	c.summary.count(b)
	c.Exporter.Consume(b)
}

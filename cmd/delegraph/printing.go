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

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// printing is what a replay prints, in one of its formats; of the parts, only those of the format are there.
type printing struct {
	format   string
	out      *bufio.Writer
	registry *prometheus.Registry
	sum      *summary
	people   *texts
	lines    *spans.Lines
	frames   *printer
	told     int // runs whose spans are out
}

// account says why nothing came of a capture, if nothing did.
func (p *printing) account(capture source.Capture, before int, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errNothing, err)
	case p.sum.Frames == before:
		return fmt.Errorf("%w: %q holds no whole SSE frame; give what the agent answered as text/event-stream", errNothing, capture.Name)
	}
	return nil
}

// endFile hands on what is kept until a file's end.
func (p *printing) endFile(ctx context.Context) error {
	if p.lines == nil {
		return nil
	}
	return p.lines.ForceFlush(ctx)
}

// endRuns hands on what is kept until a run's end, if one has ended.
func (p *printing) endRuns(ctx context.Context) error {
	if p.told == p.sum.Runs {
		return nil
	}
	p.told = p.sum.Runs
	return p.endFile(ctx)
}

// end prints what comes last.
func (p *printing) end() error {
	var err error
	switch p.format {
	case "text":
		err = errors.Join(p.people.err, p.sum.tell(p.out))
	case "json":
		err = p.sum.print()
	case "metrics":
		err = printMetrics(p.out, p.registry)
	case "stream":
		err = p.frames.err
	}
	return errors.Join(err, p.out.Flush())
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

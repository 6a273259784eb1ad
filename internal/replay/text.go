package replay

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/waterfall"
	"github.com/delegraph/delegraph/internal/terminal"
)

// textReporter prints a waterfall of each run, and below it confidences, sources and other facts.
type textReporter struct {
	terminal.Screen
	out *bufio.Writer
	err error
}

// newTextReporter returns a reporter that prints to a buffered writer, in the width and colors of the terminal behind it.
func newTextReporter(behind io.Writer, out *bufio.Writer) *textReporter {
	return &textReporter{Screen: terminal.NewScreen(behind, os.Getenv), out: out}
}

// RunStarted does nothing.
func (t *textReporter) RunStarted(*tracker.Run) {}

// OperationEnded does nothing: RunEnded prints all operations of the run.
func (t *textReporter) OperationEnded(*tracker.Run, *tracker.Operation) {}

// RunEnded prints the run.
func (t *textReporter) RunEnded(run *tracker.Run) {
	r := run.Report()
	chart := waterfall.New(run, time.Time{})
	t.head(r, run.Root.ErrorCode, chart)
	t.rows(run, chart)
	t.facts(r)
	t.line("")
}

func (t *textReporter) line(text string) {
	if _, err := fmt.Fprintln(t.out, strings.TrimRight(text, " ")); err != nil {
		t.err = err
	}
}

// say prints a sentence.
func (t *textReporter) say(text string) { t.line(t.Join(wordsOf(text), " ", 0)) }

func piece(text, color string) terminal.Piece { return terminal.Piece{Text: text, Color: color} }

func wordsOf(text string) (pieces []terminal.Piece) {
	for _, word := range strings.Split(text, " ") {
		pieces = append(pieces, piece(word, ""))
	}
	return pieces
}

func (t *textReporter) head(r tracker.Report, code string, chart waterfall.Chart) {
	status := string(r.Status)
	switch {
	case code != "":
		status += " (" + terminal.PrintableOr(r.StatusReason, "error") + ": " + code + ")"
	case r.StatusReason != nil:
		status += " (" + *r.StatusReason + ")"
	}
	about := []terminal.Piece{piece(terminal.PrintableOr(r.Agent, "a run"), "1"), piece(status, statusColors[r.Status])}
	if chart.Known() {
		about = append(about, piece(waterfall.FormatDuration(chart.Duration), ""))
	}
	about = append(about, piece(r.Dialect, ""), piece(terminal.Count(r.Events, "frame"), ""))
	if r.ParseErrors > 0 {
		about = append(about, piece(terminal.Count(r.ParseErrors, "frame")+" unreadable", failedColor))
	}
	if r.Usage.Input != nil || r.Usage.Output != nil {
		about = append(about, piece("tokens "+number(r.Usage.Input)+" in, "+number(r.Usage.Output)+" out", ""))
	}
	t.line(t.Join(about, " · ", 2))
	if r.Run != nil || r.Session != nil {
		t.line(t.Join([]terminal.Piece{piece("run "+terminal.PrintableOr(r.Run, "?"), ""), piece("session "+terminal.PrintableOr(r.Session, "?"), "")}, ", ", 2))
	}
	unknown := slices.ContainsFunc(chart.Rows, func(row waterfall.Row) bool { return !row.Timed })
	reported := slices.ContainsFunc(chart.Rows, func(row waterfall.Row) bool { return row.Reported })
	switch {
	case !chart.Timed && reported:
		t.say("The stream has no timestamps, so operations are placed by the order of their frames. It reports their durations.")
	case !chart.Timed:
		t.say("The stream has no timestamps, so operations are placed by the order of their frames.")
	case unknown:
		t.say("Operations drawn as " + unknownInk + " or ? have no timestamps, so they are placed next to operations that have.")
	}
}

// fact prints a line below the waterfall.
func (t *textReporter) fact(name, text string) {
	t.line(t.Join(append([]terminal.Piece{piece(terminal.Pad(name, factColumn-1), "")}, wordsOf(text)...), " ", factColumn))
}

func (t *textReporter) facts(r tracker.Report) {
	for _, x := range r.Transfers {
		t.fact("transfer", terminal.PrintableOr(x.From, "?")+" → "+terminal.PrintableName(x.To))
	}
	for _, op := range r.Operations[min(1, len(r.Operations)):] { // the root's is in the head
		if op.Error != nil {
			t.fact("error", kindWords[op.Kind]+" "+terminal.PrintableOr(op.Name, "?")+": "+*op.Error)
		}
	}
	for _, c := range r.Confidence {
		value := terminal.Printable(c.Label)
		if c.Value != nil {
			value = strings.TrimSpace(percent(*c.Value) + " " + value)
		}
		if c.Overall {
			value += " overall"
		}
		for _, of := range []string{c.Topic, c.Scope} {
			if of != "" {
				value += " for " + terminal.Printable(of)
			}
		}
		t.fact("confidence", terminal.PrintableOr(c.Agent, "?")+": "+strings.TrimSpace(value)+" ("+string(c.Origin)+")")
	}
	for _, c := range r.Citations {
		t.fact("source", terminal.PrintableOr(c.Agent, "?")+": "+terminal.PrintableName(c.Source))
	}
	for _, in := range r.Inputs {
		text := string(in.Kind) + " " + string(in.Status)
		if in.WaitSeconds != nil {
			text += " after " + waterfall.FormatDuration(time.Duration(*in.WaitSeconds*float64(time.Second)))
		}
		t.fact("input", text)
	}
	if p := r.Plan; p != nil {
		t.fact("plan", fmt.Sprintf("%d completed, %d in progress, %d pending, %d canceled", p.Completed, p.InProgress, p.Pending, p.Canceled))
	}
	for _, s := range r.State {
		keys := make([]string, len(s.Keys))
		for i, key := range s.Keys {
			keys[i] = terminal.PrintableName(key)
		}
		t.fact("state", terminal.PrintableOr(s.Agent, "?")+": "+cmp.Or(strings.Join(keys, ", "), "?"))
	}
	for _, x := range r.Thoughts {
		t.fact("thoughts", terminal.PrintableOr(x.Agent, "?")+": "+terminal.Count(x.Count, terminal.PrintableName(x.Type)+" thought"))
	}
	for _, a := range r.Artifacts {
		t.fact("artifact", terminal.PrintableName(a.Name)+" ("+string(a.Kind)+")")
	}
	for _, l := range r.Links {
		t.fact(l.Kind, terminal.PrintableOr(l.Run, l.Operation))
	}
}

// percent returns a confidence for people.
func percent(ratio float64) string { return fmt.Sprintf("%.4g %%", 100*ratio) }

func number(n *int64) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

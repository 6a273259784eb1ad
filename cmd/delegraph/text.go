package main

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
)

// texts prints runs for people: a waterfall each, and what answers said of themselves.
type texts struct {
	screen
	out *bufio.Writer
	err error
}

// newTexts prints to a buffered writer, as it suits the terminal behind it if there is one.
func newTexts(behind io.Writer, out *bufio.Writer) *texts {
	return &texts{screen: screenOf(behind, os.Getenv), out: out}
}

const (
	spanColumn = 9
	widestName = 48
	factColumn = 12
)

// Marks of how an operation ended, beside its name.
var marks = map[tracker.OperationStatus]string{tracker.Error: " ✗", tracker.OperationInterrupted: " ⏸", tracker.Unfinished: " …"}

const failedColour = "31"

// Colours of terminals (ECMA-48, SGR).
var (
	statusColours = map[tracker.Status]string{
		tracker.Completed: "32", tracker.Failed: failedColour, tracker.Canceled: "33", tracker.Interrupted: "33", tracker.Incomplete: "33", tracker.TimedOut: failedColour,
	}
	barColours = map[tracker.OperationKind]string{tracker.InvokeWorkflow: "90", tracker.InvokeAgent: "34", tracker.InvokeNode: "33", tracker.Chat: "35", tracker.ExecuteTool: "36"}
)

// RunStarted has nothing to print.
func (t *texts) RunStarted(*tracker.Run) {}

// OperationEnded has nothing to print: the run's waterfall holds its operations.
func (t *texts) OperationEnded(*tracker.Run, *tracker.Operation) {}

// RunEnded prints the run.
func (t *texts) RunEnded(run *tracker.Run) {
	r := run.Report()
	chart := waterfall.Of(run, time.Time{})
	t.head(r, run.Root.Code, chart)
	t.rows(chart)
	t.facts(r)
	t.line("")
}

func (t *texts) line(text string) {
	if _, err := fmt.Fprintln(t.out, strings.TrimRight(text, " ")); err != nil {
		t.err = err
	}
}

// say prints a sentence.
func (t *texts) say(text string) { t.line(t.lay(wordsOf(text), " ", 0)) }

func wordsOf(text string) (pieces []piece) {
	for _, word := range strings.Split(text, " ") {
		pieces = append(pieces, piece{word, ""})
	}
	return pieces
}

func (t *texts) head(r tracker.Report, code string, chart waterfall.Chart) {
	status := string(r.Status)
	switch {
	case code != "":
		status += " (" + readable(r.StatusReason, "error") + ": " + code + ")"
	case r.StatusReason != nil:
		status += " (" + *r.StatusReason + ")"
	}
	about := []piece{{readable(r.Agent, "a run"), "1"}, {status, statusColours[r.Status]}}
	if chart.Known() {
		about = append(about, piece{waterfall.Span(chart.Took), ""})
	}
	about = append(about, piece{r.Dialect, ""}, piece{counts(r.Events, "frame"), ""})
	if r.ParseErrors > 0 {
		about = append(about, piece{counts(r.ParseErrors, "frame") + " unreadable", failedColour})
	}
	if r.Usage.Input != nil || r.Usage.Output != nil {
		about = append(about, piece{"tokens " + number(r.Usage.Input) + " in, " + number(r.Usage.Output) + " out", ""})
	}
	t.line(t.lay(about, " · ", 2))
	if r.Run != nil || r.Session != nil {
		t.line(t.lay([]piece{{"run " + readable(r.Run, "?"), ""}, {"session " + readable(r.Session, "?"), ""}}, ", ", 2))
	}
	unknown := slices.ContainsFunc(chart.Rows, func(row waterfall.Row) bool { return !row.Timed })
	reported := slices.ContainsFunc(chart.Rows, func(row waterfall.Row) bool { return row.Reported })
	switch {
	case !chart.Timed && reported:
		t.say("The stream has no times: operations stand where its frames showed them. How long they took is what the stream says.")
	case !chart.Timed:
		t.say("The stream has no times: operations stand where its frames showed them.")
	case unknown:
		t.say("When is not known of what is drawn " + unknownInk + " or ?: it stands beside what is known.")
	}
}

func (t *texts) rows(chart waterfall.Chart) {
	deepest := min(max(t.width/10, 4), 12) // levels that leave room for a name
	names, longest := make([]string, len(chart.Rows)), 0
	for i, row := range chart.Rows {
		names[i] = stems(row.Last, deepest) + label(row.Op)
		longest = max(longest, cells(names[i])+cells(marks[row.Op.Status]))
	}
	column := min(longest, widestName, max(t.width-spanColumn-narrowest/2-2, narrowest/2-1))
	bar := t.width - column - spanColumn - 2
	for i, row := range chart.Rows {
		span := ""
		switch {
		case row.Timed, row.Reported:
			span = waterfall.Span(row.Took)
		case chart.Timed:
			span = "?"
		}
		t.line(marked(names[i], marks[row.Op.Status], column) + " " + t.bar(row, bar) + " " + strings.Repeat(" ", max(spanColumn-cells(span), 0)) + span)
	}
}

// stems draws where a row hangs, as far as there is room.
func stems(last []bool, deepest int) string {
	var b strings.Builder
	if len(last) > deepest {
		b.WriteString("… ")
		last = last[len(last)-deepest+1:]
	}
	for i, isLast := range last {
		switch {
		case i == len(last)-1 && isLast:
			b.WriteString("└ ")
		case i == len(last)-1:
			b.WriteString("├ ")
		case isLast:
			b.WriteString("  ")
		default:
			b.WriteString("│ ")
		}
	}
	return b.String()
}

var kindWords = map[tracker.OperationKind]string{
	tracker.InvokeWorkflow: "workflow", tracker.InvokeAgent: "agent", tracker.InvokeNode: "step",
	tracker.ExecuteTool: "tool", tracker.Chat: "model",
}

func label(op *tracker.Operation) string {
	return kindWords[op.Kind] + " " + legible(op.Name)
}

// marked is a name and its mark in a column. Where there is too little room, it is the name that is cut.
func marked(name, mark string, column int) string {
	if room := column - cells(mark); cells(name) > room {
		name = padded(name, room)
	}
	return padded(name+mark, column)
}

// What bars are drawn with.
const (
	ink, point               = "█", "▏"
	unknownInk, unknownPoint = "░", "?" // when is not known
)

// bar draws a row's time; whatever has none is a point.
func (t *texts) bar(row waterfall.Row, width int) string {
	from := min(int(row.From*float64(width)), width-1)
	to := min(max(int(row.To*float64(width)+0.5), from+1), width)
	with := ink
	switch isPoint := row.To <= row.From; {
	case isPoint && row.Timed:
		with = point
	case isPoint:
		with = unknownPoint
	case !row.Timed:
		with = unknownInk
	}
	colour := barColours[row.Op.Kind]
	if row.Op.Status == tracker.Error {
		colour = failedColour
	}
	return strings.Repeat(" ", from) + t.paint(piece{strings.Repeat(with, to-from), colour}) + strings.Repeat(" ", width-to)
}

// fact prints what there is to say of a run besides its times.
func (t *texts) fact(what, text string) {
	t.line(t.lay(append([]piece{{padded(what, factColumn-1), ""}}, wordsOf(text)...), " ", factColumn))
}

func (t *texts) facts(r tracker.Report) {
	for _, x := range r.Transfers {
		t.fact("transfer", readable(x.From, "?")+" → "+legible(x.To))
	}
	for _, op := range r.Operations[min(1, len(r.Operations)):] { // the run's own is in the head
		if op.Error != nil {
			t.fact("error", kindWords[op.Kind]+" "+readable(op.Name, "?")+": "+*op.Error)
		}
	}
	for _, c := range r.Confidence {
		value := printable(c.Label)
		if c.Value != nil {
			value = strings.TrimSpace(fmt.Sprintf("%.4g %% %s", 100**c.Value, value))
		}
		if c.Overall {
			value += " overall"
		}
		for _, of := range []string{c.Topic, c.Scope} {
			if of != "" {
				value += " for " + printable(of)
			}
		}
		t.fact("confidence", readable(c.Agent, "?")+": "+strings.TrimSpace(value)+" ("+string(c.Origin)+")")
	}
	for _, c := range r.Citations {
		t.fact("source", readable(c.Agent, "?")+": "+legible(c.Source))
	}
	for _, in := range r.Inputs {
		t.fact("input", string(in.Kind)+" "+string(in.Status))
	}
	if p := r.Plan; p != nil {
		t.fact("plan", fmt.Sprintf("%d completed, %d in progress, %d pending, %d canceled", p.Completed, p.InProgress, p.Pending, p.Canceled))
	}
	for _, s := range r.State {
		keys := make([]string, len(s.Keys))
		for i, key := range s.Keys {
			keys[i] = legible(key)
		}
		t.fact("state", readable(s.Agent, "?")+": "+cmp.Or(strings.Join(keys, ", "), "?"))
	}
	for _, x := range r.Thoughts {
		t.fact("thoughts", readable(x.Agent, "?")+": "+counts(x.Count, legible(x.Type)+" thought"))
	}
	for _, a := range r.Artifacts {
		t.fact("artifact", legible(a.Name)+" ("+string(a.Kind)+")")
	}
	for _, l := range r.Links {
		t.fact(l.Kind, legible(l.Run))
	}
}

func counts(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func number(n *int64) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

func readable(s *string, otherwise string) string {
	if s == nil || strings.TrimSpace(*s) == "" {
		return otherwise
	}
	return printable(*s)
}

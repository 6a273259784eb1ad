package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/waterfall"
)

// texts prints runs for people: a waterfall each, and what answers said of themselves.
type texts struct {
	out    *bufio.Writer
	width  int
	colour bool
	err    error
}

// newTexts prints to a buffered writer, in the width and the colours of the terminal behind it if there is one.
func newTexts(behind io.Writer, out *bufio.Writer) *texts {
	t := &texts{out: out, width: 100}
	if file, ok := behind.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		t.colour = os.Getenv("NO_COLOR") == "" // no-color.org
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			t.width = max(width, narrowest)
		}
	}
	return t
}

const (
	narrowest   = 40
	spanColumn  = 9
	widestName  = 48
	longestText = 100
)

// Marks of how an operation ended, beside its name.
var marks = map[tracker.OperationStatus]string{tracker.Error: " ✗", tracker.OperationInterrupted: " ⏸", tracker.Unfinished: " …"}

// Escape sequences of terminals (ECMA-48, SGR).
var (
	statusColours = map[tracker.Status]string{
		tracker.Completed: "32", tracker.Failed: "31", tracker.Canceled: "33", tracker.Interrupted: "33", tracker.Incomplete: "33", tracker.TimedOut: "31",
	}
	barColours = map[tracker.OperationKind]string{tracker.InvokeAgent: "34", tracker.Chat: "35", tracker.ExecuteTool: "36"}
)

func (t *texts) coloured(code, text string) string {
	if !t.colour || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// RunStarted has nothing to print.
func (t *texts) RunStarted(*tracker.Run) {}

// OperationEnded has nothing to print: the run's waterfall holds its operations.
func (t *texts) OperationEnded(*tracker.Run, *tracker.Operation) {}

// RunEnded prints the run.
func (t *texts) RunEnded(run *tracker.Run) {
	r := run.Report()
	chart := waterfall.Of(r)
	t.head(r, chart)
	t.rows(chart)
	t.facts(r)
	t.line("")
}

func (t *texts) line(text string) {
	if _, err := fmt.Fprintln(t.out, strings.TrimRight(text, " ")); err != nil {
		t.err = err
	}
}

func (t *texts) head(r tracker.Report, chart waterfall.Chart) {
	about := []string{t.coloured("1", readable(r.Agent, "a run")), t.coloured(statusColours[r.Status], string(r.Status))}
	if r.StatusReason != nil {
		about[1] += " (" + *r.StatusReason + ")"
	}
	if chart.Timed {
		about = append(about, waterfall.Span(chart.Took))
	}
	about = append(about, r.Dialect, counts(r.Events, "frame"))
	if r.ParseErrors > 0 {
		about = append(about, t.coloured("31", counts(r.ParseErrors, "frame")+" unreadable"))
	}
	if r.Usage.Input != nil || r.Usage.Output != nil {
		about = append(about, "tokens "+number(r.Usage.Input)+" in, "+number(r.Usage.Output)+" out")
	}
	t.line(strings.Join(about, " · "))
	if r.Run != nil || r.Session != nil {
		t.line("run " + readable(r.Run, "?") + ", session " + readable(r.Session, "?"))
	}
	if !chart.Timed {
		t.line("The stream has no times: operations stand in the order in which it showed them.")
	}
}

func (t *texts) rows(chart waterfall.Chart) {
	names, widest := make([]string, len(chart.Rows)), 0
	for i, row := range chart.Rows {
		names[i] = stems(row.Last) + label(row)
		widest = max(widest, utf8.RuneCountInString(names[i]))
	}
	column := min(widest, widestName, max(t.width-spanColumn-narrowest/2, narrowest/2))
	bar := max(t.width-column-spanColumn-2, 10)
	for i, row := range chart.Rows {
		span := ""
		if row.Timed {
			span = waterfall.Span(row.Took)
		}
		t.line(padded(names[i], column) + " " + t.bar(row, bar) + " " + fmt.Sprintf("%*s", spanColumn, span))
	}
}

// stems draws where a row hangs.
func stems(last []bool) string {
	var b strings.Builder
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

var kindWords = map[tracker.OperationKind]string{tracker.InvokeAgent: "agent", tracker.ExecuteTool: "tool", tracker.Chat: "model"}

func label(row waterfall.Row) string {
	return kindWords[row.Kind] + " " + readable(row.Name, "?") + marks[row.Status]
}

// bar draws a row's time; whatever has none is a point.
func (t *texts) bar(row waterfall.Row, width int) string {
	from := min(int(row.From*float64(width)), width-1)
	to := min(max(int(row.To*float64(width)+0.5), from+1), width)
	ink := "█"
	if row.To <= row.From {
		ink = "▏"
	}
	colour := barColours[row.Kind]
	if row.Status == tracker.Error {
		colour = "31"
	}
	return strings.Repeat(" ", from) + t.coloured(colour, strings.Repeat(ink, to-from)) + strings.Repeat(" ", width-to)
}

func (t *texts) facts(r tracker.Report) {
	for _, x := range r.Transfers {
		t.line("transfer    " + readable(x.From, "?") + " → " + printable(x.To))
	}
	for _, c := range r.Confidence {
		value := printable(c.Label)
		if c.Value != nil {
			value = strings.TrimSpace(fmt.Sprintf("%.4g %% %s", 100**c.Value, value))
		}
		if c.Overall {
			value += " overall"
		}
		if c.Scope != "" {
			value += " for " + printable(c.Scope)
		}
		t.line("confidence  " + readable(c.Agent, "?") + ": " + strings.TrimSpace(value) + " (" + string(c.Origin) + ")")
	}
	for _, c := range r.Citations {
		t.line("source      " + readable(c.Agent, "?") + ": " + printable(c.Source))
	}
	for _, in := range r.Inputs {
		t.line("input       " + string(in.Kind) + " " + string(in.Status))
	}
	for _, a := range r.Artifacts {
		t.line("artifact    " + printable(a.Name) + " (" + string(a.Kind) + ")")
	}
	for _, l := range r.Links {
		t.line(l.Kind + "     " + printable(l.Run))
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
	if s == nil {
		return otherwise
	}
	return printable(*s)
}

// printable keeps what comes from an agent from being more than text in a terminal.
func printable(s string) string {
	if len(s) > longestText {
		s = s[:longestText] + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// padded cuts or fills a text to a number of characters.
func padded(s string, width int) string {
	n := utf8.RuneCountInString(s)
	if n <= width {
		return s + strings.Repeat(" ", width-n)
	}
	runes := []rune(s)
	return string(runes[:width-1]) + "…"
}

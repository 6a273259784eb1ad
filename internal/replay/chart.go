package replay

import (
	"strings"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/waterfall"
	"github.com/delegraph/delegraph/internal/terminal"
)

const (
	spanColumn   = 9
	maxNameWidth = 48
	minNameWidth = 12 // of a name that is cut to make room for its note
	factColumn   = 12
)

// The marks beside the names of operations that did not end well.
var marks = map[tracker.OperationStatus]string{tracker.OperationError: " ✗", tracker.OperationInterrupted: " ⏸", tracker.OperationUnfinished: " …"}

const failedColor, waitColor = "31", "33"

// Colors of terminals (ECMA-48, SGR).
var (
	statusColors = map[tracker.Status]string{
		tracker.Completed: "32", tracker.Failed: failedColor, tracker.Canceled: "33", tracker.Interrupted: "33", tracker.Incomplete: "33", tracker.TimedOut: failedColor,
	}
	barColors = map[tracker.OperationKind]string{tracker.InvokeWorkflow: "90", tracker.InvokeAgent: "34", tracker.InvokeNode: "33", tracker.Chat: "35", tracker.ExecuteTool: "36"}
)

// chartLine is a row of the chart as it is printed.
type chartLine struct {
	name, note string // see note
	from, to   float64
	ink, point string // the character of a bar, and that of a bar without a length
	color      string
	span       string
}

// rows prints a line for each operation, and then for each wait for input whose time is known.
func (t *textReporter) rows(run *tracker.Run, chart waterfall.Chart) {
	deepest := min(max(t.Width/10, 4), 12) // levels that leave room for a name
	lines, longest := make([]chartLine, 0, len(chart.Rows)), 0
	for _, row := range chart.Rows {
		lines = append(lines, operationLine(row, chart.Timed, deepest))
	}
	for _, w := range chart.Waits(run) {
		lines = append(lines, waitLine(w))
	}
	for _, l := range lines {
		longest = max(longest, terminal.DisplayWidth(l.name)+terminal.DisplayWidth(l.note))
	}
	column := min(longest, maxNameWidth, max(t.Width-spanColumn-terminal.MinWidth/2-2, terminal.MinWidth/2-1))
	width := t.Width - column - spanColumn - 2
	for _, l := range lines {
		t.line(nameAndNote(l.name, l.note, column) + " " + t.bar(l, width) + " " + strings.Repeat(" ", max(spanColumn-terminal.DisplayWidth(l.span), 0)) + l.span)
	}
}

func operationLine(row waterfall.Row, timed bool, deepest int) chartLine {
	l := chartLine{
		name: stems(row.Last, deepest) + label(row.Op), note: note(row.Op), from: row.From, to: row.To,
		ink: ink, point: point, color: barColors[row.Op.Kind],
	}
	if !row.Timed {
		l.ink, l.point = unknownInk, unknownPoint
	}
	if row.Op.Status == tracker.OperationError {
		l.color = failedColor
	}
	switch {
	case row.Timed, row.Reported:
		l.span = waterfall.FormatDuration(row.Duration)
	case timed:
		l.span = "?"
	}
	return l
}

// waitLine returns the row of a wait for input.
func waitLine(w waterfall.Wait) chartLine {
	l := chartLine{
		name: "wait " + string(w.Input.Kind), note: " " + string(w.Input.Status), from: w.From, to: w.To,
		ink: waitInk, point: point, color: waitColor, span: "?",
	}
	if w.Answered {
		l.span = waterfall.FormatDuration(w.Duration)
	}
	return l
}

// note returns the mark of an operation that did not end well, its error.type, and the confidence that it states.
func note(op *tracker.Operation) string {
	text := marks[op.Status]
	if code := op.ErrorType(); code != "" {
		text += " " + terminal.Printable(code)
	}
	stated := op.Details.OrZero().Confidence
	var chosen *tracker.Confidence
	for i := range stated {
		if c := &stated[i]; c.Known && (chosen == nil || c.Overall) {
			chosen = c
		}
	}
	if chosen != nil {
		text += " " + percent(chosen.Value)
	}
	return text
}

// stems returns the lines that connect a row with its parent, cut at the deepest level.
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
	return kindWords[op.Kind] + " " + terminal.PrintableName(op.Name)
}

// nameAndNote returns a name and its note, padded to the width of a column. If there is too little room, the name is cut, and then the note.
func nameAndNote(name, note string, column int) string {
	if room := max(column-terminal.DisplayWidth(note), min(minNameWidth, terminal.DisplayWidth(name))); terminal.DisplayWidth(name) > room {
		name = terminal.Pad(name, room)
	}
	return terminal.Pad(name+note, column)
}

// The characters of bars.
const (
	ink, point               = "█", "▏"
	unknownInk, unknownPoint = "░", "?" // for unknown times
	waitInk                  = "┄"      // for waits for input
)

// bar returns the bar of a line. A bar without a length is a point.
func (t *textReporter) bar(l chartLine, width int) string {
	from := min(int(l.from*float64(width)), width-1)
	to := min(max(int(l.to*float64(width)+0.5), from+1), width)
	with := l.ink
	if l.to <= l.from {
		with = l.point
	}
	return strings.Repeat(" ", from) + t.Paint(piece(strings.Repeat(with, to-from), l.color)) + strings.Repeat(" ", width-to)
}

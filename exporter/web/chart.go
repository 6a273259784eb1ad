package web

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/waterfall"
)

// chart is the waterfall of a run.
type chart struct {
	Rows  []row
	Ticks []tick
	Timed bool
	From  int // number of operations before the first row
	More  int // operations after the last row
	Took  string

	Unknown bool // the time of some operations is unknown

	arrows int
}

// row is an operation or a wait for input.
type row struct {
	ID         string   // of the operation or the wait, for the page; unique
	Href       string   // query that opens the details, or closes them if they are open; "" if there are none
	Details    *details // of the selected operation, or nil
	Kind       string   // agent, tool, model or wait
	Name       string
	Note       string // a short remark
	Class      string // CSS classes of its bar
	Stems      []string
	Level      int
	From, Wide string
	Point      bool // too short for a bar
	Start      string
	Took       string
	Error      string
	Confidence *tracker.Confidence
	Arrows     []arrow
}

// arrow is the part of a transfer's arrow in one row. At, Top and Bottom are its position in the
// row.
type arrow struct {
	At, Top, Bottom string
	Down, Up, Dot   bool // it ends here from above or from below; it starts here
}

// tick is a mark of the time axis.
type tick struct{ At, Anchor, Text, Class string }

const (
	maxRows     = 500
	minBarWidth = 0.001 // the smallest width of a bar, as a part of the time axis; anything narrower is drawn as a point
	maxStems    = 12
	maxArrows   = 2_000 // parts of arrows, one per row
)

var kinds = map[tracker.OperationKind]string{
	tracker.InvokeWorkflow: "workflow", tracker.InvokeAgent: "agent", tracker.InvokeNode: "step",
	tracker.ExecuteTool: "tool", tracker.Chat: "model",
}

// newChart lays out a run. It shows the page of rows that contains the selected operation, with its details. If none is selected,
// it shows the page that contains row number from. Open operations last until now.
func newChart(run *tracker.Run, now time.Time, selected tracker.SpanID, from int) chart {
	layout := waterfall.New(run, now)
	c := chart{Timed: layout.Timed, Took: waterfall.FormatDuration(layout.Duration), Ticks: ticks(layout)}
	for i, r := range layout.Rows {
		if r.Op.ID == selected && selected != (tracker.SpanID{}) {
			from = i
		}
	}
	c.From = max(min(from, len(layout.Rows)-1), 0) / maxRows * maxRows
	shown := layout.Rows[c.From:min(c.From+maxRows, len(layout.Rows))]
	c.More = len(layout.Rows) - c.From - len(shown)
	waits, at := waitsOf(run, layout), map[tracker.SpanID]int{}
	for i, r := range shown {
		at[r.Op.ID] = len(c.Rows)
		drawn := operation(r, layout)
		if drawn.Href = selection(r.Op.ID); r.Op.ID == selected {
			drawn.Href, drawn.Details = c.current(), newDetails(r.Op, run)
		}
		c.Rows = append(c.Rows, drawn)
		c.Unknown = c.Unknown || !r.Timed
		isLast := i+1 == len(layout.Rows)-c.From || layout.Rows[c.From+i+1].Depth <= r.Depth
		for j, wait := range waits[r.Op.ID] {
			w := waitRow(wait, run, layout, now)
			w.ID, w.Level = fmt.Sprintf("%s-wait-%d", drawn.ID, j), drawn.Level+1
			w.Stems = stems(append(slices.Clone(r.Last), isLast && j == len(waits[r.Op.ID])-1))
			c.Rows = append(c.Rows, w)
		}
	}
	for _, r := range shown {
		for _, from := range r.Op.Details.OrZero().Links {
			if source, drawn := at[from]; drawn {
				c.connect(source, at[r.Op.ID], percentOf(r.From))
			}
		}
	}
	return c
}

// waitsOf returns the waits for input of a run by the operation that waits. A request whose operation is not
// kept belongs to the whole run.
func waitsOf(run *tracker.Run, layout waterfall.Chart) map[tracker.SpanID][]waterfall.Wait {
	kept := map[tracker.SpanID]bool{}
	for _, op := range run.Operations {
		kept[op.ID] = true
	}
	waits := map[tracker.SpanID][]waterfall.Wait{}
	for _, w := range layout.Waits(run) {
		of := w.Input.Operation
		if !kept[of] {
			of = run.Root.ID
		}
		waits[of] = append(waits[of], w)
	}
	return waits
}

func operation(r waterfall.Row, layout waterfall.Chart) row {
	op := r.Op
	out := row{
		ID: hex.EncodeToString(op.ID[:]), Kind: kinds[op.Kind], Name: op.Name, Level: r.Depth + 1, Stems: stems(r.Last),
		From: percentOf(r.From), Wide: percentOf(r.To - r.From), Point: r.To-r.From < minBarWidth, Error: op.ErrorType(),
	}
	if op.AgentTool {
		out.Kind = "agent"
	}
	out.Class = out.Kind
	switch {
	case op.Status == tracker.OperationError:
		out.Class += " failed"
	case op.Status == tracker.OperationInterrupted:
		out.Class, out.Note = out.Class+" paused", "waits"
	case op.Status == tracker.OperationUnfinished && op.Ended.At.IsZero() && r.Timed:
		out.Class, out.Note = out.Class+" open", "running"
	case op.Status == tracker.OperationUnfinished:
		out.Class, out.Note = out.Class+" unfinished", "unfinished"
	}
	if op.AgentTool {
		out.Kind = "agent as a tool"
	}
	if r.Timed {
		out.Start, out.Took = waterfall.FormatDuration(time.Duration(r.From*float64(layout.Duration))), waterfall.FormatDuration(r.Duration)
	} else {
		out.Class += " unknown"
	}
	if r.Reported {
		out.Took = waterfall.FormatDuration(r.Duration)
	}
	stated := op.Details.OrZero().Confidence
	for i := range stated {
		if c := &stated[i]; c.Known && (out.Confidence == nil || c.Overall) {
			out.Confidence = c
		}
	}
	return out
}

// stems returns the tree lines of a row: for each level above it, whether more rows follow.
func stems(last []bool) []string {
	if len(last) > maxStems {
		last = last[len(last)-maxStems:]
	}
	out := make([]string, len(last))
	for i, isLast := range last {
		switch innermost := i == len(last)-1; {
		case innermost && isLast:
			out[i] = "end"
		case innermost:
			out[i] = "fork"
		case isLast:
			out[i] = "gap"
		default:
			out[i] = "pass"
		}
	}
	return out
}

// Heights within a row in pixels, as in the style sheet.
const (
	rowTop    = "0"
	rowMiddle = "14"
	rowBottom = "100%"
	barTop    = "5"
	barBottom = "23"
)

// connect draws an arrow from one row to another, one part in each row.
func (c *chart) connect(source, target int, at string) {
	down := target > source
	if c.arrows += max(source, target) - min(source, target) + 1; c.arrows > maxArrows || source == target {
		return
	}
	for i := min(source, target); i <= max(source, target); i++ {
		a := arrow{At: at, Top: rowTop, Bottom: rowBottom}
		switch {
		case i == source && down:
			a.Top, a.Dot = rowMiddle, true
		case i == source:
			a.Bottom, a.Dot = rowMiddle, true
		case i == target && down:
			a.Bottom, a.Down = barTop, true
		case i == target:
			a.Top, a.Up = barBottom, true
		}
		c.Rows[i].Arrows = append(c.Rows[i].Arrows, a)
	}
}

// waitTexts describes what a run waits for.
var waitTexts = map[event.InputKind]string{
	event.InputConfirmation: "waits for a confirmation", event.InputClarification: "waits for a clarification",
	event.InputSelection: "waits for a selection", event.InputData: "waits for data",
	event.InputCredential: "waits for a credential", event.InputTool: "waits for a tool's result",
}

// waitRow returns the row of a wait for input. Its length is unknown if the run has ended without an answer.
func waitRow(w waterfall.Wait, run *tracker.Run, layout waterfall.Chart, now time.Time) row {
	out := row{
		Kind: "wait", Name: waitTexts[w.Input.Kind], Class: "wait", Note: string(w.Input.Status), From: percentOf(w.From), Wide: percentOf(w.To - w.From),
		Took: "–", Point: w.To-w.From < minBarWidth, Start: waterfall.FormatDuration(time.Duration(w.From * float64(layout.Duration))),
	}
	switch {
	case w.Answered:
		out.Took = waterfall.FormatDuration(w.Duration)
	case run.Status == tracker.Running:
		out.Took = waterfall.FormatDuration(now.Sub(w.Input.Requested.At))
	}
	return out
}

// ticks returns marks at the quarters of the time axis. Narrow screens show half of them.
func ticks(layout waterfall.Chart) []tick {
	if !layout.Timed {
		return nil
	}
	out := []tick{{"0%", "start", "0", ""}}
	for i, class := range []string{"fine", "", "fine"} {
		part := float64(i+1) / 4
		out = append(out, tick{percentOf(part), "middle", waterfall.FormatDuration(time.Duration(part * float64(layout.Duration))), class})
	}
	return append(out, tick{"100%", "end", waterfall.FormatDuration(layout.Duration), ""})
}

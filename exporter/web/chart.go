package web

import (
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
	More  int // operations that are not drawn
	Took  string

	Unknown bool // is when some of them were

	arrows int
}

// row is an operation, or a wait for an answer.
type row struct {
	Kind       string // agent, tool, model or wait
	Name       string
	Note       string // what else there is to say, in a word or two
	Class      string // of its bar
	Stems      []string
	Level      int
	From, Wide string
	Point      bool // it took no time
	Start      string
	Took       string
	Error      string
	Confidence *tracker.Statement
	Arrows     []arrow
}

// arrow is the part of a transfer's arrow that runs through a row, in pixels from its top.
type arrow struct {
	At, Top, Bottom string
	Down, Up, Dot   bool // it ends here from above, or from below; it begins here
}

// tick is a mark of the time axis.
type tick struct{ At, Anchor, Text, Class string }

const (
	maxRows   = 500
	thinnest  = 0.001 // of the time axis: what is shorter is a point, since a browser would draw nothing
	maxStems  = 12
	maxArrows = 2_000 // parts of arrows, each in a row
)

var kinds = map[tracker.OperationKind]string{
	tracker.InvokeWorkflow: "workflow", tracker.InvokeAgent: "agent", tracker.InvokeNode: "step",
	tracker.ExecuteTool: "tool", tracker.Chat: "model",
}

// draw lays a run out as far as the page shows it. What goes on has lasted until now.
func draw(run *tracker.Run, now time.Time) chart {
	laid := waterfall.Of(run, now)
	c := chart{Timed: laid.Timed, Took: waterfall.Span(laid.Took), Ticks: ticks(laid)}
	if len(laid.Rows) > maxRows {
		c.More = len(laid.Rows) - maxRows
		laid.Rows = laid.Rows[:maxRows]
	}
	at := map[tracker.SpanID]int{}
	for i, r := range laid.Rows {
		at[r.Op.ID] = i
		c.Rows = append(c.Rows, operation(r, laid))
		c.Unknown = c.Unknown || !r.Timed
	}
	for i, r := range laid.Rows {
		for _, from := range r.Op.Details.OrNone().Links {
			if source, drawn := at[from]; drawn {
				c.connect(source, i, share(r.From))
			}
		}
	}
	for _, in := range first(run.Inputs) {
		if r, timed := waiting(in, run, laid, now); timed {
			c.Rows = append(c.Rows, r)
		}
	}
	return c
}

func operation(r waterfall.Row, laid waterfall.Chart) row {
	op := r.Op
	out := row{
		Kind: kinds[op.Kind], Name: op.Name, Level: r.Depth + 1, Stems: stems(r.Last),
		From: share(r.From), Wide: share(r.To - r.From), Point: r.To-r.From < thinnest, Error: op.ErrorType(),
	}
	if op.AgentTool {
		out.Kind = "agent"
	}
	out.Class = out.Kind
	switch {
	case op.Status == tracker.Error:
		out.Class += " failed"
	case op.Status == tracker.OperationInterrupted:
		out.Class, out.Note = out.Class+" paused", "waits"
	case op.Status == tracker.Unfinished && op.Ended.At.IsZero() && r.Timed:
		out.Class, out.Note = out.Class+" open", "running"
	case op.Status == tracker.Unfinished:
		out.Class, out.Note = out.Class+" unfinished", "unfinished"
	}
	if op.AgentTool {
		out.Kind = "agent as a tool"
	}
	if r.Timed {
		out.Start, out.Took = waterfall.Span(time.Duration(r.From*float64(laid.Took))), waterfall.Span(r.Took)
	} else {
		out.Class += " unknown"
	}
	if r.Reported {
		out.Took = waterfall.Span(r.Took)
	}
	stated := op.Details.OrNone().Confidence
	for i := range stated {
		if c := &stated[i]; c.Known && (out.Confidence == nil || c.Overall) {
			out.Confidence = c
		}
	}
	return out
}

// stems draw where a row hangs: for each level above it, whether something follows there.
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

// Of a row's height, in pixels: the style sheet has them too.
const (
	rowTop    = "0"
	rowMiddle = "14"
	rowBottom = "100%"
	barTop    = "5"
	barBottom = "23"
)

// connect draws an arrow from one row to another, a part of it in each row between them.
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

// awaited says what a run waits for.
var awaited = map[event.InputKind]string{
	event.InputConfirmation: "waits for a confirmation", event.InputClarification: "waits for a clarification",
	event.InputSelection: "waits for a selection", event.InputData: "waits for data",
	event.InputCredential: "waits for a credential", event.InputTool: "waits for a tool's answer",
}

// waiting is a request for input as a row of its own, as long as it was open.
func waiting(in *tracker.Input, run *tracker.Run, laid waterfall.Chart, now time.Time) (row, bool) {
	from, known := laid.At(in.Requested.At)
	if !known {
		return row{}, false
	}
	out := row{Kind: "wait", Name: awaited[in.Kind], Class: "wait", Note: string(in.Status), Level: 2, From: share(from)}
	to, end := 1.0, run.Root.Ended.At
	if run.Status == tracker.Running {
		end = now
	}
	if answered, known := laid.At(in.Answered.At); known {
		to, end = answered, in.Answered.At
	}
	out.Wide, out.Point = share(to-from), to-from < thinnest
	out.Start, out.Took = waterfall.Span(time.Duration(from*float64(laid.Took))), waterfall.Span(end.Sub(in.Requested.At))
	return out, true
}

// ticks mark quarters of the time axis; a narrow screen has room for half of them.
func ticks(laid waterfall.Chart) []tick {
	if !laid.Timed {
		return nil
	}
	out := []tick{{"0%", "start", "0", ""}}
	for i, class := range []string{"fine", "", "fine"} {
		part := float64(i+1) / 4
		out = append(out, tick{share(part), "middle", waterfall.Span(time.Duration(part * float64(laid.Took))), class})
	}
	return append(out, tick{"100%", "end", waterfall.Span(laid.Took), ""})
}

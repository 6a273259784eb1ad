// Package waterfall lays a run out as rows on a time axis: who delegated to whom, and where the time went.
package waterfall

import (
	"strconv"
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// Chart is a run as rows, each operation below the one that it is part of.
type Chart struct {
	Rows  []Row
	Took  time.Duration // from one end of the axis to the other
	Timed bool          // the axis is of time; else it is of frames, in the order of the stream

	from, to time.Time
}

// At is where a moment lies on the time axis, 0 to 1, where both are known.
func (c Chart) At(moment time.Time) (share float64, known bool) {
	if !c.Timed || moment.IsZero() {
		return 0, false
	}
	return part(float64(moment.Sub(c.from)), float64(c.to.Sub(c.from))), true
}

// Known says whether the run's own beginning and end are known, so that it took the length of the axis.
func (c Chart) Known() bool { return len(c.Rows) > 0 && c.Rows[0].Timed }

// Row is one operation.
type Row struct {
	Op       *tracker.Operation
	Depth    int     // how many operations it is part of
	Last     []bool  // for each of the innermost of these: whether it, or what it holds of this, is the last there
	From, To float64 // of the axis, 0 to 1; where Took is not known, only where the stream shows it, as its span does
	Took     time.Duration
	Timed    bool // Took is known, and lies between From and To
	Reported bool // Took is known by the protocol's word alone
}

// maxLast is of how many levels above it a row knows what follows there: a run may be as deep as it has operations.
const maxLast = 32

// Of lays a run out. What goes on has lasted until now.
func Of(run *tracker.Run, now time.Time) Chart {
	if len(run.Operations) == 0 {
		return Chart{}
	}
	l := layout{run: run, now: now, below: map[tracker.SpanID][]*tracker.Operation{}}
	kept := map[tracker.SpanID]bool{}
	for _, op := range run.Operations {
		kept[op.ID] = true
	}
	root := run.Operations[0]
	for _, op := range run.Operations[1:] {
		above := op.Parent
		if !kept[above] { // a long run forgets operations that have ended
			above = root.ID
		}
		l.below[above] = append(l.below[above], op)
	}
	l.measure(root)
	l.add(root, 0, nil)
	return l.chart
}

// layout is a chart in the making.
type layout struct {
	run         *tracker.Run
	now         time.Time
	below       map[tracker.SpanID][]*tracker.Operation
	first, last int // frames, of an axis without times
	chart       Chart
}

// measure finds the ends of the axis: those of the run, or of what is known of it.
func (l *layout) measure(root *tracker.Operation) {
	l.chart.from, l.chart.to, l.chart.Timed = l.run.Place(root)
	if l.goesOn(root) {
		l.chart.to = l.now
	}
	l.chart.Took = max(l.chart.to.Sub(l.chart.from), 0)
	l.first = root.Started.Frame
	for _, op := range l.run.Operations {
		l.last = max(l.last, op.Started.Frame, op.Ended.Frame)
	}
}

func (l *layout) goesOn(op *tracker.Operation) bool {
	return l.run.Status == tracker.Running && !op.Started.At.IsZero() && op.Ended.At.IsZero()
}

func (l *layout) add(op *tracker.Operation, depth int, last []bool) {
	row := Row{Op: op, Depth: depth, Last: last}
	if l.chart.Timed {
		l.time(&row)
	} else {
		l.order(&row)
	}
	l.chart.Rows = append(l.chart.Rows, row)
	below := l.below[op.ID]
	delete(l.below, op.ID) // an id that names itself would have no end
	for i, child := range below {
		inner := append(append(make([]bool, 0, maxLast+1), last...), i == len(below)-1)
		l.add(child, depth+1, inner[max(len(inner)-maxLast, 0):])
	}
}

// time puts a row where its times are.
func (l *layout) time(row *Row) {
	from, to, known := l.run.Place(row.Op)
	switch {
	case !known:
		from, to = l.chart.from, l.chart.from
	case l.goesOn(row.Op):
		to, row.Timed = l.now, true
	default:
		row.Timed = row.Op.Timing != tracker.Unknown && !row.Op.Started.At.IsZero() && !row.Op.Ended.At.IsZero()
	}
	if row.Timed {
		row.Took = max(to.Sub(from), 0)
	} else {
		row.report()
	}
	row.From, _ = l.chart.At(from)
	row.To, _ = l.chart.At(to)
	row.To = max(row.From, row.To)
}

// report takes the protocol's word for how long an operation took.
func (r *Row) report() {
	if took, by := r.Op.Duration(); by != tracker.Unknown {
		r.Took, r.Reported = took, true
	}
}

// order puts a row where its frames are.
func (l *layout) order(row *Row) {
	row.report()
	ended := row.Op.Ended.Frame
	if ended == 0 {
		ended = l.last
	}
	whole := float64(l.last - l.first)
	if row.To = 1; whole > 0 { // else the only frame is all there is
		row.From = part(float64(row.Op.Started.Frame-l.first), whole)
		row.To = max(row.From, part(float64(ended-l.first), whole))
	}
}

// part is a share of a whole; where that is nothing, all is its beginning.
func part(of, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(max(of/whole, 0), 1)
}

// Span writes a duration as a person would: three digits, and a unit.
func Span(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 s"
	case d < time.Millisecond:
		return digits(float64(d)/1e3) + " µs"
	case d < time.Second:
		return digits(float64(d)/1e6) + " ms"
	case d < 2*time.Minute:
		return digits(d.Seconds()) + " s"
	}
	return d.Round(time.Second).String()
}

// digits writes three of them.
func digits(n float64) string {
	switch {
	case n >= 100:
		return strconv.FormatFloat(n, 'f', 0, 64)
	case n >= 10:
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return strconv.FormatFloat(n, 'f', 2, 64)
}

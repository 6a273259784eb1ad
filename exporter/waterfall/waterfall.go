// Package waterfall lays out a run as rows on a time axis, one for each operation. The page and the
// replay command draw them.
package waterfall

import (
	"strconv"
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// Chart is a run as rows, with each operation below its parent.
type Chart struct {
	Rows     []Row
	Duration time.Duration // length of the axis
	Timed    bool          // the axis is time; otherwise it is frame numbers

	from, to time.Time
}

// Position returns where a time lies on the axis, from 0 to 1. known is false if the axis is not
// time or the time is zero.
func (c Chart) Position(at time.Time) (position float64, known bool) {
	if !c.Timed || at.IsZero() {
		return 0, false
	}
	return share(float64(at.Sub(c.from)), float64(c.to.Sub(c.from))), true
}

// Known reports whether the run's start and end are known, so that its duration is the length of
// the axis.
func (c Chart) Known() bool { return len(c.Rows) > 0 && c.Rows[0].Timed }

// Row is one operation.
type Row struct {
	Op       *tracker.Operation
	Depth    int     // number of ancestors
	Last     []bool  // for each of the innermost levels, whether no sibling follows there
	From, To float64 // position on the axis, from 0 to 1; an estimate if Duration is not known
	Duration time.Duration
	Timed    bool // Duration is measured, and lies between From and To
	Reported bool // Duration is only reported by the protocol
}

// maxLast limits the length of Row.Last, because a run may be as deep as it has operations.
const maxLast = 32

// New lays out a run. Open operations last until now.
func New(run *tracker.Run, now time.Time) Chart {
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
		if !kept[above] { // a long run drops ended operations
			above = root.ID
		}
		l.below[above] = append(l.below[above], op)
	}
	l.measure(root)
	l.add(root, 0, nil)
	return l.chart
}

// layout is the state of laying out a chart.
type layout struct {
	run         *tracker.Run
	now         time.Time
	below       map[tracker.SpanID][]*tracker.Operation
	first, last int // frame numbers, for an axis without times
	chart       Chart
}

// measure sets the ends of the axis.
func (l *layout) measure(root *tracker.Operation) {
	l.chart.from, l.chart.to, l.chart.Timed = l.run.Interval(root)
	if l.isOpen(root) {
		l.chart.to = l.now
	}
	l.chart.Duration = max(l.chart.to.Sub(l.chart.from), 0)
	l.first = root.Started.Frame
	for _, op := range l.run.Operations {
		l.last = max(l.last, op.Started.Frame, op.Ended.Frame)
	}
}

func (l *layout) isOpen(op *tracker.Operation) bool {
	return l.run.Status == tracker.Running && !op.Started.At.IsZero() && op.Ended.At.IsZero()
}

func (l *layout) add(op *tracker.Operation, depth int, last []bool) {
	row := Row{Op: op, Depth: depth, Last: last}
	if l.chart.Timed {
		l.placeByTime(&row)
	} else {
		l.placeByFrame(&row)
	}
	l.chart.Rows = append(l.chart.Rows, row)
	below := l.below[op.ID]
	delete(l.below, op.ID) // an id that is its own parent would recurse forever
	for i, child := range below {
		inner := append(append(make([]bool, 0, maxLast+1), last...), i == len(below)-1)
		l.add(child, depth+1, inner[max(len(inner)-maxLast, 0):])
	}
}

func (l *layout) placeByTime(row *Row) {
	from, to, known := l.run.Interval(row.Op)
	switch {
	case !known:
		from, to = l.chart.from, l.chart.from
	case l.isOpen(row.Op):
		to, row.Timed = l.now, true
	default:
		row.Timed = row.Op.Timing != tracker.TimingUnknown && !row.Op.Started.At.IsZero() && !row.Op.Ended.At.IsZero()
	}
	if row.Timed {
		row.Duration = max(to.Sub(from), 0)
	} else {
		row.useReported()
	}
	row.From, _ = l.chart.Position(from)
	row.To, _ = l.chart.Position(to)
	row.To = max(row.From, row.To)
}

// useReported sets the duration to the one that the protocol reports, if there is one.
func (r *Row) useReported() {
	if took, by := r.Op.Duration(); by != tracker.TimingUnknown {
		r.Duration, r.Reported = took, true
	}
}

func (l *layout) placeByFrame(row *Row) {
	row.useReported()
	ended := row.Op.Ended.Frame
	if ended == 0 {
		ended = l.last
	}
	whole := float64(l.last - l.first)
	if row.To = 1; whole > 0 { // otherwise there is only one frame
		row.From = share(float64(row.Op.Started.Frame-l.first), whole)
		row.To = max(row.From, share(float64(ended-l.first), whole))
	}
}

// share returns of/whole between 0 and 1, or 0 if whole is not positive.
func share(of, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(max(of/whole, 0), 1)
}

// FormatDuration formats a duration for people, with three digits and a unit.
func FormatDuration(d time.Duration) string {
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

// digits formats a number with three digits.
func digits(n float64) string {
	switch {
	case n >= 100:
		return strconv.FormatFloat(n, 'f', 0, 64)
	case n >= 10:
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return strconv.FormatFloat(n, 'f', 2, 64)
}

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
	Took  time.Duration // of the run
	Timed bool          // whether the times are known; else rows stand in the order in which the stream showed them

	from, to time.Time
}

// At is where a moment lies on the time axis, 0 to 1, where both are known.
func (c Chart) At(moment time.Time) (share float64, known bool) {
	if !c.Timed || moment.IsZero() {
		return 0, false
	}
	return (&axis{from: c.from, to: c.to}).share(moment), true
}

// Row is one operation.
type Row struct {
	tracker.OperationReport
	Last     []bool  // for each level above it: whether it is part of the last operation there; its depth is the length
	From, To float64 // of the run, 0 to 1
	Took     time.Duration
	Timed    bool // Took is known
}

// Of lays a run out.
func Of(r tracker.Report) Chart {
	below := map[string][]tracker.OperationReport{}
	for _, op := range r.Operations {
		parent := ""
		if op.Parent != nil {
			parent = *op.Parent
		}
		below[parent] = append(below[parent], op)
	}
	a := axis{of: r}
	a.from, a.to, a.timed = bounds(r)
	c := Chart{Timed: a.timed, Took: a.to.Sub(a.from), from: a.from, to: a.to}
	c.Rows = a.rows(nil, below, "", nil)
	return c
}

func bounds(r tracker.Report) (from, to time.Time, known bool) {
	if len(r.Operations) == 0 {
		return from, to, false
	}
	from, started := moment(r.Operations[0].Started)
	to, ended := moment(r.Operations[0].Ended)
	return from, to, started && ended
}

func moment(text *string) (at time.Time, known bool) {
	if text == nil {
		return at, false
	}
	at, err := time.Parse(time.RFC3339Nano, *text)
	return at, err == nil
}

// axis places moments between the run's ends.
type axis struct {
	of       tracker.Report
	from, to time.Time
	timed    bool
	placed   int
}

func (a *axis) rows(rows []Row, below map[string][]tracker.OperationReport, parent string, last []bool) []Row {
	siblings := below[parent]
	delete(below, parent) // an id that names itself would have no end
	for i, op := range siblings {
		row := Row{OperationReport: op}
		if parent != "" {
			row.Last = append(append(row.Last, last...), i == len(siblings)-1)
		}
		a.place(&row)
		rows = append(rows, row)
		rows = a.rows(rows, below, op.ID, row.Last)
	}
	return rows
}

func (a *axis) place(row *Row) {
	at, begun := moment(row.Started)
	end, ended := moment(row.Ended)
	n := float64(max(len(a.of.Operations), 1))
	switch {
	case !a.timed && a.placed == 0:
		row.From, row.To = 0, 1
	case !a.timed:
		row.From, row.To = float64(a.placed)/n, float64(a.placed+1)/n
	case begun && ended:
		row.From, row.To = a.share(at), a.share(end)
		row.Took, row.Timed = end.Sub(at), row.Timing != tracker.Unknown
	case begun:
		row.From, row.To = a.share(at), a.share(at)
	case ended:
		row.From, row.To = a.share(end), a.share(end)
	}
	a.placed++
}

// share is where a moment lies in the run; a run that took no time is all beginning.
func (a *axis) share(at time.Time) float64 {
	whole := a.to.Sub(a.from)
	if whole <= 0 {
		return 0
	}
	return min(max(float64(at.Sub(a.from))/float64(whole), 0), 1)
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

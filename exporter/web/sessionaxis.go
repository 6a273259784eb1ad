package web

import (
	"cmp"
	"time"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/waterfall"
)

// sessionAxis is the time axis of a session.
type sessionAxis struct {
	Bars  []sessionBar
	Ticks []tick
	Took  string
	Waits bool // a bar is a wait for input
	Gaps  bool // a bar is a time without a run
}

// sessionBar is a run, or the time between two runs.
type sessionBar struct {
	Key        string // of the run; "" for a time between runs
	ID         string // of the element, which stays the same when the page is updated
	Name       string
	Clock      string // time of day at which the run started; "" if unknown
	Status     tracker.Status
	Class      string
	Known      bool // it has a place on the axis
	From, Wide string
	Point      bool
	Start      string // "" if unknown
	Took       string // "" if unknown
}

// newSessionAxis lays out the runs of a session at their times, and the times between them in which no run was open.
func newSessionAxis(s recent.Session, now time.Time) sessionAxis {
	scale, ok := sessionScale(s.Runs, now)
	var axis sessionAxis
	if ok {
		axis.Ticks, axis.Took = ticks(waterfall.Chart{Timed: true, Duration: scale.length}), waterfall.FormatDuration(scale.length)
	}
	var before recent.SessionRun // the run that ended last
	var covered time.Time        // its end
	for _, run := range s.Runs {
		from, to, known := runInterval(run, now)
		if known && !covered.IsZero() && from.After(covered) && isCertain(s, covered, from, now) {
			gap := scale.gap(before, covered, from)
			gap.ID = "before-" + run.Key
			axis.Bars = append(axis.Bars, gap)
			axis.Waits, axis.Gaps = axis.Waits || gap.Class == "wait", axis.Gaps || gap.Class == "gap"
		}
		if known && to.After(covered) {
			covered, before = to, run
		}
		axis.Bars = append(axis.Bars, scale.run(run, now))
	}
	return axis
}

// isCertain reports whether it is known that no run was open between two times.
func isCertain(s recent.Session, from, to, now time.Time) bool {
	unknown := 0
	for _, run := range s.Runs {
		start, end, known := runInterval(run, now)
		if known {
			continue
		}
		unknown++
		endsBefore := run.Started.IsZero() && !end.IsZero() && !end.After(from)
		startsAfter := run.Ended.IsZero() && !start.IsZero() && !start.Before(to)
		if !endsBefore && !startsAfter {
			return false
		}
	}
	return unknown == s.Untimed // if they differ, a run of unknown times is left out of s.Runs
}

// timeScale places times on an axis.
type timeScale struct {
	from   time.Time
	length time.Duration
}

// sessionScale returns the scale from the first known time of the runs to the last. ok is false if no time is known.
func sessionScale(runs []recent.SessionRun, now time.Time) (scale timeScale, ok bool) {
	var last time.Time
	for _, run := range runs {
		from, to, _ := runInterval(run, now)
		if !from.IsZero() && (scale.from.IsZero() || from.Before(scale.from)) {
			scale.from = from
		}
		if to.After(last) {
			last = to
		}
	}
	scale.length = max(last.Sub(scale.from), 0)
	return scale, !scale.from.IsZero()
}

// place sets the place of a bar on the axis.
func (s timeScale) place(bar *sessionBar, from, to time.Time) {
	share := func(at time.Time) float64 {
		if s.length <= 0 {
			return 0
		}
		return min(max(float64(at.Sub(s.from))/float64(s.length), 0), 1)
	}
	left, right := share(from), share(to)
	bar.Known, bar.From, bar.Wide, bar.Point = true, percentOf(left), percentOf(right-left), right-left < minBarWidth
	bar.Start = waterfall.FormatDuration(from.Sub(s.from))
}

// run returns the bar of a run. It is a point at the known time if the other one is unknown.
func (s timeScale) run(run recent.SessionRun, now time.Time) sessionBar {
	bar := sessionBar{Key: run.Key, ID: "bar-" + run.Key, Name: run.Agent, Status: run.Status, Class: "agent" + barClasses[run.Status], Took: sessionRunTook(run, now)}
	if !run.Started.IsZero() {
		bar.Clock = formatHour(run.Started)
	}
	from, to, known := runInterval(run, now)
	if !from.IsZero() {
		s.place(&bar, from, to)
	}
	if !known {
		bar.Class, bar.Point, bar.Start = bar.Class+" unknown", true, ""
	}
	return bar
}

var barClasses = map[tracker.Status]string{
	tracker.Failed: " failed", tracker.TimedOut: " failed", tracker.Running: " open", tracker.Interrupted: " paused",
	tracker.Incomplete: " unfinished", tracker.Canceled: " unfinished",
}

// gap returns the bar of the time without a run that follows a run. It is a wait only if that run ended with an open
// request for input.
func (s timeScale) gap(after recent.SessionRun, from, to time.Time) sessionBar {
	bar := sessionBar{Name: "no run", Class: "gap", Took: waterfall.FormatDuration(to.Sub(from))}
	switch in := waiting(after); {
	case !after.LaterKept:
		bar.Name = "no kept run"
	case in != nil:
		bar.Name, bar.Class = cmp.Or(waitTexts[in.Kind], "waits for input"), "wait"
	}
	s.place(&bar, from, to)
	return bar
}

package web

import (
	"fmt"
	"strconv"
	"time"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/waterfall"
)

// overviewView is the overview above the list, as text.
type overviewView struct {
	Total   figuresView
	Sources []figuresView // nil if there is only one
	More    int           // sources that are not shown
	Brief   bool          // it covers less than a minute
	Since   string        // the time that it covers, such as "since 12:03:05"; "" if that is unknown
	Limits  []string      // sentences about what it leaves out
}

// figuresView are the numbers of some runs. An unknown one is a dash.
type figuresView struct {
	Source    string
	Runs      string
	PerMinute string
	Failed    string // share of the ended runs
	FailedOf  string // such as "3 of 25 ended"
	P50, P95  string
	TimedOf   string // such as "20 of 25 ended"; "" if the durations of all ended runs are known
	In, Out   string // tokens
	TokensOf  string // such as "20 of 25 runs"; "" if the tokens of all runs are known
}

func newOverview(o recent.Overview, q recent.Query, now time.Time) overviewView {
	view := overviewView{Total: newFigures(o, o.Total), More: o.More}
	if len(o.Sources) > 1 {
		for _, f := range o.Sources {
			view.Sources = append(view.Sources, newFigures(o, f))
		}
	}
	if _, known := o.PerMinute(o.Total); !known {
		view.Brief = !o.From.IsZero()
	}
	if !o.From.IsZero() {
		view.Since = "since " + momentText(o.From, now)
		if o.To.Before(now) {
			view.Since += " until " + momentText(o.To, now)
		}
	}
	if !o.Oldest.IsZero() && q.From.Before(o.Oldest) && (o.Evicted || !q.From.IsZero()) {
		view.Limits = append(view.Limits, fmt.Sprintf("The oldest run kept is from %s.", momentText(o.Oldest, now)))
	}
	if o.Evicted && o.From.IsZero() {
		view.Total.Runs = "–"
		view.Limits = append(view.Limits, "Runs of this time may have been removed to make room, so no numbers are shown.")
	} else if o.Evicted {
		view.Limits = append(view.Limits, fmt.Sprintf("Some runs that started up to %s were removed to make room, so these numbers are of later runs.", momentText(o.From, now)))
	}
	return view
}

func newFigures(o recent.Overview, f recent.Figures) figuresView {
	view := figuresView{
		Source: f.Source, Runs: grouped(int64(f.Runs)), PerMinute: "–", Failed: "–", P50: "–", P95: "–",
		In: tokens(f.Usage.Input), Out: tokens(f.Usage.Output), TokensOf: tokensOf(f),
	}
	if rate, known := o.PerMinute(f); known {
		view.PerMinute = rateText(rate)
	}
	if f.Ended > 0 {
		view.Failed = strconv.FormatFloat(100*float64(f.Failed)/float64(f.Ended), 'g', 3, 64) + " %"
		view.FailedOf = ofText(f.Failed, f.Ended, "ended")
	}
	if f.Timed > 0 {
		view.P50, view.P95 = waterfall.FormatDuration(f.P50), waterfall.FormatDuration(f.P95)
	}
	if f.Timed < f.Ended {
		view.TimedOf = ofText(f.Timed, f.Ended, "ended")
	}
	return view
}

// tokensOf returns the number of runs with known tokens, or "" if they are known for all.
func tokensOf(f recent.Figures) string {
	switch {
	case f.Input == f.Runs && f.Output == f.Runs:
		return ""
	case f.Input == f.Output:
		return ofText(f.Input, f.Runs, "runs")
	}
	return fmt.Sprintf("in: %s, out: %s", ofText(f.Input, f.Runs, "runs"), ofText(f.Output, f.Runs, "runs"))
}

func ofText(part, all int, what string) string {
	return grouped(int64(part)) + " of " + grouped(int64(all)) + " " + what
}

// rateText formats runs a minute: one decimal, and two digits below one.
func rateText(rate float64) string {
	if rate < 1 {
		return strconv.FormatFloat(rate, 'g', 2, 64)
	}
	return strconv.FormatFloat(rate, 'f', 1, 64)
}

// momentText formats a time, without the date if that is today's.
func momentText(t, now time.Time) string {
	if formatDay(t) == formatDay(now) {
		return formatHour(t)
	}
	return formatTime(t)
}

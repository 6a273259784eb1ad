package recent

import (
	"cmp"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// Overview sums up the runs that a query selects, without its cursor and limit. If runs were evicted, From is the latest start
// of an evicted run, and runs that started before it are left out. Otherwise the share of failed runs would be too high, because
// they are kept longer than others. A live run, or one that states no start, counts as started when it was first seen. But the
// query's From and To select by the start that a run states, as in the list. So if an agent's clock is wrong, its runs may have
// started outside of the Overview's From and To.
type Overview struct {
	From, To time.Time // the covered time; if it is empty, From is zero; if Evicted is also set, no run counts
	Oldest   time.Time // the first start of all kept runs, whatever the query
	Evicted  bool      // a run that started at or after Query.From was evicted
	Total    Figures
	Sources  []Figures // by name
	More     int       // sources that are not in Sources
}

// Figures are the numbers of the runs of a source, or of all runs.
type Figures struct {
	Source        string // "" for all
	Runs          int    // open and ended
	Ended, Failed int    // of Runs; Failed includes timed out
	P50, P95      time.Duration
	Timed         int // ended runs with a known duration, from which P50 and P95 are computed
	Usage         event.Usage
	Input, Output int // runs whose input tokens are known, and runs whose output tokens are known

	durations []time.Duration
}

// maxOverviewSources bounds Overview.Sources.
const maxOverviewSources = 100

// Overview returns the overview of the runs that a query selects at a time.
func (r *Runs) Overview(q Query, now time.Time) Overview {
	o := overviewBuilder{selects: newSelector(q), sources: map[string]*Figures{}}
	var selected []openFigures
	kept := r.view(func(open []openRun) {
		for _, run := range open {
			of := run.run.Run()
			started := startTime(of, run.start)
			if o.noteStart(started); o.selects.open(run.run) {
				selected = append(selected, openFigures{of.Source, started, of.Usage})
			}
		}
	})
	for _, k := range kept.runs {
		o.noteStart(startTime(k.run, k.start))
	}
	o.setRange(q, now, kept.evictedStart)
	for _, run := range selected {
		if o.covers(run.started) {
			o.add(run.source, run.usage, nil)
		}
	}
	for _, k := range kept.runs {
		if o.covers(startTime(k.run, k.start)) && o.selects.ended(k.run) {
			o.add(k.summary.Source, k.summary.Usage, &k.summary)
		}
	}
	return o.finish()
}

// openFigures holds the facts of an open run that an overview counts.
type openFigures struct {
	source  string
	started time.Time
	usage   event.Usage
}

type overviewBuilder struct {
	Overview
	selects selector
	sources map[string]*Figures
}

// noteStart updates Oldest with the start of a kept run.
func (o *overviewBuilder) noteStart(started time.Time) {
	if o.Oldest.IsZero() || started.Before(o.Oldest) {
		o.Oldest = started
	}
}

// setRange sets the time that the overview covers. evicted is the latest start of an evicted run.
func (o *overviewBuilder) setRange(q Query, now, evicted time.Time) {
	if o.From, o.To = q.From, now; !q.To.IsZero() && q.To.Before(now) {
		o.To = q.To
	}
	if o.Evicted = !evicted.IsZero() && !evicted.Before(q.From); o.Evicted {
		o.From = evicted
	} else if o.From.Before(o.Oldest) || o.Oldest.IsZero() {
		o.From = o.Oldest
	}
	if !o.From.Before(o.To) {
		o.From = time.Time{}
	}
}

// covers reports whether a run with this start belongs to the overview. It does not if an evicted run
// started at the same time or later.
func (o *overviewBuilder) covers(started time.Time) bool {
	return !o.Evicted || !o.From.IsZero() && started.After(o.From)
}

// add counts a run; ended is nil for an open one.
func (o *overviewBuilder) add(source string, usage event.Usage, ended *Summary) {
	of := o.sources[source]
	if of == nil {
		of = &Figures{Source: source}
		o.sources[source] = of
	}
	for _, f := range []*Figures{&o.Total, of} {
		f.Runs++
		f.Usage = f.Usage.Add(usage)
		if usage.Input.Known {
			f.Input++
		}
		if usage.Output.Known {
			f.Output++
		}
		if ended == nil {
			continue
		}
		f.Ended++
		if isFailure(ended.Status) {
			f.Failed++
		}
		if d, known := ended.Duration(); known {
			f.durations = append(f.durations, d)
		}
	}
}

func (o *overviewBuilder) finish() Overview {
	o.Total.measure()
	for _, f := range o.sources {
		f.measure()
		o.Sources = append(o.Sources, *f)
	}
	slices.SortFunc(o.Sources, func(a, b Figures) int { return cmp.Compare(a.Source, b.Source) })
	if o.More = max(len(o.Sources)-maxOverviewSources, 0); o.More > 0 {
		o.Sources = o.Sources[:maxOverviewSources]
	}
	return o.Overview
}

// measure computes the percentiles of the durations.
func (f *Figures) measure() {
	slices.Sort(f.durations)
	f.Timed, f.P50, f.P95 = len(f.durations), percentile(f.durations, 50), percentile(f.durations, 95)
	f.durations = nil
}

// percentile returns the shortest of the sorted durations such that at least the given percentage of them are
// no longer than it. It returns 0 if there are none.
func percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*percent+99)/100-1, 0)]
}

// PerMinute returns how many of the runs started per minute, in the time that the overview covers. It is
// unknown if that is less than a minute, because a single run would make the rate high.
func (o Overview) PerMinute(f Figures) (rate float64, known bool) {
	covered := o.To.Sub(o.From)
	if o.From.IsZero() || covered < time.Minute {
		return 0, false
	}
	return float64(f.Runs) * float64(time.Minute) / float64(covered), true
}

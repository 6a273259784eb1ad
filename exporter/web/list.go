package web

import (
	"net/http"
	"slices"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// listLimit is how many runs the page shows at once, and maxNames how many names a filter offers.
const (
	listLimit = 50
	maxNames  = 100
)

// list is the landing page: the runs, and how the sources fare.
type list struct {
	frame
	Runs        []line
	Open, Ended int
	Filters     []choice
	Filtered    bool
	First, Next string // pages of the list; "" where there is none
	Sources     []recent.Source
	Down        int // of the sources
}

// line is a run of the list.
type line struct {
	recent.Summary
	Took   string
	Reason string
}

// choice is a filter.
type choice struct {
	Name, Label string
	Options     []option
}

type option struct {
	Value    string
	Selected bool
}

func (s Settings) list(w http.ResponseWriter, r *http.Request) {
	values, q, err := asked(r.URL, listLimit)
	if err != nil {
		say(w, http.StatusBadRequest, err.Error())
		return
	}
	found := s.Runs.Page(q, false)
	sources, agents := s.Runs.Names(maxNames)
	view := list{
		frame: s.frame("Runs", "", true), Open: found.Open, Ended: found.Ended,
		Filtered: q.Source != "" || q.Agent != "" || q.Status != "", Next: next(values, found.Next),
	}
	if s.Sources != nil {
		view.Sources = s.Sources.All()
		for _, of := range view.Sources {
			sources = append(sources, of.Name)
			if of.Known && !of.Up {
				view.Down++
			}
		}
	}
	var ends []string
	for _, status := range statuses() {
		ends = append(ends, string(status))
	}
	view.Filters = []choice{
		chosen("source", "Source", slices.Compact(slices.Sorted(slices.Values(sources))), q.Source),
		chosen("agent", "Agent", agents, q.Agent),
		chosen("status", "Status", ends, string(q.Status)),
	}
	if q.After != (recent.Cursor{}) {
		values.Del("cursor")
		view.First = "?" + values.Encode()
	}
	now := s.Now()
	for _, run := range found.Runs {
		view.Runs = append(view.Runs, line{run, took(run.Started, run.Ended, now, run.Status), why(run)})
	}
	s.write(w, http.StatusOK, listPage, view)
}

// chosen offers the names that a form can send back as they are.
func chosen(name, label string, names []string, selected string) choice {
	c := choice{Name: name, Label: label}
	if selected != "" && !slices.Contains(names, selected) {
		names = append(names, selected)
	}
	for _, n := range names {
		if shown(n) == n {
			c.Options = append(c.Options, option{n, n == selected})
		}
	}
	return c
}

// Running says whether a run is on its way.
func (l line) Running() bool { return l.Status == tracker.Running }

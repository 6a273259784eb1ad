package web

import (
	"net/http"
	"slices"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// listLimit bounds the runs shown on one page, and maxNames the names that a filter offers.
const (
	listLimit = 50
	maxNames  = 100
)

// listView is the landing page: the runs and the state of the sources.
type listView struct {
	frame
	Runs        []line
	Open, Ended int
	Filters     []filterField
	Filtered    bool
	First, Next string // other pages of the list; "" if there is none
	Sources     []recent.Source
	Down        int // number of sources that are down
}

// line is one run of the list.
type line struct {
	recent.Summary
	Took   string
	Reason string
}

// filterField is one filter of the form.
type filterField struct {
	Name, Label string
	Options     []option
}

type option struct {
	Value    string
	Selected bool
}

func (s Settings) list(w http.ResponseWriter, r *http.Request) {
	values, q, err := parseQuery(r.URL, listLimit)
	if err != nil {
		writeText(w, http.StatusBadRequest, err.Error())
		return
	}
	found := s.Runs.Page(q, false)
	sources, agents := s.Runs.Names(maxNames)
	view := listView{
		frame: s.frame("Runs", "", true), Open: found.Open, Ended: found.Ended,
		Filtered: q.Source != "" || q.Agent != "" || q.Status != "", Next: nextPage(values, found.Next),
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
	view.Filters = []filterField{
		newFilter("source", "Source", slices.Compact(slices.Sorted(slices.Values(sources))), q.Source),
		newFilter("agent", "Agent", agents, q.Agent),
		newFilter("status", "Status", ends, string(q.Status)),
	}
	if q.After != (recent.Cursor{}) {
		values.Del("cursor")
		view.First = "?" + values.Encode()
	}
	now := s.Now()
	for _, run := range found.Runs {
		view.Runs = append(view.Runs, line{run, durationText(run.Started, run.Ended, now, run.Status), reasonText(run)})
	}
	s.write(w, http.StatusOK, listPage, view)
}

// newFilter returns a filter with the names that a form can send back unchanged.
func newFilter(name, label string, names []string, selected string) filterField {
	c := filterField{Name: name, Label: label}
	if selected != "" && !slices.Contains(names, selected) {
		names = append(names, selected)
	}
	for _, n := range names {
		if oneLine(n) == n {
			c.Options = append(c.Options, option{n, n == selected})
		}
	}
	return c
}

// Running reports whether the run is still open.
func (l line) Running() bool { return l.Status == tracker.Running }

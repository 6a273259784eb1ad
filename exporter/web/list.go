package web

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// listLimit bounds the runs shown on one page, and maxNames the names that a filter offers.
const (
	listLimit = 50
	maxNames  = 100
)

// listView is the landing page: the runs, their overview and the state of the sources.
type listView struct {
	frame
	Runs        []line
	Open, Ended int
	Overview    overviewView
	Text        string // searched for
	Filters     []filterField
	Times       []timeField // the limits of the time range, if the URL has any; they take the place of a filter
	Filtered    bool
	Order       string // of the list, in words
	First, Next string // other pages of the list; "" if there is none
	Sources     []recent.Source
	Down        int  // number of sources that are down
	NoExample   bool // a proxy has no example request to show
}

// line is one run of the list.
type line struct {
	recent.Summary
	Took   string
	Reason string
}

// filterField is a choice of the form.
type filterField struct {
	Name, Label, All string // All is the text for no choice
	Options          []option
}

type option struct {
	Value, Label string
	Selected     bool
}

// timeField is a limit of the time range.
type timeField struct{ Name, Label, Value string }

// sortTexts says what an order shows first. The empty one is the default.
var sortTexts = map[recent.Sort]struct{ option, list string }{
	recent.SortDefault:  {"last ended", "open runs first, then the most recently ended"},
	recent.SortStarted:  {"last started", "the most recently started first"},
	recent.SortDuration: {"longest", "open runs first, then the longest"},
	recent.SortTokens:   {"most tokens", "open runs first, then those with the most tokens"},
}

func (s Settings) list(w http.ResponseWriter, r *http.Request) {
	now := s.Now()
	values, q, err := parseQuery(r.URL, listLimit, now)
	if err != nil {
		writeText(w, http.StatusBadRequest, err.Error())
		return
	}
	found := s.Runs.Page(q, false)
	view := listView{
		frame: s.frame("Runs", "", true), Open: found.Open, Ended: found.Ended, Text: q.Text, Order: sortTexts[q.Sort].list,
		Filtered: q.Narrows(), Next: nextPage(values, found.Next), Overview: newOverview(s.Runs.Overview(q, now), q, now),
	}
	sources, agents := s.Runs.Names(maxNames)
	if s.Sources != nil {
		view.Sources = s.Sources.All()
		for _, of := range view.Sources {
			sources = append(sources, of.Name)
			if of.Known && !of.Up {
				view.Down++
			}
			view.NoExample = view.NoExample || of.Address != "" && of.Example == ""
		}
	}
	view.fillForm(q, values, slices.Compact(slices.Sorted(slices.Values(sources))), agents)
	if q.After != (recent.Cursor{}) {
		values.Del("cursor")
		view.First = "?" + values.Encode()
	}
	for _, run := range found.Runs {
		view.Runs = append(view.Runs, line{run, durationText(run.Started, run.Ended, now, run.Status), reasonText(run)})
	}
	s.write(w, http.StatusOK, listPage, view)
}

// fillForm fills the form, with the choices of the query selected.
func (v *listView) fillForm(q recent.Query, values url.Values, sources, agents []string) {
	var names []string
	for _, status := range statuses() {
		names = append(names, string(status))
	}
	v.Filters = []filterField{
		newFilter("source", "Source", sources, q.Source),
		newFilter("agent", "Agent", agents, q.Agent),
		newFilter("status", "Status", names, string(q.Status)),
	}
	if q.From.IsZero() && q.To.IsZero() || values.Get("since") != "" {
		started := filterField{Name: "since", Label: "Started", All: "any time"}
		for _, r := range ranges {
			started.Options = append(started.Options, option{r.Value, r.Label, r.Value == values.Get("since")})
		}
		v.Filters = append(v.Filters, started)
	} else {
		v.Times = []timeField{{"from", "Started from", values.Get("from")}, {"to", "Started before", values.Get("to")}}
	}
	order := filterField{Name: "sort", Label: "Order", All: sortTexts[recent.SortDefault].option}
	for _, by := range recent.Sorts() {
		order.Options = append(order.Options, option{string(by), sortTexts[by].option, by == q.Sort})
	}
	v.Filters = append(v.Filters, order)
}

// newFilter returns a filter with the names that a form can send back unchanged.
func newFilter(name, label string, names []string, selected string) filterField {
	c := filterField{Name: name, Label: label, All: "all"}
	if selected != "" && !slices.Contains(names, selected) {
		names = append(names, selected)
	}
	for _, n := range names {
		if oneLine(n) == n {
			c.Options = append(c.Options, option{n, n, n == selected})
		}
	}
	return c
}

// Running reports whether the run is still open.
func (l line) Running() bool { return l.Status == tracker.Running }

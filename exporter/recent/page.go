package recent

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Summary is a run on one line.
type Summary struct {
	Key             string // ours: fit for a URL, the same from the run's beginning to its end, and no other run's
	Run             string // on the wire, or ""
	Source, Dialect string
	Session, Agent  string
	Status          tracker.Status
	Reason          tracker.StatusReason
	Code            string    // of the error that failed it, as the stream gives it, or ""
	Started, Ended  time.Time // zero where unknown; Ended of an open run too
	Timing          tracker.Timing
	Tools, Failed   int      // calls, and those that failed
	FailedAgents    int      // besides the run's own
	Called          []string // the first agents and tools that worked for it, each once
	CalledMore      bool     // and there are others
	Waiting         int      // requests for input that nobody has answered
	Usage           event.Usage
	Lowest          *tracker.Statement // of the values that answers state; nil where there is none
	Events          int
	ParseErrors     int
}

func summarise(r *tracker.Run) Summary {
	s := Summary{
		Run: r.ID, Source: r.Source, Dialect: r.Dialect, Session: r.Session, Agent: cmp.Or(r.Agent, r.Root.Name),
		Status: r.Status, Reason: r.Reason, Code: r.Root.Code, Started: r.Root.Started.At, Timing: r.Root.Timing,
		Usage: r.Usage, Events: r.Events, ParseErrors: r.ParseErrors,
	}
	if r.Status != tracker.Running {
		s.Ended = r.Root.Ended.At
	}
	for _, op := range r.Operations {
		isAgent := op.Kind == tracker.InvokeAgent
		own := op == r.Root || op.Kind.Invokes() && op.Name == s.Agent // which is below the root where the app has another name
		if !own && op.Kind != tracker.Chat && op.Details.OrNone().HandoffTarget == "" {
			s.call(op.Name)
		}
		switch {
		case isAgent && !own && op.Status == tracker.Error:
			s.FailedAgents++
		case op.Kind == tracker.ExecuteTool:
			s.Tools++
			if op.Status == tracker.Error {
				s.Failed++
			}
		}
	}
	for _, in := range r.Inputs {
		if in.Status == tracker.InputOpen {
			s.Waiting++
		}
	}
	for i := range r.Confidence {
		c := r.Confidence[i] // a thought judges itself, and no answer
		if c.Known && c.Origin != event.OriginThought && (s.Lowest == nil || c.Value < s.Lowest.Value) {
			s.Lowest = &c
		}
	}
	return s
}

// maxCalled is how many names a summary has.
const maxCalled = 3

func (s *Summary) call(name string) {
	switch {
	case name == "" || slices.Contains(s.Called, name):
	case len(s.Called) == maxCalled:
		s.CalledMore = true
	default:
		s.Called = append(s.Called, name)
	}
}

// Query chooses runs; what is "" or 0 leaves the choice open.
type Query struct {
	Source string
	Agent  string // the first that spoke, or the app
	Status tracker.Status
	After  Cursor
	Limit  int // runs
}

func (q Query) takes(r *tracker.Run) bool {
	return (q.Source == "" || q.Source == r.Source) && (q.Status == "" || q.Status == r.Status) &&
		(q.Agent == "" || q.Agent == r.Agent || q.Agent == r.App || q.Agent == r.Root.Name)
}

// Cursor is a place in the list of runs: behind an open run, or behind one that ended.
type Cursor struct {
	ended bool
	place uint64
}

// String is the cursor as ParseCursor reads it; "" for the beginning.
func (c Cursor) String() string {
	switch {
	case c.place == 0:
		return ""
	case c.ended:
		return fmt.Sprint("ended-", c.place)
	}
	return fmt.Sprint("open-", c.place)
}

// ParseCursor reads what String printed.
func ParseCursor(text string) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	list, place, _ := strings.Cut(text, "-")
	n, err := strconv.ParseUint(place, 10, 64)
	if list != "open" && list != "ended" || err != nil || n == 0 {
		return Cursor{}, fmt.Errorf("%.40q is no cursor: take one from the page before", text)
	}
	return Cursor{ended: list == "ended", place: n}, nil
}

// Page is a part of the list of runs: open ones, the last begun first, then those that ended, the last first.
type Page struct {
	Runs  []Summary
	Whole []*tracker.Run // of each, where it was asked for
	Next  Cursor         // the beginning where nothing follows
	Open  int            // runs in all, whatever was asked for
	Ended int
}

// maxWhole is how many operations a page of whole runs holds before it ends, though it may hold more runs.
const maxWhole = 20_000

// Page lists runs.
func (r *Runs) Page(q Query, whole bool) Page {
	p := pager{query: q, whole: whole}
	r.look(func(open []opened) {
		p.page.Open = len(open)
		if q.After.ended {
			return
		}
		slices.SortFunc(open, func(a, b opened) int { return cmp.Compare(b.number, a.number) })
		for _, o := range open {
			if q.After.place != 0 && o.number >= q.After.place {
				continue
			}
			if p.take(o.run.Run(), Cursor{place: o.number}, func() Summary {
				s := summarise(o.run.Run())
				s.Key = r.key(o.number)
				return s
			}, o.run.Copy) {
				return
			}
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	p.page.Ended = len(r.failed.runs) + len(r.others.runs)
	if p.full {
		return p.page
	}
	before := uint64(0)
	if q.After.ended {
		before = q.After.place
	}
	open := p.page.Runs
	for k := range r.newest(before) {
		if slices.ContainsFunc(open, func(s Summary) bool { return s.Key == k.summary.Key }) {
			continue // it has ended since
		}
		if p.take(k.run, Cursor{true, k.ended}, func() Summary { return k.summary }, func() *tracker.Run { return k.run }) {
			break
		}
	}
	return p.page
}

// pager fills a page.
type pager struct {
	query      Query
	whole      bool
	page       Page
	last       Cursor // of the run that was taken last
	operations int
	full       bool // and there is more
}

// take adds a run that was asked for, and says whether the page was full before.
func (p *pager) take(run *tracker.Run, at Cursor, summary func() Summary, whole func() *tracker.Run) (full bool) {
	if !p.query.takes(run) {
		return false
	}
	if p.query.Limit > 0 && len(p.page.Runs) >= p.query.Limit || p.operations > maxWhole {
		p.full, p.page.Next = true, p.last
		return true
	}
	p.page.Runs, p.last = append(p.page.Runs, summary()), at
	if p.whole {
		p.page.Whole = append(p.page.Whole, whole())
		p.operations += len(run.Operations)
	}
	return false
}

// opened is an open run with the number that was given to it.
type opened struct {
	run    tracker.Open
	number uint64
}

// look reads the open runs under the tracker's lock.
func (r *Runs) look(see func([]opened)) {
	if r.tracker == nil {
		see(nil)
		return
	}
	r.tracker.Look(func(open []tracker.Open) {
		r.mu.Lock()
		numbered := make([]opened, 0, len(open))
		for _, o := range open {
			if number, known := r.open[o.Run()]; known {
				numbered = append(numbered, opened{o, number})
			}
		}
		r.mu.Unlock()
		see(numbered)
	})
}

// Names lists the sources and the agents of all runs, sorted, each at most so many.
func (r *Runs) Names(limit int) (sources, agents []string) {
	of, by := map[string]bool{}, map[string]bool{}
	add := func(names map[string]bool, name string) {
		if name != "" && len(names) < limit {
			names[name] = true
		}
	}
	r.look(func(open []opened) {
		for _, o := range open {
			add(of, o.run.Run().Source)
			add(by, cmp.Or(o.run.Run().Agent, o.run.Run().Root.Name))
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range r.newest(0) {
		add(of, k.summary.Source)
		add(by, k.summary.Agent)
	}
	return sorted(of), sorted(by)
}

func sorted(names map[string]bool) []string {
	out := make([]string, 0, len(names))
	for name := range names {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

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

// Summary is a run in one line.
type Summary struct {
	Key             string // unique and fit for a URL; the same while the run is open and after it has ended
	Run             string // id in the stream, or ""
	Source, Dialect string
	Session, Agent  string
	Status          tracker.Status
	Reason          tracker.StatusReason
	Code            string    // code, in the stream, of the error that failed the run, or ""
	Started, Ended  time.Time // zero if unknown; Ended is zero for an open run
	Timing          tracker.Timing
	Tools, Failed   int      // tool calls, and failed ones
	FailedAgents    int      // without the run's own agent
	Called          []string // the first agents and tools that worked for it, without duplicates
	CalledMore      bool     // there are more than Called lists
	Waiting         int      // unanswered requests for input
	Usage           event.Usage
	Lowest          *tracker.Confidence // lowest stated confidence of the answers, or nil
	Events          int
	ParseErrors     int
}

func summarize(r *tracker.Run) Summary {
	s := Summary{
		Run: r.ID, Source: r.Source, Dialect: r.Dialect, Session: r.Session, Agent: cmp.Or(r.Agent, r.Root.Name),
		Status: r.Status, Reason: r.Reason, Code: r.Root.ErrorCode, Started: r.Root.Started.At, Timing: r.Root.Timing,
		Usage: r.Usage, Events: r.Events, ParseErrors: r.ParseErrors,
	}
	if r.Status != tracker.Running {
		s.Ended = r.Root.Ended.At
	}
	for _, op := range r.Operations {
		isAgent := op.Kind == tracker.InvokeAgent
		own := op == r.Root || op.Kind.Invokes() && op.Name == s.Agent // the agent is below the root if the app has another name
		if !own && op.Kind != tracker.Chat && op.Details.OrZero().HandoffTarget == "" {
			s.call(op.Name)
		}
		switch {
		case isAgent && !own && op.Status == tracker.OperationError:
			s.FailedAgents++
		case op.Kind == tracker.ExecuteTool:
			s.Tools++
			if op.Status == tracker.OperationError {
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
		c := r.Confidence[i] // a thought rates itself, not an answer
		if c.Known && c.Origin != event.OriginThought && (s.Lowest == nil || c.Value < s.Lowest.Value) {
			s.Lowest = &c
		}
	}
	return s
}

// maxCalled is the maximum number of names in Summary.Called.
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

// Query selects runs. Zero values select all.
type Query struct {
	Source string
	Agent  string // the root agent, or the app
	Status tracker.Status
	After  Cursor
	Limit  int // runs
}

func (q Query) takes(r *tracker.Run) bool {
	return (q.Source == "" || q.Source == r.Source) && (q.Status == "" || q.Status == r.Status) &&
		(q.Agent == "" || q.Agent == r.Agent || q.Agent == r.App || q.Agent == r.Root.Name)
}

// Cursor is a position in the list of runs: after an open run, or after an ended one. The zero
// value is the beginning.
type Cursor struct {
	ended bool
	place uint64
}

// String returns the cursor in the form that ParseCursor reads, or "" for the beginning.
func (c Cursor) String() string {
	switch {
	case c.place == 0:
		return ""
	case c.ended:
		return fmt.Sprint("ended-", c.place)
	}
	return fmt.Sprint("open-", c.place)
}

// ParseCursor parses the result of Cursor.String.
func ParseCursor(text string) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	list, place, _ := strings.Cut(text, "-")
	n, err := strconv.ParseUint(place, 10, 64)
	if list != "open" && list != "ended" || err != nil || n == 0 {
		return Cursor{}, fmt.Errorf("%.40q is not a cursor: take one from the previous page", text)
	}
	return Cursor{ended: list == "ended", place: n}, nil
}

// Page is a part of the list of runs: open ones, the latest started first, then ended ones, the
// latest ended first.
type Page struct {
	Runs  []Summary
	Whole []*tracker.Run // the full runs, if they were asked for
	Next  Cursor         // zero if no run follows
	Open  int            // number of all open runs, regardless of the query; Ended likewise
	Ended int
}

// maxWhole is the number of operations after which a page of full runs ends.
const maxWhole = 20_000

// Page returns a page of runs, with full runs if whole is set.
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
				s := summarize(o.run.Run())
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
			continue // it ended while the page was built
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
	last       Cursor // of the last run taken
	operations int
	full       bool // the page is full and more runs follow
}

// take adds a run if the query selects it. It reports whether the page was full already.
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

// opened is an open run and its number.
type opened struct {
	run    tracker.RunView
	number uint64
}

// look calls see with the open runs, with the tracker's lock held.
func (r *Runs) look(see func([]opened)) {
	if r.tracker == nil {
		see(nil)
		return
	}
	r.tracker.ViewOpen(func(open []tracker.RunView) {
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

// Names returns the sources and the agents of all runs, sorted, each up to limit.
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

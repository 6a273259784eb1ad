package recent

import (
	"cmp"
	"iter"
	"maps"
	"slices"
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
	Code            string    // error.type of a failed run, else the code that the stream gives, or ""
	Started, Ended  time.Time // zero if unknown; Ended is zero for an open run
	Timing          tracker.Timing
	Tools, Failed   int      // tool calls, and the failed ones among them
	FailedAgents    int      // failed agents other than the run's own
	Called          []Callee // the first agents and tools that worked for it, without duplicates
	CalledMore      bool     // there are more than Called lists
	Waiting         int      // unanswered requests for input
	Usage           event.Usage
	FirstFailure    *Failure            // of the operations below the root, the one that failed first, or nil
	Lowest          *tracker.Confidence // lowest stated confidence of the answers, or nil
	Events          int
	ParseErrors     int
}

// Callee is an agent, a tool, a step or a workflow that worked for a run.
type Callee struct {
	Kind tracker.OperationKind // InvokeAgent for a tool that the configuration names as an agent
	Name string
}

// Duration returns how long the run lasted. It is unknown if the run is open, or if one of its times is unknown or only a bound, or if they contradict.
func (s Summary) Duration() (d time.Duration, known bool) {
	if s.Timing == tracker.TimingUnknown || s.Started.IsZero() || s.Ended.IsZero() || s.Ended.Before(s.Started) {
		return 0, false
	}
	return s.Ended.Sub(s.Started), true
}

// summarize returns the summary of a run with the given operations, without its key.
func summarize(r *tracker.Run, operations iter.Seq[*tracker.Operation]) Summary {
	s := Summary{
		Run: r.ID, Source: r.Source, Dialect: r.Dialect, Session: r.Session, Agent: cmp.Or(r.Agent, r.Root.Name),
		Status: r.Status, Reason: r.Reason, Code: r.Root.ErrorCode, Started: r.Root.Started.At, Timing: r.Root.Timing,
		Usage: r.Usage, Events: r.Events, ParseErrors: r.ParseErrors,
	}
	if r.Status == tracker.Failed {
		s.Code = r.Root.ErrorType()
	}
	if r.Status != tracker.Running {
		s.Ended = r.Root.Ended.At
	}
	s.addOperations(r, operations)
	for _, in := range r.Inputs {
		if in.Status == tracker.InputOpen {
			s.Waiting++
		}
	}
	for i := range r.Confidence {
		c := r.Confidence[i]
		if isOfAnswer := c.Origin != event.OriginThought; c.Known && isOfAnswer && (s.Lowest == nil || c.Value < s.Lowest.Value) {
			s.Lowest = &c
		}
	}
	return s
}

// addOperations adds the facts of a run's operations.
func (s *Summary) addOperations(r *tracker.Run, operations iter.Seq[*tracker.Operation]) {
	var failed firstFailure
	for op := range operations {
		if op != r.Root && op.Status == tracker.OperationError {
			failed.note(op, operations)
		}
		own := op == r.Root || op.Kind.Invokes() && op.Name == s.Agent // an app with a name of its own is the root, and the agent is below it
		if !own && op.Kind != tracker.Chat && op.Details.OrZero().HandoffTarget == "" {
			s.addCallee(calleeOf(op))
		}
		switch {
		case op.Kind == tracker.InvokeAgent && !own && op.Status == tracker.OperationError:
			s.FailedAgents++
		case op.Kind == tracker.ExecuteTool:
			s.Tools++
			if op.Status == tracker.OperationError {
				s.Failed++
			}
		}
	}
	if failed.op != nil {
		first := failureOf(failed.op)
		s.FirstFailure = &first
	}
}

// maxCalled is the maximum number of names in Summary.Called.
const maxCalled = 3

func (s *Summary) addCallee(c Callee) {
	switch {
	case c.Name == "" || slices.Contains(s.Called, c):
	case len(s.Called) == maxCalled:
		s.CalledMore = true
	default:
		s.Called = append(s.Called, c)
	}
}

func calleeOf(op *tracker.Operation) Callee {
	if op.AgentTool {
		return Callee{tracker.InvokeAgent, op.Name}
	}
	return Callee{op.Kind, op.Name}
}

// Page is a part of the list of runs.
type Page struct {
	Runs  []Summary
	Whole []*tracker.Run // the full runs, if they were asked for
	Next  Cursor         // zero if no run follows
	Open  int            // number of all open runs, regardless of the query
	Ended int            // number of all kept ended runs, regardless of the query
}

// A page ends when its runs together have more than this number of operations.
// That limits the size of the page, and how long the tracker's lock is held.
const (
	maxWhole      = 20_000  // in full runs
	maxSummarized = 100_000 // in open runs, if the page has only summaries
)

// Page returns a page of runs, with full runs if whole is set.
func (r *Runs) Page(q Query, whole bool) Page {
	p := pager{query: q, selects: newSelector(q), whole: whole}
	kept := r.view(func(open []openRun) {
		p.page.Open = len(open)
		p.addOpen(r, open)
	})
	p.page.Ended = len(kept.runs)
	p.addEnded(kept.runs)
	p.fill()
	return p.page
}

// pager makes a page of the candidates for it.
type pager struct {
	query       Query
	selects     selector
	whole       bool
	page        Page
	open, ended []candidate // in the order of the list
}

// candidate is a run that the query selects, after its cursor.
type candidate struct {
	at        Cursor
	*endedRun // nil if the page must end before this run. Of an open run, only summary is set, and run if full runs are asked for
}

// needed returns how many of the given number of open or ended runs are needed: one more than the page shows, to tell
// whether more follow.
func (p *pager) needed(all int) int {
	if p.query.Limit <= 0 {
		return all
	}
	return min(p.query.Limit+1, all)
}

// addOpen adds the selected open runs to the candidates. They change as soon as the tracker's lock is
// released, so it copies the facts for the page.
func (p *pager) addOpen(r *Runs, open []openRun) {
	type positioned struct {
		at Cursor
		openRun
	}
	var selected []positioned
	for _, o := range open {
		if at := openCursor(p.query.Sort, o.run.Run().Root.Started.At, o.number); at.follows(p.query.After) && p.selects.open(o.run) {
			selected = append(selected, positioned{at, o})
		}
	}
	slices.SortFunc(selected, func(a, b positioned) int { return a.at.compare(b.at) })
	selected = selected[:p.needed(len(selected))]
	operations, limit := 0, maxSummarized
	if p.whole {
		limit = maxWhole
	}
	for _, o := range selected {
		if operations > limit {
			p.open = append(p.open, candidate{at: o.at})
			return
		}
		c := candidate{o.at, &endedRun{summary: summarize(o.run.Run(), o.run.Operations())}}
		c.summary.Key = r.key(o.number)
		if p.whole {
			c.run = o.run.Copy()
		}
		operations += len(o.run.Run().Operations)
		p.open = append(p.open, c)
	}
}

// addEnded adds the selected ended runs to the candidates. kept has the latest ended run first.
func (p *pager) addEnded(kept []*endedRun) {
	for _, k := range kept {
		at := endedCursor(p.query.Sort, k)
		if !at.follows(p.query.After) || !p.selects.ended(k.run) {
			continue
		}
		p.ended = append(p.ended, candidate{at, k})
		if p.query.Sort == SortDefault && len(p.ended) == p.needed(len(kept)) {
			return
		}
	}
	if p.query.Sort != SortDefault {
		slices.SortFunc(p.ended, func(a, b candidate) int { return a.at.compare(b.at) })
	}
}

// fill merges the candidates up to the limits of the page.
func (p *pager) fill() {
	operations := 0
	var last Cursor
	for open, ended := p.open, p.ended; len(open)+len(ended) > 0; {
		from := &ended
		if len(ended) == 0 || len(open) > 0 && open[0].at.compare(ended[0].at) < 0 {
			from = &open
		}
		next := (*from)[0]
		if next.endedRun == nil || p.query.Limit > 0 && len(p.page.Runs) >= p.query.Limit || operations > maxWhole {
			p.page.Next = last
			return
		}
		*from = (*from)[1:]
		p.page.Runs, last = append(p.page.Runs, next.summary), next.at
		if p.whole {
			p.page.Whole = append(p.page.Whole, next.run)
			operations += len(next.run.Operations)
		}
	}
}

// Names returns the sources and the agents of all runs, sorted, each up to limit.
func (r *Runs) Names(limit int) (sources, agents []string) {
	sourceSet, agentSet := map[string]bool{}, map[string]bool{}
	add := func(names map[string]bool, name string) {
		if name != "" && len(names) < limit {
			names[name] = true
		}
	}
	kept := r.view(func(open []openRun) {
		for _, o := range open {
			add(sourceSet, o.run.Run().Source)
			add(agentSet, cmp.Or(o.run.Run().Agent, o.run.Run().Root.Name))
		}
	})
	for _, k := range kept.runs {
		add(sourceSet, k.summary.Source)
		add(agentSet, k.summary.Agent)
	}
	return slices.Sorted(maps.Keys(sourceSet)), slices.Sorted(maps.Keys(agentSet))
}

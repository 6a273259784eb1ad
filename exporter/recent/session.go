package recent

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Session holds the kept runs of one conversation. Its counts include the kept runs that are not in Runs.
type Session struct {
	Runs       []SessionRun // see Runs.Session; in the order in which they started
	Kept       int          // runs
	Evicted    uint64       // evicted runs of all sessions
	Statuses   map[tracker.Status]int
	Agents     []string  // the first ones, sorted
	AgentsMore bool      // there are more than Agents lists
	Started    time.Time // the first known start
	Ended      time.Time // the last known end
	Untimed    int       // runs whose start, or end if they ended, is unknown
	Usage      event.Usage
	Input      int // runs whose input tokens are known
	Output     int // runs whose output tokens are known
}

// SessionRun is one run of a session.
type SessionRun struct {
	Summary
	Root      tracker.SpanID
	Failures  []Failure              // the first ones, below the root
	Inputs    []tracker.InputRequest // the first ones
	More      int                    // requests for input that are not in Inputs
	Links     []tracker.Link
	LaterKept bool // all runs that ended after this one are kept; false for an open run

	number uint64
}

// Limits of the lists of a session.
const (
	maxAgents   = 10
	maxFailures = 3  // of a run
	maxInputs   = 20 // of a run
	maxLinks    = 20 // of a run
)

// Session returns the kept runs of a source with a session id. It lists up to limit of them: the
// open ones, the latest started first, and then the latest ended. It lists no ended run if an open one is left out.
// known is false if there are none. Runs without a session id belong to no conversation.
func (r *Runs) Session(source, id string, limit int) (s Session, known bool) {
	if id == "" {
		return Session{}, false
	}
	s.Statuses = map[tracker.Status]int{}
	isMember := func(run *tracker.Run) bool { return run.Session == id && run.Source == source }
	operations, isLeftOut := 0, false
	kept := r.view(func(open []openRun) {
		open = slices.DeleteFunc(open, func(o openRun) bool { return !isMember(o.run.Run()) }) // sort only these: the tracker waits
		slices.SortFunc(open, func(a, b openRun) int { return cmp.Compare(b.number, a.number) })
		for _, o := range open {
			run := o.run.Run()
			s.count(run)
			operations += len(run.Operations)
			if isLeftOut = len(s.Runs) >= limit || operations > maxWhole && len(s.Runs) > 0; !isLeftOut { // the tracker's lock is held meanwhile
				s.Runs = append(s.Runs, newSessionRun(run, o.run.RootSpan(), o.run.Operations(), summarize(run, o.run.Operations()), o.number))
				s.Runs[len(s.Runs)-1].Key = r.key(o.number)
			}
		}
	})
	if isLeftOut {
		limit = 0 // otherwise two ended runs might be listed without an open run that started between them
	}
	s.Evicted = kept.evicted
	for _, k := range kept.runs {
		if !isMember(k.run) {
			continue
		}
		if s.count(k.run); len(s.Runs) < limit {
			s.Runs = append(s.Runs, newSessionRun(k.run, k.run.Root.ID, slices.Values(k.run.Operations), k.summary, k.number))
			s.Runs[len(s.Runs)-1].LaterKept = k.ended > kept.lastEvicted
		}
	}
	sortByStart(s.Runs)
	return s, s.Kept > 0
}

// count adds a run to the counts.
func (s *Session) count(run *tracker.Run) {
	s.Kept++
	s.Statuses[run.Status]++
	if name := cmp.Or(run.Agent, run.Root.Name); name != "" {
		s.addAgent(name)
	}
	if at := run.Root.Started.At; !at.IsZero() && (s.Started.IsZero() || at.Before(s.Started)) {
		s.Started = at
	}
	isOpen := run.Status == tracker.Running
	if at := run.Root.Ended.At; !isOpen && at.After(s.Ended) {
		s.Ended = at
	}
	if run.Root.Started.At.IsZero() || !isOpen && (run.Root.Ended.At.IsZero() || run.Root.Timing == tracker.TimingUnknown) {
		s.Untimed++
	}
	s.Usage = s.Usage.Add(run.Usage)
	if run.Usage.Input.Known {
		s.Input++
	}
	if run.Usage.Output.Known {
		s.Output++
	}
}

func (s *Session) addAgent(name string) {
	at, known := slices.BinarySearch(s.Agents, name)
	switch {
	case known:
	case len(s.Agents) == maxAgents:
		s.AgentsMore = true
	default:
		s.Agents = slices.Insert(s.Agents, at, name)
	}
}

func newSessionRun(run *tracker.Run, root tracker.SpanID, operations iter.Seq[*tracker.Operation], summary Summary, number uint64) SessionRun {
	one := SessionRun{
		Summary: summary, Root: root, number: number,
		Links: slices.Clone(run.Links[:min(len(run.Links), maxLinks)]), More: max(len(run.Inputs)-maxInputs, 0),
	}
	for _, in := range run.Inputs[:min(len(run.Inputs), maxInputs)] {
		one.Inputs = append(one.Inputs, tracker.InputRequest{ID: in.ID, Kind: in.Kind, Status: in.Status, Requested: in.Requested, Answered: in.Answered})
	}
	for op := range operations {
		if op.Status == tracker.OperationError && op != run.Root && len(one.Failures) < maxFailures {
			one.Failures = append(one.Failures, failureOf(op))
		}
	}
	return one
}

// sortByStart sorts runs by their start. A run whose start is unknown follows the run that was seen before it.
func sortByStart(runs []SessionRun) {
	slices.SortFunc(runs, func(a, b SessionRun) int { return cmp.Compare(a.number, b.number) })
	starts := map[uint64]time.Time{} // by run number; for an unknown start, the start of the run before it
	var last time.Time
	for _, run := range runs {
		if !run.Started.IsZero() {
			last = run.Started
		}
		starts[run.number] = last
	}
	slices.SortStableFunc(runs, func(a, b SessionRun) int { return starts[a.number].Compare(starts[b.number]) })
}

package recent

import (
	"cmp"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Session holds the kept runs of one conversation. Its counts include the kept runs that are not in Runs.
type Session struct {
	Runs       []SessionRun // the newest, in the order in which they started
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

// Session returns the kept runs of a source with a session id. It lists the newest of them, up to the limit.
// known is false if there are none. Runs without a session id belong to no conversation.
func (r *Runs) Session(source, id string, limit int) (s Session, known bool) {
	if id == "" {
		return Session{}, false
	}
	s.Statuses = map[tracker.Status]int{}
	isMember := func(run *tracker.Run) bool { return run.Session == id && run.Source == source }
	isOpen, operations := map[uint64]bool{}, 0
	r.viewOpen(func(open []openRun) {
		open = slices.DeleteFunc(open, func(o openRun) bool { return !isMember(o.run.Run()) }) // sort only these: the tracker waits
		slices.SortFunc(open, func(a, b openRun) int { return cmp.Compare(b.number, a.number) })
		for _, o := range open {
			run := o.run.Run()
			isOpen[o.number] = true
			s.count(run)
			if operations += len(run.Operations); len(s.Runs) < limit && (operations <= maxWhole || len(s.Runs) == 0) { // the tracker's lock is held meanwhile
				s.Runs = append(s.Runs, newSessionRun(run, summarize(run), o.number))
				s.Runs[len(s.Runs)-1].Key = r.key(o.number)
			}
		}
	})
	if len(s.Runs) < len(isOpen) {
		limit = 0 // the ended runs are older than one that is left out
	}
	ended, evicted, lastEvicted := r.endedMembers(isMember)
	s.Evicted = evicted
	for _, k := range ended { // they no longer change
		if isOpen[k.number] {
			continue // it ended in between
		}
		if s.count(k.run); len(s.Runs) < limit {
			s.Runs = append(s.Runs, newSessionRun(k.run, k.summary, k.number))
			s.Runs[len(s.Runs)-1].LaterKept = k.ended > lastEvicted
		}
	}
	sortByStart(s.Runs)
	return s, s.Kept > 0
}

// endedMembers returns the ended runs that belong to a session, the latest ended first. It also returns the
// number of evicted runs, and the highest position of an evicted run among all ended runs.
func (r *Runs) endedMembers(isMember func(*tracker.Run) bool) (members []*endedRun, evicted, lastEvicted uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range r.newest() {
		if isMember(k.run) {
			members = append(members, k)
		}
	}
	return members, r.ends - uint64(len(r.failed.runs)+len(r.others.runs)), r.lastEvicted
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

func newSessionRun(run *tracker.Run, summary Summary, number uint64) SessionRun {
	one := SessionRun{
		Summary: summary, Root: run.Root.ID, number: number,
		Links: slices.Clone(run.Links[:min(len(run.Links), maxLinks)]), More: max(len(run.Inputs)-maxInputs, 0),
	}
	for _, in := range run.Inputs[:min(len(run.Inputs), maxInputs)] {
		one.Inputs = append(one.Inputs, tracker.InputRequest{ID: in.ID, Kind: in.Kind, Status: in.Status, Requested: in.Requested, Answered: in.Answered})
	}
	for _, op := range run.Operations {
		if op.Status == tracker.OperationError && op != run.Root && len(one.Failures) < maxFailures {
			one.Failures = append(one.Failures, failureOf(op))
		}
	}
	return one
}

// sortByStart sorts runs by their start. A run whose start is unknown follows the run that was seen before it.
func sortByStart(runs []SessionRun) {
	slices.SortFunc(runs, func(a, b SessionRun) int { return cmp.Compare(a.number, b.number) })
	starts := map[uint64]time.Time{} // by number; of a run whose start is unknown, that of the run before it
	var last time.Time
	for _, run := range runs {
		if !run.Started.IsZero() {
			last = run.Started
		}
		starts[run.number] = last
	}
	slices.SortStableFunc(runs, func(a, b SessionRun) int { return starts[a.number].Compare(starts[b.number]) })
}

// Package recent keeps the latest runs and the state of the sources, for the page and the API.
package recent

import (
	"encoding/hex"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// Runs holds the open runs and the runs that ended last, within limits on their number and size. The
// oldest are evicted first, but failed runs stay while they use at most half of each limit. Runs
// implements tracker.Observer.
type Runs struct {
	limit, bytes int
	epoch        string // prefix of every key, so that keys of an earlier process match no run
	version      atomic.Uint64
	tracker      *tracker.Tracker // nil if open runs cannot be read

	mu           sync.Mutex
	last         uint64                 // number of the last run started
	ends         uint64                 // number of ended runs
	open         map[*tracker.Run]start // the runs may be read only within Tracker.ViewOpen
	failed       backlog                // in the order in which they ended
	others       backlog
	lastEvicted  uint64    // the highest position of an evicted run among all ended runs
	evictedStart time.Time // the latest startTime of an evicted run; zero for none
}

// start is the start of a run.
type start struct {
	number uint64    // its position among all runs
	seen   time.Time // when the tracker reported it
}

// endedRun is an ended run that is kept.
type endedRun struct {
	run     *tracker.Run
	summary Summary
	start
	ended uint64 // its position among all ended runs
	size  int
}

// backlog holds runs in the order in which they ended, and their total size.
type backlog struct {
	runs []*endedRun
	size int
}

func (l *backlog) add(k *endedRun) { l.runs, l.size = append(l.runs, k), l.size+k.size }

// evict drops the first run of a backlog.
func (r *Runs) evict(l *backlog) {
	first := l.runs[0]
	l.runs[0] = nil // the array is still referenced
	l.runs, l.size = l.runs[1:], l.size-first.size
	r.lastEvicted = max(r.lastEvicted, first.ended)
	if at := startTime(first.run, first.start); at.After(r.evictedStart) {
		r.evictedStart = at
	}
}

// startTime returns when a run started. For a live run, that is when it was first seen, because its stated start follows the
// agent's clock, which may be wrong. For another run, it is the stated start, or when it was first seen if it states none.
func startTime(run *tracker.Run, of start) time.Time {
	if at := run.Root.Started.At; !run.Live && !at.IsZero() {
		return at
	}
	return of.seen
}

// New returns a store for at most the given number of runs and about the given number of bytes. It
// always keeps the run that ended last.
func New(runs, bytes int) *Runs {
	return &Runs{limit: runs, bytes: bytes, epoch: fmt.Sprintf("%08x", rand.Uint32()), open: map[*tracker.Run]start{}}
}

// SetTracker sets the tracker from which open runs are read. It must be called before the store is
// used.
func (r *Runs) SetTracker(t *tracker.Tracker) { r.tracker = t }

// Version returns a number that changes whenever a run starts or ends, or an operation ends.
func (r *Runs) Version() uint64 { return r.version.Load() }

// RunStarted gives a run its number.
func (r *Runs) RunStarted(run *tracker.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.open[run] = start{r.last, time.Now()}
	r.version.Add(1)
}

// OperationEnded changes the version. Nothing else is needed: the run holds its operations.
func (r *Runs) OperationEnded(*tracker.Run, *tracker.Operation) { r.version.Add(1) }

// RunEnded keeps the run, and evicts others if there is no room.
func (r *Runs) RunEnded(run *tracker.Run) {
	kept := *run // a copy, so that the tracker's own state of the run can be freed; the operations no longer change
	k := &endedRun{run: &kept, summary: summarize(&kept, slices.Values(kept.Operations)), size: size(&kept)}
	r.mu.Lock()
	defer r.mu.Unlock()
	began, known := r.open[run]
	delete(r.open, run)
	if !known {
		r.last++
		began = start{r.last, time.Now()}
	}
	r.ends++
	k.summary.Key, k.start, k.ended = r.key(began.number), began, r.ends
	if isFailure(run.Status) {
		r.failed.add(k)
	} else {
		r.others.add(k)
	}
	for r.full() && len(r.failed.runs)+len(r.others.runs) > 1 {
		r.evict(r.backlogToEvict(k))
	}
	r.version.Add(1)
}

// key returns the Summary.Key of a run.
func (r *Runs) key(number uint64) string { return fmt.Sprintf("%s-%d", r.epoch, number) }

func isFailure(s tracker.Status) bool { return s == tracker.Failed || s == tracker.TimedOut }

func (r *Runs) full() bool {
	return len(r.failed.runs)+len(r.others.runs) > r.limit || r.failed.size+r.others.size > r.bytes
}

// backlogToEvict returns the backlog whose first run is to be evicted. That run is never the newest one.
func (r *Runs) backlogToEvict(newest *endedRun) *backlog {
	if len(r.others.runs) == 0 || r.others.runs[0] == newest {
		return &r.failed
	}
	overHalf := len(r.failed.runs) > r.limit/2 || r.failed.size > r.bytes/2
	if overHalf && r.failed.runs[0] != newest {
		return &r.failed
	}
	return &r.others
}

// Sizes in bytes of a run and its parts without their texts, measured on a 64-bit machine.
const (
	runCost       = 1_500
	operationCost = 300
	detailsCost   = 230
	responseCost  = 80
	recordCost    = 150 // of an element of any other list
)

// size returns the approximate size of a run in memory. A text that occurs twice counts twice, because
// the decoder may have created a string for each occurrence.
func size(r *tracker.Run) int {
	n := runCost + len(r.ID) + len(r.Session) + len(r.App) + len(r.Agent) + recordCost*len(r.UnattributedUsage)
	for _, op := range r.Operations {
		n += operationCost + len(op.Name) + len(op.Agent) + len(op.Branch) + len(op.CallID) + len(op.ErrorCode)
		if op.Response != nil {
			n += responseCost + len(op.Response.FinishReason)
		}
		if d := op.Details; d != nil {
			for _, key := range d.State.Keys {
				n += 16 + len(key)
			}
			for _, kind := range d.Thoughts {
				n += 16 + len(kind)
			}
			n += detailsCost + len(d.RequestModel) + len(d.HandoffSource) + len(d.HandoffTarget) + recordCost*(len(d.Confidence)+len(d.Citations)) + 8*len(d.Links)
		}
	}
	for _, t := range r.Transfers {
		n += recordCost + len(t.From) + len(t.To) + len(t.EventID)
	}
	for _, c := range r.Confidence {
		n += recordCost + len(c.Agent) + len(c.Scope) + len(c.Label) + len(c.Topic)
	}
	for _, c := range r.Citations {
		n += recordCost + len(c.Agent) + len(c.Source) + len(c.Reference) + len(c.URI)
	}
	for _, t := range r.Thoughts {
		n += recordCost + len(t.Agent) + len(t.Type)
	}
	for _, s := range r.Reasoning {
		n += recordCost + len(s.Agent)
	}
	for _, in := range r.Inputs {
		n += recordCost + len(in.ID)
	}
	for _, a := range r.Artifacts {
		n += recordCost + len(a.ID) + len(a.Name)
	}
	for _, l := range r.Links {
		n += recordCost + len(l.Run)
	}
	for agent := range r.UnratedAnswers {
		n += recordCost + len(agent)
	}
	return n
}

// Reports returns the reports of the ended runs, the latest ended first.
func (r *Runs) Reports() []tracker.Report {
	r.mu.Lock()
	all := slices.Collect(r.newest())
	r.mu.Unlock()
	out := make([]tracker.Report, 0, len(all))
	for _, k := range all {
		out = append(out, k.run.Report())
	}
	return out
}

// newest yields the ended runs of both backlogs, the latest ended first.
func (r *Runs) newest() iter.Seq[*endedRun] {
	return func(yield func(*endedRun) bool) {
		failed, others := r.failed.runs, r.others.runs
		for len(failed)+len(others) > 0 {
			from := &others
			if len(others) == 0 || len(failed) > 0 && failed[len(failed)-1].ended > others[len(others)-1].ended {
				from = &failed
			}
			last := (*from)[len(*from)-1]
			*from = (*from)[:len(*from)-1]
			if !yield(last) {
				return
			}
		}
	}
}

// Run finds a run by its key, by the id of its root span or trace, or by its id in the stream. The key
// matches best, and the id in the stream least. If several match equally well, open runs come before
// ended ones, and then the latest ended first.
func (r *Runs) Run(id string) (found *tracker.Run, summary Summary, known bool) {
	if id == "" {
		return nil, Summary{}, false
	}
	best, by := 0, parseRunID(id)
	kept := r.view(func(open []openRun) {
		for _, o := range open {
			isRoot := func() bool {
				return by.isSpan && by.span() == o.run.RootSpan() || by.isTrace && by.binary == o.run.Trace()
			}
			if s := by.match(o.run.Run(), r.key(o.number), isRoot); s > best {
				best, found, summary = s, o.run.Copy(), summarize(o.run.Run(), o.run.Operations())
				summary.Key = r.key(o.number)
			}
		}
	})
	for _, k := range kept.runs {
		isRoot := func() bool { return by.isSpan && by.span() == k.run.Root.ID || by.isTrace && by.binary == k.run.Trace }
		if s := by.match(k.run, k.summary.Key, isRoot); s > best {
			best, found, summary = s, k.run, k.summary
		}
	}
	return found, summary, best > 0
}

// Keys returns the keys of the runs with the given root spans. It reads the runs only once, because it holds
// the tracker's lock meanwhile. If several runs match, it chooses as Run does.
func (r *Runs) Keys(roots []tracker.SpanID) map[tracker.SpanID]string {
	missing, keys := map[tracker.SpanID]bool{}, map[tracker.SpanID]string{}
	for _, root := range roots {
		missing[root] = root != tracker.SpanID{}
	}
	if len(missing) == 0 {
		return keys
	}
	add := func(root tracker.SpanID, number uint64) {
		if missing[root] {
			keys[root], missing[root] = r.key(number), false
		}
	}
	kept := r.view(func(open []openRun) {
		for _, o := range open {
			add(o.run.RootSpan(), o.number)
		}
	})
	for _, k := range kept.runs {
		add(k.run.Root.ID, k.number)
	}
	return keys
}

// runID is the id that a run is looked up by, as text and in binary.
type runID struct {
	id              string
	binary          [16]byte // of a span or a trace
	isSpan, isTrace bool     // binary is an id of that kind
}

func parseRunID(id string) runID {
	r := runID{id: id}
	if n, err := hex.Decode(r.binary[:], []byte(id[:min(len(id), 2*len(r.binary))])); err == nil && 2*n == len(id) {
		r.isSpan, r.isTrace = n == len(tracker.SpanID{}), n == len(r.binary)
	}
	return r
}

// span returns the id of a span.
func (i *runID) span() tracker.SpanID { return tracker.SpanID(i.binary[:8]) }

// match returns how well the id matches a run, or 0. An id from an agent never outranks one of ours. isRoot reports whether it is
// the id of the run's root span or trace.
func (i *runID) match(r *tracker.Run, key string, isRoot func() bool) int {
	switch {
	case i.id == key:
		return 3
	case i.binary != [16]byte{} && isRoot():
		return 2
	case i.id == r.ID:
		return 1
	}
	return 0
}

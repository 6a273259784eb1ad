package tracker_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestAnyStream feeds streams of random facts, which no real agent sends, under random limits. It checks that:
//   - every run that begins ends once with a status, and with a reason unless it completed
//   - every operation is reported once with a status, after its children and before its run's end
//   - the id of a run is unique in its stream, and the id of an operation is unique in its run
//   - the parent of an operation is an agent of its run and contains it in time
//   - no end is before its start, and timing is unknown exactly where a time is unknown
//   - everything kept is within its limit, and no memory is charged after the last run
//   - no index of open nodes has an ended one
//   - the same input gives the same result
func TestAnyStream(t *testing.T) {
	seeds := []uint64{
		398,  // a run without an id adopts one whose ids are fixed
		3109, // a call ends at an earlier time than an agent in it that has ended
		4732, // an agent begins to speak in another branch after a tool of it has been told of
		4803, // an agent takes the name of one that moved to another branch
		5590, // frames come by the name of an agent whose run has ended
	}
	for seed := range uint64(200) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			first, second := live(t, seed), live(t, seed)
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("the second time it differs:\n%s", diff)
			}
		})
	}
}

// live opens and closes random streams, and returns what observers got.
func live(t *testing.T, seed uint64) []string {
	d := &drive{Rand: rand.New(rand.NewPCG(seed, 1)), content: rand.New(rand.NewPCG(seed, 3)), now: secondZero, ownSources: seed%5 == 4}
	w := &auditor{T: t, runs: map[*tracker.Run]*account{}, ids: map[tracker.SpanID]bool{}, unique: d.ownSources, most: tracker.Settings{
		MaxOpenRuns: 1 + d.IntN(5), MaxOperations: 1 + d.IntN(20), MaxFacts: 1 + d.IntN(5), IdleTimeout: time.Duration(1+d.IntN(100)) * time.Second,
	}}
	if d.ownSources {
		w.most.MaxOpenRuns = 1000 // the tracker remembers the ids of as many ended runs
	}
	memory := budget.New(int64(1+d.IntN(64)) << 10)
	w.most.RunMemory = memory.Account("runs", 1, 1)
	content := budget.New(64 << 10)
	w.most.Memory = content.Account("content", 1, 1)
	w.most.MaxContent, w.most.MaxContentTotal = d.content.IntN(1000), 10000
	follow := tracker.New(w.most, w, w)
	var streams []*event.Stream
	for range 200 {
		d.now = d.now.Add(time.Duration(d.IntN(3000)) * time.Millisecond)
		switch n := d.IntN(40); {
		case n == 0:
			follow.Expire(d.now)
		case n == 1 && d.IntN(3) == 0:
			follow.EndAll(d.now)
		case n == 2:
			w.most.MaxContent = d.content.IntN(1000)
			follow.Configure(w.most)
		case len(streams) == 0 || n < 6 && len(streams) < 10:
			streams = append(streams, d.stream())
			follow.Open(streams[len(streams)-1])
		case n < 9:
			i := d.IntN(len(streams))
			follow.Close(streams[i], event.End(d.IntN(4)), d.received(streams[i]))
			streams = slices.Delete(streams, i, i+1)
		default:
			follow.Consume(d.batch(streams[d.IntN(len(streams))]))
		}
		if w.open > w.most.MaxOpenRuns {
			t.Fatalf("%d runs are open", w.open)
		}
		if err := follow.CheckOpen(); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range streams {
		follow.Close(s, event.EndOfStream, d.received(s))
	}
	if w.open != 0 {
		t.Errorf("%d runs never ended", w.open)
	}
	for _, used := range append(memory.Usage(), content.Usage()...) {
		if used.Bytes != 0 {
			t.Errorf("%d bytes of %s are charged for no run", used.Bytes, used.Name)
		}
	}
	return w.told
}

// drive generates random input.
type drive struct {
	*rand.Rand
	content    *rand.Rand // for texts and their limits
	now        time.Time
	ownSources bool // no two streams have the same source, so no two runs may have the same id
}

func one[T any](d *drive, of ...T) T { return of[d.IntN(len(of))] }

func (d *drive) received(s *event.Stream) time.Time {
	if s.Live {
		return d.now
	}
	return time.Time{}
}

func (d *drive) stream() *event.Stream {
	s := one(d, proxied, tailed, file)()
	s.Nonce, s.Session, s.OpenedAt = fmt.Sprint(d.Uint64()), one(d, "", "s1", "s2"), d.received(s)
	s.App = one(d, "", "app", "a")
	if d.ownSources {
		s.Source += s.Nonce
	}
	s.Dialect = one(d, "adk", "looopy")
	if d.IntN(3) == 0 {
		s.Answers = []string{d.id(), d.id()}
		s.ParentSpan = event.SpanContext{Trace: [16]byte{1}, Span: [8]byte{2}, Sampled: d.IntN(2) == 0}
	}
	return s
}

func (d *drive) id() string { return one(d, "", "1", "2", "3", "\x00") }

func (d *drive) name() string { return one(d, "", "a", "b", "c", "app", "a\x00") }

func (d *drive) batch(s *event.Stream) *event.Batch {
	b := &event.Batch{
		Stream: s, Received: d.received(s), Run: one(d, "", "e-1", "e-1", "e-2", "e-3"), Agent: d.name(),
		Branch: one(d, "", "", "p.x", "p.y", "\x00p"), Partial: d.IntN(3) == 0, Internal: d.IntN(20) == 0,
	}
	if s.Dialect == "adk" {
		b.Output = d.IntN(4) == 0
		b.Place = new(wire.Places).Of(wire.Speaker{
			Author: b.Agent, Branch: b.Branch, Scope: d.id(), HasPath: d.IntN(2) == 0, RunsNext: d.IntN(8) == 0,
			Path: one(d, "", "", "a@1", "a@2", "a@1/b@1", "a@1/b@2", "a@1/b@1/c@1", "app@1/w@1/b@3", "a@1/b"),
		})
	}
	if d.IntN(4) > 0 {
		b.Time = secondZero.Add(time.Duration(d.IntN(1000)) * time.Second)
	}
	if d.IntN(20) == 0 {
		b.Rejected = event.ReasonShape
	}
	if s.Dialect != "adk" && d.IntN(3) == 0 {
		b.EnclosingCall, b.ParentBranch, b.Orphan, b.Session = d.id(), one(d, "", "p.x", "p.y"), d.IntN(2) == 0, one(d, "", "s1")
	}
	for range d.IntN(5) {
		e := b.Add(one(d, event.Kinds()...))
		e.CallID, e.Name, e.Model = d.id(), d.name(), one(d, "", "m")
		e.Error = one(d, event.NoFailure, event.NoFailure, event.ToolError, event.FailureCanceled)
		e.ID, e.UsageIncomplete = one(d, "", "e-1", "e-2", "e-3"), d.IntN(3) == 0
		if e.Kind == event.KindText || e.Kind == event.KindThought {
			e.SetText(bytes.Repeat([]byte("x"), d.content.IntN(300)))
		}
		e.Artifact = event.Artifact{Index: event.Count{N: int64(d.IntN(4)), Known: d.IntN(2) == 0}, Append: d.IntN(2) == 0}
		if d.IntN(3) == 0 {
			e.Duration = event.Duration{D: time.Duration(d.IntN(5000)) * time.Millisecond, Known: true}
			e.ExpiresIn = e.Duration
		}
		e.LongRunning, e.TurnMayEnd, e.Inline, e.EndsAgent = d.IntN(4) == 0, d.IntN(3) == 0, d.IntN(2) == 0, d.IntN(4) == 0
		e.Input, e.Confidence.Origin = event.InputData, one(d, event.OriginText, event.OriginThought)
		e.Confidence.Value, e.Confidence.Known = 0.9, d.IntN(2) == 0
	}
	return b
}

// auditor checks what a tracker reports to its observers.
type auditor struct {
	*testing.T
	most tracker.Settings
	told []string
	runs map[*tracker.Run]*account
	open int

	ids    map[tracker.SpanID]bool // of runs
	unique bool                    // no two runs may have the same id
}

// account holds what observers got about a run.
type account struct {
	ended bool
	ops   []*tracker.Operation
	byID  map[tracker.SpanID]*tracker.Operation
}

func (w *auditor) CountEvicted(kind string)     { w.told = append(w.told, "evicted "+kind) }
func (w *auditor) CountExpired(kind string)     { w.told = append(w.told, "expired "+kind) }
func (w *auditor) CountLateFrame(source string) { w.told = append(w.told, "late "+source) }

func (w *auditor) RunStarted(r *tracker.Run) {
	if w.runs[r] != nil || r.Status != tracker.Running {
		w.Errorf("a run begins twice, or is %s from the start", r.Status)
	}
	w.open++
	w.runs[r] = &account{byID: map[tracker.SpanID]*tracker.Operation{}}
}

func (w *auditor) OperationEnded(r *tracker.Run, op *tracker.Operation) {
	w.told = append(w.told, fmt.Sprintf("%x below %x: %s %q %s %s", op.ID, op.Parent, op.Kind, op.Name, op.Status, op.Failure))
	a := w.runs[r]
	a.ops = append(a.ops, op)
	switch {
	case a.ended:
		w.Error("an operation is told of after its run's end")
	case a.byID[op.ID] != nil || op.ID == tracker.SpanID{}:
		w.Errorf("%s %q is told of twice, or its id is another's", op.Kind, op.Name)
	case a.byID[op.Parent] != nil:
		w.Errorf("%s %q is told of after its parent", op.Kind, op.Name)
	case !slices.Contains([]tracker.OperationStatus{tracker.OperationOK, tracker.OperationError, tracker.OperationInterrupted, tracker.OperationUnfinished}, op.Status):
		w.Errorf("%s %q ends as %q", op.Kind, op.Name, op.Status)
	case (op.Status == tracker.OperationError) != (op.Failure != "") && op.Status != tracker.OperationUnfinished:
		w.Errorf("%s %q is %s, its error %q", op.Kind, op.Name, op.Status, op.Failure)
	case (op.Started.At.IsZero() || op.Ended.At.IsZero()) != (op.Timing == tracker.TimingUnknown) && op.Kind == tracker.ExecuteTool && (op.Status == tracker.OperationOK || op.Status == tracker.OperationError) && op.Started.Frame != op.Ended.Frame, // others may have waited before
		(op.Started.At.IsZero() || op.Ended.At.IsZero()) && op.Timing != tracker.TimingUnknown:
		w.Errorf("%s %q from %s to %s is %s", op.Kind, op.Name, op.Started.At, op.Ended.At, op.Timing)
	case op.Status == tracker.OperationUnfinished && !op.Kind.Invokes() && op.Timing != tracker.TimingUnknown:
		w.Errorf("%s %q is unfinished, and its end %s", op.Kind, op.Name, op.Timing)
	case op.Timing == tracker.TimingObserved && !r.Live || op.Timing == tracker.TimingReported && r.Live && op.Kind == tracker.Chat:
		w.Errorf("%s %q is %s", op.Kind, op.Name, op.Timing)
	}
	a.byID[op.ID] = op
}

func (w *auditor) RunEnded(r *tracker.Run) {
	w.told = append(w.told, fmt.Sprintf("%x ends: %s %s, links %v", r.Trace, r.Status, r.Reason, r.Links))
	a := w.runs[r]
	if a.ended || !slices.Contains(tracker.Statuses(), r.Status) || (r.Status == tracker.Completed) != (r.Reason == "") {
		w.Errorf("a run ends as %s, %q, ended before: %v", r.Status, r.Reason, a.ended)
	}
	if w.unique && w.ids[r.Root.ID] {
		w.Errorf("the id of the run %q is another's", r.ID)
	}
	a.ended, w.ids[r.Root.ID] = true, true
	w.open--
	if last := a.ops[len(a.ops)-1]; last != r.Root || r.Operations[0] != r.Root || r.Root.Parent != (tracker.SpanID{}) {
		w.Error("the run's own operation is not the last that is told of, nor the first of the report")
	}
	for _, op := range a.ops {
		w.auditTimes(a, op, r.Root)
	}
	for _, op := range r.Operations {
		if a.byID[op.ID] != op {
			w.Errorf("%s %q was never told of", op.Kind, op.Name)
		}
	}
	facts := []int{len(r.Transfers), len(r.Confidence), len(r.Citations), len(r.Reasoning), len(r.Inputs), len(r.Artifacts), len(r.Links), len(r.UnratedAnswers)}
	if len(r.Operations) > w.most.MaxOperations || slices.Max(facts) > w.most.MaxFacts {
		w.Errorf("%d operations of %d, facts %v of %d", len(r.Operations), w.most.MaxOperations, facts, w.most.MaxFacts)
	}
	if _, err := r.Report().JSON(); err != nil {
		w.Error(err)
	}
}

func (w *auditor) auditTimes(a *account, op, root *tracker.Operation) {
	early := func(at, start tracker.Timestamp) bool {
		return !at.At.IsZero() && !start.At.IsZero() && at.At.Before(start.At)
	}
	if early(op.Ended, op.Started) || op.Ended.Frame < op.Started.Frame {
		w.Errorf("%s %q lasts from %v to %v", op.Kind, op.Name, op.Started, op.Ended)
	}
	if op == root {
		return
	}
	parent := a.byID[op.Parent]
	switch {
	case parent == nil || parent.Kind == tracker.Chat || parent == op:
		w.Errorf("%s %q is below %+v", op.Kind, op.Name, parent)
	case early(op.Started, parent.Started) || early(parent.Ended, op.Ended) ||
		op.Started.Frame < parent.Started.Frame || parent.Ended.Frame < op.Ended.Frame:
		w.Errorf("%s %q from %v to %v is not inside %s from %v to %v", op.Kind, op.Name, op.Started, op.Ended, parent.Name, parent.Started, parent.Ended)
	}
}

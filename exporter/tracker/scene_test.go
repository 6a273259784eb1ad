package tracker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// second is the clock of every test. A stream's request is forwarded at second 0, its frames come at 1, 2, 3 …, and it
// ends one second after its last frame.
func second(n int) time.Time { return secondZero.Add(time.Duration(n) * time.Second) }

var secondZero = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// proxied returns the answer to one run request.
func proxied() *event.Stream {
	return &event.Stream{
		Source: "briefing", Dialect: "adk", Nonce: "connection", Live: true, SingleRun: true, OpenedAt: second(0),
		Identity: event.Identity{App: "app", Session: "session"},
	}
}

// tailed returns a live stream that continues from run to run.
func tailed() *event.Stream {
	return &event.Stream{Source: "support", Dialect: "adk", Nonce: "connection", Live: true, OpenedAt: second(0)}
}

// file returns a capture, whose frames only have the times that they report.
func file() *event.Stream { return &event.Stream{Source: "capture.sse", Dialect: "adk", Nonce: "hash"} }

// scene is a tracker that records everything that its observers get.
type scene struct {
	*tracker.Tracker
	told []string
	lost []string
	runs []*tracker.Run // in the order in which they ended
	ops  []*tracker.Operation
	last map[*event.Stream]int
}

func watch(change ...func(*tracker.Settings)) *scene {
	settings := tracker.Settings{MaxOpenRuns: 100, MaxOperations: 100, MaxFacts: 100, IdleTimeout: time.Hour}
	for _, c := range change {
		c(&settings)
	}
	s := &scene{last: map[*event.Stream]int{}}
	s.Tracker = tracker.New(settings, s, s)
	return s
}

func (s *scene) RunStarted(r *tracker.Run) { s.told = append(s.told, "begins "+r.Source) }

func (s *scene) OperationEnded(_ *tracker.Run, op *tracker.Operation) {
	s.told, s.ops = append(s.told, string(op.Kind)+" "+op.Name), append(s.ops, op)
}

func (s *scene) RunEnded(r *tracker.Run) {
	s.told, s.runs = append(s.told, "ends "+r.Source), append(s.runs, r)
}

func (s *scene) CountEvicted(kind string)     { s.lost = append(s.lost, "evicted "+kind) }
func (s *scene) CountExpired(kind string)     { s.lost = append(s.lost, "expired "+kind) }
func (s *scene) CountLateFrame(source string) { s.lost = append(s.lost, "late "+source) }

// feed sends the next frames of a stream, and opens it before the first one.
func (s *scene) feed(stream *event.Stream, frames ...*event.Batch) *scene {
	if _, open := s.last[stream]; !open {
		s.Open(stream)
	}
	for _, b := range frames {
		s.last[stream]++
		b.Stream = stream
		switch now := second(s.last[stream]); {
		case stream.Live:
			b.Received = now
		case b.Time.IsZero():
			b.Time = now
		case b.Time.Equal(never):
			b.Time = time.Time{}
		}
		s.Consume(b)
	}
	return s
}

func (s *scene) end(stream *event.Stream, end event.End) *scene {
	at := time.Time{}
	if stream.Live {
		at = second(s.last[stream] + 1)
	}
	s.Close(stream, end, at)
	return s
}

// stop ends everything that is open.
func (s *scene) stop() []*tracker.Run {
	s.EndAll(second(1000))
	return s.runs
}

// follow reads a stream of one run to its end.
func follow(t *testing.T, stream *event.Stream, frames ...*event.Batch) *tracker.Run {
	t.Helper()
	return watch().feed(stream, frames...).end(stream, event.EndOfStream).only(t)
}

func (s *scene) only(t *testing.T) *tracker.Run {
	t.Helper()
	if len(s.runs) != 1 {
		t.Fatalf("%d runs ended", len(s.runs))
	}
	return s.runs[0]
}

// says returns a frame of an agent.
func says(agent string, facts ...fact) *event.Batch {
	b := &event.Batch{Agent: agent}
	for _, add := range facts {
		add(b)
	}
	return b
}

// fact adds one thing to a frame.
type fact func(*event.Batch)

func of(run string) fact { return func(b *event.Batch) { b.Run = run } }

// branch sets the branch of an ADK frame without a path.
func branch(name string) fact { return streamRun("", name) }

// lane sets the branch in a protocol whose agents have no other place.
func lane(name string) fact { return func(b *event.Batch) { b.Branch = name } }

// streamRun sets the path of an ADK 2 frame ("-" for an empty one) and its branch.
func streamRun(path, branch string) fact {
	return func(b *event.Batch) {
		speaker := wire.Speaker{Author: b.Agent, Path: strings.TrimPrefix(path, "-"), Branch: branch, HasPath: path != ""}
		b.Branch, b.Place = branch, new(wire.Places).Of(speaker)
	}
}

// task returns a frame of an agent that runs as a task: the call is its invocation.
func task(agent, path, branch, call string, facts ...fact) *event.Batch {
	b := says(agent)
	b.Branch, b.Place = branch, new(wire.Places).Of(wire.Speaker{Author: agent, Path: path, Branch: branch, Scope: call, HasPath: true})
	for _, add := range facts {
		add(b)
	}
	return b
}

func partial(b *event.Batch)  { b.Partial = true }
func internal(b *event.Batch) { b.Internal = true }
func unreadable(b *event.Batch) {
	b.Rejected = event.ReasonShape
}

var never = time.Unix(0, 0)

func undated(b *event.Batch) { b.Time = never }

func text(b *event.Batch)  { b.Add(event.KindText) }
func final(b *event.Batch) { b.Add(event.KindFinal) }

func begins(model string) fact {
	return func(b *event.Batch) { b.Partial, b.Add(event.KindModelStarted).Model = true, model }
}

func responds(model string) fact {
	return func(b *event.Batch) { b.Add(event.KindModelEnded).Model = model }
}

func calls(id, tool string) fact {
	return func(b *event.Batch) {
		e := b.Add(event.KindToolStarted)
		e.CallID, e.Name = id, tool
	}
}

// endsTurn is a call with which its agent's turn may end.
func endsTurn(id string) fact {
	return func(b *event.Batch) {
		calls(id, "transfer")(b)
		b.Events[len(b.Events)-1].TurnMayEnd = true
	}
}

func callsOutside(id, tool string) fact {
	return func(b *event.Batch) {
		calls(id, tool)(b)
		b.Events[len(b.Events)-1].LongRunning = true
	}
}

func returns(id, tool string) fact {
	return func(b *event.Batch) {
		e := b.Add(event.KindToolEnded)
		e.CallID, e.Name = id, tool
	}
}

// settles marks the response before it as one that the agent need not answer.
func settles(b *event.Batch) { b.Events[len(b.Events)-1].TurnMayEnd = true }

// reuses says of the call before it that another call had its id.
func reuses(b *event.Batch) { b.Events[len(b.Events)-1].ReusesID = true }

// wrong makes the fact before it a failure.
func wrong(f event.Failure) fact {
	return func(b *event.Batch) { b.Events[len(b.Events)-1].Error = f }
}

// coded sets the code of the failure before it.
func coded(code string) fact {
	return func(b *event.Batch) { b.Events[len(b.Events)-1].Code = code }
}

func pauses(id string) fact { return func(b *event.Batch) { b.Add(event.KindToolPaused).CallID = id } }

func asks(id string, kind event.InputKind) fact {
	return func(b *event.Batch) {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = id, kind
	}
}

func answers(id string) fact {
	return func(b *event.Batch) { b.Add(event.KindInputAnswered).CallID = id }
}

func handsOver(call, to string) fact {
	return func(b *event.Batch) {
		e := b.Add(event.KindTransfer)
		e.CallID, e.Name, e.ID = call, to, "event of "+to
	}
}

func workLeft(b *event.Batch) { b.WorkLeft = true }

func fails(b *event.Batch)     { b.Add(event.KindError).Error = event.AgentError }
func gaveUp(b *event.Batch)    { b.Add(event.KindError).Error = event.FailureCanceled }
func elsewhere(b *event.Batch) { fails(b); b.Events[len(b.Events)-1].Elsewhere = true }
func errorCode(b *event.Batch) { fails(b); b.Events[len(b.Events)-1].Inline = true }

// outline returns a run's status, then the tree of its operations with their times in seconds.
func outline(r *tracker.Run) string {
	var b strings.Builder
	b.WriteString(string(r.Status))
	if r.Reason != "" {
		b.WriteString(", " + string(r.Reason))
	}
	outlineBelow(&b, r, tracker.SpanID{}, "\n")
	return b.String()
}

func outlineBelow(b *strings.Builder, r *tracker.Run, parent tracker.SpanID, indent string) {
	for _, op := range r.Operations {
		if op.Parent != parent {
			continue
		}
		fmt.Fprintf(b, "%s%s %s %s", indent, op.Kind, op.Name, op.Status)
		if op.Failure != "" {
			fmt.Fprintf(b, " %s", op.Failure)
		}
		if op.ErrorCode != "" {
			fmt.Fprintf(b, " (%s)", op.ErrorCode)
		}
		fmt.Fprintf(b, " %s-%s", seconds(op.Started), seconds(op.Ended))
		outlineBelow(b, r, op.ID, indent+"  ")
	}
}

func seconds(m tracker.Timestamp) string {
	if m.At.IsZero() {
		return "?"
	}
	return fmt.Sprint(m.At.Sub(secondZero).Seconds())
}

// equal compares texts line by line.
func equal(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// findOperation returns the operation of a kind with a name.
func findOperation(t *testing.T, r *tracker.Run, kind tracker.OperationKind, name string) *tracker.Operation {
	t.Helper()
	for _, op := range r.Operations {
		if op.Kind == kind && op.Name == name {
			return op
		}
	}
	t.Fatalf("no %s %s", kind, name)
	return nil
}

func lines(s ...string) string { return strings.Join(s, "\n") }

package metrics

import (
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// start is the time when the runs of the tests begin. at returns a time some seconds later.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(second int) tracker.Timestamp {
	return tracker.Timestamp{At: start.Add(time.Duration(second) * time.Second), Frame: second}
}

// run returns a run of source s, started by agent a, that took eight seconds.
func run() *tracker.Run {
	return &tracker.Run{
		Source: "s", Dialect: "adk", Live: true, Status: tracker.Failed,
		Root: &tracker.Operation{Kind: tracker.InvokeAgent, Name: "a", Agent: "a", Failure: event.AgentError, Started: at(0), Ended: at(8), Timing: tracker.TimingObserved},
	}
}

// ends reports the ends of operations, but not the end of their run.
func ends(m *Metrics, operations ...*tracker.Operation) {
	for _, op := range operations {
		m.OperationEnded(run(), op)
	}
}

// runEnds reports the end of a run after facts has changed it.
func runEnds(m *Metrics, facts func(*tracker.Run)) {
	r := run()
	facts(r)
	m.RunStarted(r)
	m.RunEnded(r)
}

// batch returns a frame of source s that is 100 bytes long.
func batch(events ...event.Kind) *event.Batch {
	b := &event.Batch{Stream: &event.Stream{Source: "s", Dialect: "adk"}, Frame: sse.Frame{Size: 100}}
	for _, kind := range events {
		b.Add(kind)
	}
	return b
}

var known = event.Count{N: 100, Known: true}

func tool(name string, failure event.Failure) *tracker.Operation {
	op := &tracker.Operation{Kind: tracker.ExecuteTool, Name: name, Agent: "a", Failure: failure, Started: at(1), Ended: at(3), Timing: tracker.TimingObserved}
	if failure != "" {
		op.Status = tracker.OperationError
	}
	return op
}

func chat(model string, failure event.Failure) *tracker.Operation {
	return &tracker.Operation{
		Kind: tracker.Chat, Name: model, Agent: "a", Failure: failure, Started: at(1), Ended: at(2), Timing: tracker.TimingObserved,
		Response: &tracker.Response{Usage: event.Usage{Input: known, Output: event.Count{N: 7, Known: true}, Reasoning: known, CacheRead: known}, FirstChunk: at(1)},
	}
}

// coded sets the code of an operation's failure.
func coded(code string, op *tracker.Operation) *tracker.Operation {
	op.ErrorCode = code
	return op
}

// addInputs adds one input that was answered after five seconds, one answered before an unknown question, and one that expired.
func addInputs(r *tracker.Run) {
	r.Inputs = []*tracker.InputRequest{
		{Kind: event.InputConfirmation, Status: tracker.InputAnswered, Requested: at(1), Answered: at(6)},
		{Kind: event.InputConfirmation, Status: tracker.InputAnswered, Answered: at(6)},
		{Kind: event.InputTool, Status: tracker.InputExpired, Requested: at(1)},
	}
}

func addChunks(r *tracker.Run) {
	r.Artifacts = []tracker.Artifact{{ID: "a", Artifact: event.Artifact{Kind: event.ArtifactDataset}, Gaps: 2, Duplicates: 3}, {ID: "b", Artifact: event.Artifact{Kind: event.ArtifactData}}}
}

func addArtifacts(r *tracker.Run) {
	r.Artifacts = []tracker.Artifact{
		{Artifact: event.Artifact{Kind: event.ArtifactFile, Bytes: known}},
		{Artifact: event.Artifact{Kind: event.ArtifactFile, Bytes: known}},
		{Artifact: event.Artifact{Kind: event.ArtifactData}},
	}
}

// frameOfEachSort sends a decoded frame, a malformed frame, a frame without a known type, and the end of a stream
// within a frame, which counts as no frame.
func frameOfEachSort(m *Metrics) {
	shape, unknown, truncated := batch(), batch(), batch()
	shape.Rejected, unknown.Rejected, truncated.Rejected = event.ReasonShape, event.ReasonUnrecognized, event.ReasonTruncated
	unknown.Stream = &event.Stream{Source: "s"}
	for _, b := range []*event.Batch{batch(), shape, unknown, truncated} {
		m.Consume(b)
	}
}

func observeMemory(m *Metrics) {
	b := budget.New(1000)
	b.Account("replay", 1, 1).Charge(7)
	b.Account("content", 0.5, 1).Reserve(501)
	m.ObserveMemory(b)
}

func observeSpans(m *Metrics) {
	m.ObserveSpans(func() (uint64, int, map[string]uint64) { return 5, 3, map[string]uint64{"queue_full": 2} }, []string{"queue_full", "shutdown"})
}

// lags sends frames that are three seconds old, one second old and two seconds in the future, and frames without one of
// the two times.
func lags(m *Metrics) {
	for _, second := range []int{0, 2, 5} {
		b := batch()
		b.Time, b.Received = at(second).At, at(3).At
		m.Consume(b)
	}
	m.Consume(batch())
	unknown := batch()
	unknown.Received = at(3).At
	m.Consume(unknown)
	file := batch()
	file.Time = at(3).At
	m.Consume(file)
}

// lastEvents sends events of two sources and of one that is removed, and a rejected frame.
func lastEvents(m *Metrics) {
	received := func(source string, second int, reason event.Reason) {
		b := batch()
		b.Stream.Source, b.Received, b.Rejected = source, at(second).At, reason
		m.Consume(b)
	}
	received("s", 1, "")
	received("s", 2, "")
	received("s", 3, event.ReasonShape)
	m.Consume(batch()) // from a file
	received("removed", 1, "")
	received("again", 1, "")
	m.RemoveSource("removed")
	m.RemoveSource("again")
	received("removed", 4, "") // of a stream that is still open
	received("again", 4, "")
	m.InitSource("again", nil, nil)
	received("again", 4, "")

	inFlight := m.frameSeries("in flight", "adk")
	m.RemoveSource("in flight")
	if last := inFlight.last(); last != nil {
		last.Set(4)
	}
}

// clockOffsets ends runs of a source, and of one that is removed while a run is open.
func clockOffsets(m *Metrics) {
	ends := func(source string, offset time.Duration) {
		runEnds(m, func(r *tracker.Run) { r.Source, r.ClockOffset, r.ClockOffsetKnown = source, offset, true })
	}
	ends("s", time.Second)
	ends("s", -2*time.Second)
	runEnds(m, func(*tracker.Run) {})
	ends("removed", time.Second)
	m.RemoveSource("removed")
	ends("removed", time.Second)
}

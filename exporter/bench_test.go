package exporter_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/tracker"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// turn returns the frames of one model turn: ten deltas, a tool call, and its response.
func turn(call string) (frames [][]event.Event) {
	usage := event.Usage{Input: event.Count{N: 100, Known: true}, Output: event.Count{N: 10, Known: true}}
	frames = append(frames, []event.Event{{Kind: event.KindModelStarted, Model: "model"}, {Kind: event.KindText}})
	for range 9 {
		frames = append(frames, []event.Event{{Kind: event.KindText}})
	}
	return append(frames,
		[]event.Event{
			{Kind: event.KindModelEnded, Model: "model", FinishReason: "STOP", Usage: usage},
			{Kind: event.KindToolStarted, Name: "tool", CallID: call},
		},
		[]event.Event{{Kind: event.KindToolEnded, Name: "tool", CallID: call}})
}

const (
	deltas     = 10 // of a turn
	turnFrames = deltas + 2
)

// batchOf returns one frame of a turn.
func batchOf(s *event.Stream, index int, events []event.Event) *event.Batch {
	return &event.Batch{Stream: s, Received: at, Run: "e-1", Agent: "agent", Partial: index < deltas, Events: events}
}

// take feeds turns to a tracker. Each has its own call id, as long as ADK's.
func take(t *tracker.Tracker, s *event.Stream, turns int, n *int) {
	for range turns {
		*n++
		for index, events := range turn(fmt.Sprintf("adk-%036d", *n)) {
			t.Consume(batchOf(s, index, events))
		}
	}
}

func liveStream(session string) *event.Stream {
	return &event.Stream{
		Source: "source", Dialect: "adk", Live: true, SingleRun: true, OpenedAt: at, Nonce: session,
		Identity:   event.Identity{App: "app", Session: session},
		ParentSpan: event.SpanContext{Trace: [16]byte{1}, Span: [8]byte{2}, Sampled: true},
	}
}

// newTracker returns a tracker without observers.
func newTracker() *tracker.Tracker { return tracker.New(bounds(), newMetrics()) }

func bounds() tracker.Settings {
	return tracker.Settings{MaxOpenRuns: 10_000, MaxOperations: 10_000, MaxFacts: 1_000, IdleTimeout: time.Hour}
}

func newMetrics() *metrics.Metrics {
	return metrics.New(prometheus.NewRegistry(), metrics.Settings{Names: conventions.Released(), MaxLabelValues: 100, MaxLabelSets: 1_000})
}

// BenchmarkTracker measures a frame in runs of different lengths.
func BenchmarkTracker(b *testing.B) {
	frames := turn("call")
	for name, of := range map[string][]int{"delta": {1}, "call and response": {10, 11}} {
		b.Run(name, func(b *testing.B) {
			t, s := newTracker(), liveStream("")
			t.Open(s)
			var batches []*event.Batch
			for _, index := range of {
				batches = append(batches, batchOf(s, index, frames[index]))
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, batch := range batches {
					t.Consume(batch)
				}
			}
		})
	}
}

// BenchmarkLongRun compares 1,000 frames at the end of a long run with 1,000 frames of a new run. The run grows by 1,000 frames
// an iteration: -benchtime 10000x ends at ten million.
func BenchmarkLongRun(b *testing.B) {
	const turns = 1000 / turnFrames
	n := 0
	t, long := newTracker(), liveStream("long")
	t.Open(long)
	rounds := alternate(b, func() {
		short := liveStream("short")
		t.Open(short)
		take(t, short, turns, &n)
		t.Close(short, event.EndOfStream, at)
	}, func() { take(t, long, turns, &n) })
	b.ReportMetric(median(rounds[len(rounds)-(len(rounds)+9)/10:]), "x/short")
}

// BenchmarkOpenRuns compares frames that alternate between open runs with as many frames of a single run.
func BenchmarkOpenRuns(b *testing.B) {
	for _, open := range []int{100, 10_000} {
		b.Run(fmt.Sprint(open), func(b *testing.B) {
			delta := turn("")[1]
			fill := func(runs int) func() {
				t := newTracker()
				var batches []*event.Batch
				for i := range runs {
					s := liveStream(fmt.Sprint(i))
					t.Open(s)
					batches = append(batches, batchOf(s, 1, delta))
				}
				return func() {
					for i := range open {
						t.Consume(batches[i%runs])
					}
				}
			}
			b.ReportMetric(median(alternate(b, fill(1), fill(open))), "x/one")
		})
	}
}

// BenchmarkOpenRunMemory measures the memory of an open run with ten responses and ten calls.
func BenchmarkOpenRunMemory(b *testing.B) {
	const runs = 500
	var bytes []float64
	for b.Loop() {
		before := heap()
		t, n := newTracker(), 0
		for i := range runs {
			s := liveStream(fmt.Sprint(i))
			t.Open(s)
			take(t, s, 10, &n)
		}
		bytes = append(bytes, float64(heap()-before)/runs)
		runtime.KeepAlive(t)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(bytes), "B/run")
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkMetrics measures a frame, and an operation that ended in a sampled run.
func BenchmarkMetrics(b *testing.B) {
	m := newMetrics()
	batch := batchOf(liveStream(""), 1, turn("")[1])
	batch.Time = at.Add(-time.Millisecond)
	b.Run("delta", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Consume(batch)
		}
	})
	eachEnded(b, m)
}

// BenchmarkSpans measures the span of an operation, without an exporter.
func BenchmarkSpans(b *testing.B) {
	eachEnded(b, spans.NewObserver(spans.NewProvider(sdktrace.AlwaysSample(), discardProcessor{}, resource.Empty()), conventions.Released(), ""))
}

// discardProcessor is a span processor that discards spans.
type discardProcessor struct{ sdktrace.SpanProcessor }

func (discardProcessor) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discardProcessor) OnEnd(sdktrace.ReadOnlySpan)                     {}

// eachEnded measures an observer with one operation of each kind, made by a tracker.
func eachEnded(b *testing.B, o tracker.Observer) {
	k := &keeper{operations: map[tracker.OperationKind]*tracker.Operation{}}
	t, s := tracker.New(bounds(), newMetrics(), k), liveStream("session")
	t.Open(s)
	take(t, s, 1, new(int))
	t.Close(s, event.EndOfStream, at)
	for kind, op := range k.operations {
		b.Run(string(kind), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o.OperationEnded(k.run, op)
			}
		})
	}
}

// keeper keeps the last run and the last operation of each kind, which real observers must not.
type keeper struct {
	run        *tracker.Run
	operations map[tracker.OperationKind]*tracker.Operation
}

func (k *keeper) RunStarted(*tracker.Run) {}
func (k *keeper) OperationEnded(r *tracker.Run, op *tracker.Operation) {
	then := *op
	k.run, k.operations[op.Kind] = r, &then
}
func (k *keeper) RunEnded(*tracker.Run) {}

// alternate runs both in turns, so that other load on the machine affects both, and returns the ratio of each turn.
func alternate(b *testing.B, plain, ours func()) (ratios []float64) {
	timed := func(do func()) float64 {
		begin := time.Now()
		do()
		return float64(time.Since(begin))
	}
	for b.Loop() {
		if len(ratios)%2 == 0 {
			p := timed(plain)
			ratios = append(ratios, timed(ours)/p)
		} else {
			o := timed(ours)
			ratios = append(ratios, o/timed(plain))
		}
	}
	b.ReportMetric(0, "ns/op")
	return ratios
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

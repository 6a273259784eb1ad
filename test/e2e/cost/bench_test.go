package cost_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// BenchmarkPipeline measures the cost of an event (a frame and its facts) from its bytes to runs, metrics and spans. An iteration
// is a whole workload, each of its streams the answer to one request.
func BenchmarkPipeline(b *testing.B) {
	for _, l := range workloads(b) {
		b.Run(l.name, func(b *testing.B) {
			observe := l.through(b, newSink(true))
			observe()
			var before, after runtime.MemStats
			b.SetBytes(l.size)
			b.ReportAllocs()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				observe()
			}
			runtime.ReadMemStats(&after)
			events := float64(b.N * l.frames)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/events, "ns/event")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/events, "allocs/event")
		})
	}
}

// BenchmarkPipelineRatio measures the CPU time of decoding and of each further step, relative to framing the same bytes and
// checking each frame with jsontext.Value.IsValid. Garbage is collected as often as in a sidecar with a memory limit.
func BenchmarkPipelineRatio(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(budget.GCPercent))
	for _, l := range workloads(b) {
		for _, part := range []struct {
			name string
			sink event.Sink
		}{{"decode", discardSink{}}, {"filter", newFilteredSink(discardSink{})}, {"metrics", newFilteredSink(newSink(false))}, {"spans", newFilteredSink(newSink(true))}} {
			b.Run(l.name+"/"+part.name, func(b *testing.B) {
				inTurns(b, l.validate(b), l.through(b, part.sink))
			})
		}
	}
}

// workload holds streams that are observed again and again.
type workload struct {
	name    string
	streams [][]byte
	frames  int
	size    int64
}

// workloads returns a mix in the proportions of streaming agents, only its deltas, and the captures of real agents, whose runs
// are short.
func workloads(b *testing.B) []workload {
	b.Helper()
	all := []workload{{name: "mix", streams: [][]byte{mix(1000)}}, {name: "deltas", streams: [][]byte{deltas(1000)}}}
	for _, family := range slices.Sorted(maps.Keys(recorded.ADKCaptures)) {
		files, err := filepath.Glob(filepath.Join(recorded.ADKCaptures[family], "*.sse"))
		if err != nil || len(files) == 0 {
			b.Fatalf("no captures in %s: %v", recorded.ADKCaptures[family], err)
		}
		l := workload{name: family}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			l.streams = append(l.streams, content)
		}
		all = append(all, l)
	}
	for i := range all {
		for _, stream := range all[i].streams {
			all[i].frames += bytes.Count(stream, []byte("\n\n"))
			all[i].size += int64(len(stream))
		}
	}
	return all
}

// mix returns 70 % deltas of about 250 bytes, 10 % calls and 10 % whole texts of about 600, and 10 % responses of 2 to 4 KB.
func mix(frames int) []byte {
	var stream []byte
	for i := range frames {
		call := fmt.Sprintf("adk-%036d", i/10)
		switch i % 10 {
		case 7:
			stream = frame(stream, i, false, fmt.Sprintf(`{"text":"%s"}`, words(350)))
		case 8:
			stream = frame(stream, i, false, fmt.Sprintf(`{"functionCall":{"id":"%s","args":{"request":"%s"},"name":"burn_analyst"}}`, call, words(220)))
		case 9:
			stream = frame(stream, i, true, fmt.Sprintf(`{"functionResponse":{"id":"%s","name":"burn_analyst","response":{"result":"%s"}}}`, call, words(1700+i*17%2000)))
		default:
			stream = delta(stream, i)
		}
	}
	return stream
}

func deltas(frames int) (stream []byte) {
	for i := range frames {
		stream = delta(stream, i)
	}
	return stream
}

const origin = `"invocationId":"e-8c25241f-88ef-42ac-839b-4ad45db4e446","author":"coordinator","actions":{"stateDelta":{}},"id":"1b077b44-5c8d","timestamp":1795234330.4511023}` + "\n\n"

func delta(dst []byte, i int) []byte {
	return fmt.Appendf(dst, `data: {"content":{"parts":[{"text":"%s"}],"role":"model"},"partial":true,%s`, words(10+i*7%40), origin)
}

func frame(dst []byte, i int, response bool, part string) []byte {
	usage := ""
	if !response {
		usage = fmt.Sprintf(`"finishReason":"STOP","usageMetadata":{"candidatesTokenCount":12,"promptTokenCount":%d,"totalTokenCount":%d},"modelVersion":"gemini-2.5-flash",`, i, i+12)
	}
	return fmt.Appendf(dst, `data: {"content":{"parts":[%s],"role":"model"},%s%s`, part, usage, origin)
}

// words returns prose of about n bytes, with the usual escapes.
func words(n int) string {
	const prose = `The fire burned 130,000 acres of Douglas-fir along the ridge above Waldo Lake: trails remain\nclosed until crews have cleared them (see \"the map\"). `
	return strings.Repeat(prose, n/len(prose)) + strings.TrimRight(prose[:n%len(prose)], `\`)
}

// newSink returns the sidecar's sink with its default limits. Spans are discarded; without them no run is sampled.
func newSink(withSpans bool) *exporter.Exporter {
	c := config.Default()
	var observers []tracker.Observer
	if withSpans {
		observers = append(observers, spans.NewObserver(spans.NewProvider(sdktrace.AlwaysSample(), discardProcessor{}, resource.Empty()), conventions.Released(), ""))
	}
	sample := func(*tracker.Run) bool { return withSpans }
	return exporter.New(metrics.New(prometheus.NewRegistry(), settings.Metrics(c, conventions.Released())), settings.Tracker(c, sample), nil, observers...)
}

// newFilteredSink returns a sink behind the filter for clients.
func newFilteredSink(s event.Sink) event.Sink {
	client := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
	return &filtering{Sink: s, relay: filter.NewRelay(client, metrics.New(prometheus.NewRegistry(), settings.Metrics(config.Default(), conventions.Released())))}
}

type filtering struct {
	event.Sink
	relay *filter.Relay
	out   []byte
}

func (f *filtering) Consume(b *event.Batch) {
	f.out = f.relay.Append(f.out[:0], b)
	f.Sink.Consume(b)
}

// discardProcessor is a span processor that discards spans.
type discardProcessor struct{ sdktrace.SpanProcessor }

func (discardProcessor) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discardProcessor) OnEnd(sdktrace.ReadOnlySpan)                     {}

// discardSink is a sink that does nothing.
type discardSink struct{}

func (discardSink) Open(*event.Stream)                        {}
func (discardSink) Consume(*event.Batch)                      {}
func (discardSink) Close(*event.Stream, event.End, time.Time) {}

// through returns a function that observes the workload once.
func (l workload) through(b *testing.B, sink event.Sink) func() {
	c := collector.New(collector.Dialects(), settings.Collector(config.Default()), sink)
	return func() {
		for _, stream := range l.streams {
			if err := c.Observe(harness.ProxyStream(), collector.Input{Reader: bytes.NewReader(stream), ReceivedAt: harness.ReceiveClock}, ""); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// validate returns a function that frames the workload and validates its JSON, the least that any strict parser does. Captures
// contain invalid frames too.
func (l workload) validate(b *testing.B) func() {
	return func() {
		for _, stream := range l.streams {
			frames := sse.NewReader(bytes.NewReader(stream), 0)
			for {
				f, err := frames.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				_ = jsontext.Value(f.Data).IsValid()
			}
		}
	}
}

// inTurns runs both in turns, so that other load on the machine affects both, and reports the median ratio of ours to plain.
func inTurns(b *testing.B, plain, ours func()) {
	var ratios []float64
	thrice := func(do func()) func() { // long enough to include the garbage collection that ours causes
		return func() {
			for range 3 {
				do()
			}
		}
	}
	for b.Loop() {
		ratios = append(ratios, ratio(len(ratios)%2 == 0, thrice(plain), thrice(ours)))
	}
	slices.Sort(ratios)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ratios[len(ratios)/2], "x/plain")
}

// ratio returns the CPU time of ours divided by that of plain, in the given order. It excludes other processes and includes
// garbage collection on all processors.
func ratio(plainFirst bool, plain, ours func()) float64 {
	used := func(do func()) float64 {
		begin := processorTime()
		do()
		return float64(processorTime() - begin)
	}
	if plainFirst {
		p := used(plain)
		return used(ours) / p
	}
	o := used(ours)
	return o / used(plain)
}

func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

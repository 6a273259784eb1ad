package cost_test

import (
	"bytes"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// Each run of TestMillionNames has five unique names: its session, its model, a tool, the agent that calls the tool, and the
// agent that gets control. The first runs call all of the first tools, whose combinations with their agents exceed the limit of a
// metric's label sets.
const (
	namedRuns    = 200_000
	crossedRuns  = 50  // the number of agents that the default limit admits
	crossedTools = 100 // and of tools
)

// mostHeap limits the growth of the heap after a million names: label sets with exemplars, reports of the last runs, and what the
// tracker remembers of ended runs.
const mostHeap = 32 << 20

// wireLabels maps the labels whose values agents choose to the class that is capped and counted.
var wireLabels = map[string]string{
	"agent": "agent", "from_agent": "agent", "to_agent": "agent", "gen_ai_agent_name": "agent",
	"tool": "tool", "gen_ai_tool_name": "tool",
	"gen_ai_response_model": "model", "gen_ai_workflow_name": "workflow",
}

// bounds holds the label sets of a metric, what it counts or observes, and how much of that is in admitted sets.
type bounds struct{ sets, counts, admitted int }

// TestMillionNames sends a million names of agents, tools, models and sessions through the pipeline, as an ADK agent would. Each
// metric has as many label sets as its limits admit, and counts everything else in _other, as does the overflow counter. No
// session is in any label, and the heap stays bounded.
func TestMillionNames(t *testing.T) {
	c := config.Default()
	if (c.Metrics != config.Metrics{MaxLabelValues: 100, MaxLabelSets: 1000}) {
		t.Fatalf("the limits are %+v: update the expected values", c.Metrics)
	}
	runs := namedRuns
	if harness.RaceDetector {
		runs /= 20
	}
	registry := prometheus.NewRegistry()
	provider := spans.NewProvider(sdktrace.AlwaysSample(), discardProcessor{}, resource.Empty())
	sink := exporter.New(metrics.New(registry, settings.Metrics(c, conventions.Released())), settings.Tracker(c, func(*tracker.Run) bool { return true }), nil,
		spans.NewObserver(provider, conventions.Released(), ""), recent.New(c.Runs.MaxEnded, int(c.Runs.MaxEndedSize)))
	before := heap()
	sendNames(t, collector.New(collector.Dialects(), settings.Collector(c), sink), runs)
	growth := heap() - before
	runtime.KeepAlive(sink)
	t.Logf("%d names: the heap grew by %.1f MiB", 5*runs, float64(growth)/(1<<20))
	if growth > mostHeap {
		t.Errorf("the heap grew by %d MiB", growth>>20)
	}
	checkBounds(t, registry, runs)
}

// sendNames sends the first runs in order and the others concurrently, as clients would.
func sendNames(t *testing.T, c *collector.Collector, runs int) {
	t.Helper()
	all := make([]int, crossedTools)
	for tool := range all {
		all[tool] = tool
	}
	for n := range crossedRuns {
		if err := observeNamed(c, n, all); err != nil {
			t.Fatal(err)
		}
	}
	var next atomic.Int64
	next.Store(crossedRuns)
	var work sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for n := int(next.Add(1) - 1); n < runs; n = int(next.Add(1) - 1) {
				if err := observeNamed(c, n, []int{n}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
}

func observeNamed(c *collector.Collector, n int, tools []int) error {
	s := &event.Stream{
		Source: "source", Nonce: fmt.Sprint(n), Live: true, SingleRun: true, OpenedAt: harness.ReceivedAt.Add(-time.Minute),
		Identity: event.Identity{App: fmt.Sprint("desk-", n), Session: fmt.Sprint("session-", n)},
	}
	return c.Observe(s, collector.Input{Reader: bytes.NewReader(namedRun(n, tools)), ReceivedAt: harness.ReceiveClock}, "")
}

// namedRun returns a run as adk-python sends it: the first agent calls tools, the last of which transfers control to another agent,
// which answers.
func namedRun(n int, tools []int) (stream []byte) {
	frame := func(author, parts, rest string) {
		stream = fmt.Appendf(stream, `data: {%s"content":{"parts":[%s],"role":"model"},"invocationId":"e-%d","author":"%s-%d","id":"%d","timestamp":1795234330.4511023}`+"\n\n",
			rest, parts, n, author, n, len(stream))
	}
	var calls, responses []string
	for _, tool := range tools {
		calls = append(calls, fmt.Sprintf(`{"functionCall":{"id":"adk-%d","args":{},"name":"tool-%d"}}`, tool, tool))
		responses = append(responses, fmt.Sprintf(`{"functionResponse":{"id":"adk-%d","name":"tool-%d","response":{"result":"done"}}}`, tool, tool))
	}
	answered := fmt.Sprintf(`"modelVersion":"model-%d","finishReason":"STOP","usageMetadata":{"candidatesTokenCount":1,"promptTokenCount":2,"totalTokenCount":3},`, n)
	frame("desk", strings.Join(calls, ","), answered)
	frame("desk", strings.Join(responses, ","), fmt.Sprintf(`"actions":{"transferToAgent":"agent-%d"},`, n))
	frame("agent", `{"text":"Closed. **Confidence:** 92% | **Source:** MTBS"}`, answered)
	return stream
}

// checkBounds compares the scraped metrics with the expected ones after so many runs.
func checkBounds(t *testing.T, registry *prometheus.Registry, runs int) {
	t.Helper()
	calls := crossedRuns*crossedTools + runs - crossedRuns
	crossed := bounds{901, calls, 900} // nine tenths of the sets are for names from the stream, and one more set counts the rest
	once := bounds{crossedRuns + 1, runs, crossedRuns}
	want := map[string]bounds{
		"delegraph_runs_ended_total":               {6 * once.sets, once.counts, once.admitted}, // for each status
		"delegraph_run_duration_seconds":           once,
		"delegraph_run_time_to_first_text_seconds": once,
		"delegraph_run_delegation_depth":           once,
		"delegraph_run_model_calls":                once,
		"delegraph_run_tool_calls":                 once,
		"delegraph_transfers_total":                once,
		"delegraph_confidence_ratio":               once,
		"delegraph_citations_total":                once,
		"gen_ai_invoke_agent_duration_seconds":     {101, 2 * runs, 100},
		"gen_ai_invoke_agent_inference_calls":      {101, 2 * runs, 100},
		"gen_ai_invoke_agent_tool_calls":           {101, 2 * runs, 100},
		"delegraph_tool_calls_total":               crossed,
		"delegraph_tool_call_failures_total":       {sets: crossed.sets},
		"gen_ai_execute_tool_duration_seconds":     crossed,
		"gen_ai_client_operation_duration_seconds": {101, 2 * runs, 2 * 100},
		"gen_ai_client_token_usage":                {2 * 101, 4 * runs, 4 * 100}, // input and output
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got, overflow, rest := map[string]bounds{}, map[string]int{}, map[string]int{"workflow": 0, "event": 0} // none of these exist here
	for _, f := range families {
		checkNoSession(t, f)
		if f.GetName() == "delegraph_label_overflow_total" {
			for _, m := range f.Metric {
				overflow[m.Label[0].GetValue()] = int(m.GetCounter().GetValue())
			}
		}
		if b, classes := boundsOf(f); len(classes) > 0 {
			got[f.GetName()] = b
			for _, class := range classes { // a set that is not admitted has none of its names
				rest[class] += b.counts - b.admitted
			}
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(bounds{})); diff != "" {
		t.Errorf("bounds (-want +got):\n%s", diff)
	}
	delete(overflow, "error") // no name: `_other` is also one of our failure classes
	if !maps.Equal(overflow, rest) {
		t.Errorf("overflow counter %v, in _other %v", overflow, rest)
	}
}

// boundsOf counts what a metric has, and returns the classes of its labels whose values come from the stream.
func boundsOf(f *dto.MetricFamily) (b bounds, classes []string) {
	b.sets = len(f.Metric)
	for i, m := range f.Metric {
		other := false
		for _, l := range m.Label {
			class := wireLabels[l.GetName()]
			if class != "" && i == 0 {
				classes = append(classes, class)
			}
			other = other || class != "" && l.GetValue() == "_other"
		}
		n := int(m.GetCounter().GetValue()) + int(m.GetHistogram().GetSampleCount())
		if b.counts += n; !other {
			b.admitted += n
		}
	}
	return b, classes
}

func checkNoSession(t *testing.T, f *dto.MetricFamily) {
	t.Helper()
	for _, m := range f.Metric {
		for _, l := range m.Label {
			if strings.Contains(l.GetValue(), "session-") {
				t.Fatalf("%s has the label %s", f.GetName(), l)
			}
		}
	}
}

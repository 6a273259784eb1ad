package metrics

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// durations are the metrics that measure a time of a run or an operation.
var durations = []string{
	"gen_ai_invoke_agent_duration_seconds", "gen_ai_execute_tool_duration_seconds", "gen_ai_client_operation_duration_seconds",
	"gen_ai_invoke_workflow_duration_seconds", "delegraph_run_duration_seconds",
}

// TestHistograms checks that each histogram is both classic and native, with the conventions'
// buckets.
func TestHistograms(t *testing.T) {
	families, err := all(t).Gather()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]float64{
		"gen_ai_invoke_agent_duration_seconds":                {0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6},
		"gen_ai_execute_tool_duration_seconds":                {0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92},
		"gen_ai_client_operation_duration_seconds":            {0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92},
		"gen_ai_client_operation_time_to_first_chunk_seconds": {0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92},
		"gen_ai_invoke_workflow_duration_seconds":             {1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200},
		"gen_ai_invoke_agent_inference_calls":                 {1, 2, 4, 8, 16, 32, 64, 128},
		"gen_ai_invoke_agent_tool_calls":                      {1, 2, 4, 8, 16, 32, 64, 128},
		"gen_ai_client_token_usage":                           {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864},
	}
	seen := 0
	for _, f := range families {
		if f.GetType() != dto.MetricType_HISTOGRAM {
			continue
		}
		seen++
		for _, s := range f.Metric {
			h := s.Histogram
			if len(h.Bucket) == 0 || h.Schema == nil || len(h.PositiveSpan)+len(h.NegativeSpan) == 0 && h.GetZeroCount() == 0 {
				t.Errorf("%s has %d classic buckets and the native schema %v", f.GetName(), len(h.Bucket), h.Schema)
			}
			var bounds []float64
			for _, b := range h.Bucket {
				bounds = append(bounds, b.GetUpperBound())
			}
			if !slices.IsSorted(bounds) || want[f.GetName()] != nil && !slices.Equal(bounds, want[f.GetName()]) {
				t.Errorf("%s has the buckets %v", f.GetName(), bounds)
			}
		}
	}
	if seen != 16 {
		t.Errorf("%d histograms were checked", seen)
	}
}

// TestConventions compares the names with the conventions, as OpenTelemetry spells them for
// Prometheus.
func TestConventions(t *testing.T) {
	for ours, theirs := range map[string]string{
		released.inferenceDuration.name: genaiconv.ClientOperationDuration{}.Name() + "_seconds",
		released.firstChunk.name:        genaiconv.ClientOperationTimeToFirstChunk{}.Name() + "_seconds",
		released.tokens[0].name:         genaiconv.ClientTokenUsage{}.Name(),
	} {
		if want := strings.ReplaceAll(theirs, ".", "_"); ours != want {
			t.Errorf("%s is %s in the conventions", ours, want)
		}
	}
	m, reg := newTest(10, 10)
	ends(m, chat("m", ""))
	types := []string{string(genaiconv.TokenTypeInput), string(genaiconv.TokenTypeOutput)}
	var got []string
	for _, s := range gathered(t, reg, released.tokens[0].name) {
		got = append(got, s.Label[2].GetValue())
	}
	if diff := cmp.Diff(types, got); diff != "" {
		t.Errorf("types of tokens (-conventions +got):\n%s", diff)
	}
}

// operations returns one operation of each kind, with these times.
func operations(timing tracker.Timing, started, ended tracker.Timestamp) []*tracker.Operation {
	var out []*tracker.Operation
	for _, kind := range []tracker.OperationKind{tracker.InvokeWorkflow, tracker.InvokeAgent, tracker.ExecuteTool, tracker.Chat} {
		out = append(out, &tracker.Operation{ID: tracker.SpanID{1, 2, 3}, Kind: kind, Name: "n", Agent: "a", Timing: timing, Started: started, Ended: ended})
	}
	return out
}

// TestUnknownTimes checks that an operation of unknown duration is counted and not observed.
func TestUnknownTimes(t *testing.T) {
	m, reg := newTest(10, 100)
	for _, ended := range []tracker.Timestamp{{}, at(3)} {
		for _, op := range operations(tracker.TimingUnknown, tracker.Timestamp{}, ended) {
			m.OperationEnded(run(), op)
		}
	}
	r := run()
	r.Root.Timing, r.Root.Started.At = tracker.TimingUnknown, time.Time{}
	m.RunEnded(r)
	for _, name := range durations {
		if got := series(t, reg, name); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if diff := cmp.Diff([]string{`agent="a",source="s",tool="n" 2`}, series(t, reg, toolCalls.name)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if runs := series(t, reg, runsEnded.name); !slices.Contains(runs, `agent="a",source="s",status="failed" 1`) {
		t.Errorf("runs: %q", runs)
	}
}

// TestReportedTimes checks that times in a capture are measured like observed ones.
func TestReportedTimes(t *testing.T) {
	for _, timing := range []tracker.Timing{tracker.TimingReported, tracker.TimingObserved} {
		m, reg := newTest(10, 100)
		ends(m, operations(timing, at(1), at(5))...)
		for _, name := range durations[:4] {
			if s := gathered(t, reg, name); len(s) != 1 || s[0].Histogram.GetSampleSum() != 4 {
				t.Errorf("%s %s: %v", timing, name, s)
			}
		}
	}
}

// TestExemplars checks that a duration has an exemplar if its span exists.
func TestExemplars(t *testing.T) {
	for _, sampled := range []bool{true, false} {
		m, reg := newTest(10, 100)
		r := run()
		r.Trace, r.Sampled, r.Root.ID = [16]byte{15: 0xAB}, sampled, tracker.SpanID{1, 2, 3}
		r.Confidence = []tracker.Confidence{{Confidence: event.Confidence{Known: true}}}
		for _, op := range operations(tracker.TimingObserved, at(1), at(5)) {
			m.OperationEnded(r, op)
		}
		m.RunEnded(r)
		for _, name := range durations {
			h := gathered(t, reg, name)[0].Histogram
			exemplars := slices.Clone(h.Exemplars) // the native histogram's
			for _, b := range h.Bucket {
				if b.Exemplar != nil {
					exemplars = append(exemplars, b.Exemplar)
				}
			}
			if want := map[bool]int{true: 2}[sampled]; len(exemplars) != want {
				t.Errorf("%s has %d exemplars; sampled is %t", name, len(exemplars), sampled)
			}
			for _, e := range exemplars {
				got := map[string]string{}
				for _, l := range e.Label {
					got[l.GetName()] = l.GetValue()
				}
				want := map[string]string{"trace_id": hex.EncodeToString(r.Trace[:]), "span_id": "0102030000000000"}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		}
	}
}

// spanID returns the id that begins with these bytes, in the notation of an exemplar.
func spanID(begin ...byte) string {
	var id tracker.SpanID
	copy(id[:], begin)
	return hex.EncodeToString(id[:])
}

// spanOf returns the span that an exemplar leads to.
func spanOf(e *dto.Exemplar) string {
	for _, l := range e.GetLabel() {
		if l.GetName() == "span_id" {
			return l.GetValue()
		}
	}
	return ""
}

// TestExemplarsRenewed checks which operation of a bucket has the exemplar: the slowest of those that ended in the same
// second as the last one.
func TestExemplarsRenewed(t *testing.T) {
	const slot, beside = 3 * time.Second, 6 * time.Second // durations in two buckets
	for name, c := range map[string]struct {
		ends []time.Duration // when operations end, since the start
		took []time.Duration
		want []byte // the operations that exemplars lead to, counted from 1, by bucket
	}{
		"the first":                      {[]time.Duration{0, 1, 2}, []time.Duration{slot, slot, slot}, []byte{1}},
		"no faster one":                  {[]time.Duration{0, 1, 2}, []time.Duration{slot, slot - 1, slot - 2}, []byte{1}},
		"a slower one":                   {[]time.Duration{0, 1, 2}, []time.Duration{slot, slot + 2, slot + 1}, []byte{2}},
		"one of each bucket":             {[]time.Duration{0, 1, 2, 3}, []time.Duration{slot, beside, slot, beside}, []byte{1, 2}},
		"beyond the last bucket":         {[]time.Duration{0, 1}, []time.Duration{time.Hour, 2 * time.Hour}, []byte{2}},
		"a faster one, a second later":   {[]time.Duration{0, time.Second}, []time.Duration{slot, slot - 1}, []byte{2}},
		"a faster one of another day":    {[]time.Duration{0, -24 * time.Hour}, []time.Duration{slot, slot - 1}, []byte{2}},
		"a slower one, a second earlier": {[]time.Duration{0, -time.Second}, []time.Duration{slot, slot + 1}, []byte{2}},
	} {
		t.Run(name, func(t *testing.T) {
			m, reg := newTest(10, 100)
			r := run()
			r.Sampled = true
			for i := range c.ends {
				ended := at(0).At.Add(c.ends[i])
				m.OperationEnded(r, &tracker.Operation{
					ID: tracker.SpanID{byte(i + 1)}, Kind: tracker.ExecuteTool, Name: "n", Agent: "a", Timing: tracker.TimingObserved,
					Started: tracker.Timestamp{At: ended.Add(-c.took[i])}, Ended: tracker.Timestamp{At: ended},
				})
			}
			h := gathered(t, reg, released.toolDuration.name)[0].Histogram
			if h.GetSampleCount() != uint64(len(c.ends)) {
				t.Errorf("%d durations are measured, of %d", h.GetSampleCount(), len(c.ends))
			}
			var got []string
			for _, b := range h.Bucket {
				if b.Exemplar != nil {
					got = append(got, spanOf(b.Exemplar))
				}
			}
			var want []string
			for _, nth := range c.want {
				want = append(want, spanID(nth))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("exemplars (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryBucketLeads checks the exemplar of every bucket in which an operation ended since the last scrape. It must
// be of the second of the bucket's last operation, however often the metrics are scraped.
func TestEveryBucketLeads(t *testing.T) {
	m, reg := newTest(10, 100)
	r := run()
	r.Sampled = true
	for second := range 5 {
		for i, bound := range callBuckets {
			took := time.Duration(bound * float64(time.Second))
			for range 3 { // each operation is a little faster than the one before
				m.OperationEnded(r, &tracker.Operation{
					ID: tracker.SpanID{byte(i), byte(second + 1)}, Kind: tracker.ExecuteTool, Name: "n", Agent: "a", Timing: tracker.TimingObserved,
					Started: tracker.Timestamp{At: at(second).At.Add(-took)}, Ended: at(second),
				})
				took -= time.Duration(second)
			}
		}
		h := gathered(t, reg, released.toolDuration.name)[0].Histogram
		for i, b := range h.Bucket {
			if want := spanID(byte(i), byte(second+1)); spanOf(b.Exemplar) != want {
				t.Errorf("after %d s the bucket up to %v has the exemplar %v, want %s", second, b.GetUpperBound(), b.Exemplar, want)
			}
		}
	}
}

package metrics

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// produced returns the metrics of a registry as the bridge produces them, by name.
func produced(t *testing.T, reg prometheus.Gatherer, native bool) map[string]metricdata.Metrics {
	t.Helper()
	scopes, err := newBridge(reg, testSettings, native).Produce(t.Context())
	scope := instrumentation.Scope{Name: "github.com/delegraph/delegraph", Version: "1.2.3", SchemaURL: testSettings.Names.SchemaURL}
	if err != nil || len(scopes) != 1 || scopes[0].Scope != scope {
		t.Fatal(scopes, err)
	}
	all := map[string]metricdata.Metrics{}
	for _, m := range scopes[0].Metrics {
		if _, twice := all[m.Name]; twice {
			t.Errorf("%s was produced twice", m.Name)
		}
		all[m.Name] = m
	}
	return all
}

// atPrometheus returns the name that a Prometheus gives to an OpenTelemetry metric that it receives over OTLP: with underscores,
// and with the unit and type as suffixes.
func atPrometheus(m metricdata.Metrics) string {
	name := strings.ReplaceAll(m.Name, ".", "_")
	total := ""
	if sum, ok := m.Data.(metricdata.Sum[float64]); ok && sum.IsMonotonic {
		name, total = strings.TrimSuffix(name, "_total"), "_total"
	}
	suffix := map[string]string{"s": "seconds", "By": "bytes", "": "", "{token}": ""}
	if _, gauge := m.Data.(metricdata.Gauge[float64]); gauge {
		suffix["1"] = "ratio"
	}
	if word := suffix[m.Unit]; word != "" && !slices.Contains(strings.Split(name, "_"), word) {
		name += "_" + word
	}
	return name + total
}

// TestBothPaths checks that every metric is sent over OTLP with every series and value, in both forms of histograms. A
// Prometheus that receives it must store it under the same name as a Prometheus that scrapes it.
func TestBothPaths(t *testing.T) {
	reg := all(t)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, native := range []bool{false, true} {
		sent := map[string][]string{}
		for _, m := range produced(t, reg, native) {
			sent[atPrometheus(m)] = points(m)
		}
		if len(sent) != len(families) {
			t.Errorf("%d metrics are sent, %d scraped", len(sent), len(families))
		}
		for _, f := range families {
			want := series(t, reg, f.GetName())
			for i, s := range want {
				want[i] = withoutEmpty(s)
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, sent[f.GetName()]); diff != "" {
				t.Errorf("%s (-scraped +sent):\n%s", f.GetName(), diff)
			}
		}
	}
}

// withoutEmpty removes empty labels from a series: an empty label equals a missing one.
func withoutEmpty(s string) string {
	labels, value, _ := strings.Cut(s, "\" ")
	if value == "" {
		return s
	}
	kept := slices.DeleteFunc(strings.Split(labels+`"`, ","), func(l string) bool { return strings.HasSuffix(l, `=""`) })
	return strings.Join(kept, ",") + " " + value
}

// points returns the points of a metric in the notation of series.
func points(m metricdata.Metrics) (out []string) {
	add := func(labels []string, value string) { out = append(out, strings.Join(labels, ",")+" "+value) }
	switch data := m.Data.(type) {
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			add(labelled(p.Attributes.ToSlice()), fmt.Sprint(p.Value))
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			add(labelled(p.Attributes.ToSlice()), fmt.Sprint(p.Value))
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			add(labelled(p.Attributes.ToSlice()), fmt.Sprint(p.Count, " of ", p.Sum))
		}
	case metricdata.ExponentialHistogram[float64]:
		for _, p := range data.DataPoints {
			add(labelled(p.Attributes.ToSlice()), fmt.Sprint(p.Count, " of ", p.Sum))
		}
	}
	slices.Sort(out)
	return out
}

// labelled returns attributes with the names of labels.
func labelled(attributes []attribute.KeyValue) (out []string) {
	for _, a := range attributes {
		out = append(out, fmt.Sprintf("%s=%q", strings.ReplaceAll(string(a.Key), ".", "_"), a.Value.AsString()))
	}
	return out
}

// TestConventionalNames checks the OTLP names of the conventions' metrics.
func TestConventionalNames(t *testing.T) {
	sent := produced(t, all(t), false)
	for name, want := range map[string]string{
		"gen_ai.invoke_agent.duration":     "s error.type gen_ai.agent.name source",
		"gen_ai.execute_tool.duration":     "s error.type gen_ai.agent.name gen_ai.tool.name source",
		"gen_ai.client.operation.duration": "s error.type gen_ai.operation.name gen_ai.response.model source",
		"gen_ai.client.token.usage":        "{token} gen_ai.operation.name gen_ai.response.model gen_ai.token.type source",
		"delegraph_confidence_ratio":       "1 agent origin source",
		"delegraph_frame_bytes_total":      "By source",
	} {
		names := map[string]bool{}
		histogram, _ := sent[name].Data.(metricdata.Histogram[float64])
		for _, p := range histogram.DataPoints {
			for _, a := range p.Attributes.ToSlice() {
				names[string(a.Key)] = true
			}
		}
		sum, _ := sent[name].Data.(metricdata.Sum[float64])
		for _, p := range sum.DataPoints {
			for _, a := range p.Attributes.ToSlice() {
				names[string(a.Key)] = true
			}
		}
		if got := strings.Join(append([]string{sent[name].Unit}, slices.Sorted(maps.Keys(names))...), " "); got != want {
			t.Errorf("%s has %s, not %s", name, got, want)
		}
	}
}

// TestHistogramForms checks explicit buckets with exemplars, and exponential histograms.
func TestHistogramForms(t *testing.T) {
	m, reg := newTest(10, 100)
	r := run()
	r.Trace, r.Sampled, r.Root.ID = [16]byte{15: 0xAB}, true, tracker.SpanID{1, 2, 3}
	m.OperationEnded(r, r.Root)
	h, ok := produced(t, reg, false)["gen_ai.invoke_agent.duration"].Data.(metricdata.Histogram[float64])
	if !ok || len(h.DataPoints) != 1 || h.Temporality != metricdata.CumulativeTemporality {
		t.Fatalf("the metric is %+v, want a histogram with one cumulative point", h)
	}
	p := h.DataPoints[0]
	if !slices.Equal(p.Bounds, agentBuckets) || p.BucketCounts[slices.Index(p.Bounds, 12.8)] != 1 {
		t.Errorf("8 s is counted as %v in the buckets up to %v", p.BucketCounts, p.Bounds)
	}
	if len(p.Exemplars) != 1 || hex.EncodeToString(p.Exemplars[0].TraceID) != "000000000000000000000000000000ab" ||
		hex.EncodeToString(p.Exemplars[0].SpanID) != "0102030000000000" || p.Exemplars[0].Value != 8 {
		t.Errorf("exemplars %+v", p.Exemplars)
	}
	e, ok := produced(t, reg, true)["gen_ai.invoke_agent.duration"].Data.(metricdata.ExponentialHistogram[float64])
	if !ok || len(e.DataPoints) != 1 || e.DataPoints[0].Scale != 3 || !slices.Equal(e.DataPoints[0].PositiveBucket.Counts, []uint64{1}) {
		t.Errorf("the exponential histogram is %+v", e)
	}
	if again := gathered(t, reg, released.agentDuration.name)[0]; again.Histogram.GetZeroThreshold() == 0 || len(again.Histogram.PositiveSpan) == 0 || len(again.Label) != 3 {
		t.Errorf("after the bridge, a scrape returns %v", again)
	}
}

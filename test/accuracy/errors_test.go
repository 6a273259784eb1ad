package accuracy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/test/agents/adkshapes"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestErrorTypes holds why each recorded run, and what failed in it, did.
func TestErrorTypes(t *testing.T) {
	const file = "testdata/errors.golden"
	var got strings.Builder
	all := adkshapes.Recordings(t)
	for _, run := range all {
		report := playSession(t, session(run, all))
		var failed []string
		for _, op := range report.Operations {
			if op.Error != nil {
				name := ""
				if op.Name != nil {
					name = " " + *op.Name
				}
				failed = append(failed, fmt.Sprintf("%s%s: %s (%s)", op.Kind, name, *op.Error, *op.Failure))
			}
		}
		if len(failed) > 0 {
			fmt.Fprintf(&got, "%s %s, %s\n  %s\n", run.Version, run.Name, report.Status, strings.Join(failed, "\n  "))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites):\n%s", file, diff)
	}
}

// TestQuota follows an exhausted quota from the stream of a real server to the spans, the metrics and the JSON. None of
// them may contain a word of the message.
func TestQuota(t *testing.T) {
	const words = "out of order"
	for _, run := range adkshapes.Recordings(t) {
		if run.Shape != "model_429" {
			continue
		}
		t.Run(run.Version+" "+run.Name, func(t *testing.T) {
			code := "RESOURCE_EXHAUSTED"
			if run.Version == "js-2.0" {
				code = "429" // all that it sends
			}
			registry, recorder := prometheus.NewRegistry(), tracetest.NewSpanRecorder()
			provider := spans.NewProvider(sdktrace.AlwaysSample(), recorder, resource.Empty())
			report := play(t, run,
				metrics.New(registry, metrics.Settings{MaxLabelValues: 100, MaxLabelSets: 1000, Names: conventions.Released()}),
				spans.NewObserver(provider, conventions.Released(), ""))
			json, err := report.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if report.Error == nil || *report.Error != code || strings.Contains(string(json), words) {
				t.Errorf("the report is %s", json)
			}
			chats := 0
			for _, span := range recorder.Ended() {
				said := map[string]string{}
				for _, a := range span.Attributes() {
					said[string(a.Key)] = a.Value.String()
				}
				if said["error.type"] != code || span.Status().Description != code || strings.Contains(fmt.Sprint(span.Attributes(), span.Events()), words) {
					t.Errorf("%s has %q, status %+v", span.Name(), said, span.Status())
				}
				if said["delegraph.failure"] == "model_error" {
					chats++
				}
			}
			if chats != 1 {
				t.Errorf("%d of %d spans are model calls that failed", chats, len(recorder.Ended()))
			}
			root := "gen_ai_invoke_agent_duration_seconds"
			if run.Version == "1.38" { // its error frame names no agent, so that the application is all that is known to have run
				root = "gen_ai_invoke_workflow_duration_seconds"
			}
			for _, name := range []string{root, "gen_ai_client_operation_duration_seconds"} {
				if types := errorTypes(t, registry, name); len(types) != 1 || types[code] == 0 {
					t.Errorf("%s: %v", name, types)
				}
			}
		})
	}
}

// errorTypes counts a histogram's observations by error_type.
func errorTypes(t *testing.T, registry *prometheus.Registry, name string) map[string]uint64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]uint64{}
	for _, family := range families {
		for _, series := range family.Metric {
			for _, label := range series.Label {
				if family.GetName() == name && label.GetName() == "error_type" {
					types[label.GetValue()] += series.Histogram.GetSampleCount()
				}
			}
		}
	}
	return types
}

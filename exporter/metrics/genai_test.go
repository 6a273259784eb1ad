package metrics

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// newLatest returns metrics that follow the newest conventions.
func newLatest() (*Metrics, *prometheus.Registry) {
	reg, s := prometheus.NewPedanticRegistry(), testSettings
	s.Names = conventions.Latest()
	return New(reg, s), reg
}

// drivenLatest has the series after driveLatest of every metric that only the newest conventions name.
var drivenLatest = map[string][]string{
	"gen_ai_client_inference_duration_seconds": {
		`error_type="",gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 2 of 2`,
	},
	"gen_ai_client_inference_usage_input_tokens_total": {
		`gen_ai_operation_name="chat",gen_ai_response_model="m",gen_ai_token_modality="unknown",source="s" 200`,
		`gen_ai_operation_name="invoke_agent",gen_ai_response_model="m",gen_ai_token_modality="unknown",source="s" 100`,
	},
	"gen_ai_client_inference_usage_output_tokens_total": {
		`gen_ai_operation_name="chat",gen_ai_response_model="m",gen_ai_token_modality="unknown",source="s" 14`,
	},
	"gen_ai_client_inference_usage_cache_read_input_tokens_total": {
		`gen_ai_operation_name="chat",gen_ai_response_model="m",gen_ai_token_modality="unknown",source="s" 200`,
	},
	"gen_ai_client_inference_usage_reasoning_output_tokens_total": {
		`gen_ai_operation_name="chat",gen_ai_response_model="m",gen_ai_token_modality="unknown",source="s" 200`,
	},
	"gen_ai_client_inference_operation_input_tokens": {
		`gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 2 of 200`,
	},
	"gen_ai_client_inference_operation_output_tokens": {
		`gen_ai_operation_name="chat",gen_ai_response_model="m",source="s" 2 of 14`,
	},
}

// newest returns the section of the metrics that only the newest conventions name.
func newest() section {
	s := section{title: "By the newest conventions"}
	for _, after := range latest.all() {
		if drivenLatest[after.name] != nil {
			s.metrics = append(s.metrics, after.metric)
		}
	}
	return s
}

// families returns all families, with either table of names.
func families(t *testing.T) (both []*dto.MetricFamily) {
	t.Helper()
	m, after := newLatest()
	driveLatest(m)
	for _, reg := range []*prometheus.Registry{all(t), after} {
		gathered, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, gathered...)
	}
	return both
}

// driveLatest sends two responses, one of them without token counts, and the tokens of a whole run.
func driveLatest(m *Metrics) {
	silent := chat("m", "")
	silent.Response = nil
	silent.Timing = tracker.TimingUnknown
	ends(m, chat("m", ""), chat("m", ""), silent)
	runEnds(m, func(r *tracker.Run) {
		r.UnattributedUsage = []tracker.UnattributedUsage{{Model: "m", Usage: event.Usage{Input: known}}}
	})
}

// TestLatest checks which metrics differ with the latest conventions.
func TestLatest(t *testing.T) {
	m, reg := newLatest()
	driveLatest(m)
	for _, before := range released.all() {
		kept := slices.ContainsFunc(latest.all(), func(after conventional) bool { return after.name == before.name })
		if got := series(t, reg, before.name); !kept && got != nil {
			t.Errorf("the metric %s exists: %q", before.name, got)
		}
	}
	for _, after := range latest.all() {
		want, changed := drivenLatest[after.name]
		if kept := slices.ContainsFunc(released.all(), func(before conventional) bool { return after.name == before.name }); kept == changed {
			t.Errorf("%s is in the release: %t, and in the table: %t", after.name, kept, changed)
		}
		if diff := cmp.Diff(want, series(t, reg, after.name)); changed && diff != "" {
			t.Errorf("%s (-want +got):\n%s", after.name, diff)
		}
	}
	problems, err := testutil.GatherAndLint(reg)
	if len(problems) > 0 || err != nil {
		t.Errorf("lint problems: %v, error: %v", problems, err)
	}
}

// TestLatestOverOTLP checks the OTLP names with the latest conventions.
func TestLatestOverOTLP(t *testing.T) {
	m, reg := newLatest()
	driveLatest(m)
	sent := produced(t, reg, false)
	for _, after := range latest.all() {
		if len(series(t, reg, after.name)) == 0 {
			continue
		}
		got, ok := sent[after.otlpName]
		if !ok || got.Unit != after.unit || atPrometheus(got) != after.name {
			t.Errorf("%s is sent as %s in %s", after.name, got.Name, got.Unit)
		}
		for _, key := range after.attributes {
			if attributeOf[label(key)] != string(key) {
				t.Errorf("%s of %s is sent as %s", key, after.otlpName, attributeOf[label(key)])
			}
		}
	}
}

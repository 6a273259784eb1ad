package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
)

// timed are the histograms of durations, each with the labels that name what was timed and the attributes that a span has them in.
var timed = map[string]map[string]string{
	"gen_ai_invoke_agent_duration_seconds":     {"gen_ai_agent_name": "gen_ai.agent.name"},
	"gen_ai_execute_tool_duration_seconds":     {"gen_ai_agent_name": "gen_ai.agent.name", "gen_ai_tool_name": "gen_ai.tool.name"},
	"gen_ai_client_operation_duration_seconds": {"gen_ai_operation_name": "gen_ai.operation.name"},
	"delegraph_run_duration_seconds":           {"status": "delegraph.run.status"},
}

// TestExemplars goes the way of somebody who sees an outlier: from the exemplars of a real Prometheus to a real Jaeger's traces.
func TestExemplars(t *testing.T) {
	binary, traces := component(t, "prometheus", "prometheus"), startJaeger(t)
	agent := newRecordedAgent(t)
	car := launch(t, fmt.Sprintf(verbatim, agent.URL), map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": traces.grpc})
	server := startPrometheus(t, binary, car)
	ended := map[string]float64{}
	for _, name := range []string{"adk-go/transfer", "adk-go/parallel_tools", "adk-go/tool_error", "adk-js/plain", "adk-python/parallel_tools"} {
		ask200(t, car, adkserver.RunRequest("u", "s", name, true))
		ended[string(car.Recent.Reports()[0].Status)]++
	}
	server.until(t, `histogram_count(sum by (status) (delegraph_run_duration_seconds{job="native"}))`, "status", ended)
	server.until(t, `sum by (status) (delegraph_run_duration_seconds_count{job="classic"})`, "status", ended)

	found := map[string]bool{}
	for _, e := range server.exemplars(t, `{__name__=~".+_duration_seconds.*"}`) {
		name := strings.TrimSuffix(e.series["__name__"], "_bucket")
		found[e.series["job"]+" "+name] = true
		span := traces.span(t, e.labels["trace_id"], e.labels["span_id"])
		if seconds := float64(span.Duration) / 1e6; e.value < seconds-1e-6 || e.value > seconds+2e-6 {
			t.Errorf("an exemplar of %s and %v s points to %s of %v s", name, e.value, span.OperationName, seconds)
		}
		for label, attribute := range timed[name] {
			if e.series[label] != span.tag(attribute) {
				t.Errorf("an exemplar of %v points to %s, whose %s is %q", e.series, span.OperationName, attribute, span.tag(attribute))
			}
		}
	}
	for name := range timed {
		for _, job := range []string{"native", "classic"} {
			if !found[job+" "+name] {
				t.Errorf("no exemplar of %s from the job %s", name, job)
			}
		}
	}
}

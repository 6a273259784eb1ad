package backends_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// timed maps each histogram of durations to its labels that name what was timed, with the span attribute of each.
var timed = map[string]map[string]string{
	"gen_ai_invoke_agent_duration_seconds":     {"gen_ai_agent_name": "gen_ai.agent.name"},
	"gen_ai_execute_tool_duration_seconds":     {"gen_ai_agent_name": "gen_ai.agent.name", "gen_ai_tool_name": "gen_ai.tool.name"},
	"gen_ai_client_operation_duration_seconds": {"gen_ai_operation_name": "gen_ai.operation.name"},
	"delegraph_run_duration_seconds":           {"status": "delegraph.run.status"},
}

// TestExemplars follows the exemplars of a real Prometheus to the traces in a real Jaeger, as a user who sees an outlier does.
func TestExemplars(t *testing.T) {
	harness.Component(t, "prometheus", "prometheus")
	traces := startJaeger(t)
	agent := recorded.NewAgent(t)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": traces.grpc})
	server := harness.StartPrometheus(t, service.Admin, "")
	ended := map[string]float64{}
	for _, name := range []string{"adk-go/transfer", "adk-go/parallel_tools", "adk-go/tool_error", "adk-js/plain", "adk-python/parallel_tools"} {
		harness.AskOK(t, service, adkserver.RunRequest("u", "s", name, true))
		ended[string(service.Recent.Reports()[0].Status)]++
	}
	server.Until(t, `histogram_count(sum by (status) (delegraph_run_duration_seconds{job="native"}))`, "status", ended)
	server.Until(t, `sum by (status) (delegraph_run_duration_seconds_count{job="classic"})`, "status", ended)

	found := map[string]bool{}
	for _, e := range server.Exemplars(t, `{__name__=~".+_duration_seconds.*"}`) {
		name := strings.TrimSuffix(e.Series["__name__"], "_bucket")
		found[e.Series["job"]+" "+name] = true
		span := traces.span(t, e.Labels["trace_id"], e.Labels["span_id"])
		if seconds := float64(span.Duration) / 1e6; e.Value < seconds-1e-6 || e.Value > seconds+2e-6 {
			t.Errorf("an exemplar of %s and %v s points to %s of %v s", name, e.Value, span.OperationName, seconds)
		}
		for label, attribute := range timed[name] {
			if e.Series[label] != span.tag(attribute) {
				t.Errorf("an exemplar of %v points to %s, whose %s is %q", e.Series, span.OperationName, attribute, span.tag(attribute))
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

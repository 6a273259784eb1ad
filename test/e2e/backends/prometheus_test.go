package backends_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/subprocess"
)

// TestPromtool checks the metrics with promtool after every recorded run, after unreadable streams and after unanswered requests.
func TestPromtool(t *testing.T) {
	promtool := harness.Component(t, "prometheus", "promtool")
	agent := recorded.NewAgent(t)
	agent.Fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\n\n"+fakeagent.CallFrame+"data: {\"a\":1,\"a\":2}\n\ndata: "+strings.Repeat("a", 2<<20)+"\n\ndata: \xff\n\ndata: cut")
	}
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL)+"metrics: {max_label_values: 3}\nlimits: {frame: 1MiB}", harness.NewReceiver(t).Environment(nil))
	for _, name := range append(agent.Names(), "fault") {
		harness.Post(t, service.Address(), adkserver.RunRequest("u", "s", name, true), nil)
	}
	agent.Close()
	harness.Post(t, service.Address(), adkserver.RunRequest("u", "s", "adk-go/plain", true), nil)
	service.Wait()

	check := func(page io.Reader) (string, error) {
		command := subprocess.CommandContext(t.Context(), promtool, "check", "metrics")
		command.Stdin = page
		said, err := command.CombinedOutput()
		return string(said), err
	}
	if said, err := check(strings.NewReader("# TYPE a counter\na 1\n")); err == nil || said == "" {
		t.Fatalf("promtool finds nothing wrong where something is: %s", said)
	}
	w := httptest.NewRecorder()
	service.Admin.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if page := w.Body.String(); !strings.Contains(page, `status="completed"`) || !strings.Contains(page, `status="failed"`) || !strings.Contains(page, `"_other"`) {
		t.Errorf("the metrics hold too little:\n%s", page)
	}
	if said, err := check(w.Body); err != nil || said != "" {
		t.Errorf("%v: %s", err, said)
	}
}

// TestPrometheus lets a real Prometheus scrape the sidecar during runs, as protobuf with native histograms and as
// OpenMetrics text. It compares the results of queries with the reports of the runs.
func TestPrometheus(t *testing.T) {
	harness.Component(t, "prometheus", "prometheus")
	agent := recorded.NewAgent(t)
	agent.Fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\n\n")
	}
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), harness.NewReceiver(t).Environment(nil))
	server := harness.StartPrometheus(t, service.Admin, "")

	driven := []string{"adk-go/transfer", "adk-go/transfer", "adk-go/parallel_tools", "adk-go/tool_error", "adk-go/plain", "adk-go/model_429", "adk-js/plain", "adk-python/parallel_tools"}
	for _, name := range driven {
		harness.AskOK(t, service, adkserver.RunRequest("u", "s", name, true))
	}
	want := tally(t, service.Recent.Reports())
	for _, job := range []string{"native", "classic"} {
		query := func(format string) string { return strings.ReplaceAll(format, "JOB", `job="`+job+`"`) }
		server.Until(t, query(`sum by (status) (delegraph_runs_ended_total{JOB}) > 0`), "status", want.statuses)
		server.Until(t, query(`sum by (tool) (delegraph_tool_calls_total{JOB})`), "tool", want.tools)
		server.Until(t, query(`sum by (tool) (delegraph_tool_call_failures_total{JOB}) > 0`), "tool", want.failures)
		server.Until(t, query(`sum by (to_agent) (delegraph_transfers_total{JOB})`), "to_agent", want.transfers)
		server.Until(t, query(`sum by (source) (delegraph_runs_started_total{JOB} - delegraph_runs_open{JOB})`), "source", map[string]float64{"fire-briefing": float64(len(driven))})
		server.Until(t, query(`delegraph_source_up{JOB}`), "source", map[string]float64{"fire-briefing": 1})
	}
	server.Until(t, `sum by (gen_ai_token_type) (gen_ai_client_token_usage_sum{job="classic"})`, "gen_ai_token_type", want.tokens)
	server.Until(t, `histogram_sum(sum by (gen_ai_token_type) (gen_ai_client_token_usage{job="native"}))`, "gen_ai_token_type", want.tokens)

	longest := want.longest.Seconds()
	exact := server.Number(t, `histogram_quantile(1, sum(gen_ai_invoke_agent_duration_seconds{job="native"}))`)
	if exact < longest || exact > longest*1.1 {
		t.Errorf("the longest agent took %v s, by the native histogram %v s", longest, exact)
	}
	if rough := server.Number(t, `histogram_quantile(1, sum by (le) (gen_ai_invoke_agent_duration_seconds_bucket{job="classic"}))`); rough < longest || rough > max(0.1, 2*longest) {
		t.Errorf("the longest agent took %v s, by the classic histogram %v s", longest, rough)
	}
	server.Until(t, `sum by (source) (rate(delegraph_parse_errors_total{job="native"}[1m]))`, "source", map[string]float64{"fire-briefing": 0})
	harness.AskOK(t, service, adkserver.RunRequest("u", "s", "fault", true))
	server.Until(t, `sum by (reason) (increase(delegraph_parse_errors_total{job="native"}[1m])) > bool 0 == 1`, "reason", map[string]float64{"syntax": 1})
}

// totals holds the expected results of queries.
type totals struct {
	statuses, tools, failures, transfers, tokens map[string]float64
	longest                                      time.Duration // of an agent
}

func tally(t *testing.T, runs []tracker.Report) totals {
	t.Helper()
	all := totals{map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}, 0}
	for _, r := range runs {
		all.statuses[string(r.Status)]++
		for _, x := range r.Transfers {
			all.transfers[x.To]++
		}
		if r.Usage.Input != nil {
			all.tokens["input"] += float64(*r.Usage.Input)
			all.tokens["output"] += float64(*r.Usage.Output)
		}
		for _, op := range r.Operations {
			switch op.Kind {
			case tracker.ExecuteTool:
				all.tools[harness.Text(op.Name)]++
				if op.Status == tracker.OperationError {
					all.failures[harness.Text(op.Name)]++
				}
			case tracker.InvokeAgent:
				started, err := time.Parse(time.RFC3339Nano, harness.Text(op.Started))
				ended, fault := time.Parse(time.RFC3339Nano, harness.Text(op.Ended))
				if err != nil || fault != nil {
					t.Fatal(err, fault)
				}
				all.longest = max(all.longest, ended.Sub(started))
			}
		}
	}
	if len(all.statuses) < 2 || len(all.tools) < 2 || len(all.failures) < 1 || len(all.transfers) < 1 || len(all.tokens) < 2 {
		t.Fatalf("the runs show too little: %+v", all)
	}
	return all
}

package dashboards_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/delegraph/delegraph/dashboards/query"
)

type (
	series struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	}
	value struct {
		Labels string  `yaml:"labels"`
		Value  float64 `yaml:"value"`
	}
)

// TestValues checks, with promtool, the values of panels whose errors would be hard to notice.
func TestValues(t *testing.T) {
	promtool := component(t, "prometheus", "promtool")
	errors, frames, objective := 24.0, 2640.0, 0.001 // variables, because arithmetic of constants would be exact
	for _, test := range []struct {
		name, panel      string
		around           [2]string // wraps the panel's query
		interval, moment string
		input            []series
		want             []value
	}{
		{
			// The real total, not the mean of 0 and 10 %.
			"a source that is one day old counts for one day", "Error budget left, 30 days", [2]string{}, "1h", "239h",
			[]series{
				{`namespace_job_source:delegraph_frames:rate5m{source="old"}`, "10x239"}, {`namespace_job_source:delegraph_parse_errors:rate5m{source="old"}`, "0x239"},
				{`namespace_job_source:delegraph_frames:rate5m{source="new"}`, "_x216 10x23"}, {`namespace_job_source:delegraph_parse_errors:rate5m{source="new"}`, "_x216 1x23"},
			},
			[]value{{"{}", 1 - errors/frames/objective}},
		},
		{
			"what happened once is in the graph, with what happens all the time", "Who delegates to whom", [2]string{}, "1m", "60m",
			[]series{
				{`delegraph_transfers_total{from_agent="a", to_agent="b"}`, "_x45 1x15"}, {`delegraph_transfers_total{from_agent="a", to_agent="c"}`, "5x60"},
				{`delegraph_tool_calls_total{agent="b", tool="t"}`, "0+1x60"}, {`delegraph_build_info{}`, "1x60"},
			},
			[]value{{`{id="a → b", source="a", target="b"}`, 1}, {`{id="b → t", source="b", target="t"}`, 30}},
		},
		{
			"bars add up", "How runs end", [2]string{"sum_over_time((", ")[29m30s:1m])"}, "15s", "60m",
			[]series{{`delegraph_runs_ended_total{job="d", source="s", agent="a", status="failed"}`, "0+1x240"}},
			[]value{{`{status="failed"}`, 120}},
		},
		{
			"a bar shows what happened once", "Sessions evicted", [2]string{"sum_over_time((", ")[29m30s:1m])"}, "15s", "60m",
			[]series{
				{`delegraph_source_sessions_evicted_total{job="d", instance="i", source="s"}`, "_x180 1x60"}, {`delegraph_build_info{job="d", instance="i"}`, "1x240"},
				{`delegraph_source_sessions_evicted_total{job="d", instance="new", source="s"}`, "_x180 2x60"},
				{`process_start_time_seconds{job="d", instance="new"}`, "_x180 2650x60"},
			},
			[]value{{`{source="s"}`, 3}},
		},
		{
			"a bar shows no total of a process that was not scraped for a while, or never before", "Sessions evicted", [2]string{"sum_over_time((", ")[29m30s:1m])"}, "15s", "60m",
			[]series{
				{`delegraph_source_sessions_evicted_total{job="d", instance="gap", source="s"}`, "1000x180 stale 1000x58"},
				{`delegraph_build_info{job="d", instance="gap"}`, "1x180 stale 1x58"},
				{`process_start_time_seconds{job="d", instance="gap"}`, "0x180 stale 0x58"},
				{`delegraph_source_sessions_evicted_total{job="d", instance="moved", source="s"}`, "_x180 1000x60"},
				{`delegraph_build_info{job="d", instance="moved"}`, "_x180 1x60"}, {`process_start_time_seconds{job="d", instance="moved"}`, "_x180 0x60"},
			},
			[]value{{`{source="s"}`, 0}},
		},
		{
			"the first run of each agent counts", "Runs ended", [2]string{}, "15s", "60m",
			[]series{
				{`delegraph_runs_ended_total{job="d", instance="i", source="s", agent="a", status="failed"}`, "_x180 1x60"},
				{`delegraph_runs_ended_total{job="d", instance="i", source="s", agent="b", status="completed"}`, "_x200 1x40"}, {`delegraph_build_info{job="d", instance="i"}`, "1x240"},
			},
			[]value{{`{}`, 2}},
		},
		{
			"the first run of each agent may fail", "Failed or timed out", [2]string{}, "15s", "60m",
			[]series{
				{`delegraph_runs_ended_total{job="d", instance="i", source="s", agent="a", status="failed"}`, "_x180 1x60"},
				{`delegraph_runs_ended_total{job="d", instance="i", source="s", agent="b", status="completed"}`, "_x200 1x40"}, {`delegraph_build_info{job="d", instance="i"}`, "1x240"},
			},
			[]value{{`{}`, 0.5}},
		},
		{
			"calls before a restart count", "Tools by agent", [2]string{}, "1m", "60m",
			[]series{{`delegraph_tool_calls_total{agent="a", tool="t"}`, "_x35 1+1x19 1 2 3 3x2"}, {`delegraph_build_info{}`, "1x60"}},
			[]value{{`{agent="a", tool="t"}`, 22}},
		},
		{
			"tokens by either table of names are added up", "Tokens per minute", [2]string{}, "15s", "60m",
			[]series{
				{`gen_ai_client_token_usage_sum{job="d", instance="released", source="s", gen_ai_token_type="input"}`, "0+15x240"},
				{`gen_ai_client_token_usage_sum{job="d", instance="released", source="s", gen_ai_token_type="output"}`, "0+30x240"},
				{`gen_ai_client_inference_usage_input_tokens_total{job="d", instance="latest", source="s"}`, "0+45x240"},
				{`gen_ai_client_inference_usage_output_tokens_total{job="d", instance="latest", source="s"}`, "0+15x240"},
			},
			[]value{{`{gen_ai_token_type="input"}`, 240}, {`{gen_ai_token_type="output"}`, 180}},
		},
		{
			"the time of a token is that of all responses", "Time per output token", [2]string{}, "15s", "60m",
			[]series{
				{`gen_ai_client_operation_duration_seconds_sum{job="d", source="s", gen_ai_response_model="m"}`, "0+3x240"},
				{`gen_ai_client_token_usage_sum{job="d", source="s", gen_ai_response_model="m", gen_ai_token_type="input"}`, "0+1000x240"},
				{`gen_ai_client_token_usage_sum{job="d", source="s", gen_ai_response_model="m", gen_ai_token_type="output"}`, "0+60x240"},
			},
			[]value{{`{gen_ai_response_model="m"}`, 0.05}},
		},
		{
			"errors are counted by their code", "Errors of tools", [2]string{"sum_over_time((", ")[29m30s:1m])"}, "15s", "60m",
			[]series{{`gen_ai_execute_tool_duration_seconds_count{job="d", source="s", gen_ai_agent_name="a", error_type="TIMEOUT"}`, "0+1x240"}},
			[]value{{`{error_type="TIMEOUT"}`, 120}},
		},
		{
			"responses by either table of names are added up", "Responses failed", [2]string{}, "15s", "60m",
			[]series{
				{`gen_ai_client_operation_duration_seconds_count{job="d", instance="released", source="s", gen_ai_response_model="m"}`, "0+1x240"},
				{`gen_ai_client_inference_duration_seconds_count{job="d", instance="latest", source="s", gen_ai_response_model="m", error_type="model_error"}`, "0+3x240"},
			},
			[]value{{`{gen_ai_response_model="m"}`, 0.75}},
		},
	} {
		end := time.Now()
		v := query.View{From: end.Add(-30 * time.Minute), To: end, Step: time.Minute, Rate: 75 * time.Second}
		content, err := yaml.Marshal(map[string]any{"tests": []any{map[string]any{
			"interval": test.interval, "input_series": test.input,
			"promql_expr_test": []any{map[string]any{
				"expr": test.around[0] + v.Expand(panelOf(t, test.panel).Targets[0].Expr) + test.around[1], "eval_time": test.moment, "exp_samples": test.want,
			}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "test.yml")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.CommandContext(t.Context(), promtool, "test", "rules", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", test.name, err, said)
		}
	}
}

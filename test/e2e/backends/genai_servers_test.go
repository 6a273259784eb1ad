package backends_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// serveGenAI runs a server that .ci/install/genai installs until the test ends. Without it the test is skipped. Only .ci/slow installs
// it, because it takes half a minute to start.
func serveGenAI(t *testing.T, name, healthURL string, environment []string, args ...string) {
	t.Helper()
	home := os.Getenv("DELEGRAPH_GENAI")
	if home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		home = filepath.Join(cache, "delegraph", "genai")
	}
	if _, err := os.Stat(filepath.Join(home, name, "installed")); err != nil {
		component.Missing(t, name+" is not in "+home+": run .ci/install/genai")
	}
	log, folder := &harness.LogBuffer{}, t.TempDir()
	command := subprocess.Command(filepath.Join(home, name, "bin", name), args...)
	command.Dir = folder
	command.Env = append(environment, "HOME="+folder, "PATH="+filepath.Join(home, name, "bin")+":"+os.Getenv("PATH"), "DO_NOT_TRACK=true", "PYTHONDONTWRITEBYTECODE=1")
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		subprocess.Kill(command)
		_ = command.Wait()
	})
	harness.AwaitWithin(t, 5*time.Minute, func(context.Context) error {
		status, _, err := harness.Request("GET", healthURL, "")
		if err != nil || !strings.HasPrefix(status, "200") {
			return fmt.Errorf("%s is not up: %s %w\n%s", name, status, err, log)
		}
		return nil
	})
}

// sendTo returns the environment that sends spans to a URL.
func sendTo(url, headers string) map[string]string {
	return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_HEADERS": headers}
}

func startPhoenix(t *testing.T) genaiBackend {
	address, grpc := loopback.FreeAddress(t), loopback.FreeAddress(t)
	host, port, _ := strings.Cut(address, ":")
	_, grpcPort, _ := strings.Cut(grpc, ":")
	url := "http://" + address
	serveGenAI(t, "phoenix", url+"/healthz", []string{
		"PHOENIX_HOST=" + host, "PHOENIX_PORT=" + port, "PHOENIX_GRPC_PORT=" + grpcPort, "PHOENIX_SQL_DATABASE_URL=sqlite:///:memory:",
		"PHOENIX_TELEMETRY_ENABLED=false",
	}, "serve")
	return genaiBackend{
		environment: sendTo(url, ""),
		show:        func(trace, session string) (genaiRun, error) { return shownByPhoenix(url, trace, session) },
		page:        func(trace string) string { return url + "/redirects/traces/" + trace },
		kinds: map[tracker.OperationKind]string{
			tracker.InvokeWorkflow: "UNKNOWN", tracker.InvokeAgent: "AGENT", tracker.InvokeNode: "UNKNOWN", tracker.ExecuteTool: "TOOL", tracker.Chat: "LLM",
		},
	}
}

// shownByPhoenix returns what Phoenix shows of a run that is alone in its session.
func shownByPhoenix(url, trace, session string) (shown genaiRun, err error) {
	var spans struct {
		Data []struct {
			Name       string
			Kind       string `json:"span_kind"`
			Status     string `json:"status_code"`
			Message    string `json:"status_message"`
			Attributes map[string]any
		}
	}
	if err := fetchJSON(url+"/v1/projects/default/spans?limit=1000&trace_id="+trace, &spans); err != nil {
		return shown, err
	}
	for _, s := range spans.Data {
		if s.Name == "POST /run_sse" {
			shown.Failed = s.Status == "ERROR"
			continue
		}
		shown.Spans = append(shown.Spans, genaiSpan(s.Kind, s.Name, fmt.Sprint(s.Attributes["session.id"]), s.Status == "ERROR", s.Message))
	}
	var of struct {
		Data []struct {
			Session string `json:"session_id"`
			Input   int64  `json:"token_count_prompt"`
			Output  int64  `json:"token_count_completion"`
		}
	}
	err = fetchJSON(url+"/v1/projects/default/sessions?limit=1000", &of)
	for _, s := range of.Data {
		if s.Session == session {
			shown.Input, shown.Output = s.Input, s.Output
		}
	}
	return shown, err
}

func startMLflow(t *testing.T) genaiBackend {
	address := loopback.FreeAddress(t)
	host, port, _ := strings.Cut(address, ":")
	url := "http://" + address
	serveGenAI(t, "mlflow", url+"/health", []string{"MLFLOW_DISABLE_TELEMETRY=true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false"},
		"server", "--host", host, "--port", port, "--workers", "1", "--backend-store-uri", "sqlite:///mlflow.db")
	return genaiBackend{
		environment: sendTo(url, "x-mlflow-experiment-id=0"),
		show:        func(trace, _ string) (genaiRun, error) { return shownByMLflow(url, trace) },
		page:        func(trace string) string { return url + "/#/experiments/0/traces?selectedEvaluationId=tr-" + trace },
		kinds: map[tracker.OperationKind]string{
			tracker.InvokeWorkflow: "none", tracker.InvokeAgent: "AGENT", tracker.InvokeNode: "none", tracker.ExecuteTool: "TOOL", tracker.Chat: "CHAT_MODEL",
		},
	}
}

// shownByMLflow returns what MLflow shows of a run. It has one session for the whole trace.
func shownByMLflow(url, trace string) (shown genaiRun, err error) {
	var answer struct {
		Trace struct {
			Info struct {
				State    string
				Metadata map[string]string `json:"trace_metadata"`
			} `json:"trace_info"`
			Spans []struct {
				Name       string
				Attributes []struct {
					Key   string
					Value struct {
						Text string `json:"string_value"`
					}
				}
				Status struct{ Code, Message string }
			}
		}
	}
	if err := fetchJSON(url+"/api/3.0/mlflow/traces/get?trace_id=tr-"+trace, &answer); err != nil {
		return shown, err
	}
	metadata := answer.Trace.Info.Metadata
	shown.Failed = answer.Trace.Info.State == "ERROR"
	for _, s := range answer.Trace.Spans {
		if s.Name == "POST /run_sse" {
			continue
		}
		kind := "none"
		for _, a := range s.Attributes {
			if a.Key == "mlflow.spanType" {
				kind = a.Value.Text
			}
		}
		shown.Spans = append(shown.Spans, genaiSpan(kind, s.Name, metadata["mlflow.trace.session"], s.Status.Code == "STATUS_CODE_ERROR", s.Status.Message))
	}
	if used := metadata["mlflow.trace.tokenUsage"]; used != "" {
		var tokens struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		}
		err = json.Unmarshal([]byte(used), &tokens)
		shown.Input, shown.Output = tokens.Input, tokens.Output
	}
	return shown, err
}

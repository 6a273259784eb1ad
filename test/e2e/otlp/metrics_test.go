package otlp_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	metricscollector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/internal/sidecar"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// meter is a metrics backend with OTLP over gRPC and HTTP.
type meter struct {
	metricscollector.UnimplementedMetricsServiceServer
	grpc string // host:port
	http *httptest.Server

	mu       sync.Mutex
	requests []*metricscollector.ExportMetricsServiceRequest
	attempts int
	refuse   func(attempt int) error // nil accepts everything
}

func newMeter(t *testing.T) *meter {
	t.Helper()
	m := &meter{}
	m.grpc, m.http = harness.ServeOTLP(t, m, func(s *grpc.Server) { metricscollector.RegisterMetricsServiceServer(s, m) })
	return m
}

// environment returns the variables that send metrics to the backend, and no spans.
func (m *meter) environment(rest map[string]string) map[string]string {
	env := map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + m.grpc}
	if strings.HasPrefix(rest["OTEL_EXPORTER_OTLP_PROTOCOL"]+rest["OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"], "http/") {
		env["OTEL_EXPORTER_OTLP_ENDPOINT"] = m.http.URL
	}
	maps.Copy(env, rest)
	return env
}

// Export implements the OTLP service.
func (m *meter) Export(_ context.Context, r *metricscollector.ExportMetricsServiceRequest) (*metricscollector.ExportMetricsServiceResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts++
	if m.refuse != nil {
		if err := m.refuse(m.attempts); err != nil {
			return nil, err
		}
	}
	m.requests = append(m.requests, r)
	return &metricscollector.ExportMetricsServiceResponse{}, nil
}

func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	content, err := io.ReadAll(body)
	request := &metricscollector.ExportMetricsServiceRequest{}
	if err == nil {
		err = proto.Unmarshal(content, request)
	}
	if err == nil && r.URL.Path != "/v1/metrics" {
		err = errors.New(r.URL.Path)
	}
	if err == nil {
		_, err = m.Export(r.Context(), request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// count returns the numbers of attempts and of accepted ones.
func (m *meter) count() (attempts, taken int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.attempts, len(m.requests)
}

// last returns the metrics and the resource of the last request.
func (m *meter) last(t *testing.T) (last map[string]*metricspb.Metric, described map[string]string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		t.Fatal("nothing received")
	}
	last = map[string]*metricspb.Metric{}
	for _, r := range m.requests[len(m.requests)-1].ResourceMetrics {
		described = harness.Attributes(r.Resource.Attributes)
		for _, scope := range r.ScopeMetrics {
			for _, metric := range scope.Metrics {
				last[metric.Name] = metric
			}
		}
	}
	return last, described
}

// arrivesAs returns the OTLP name of a scraped metric.
func arrivesAs(scraped string) string {
	if name, ok := map[string]string{
		"gen_ai_invoke_agent_duration_seconds": "gen_ai.invoke_agent.duration", "gen_ai_execute_tool_duration_seconds": "gen_ai.execute_tool.duration",
		"gen_ai_invoke_agent_inference_calls": "gen_ai.invoke_agent.inference_calls", "gen_ai_invoke_agent_tool_calls": "gen_ai.invoke_agent.tool_calls",
		"gen_ai_client_operation_duration_seconds": "gen_ai.client.operation.duration", "gen_ai_client_token_usage": "gen_ai.client.token.usage",
		"gen_ai_client_operation_time_to_first_chunk_seconds": "gen_ai.client.operation.time_to_first_chunk",
	}[scraped]; ok {
		return name
	}
	return scraped
}

// sums adds up the values of a metric's series, or the counts of its histograms.
func sums(m *metricspb.Metric) (n float64) {
	for _, p := range append(m.GetSum().GetDataPoints(), m.GetGauge().GetDataPoints()...) {
		n += p.GetAsDouble()
	}
	for _, p := range m.GetHistogram().GetDataPoints() {
		n += float64(p.Count)
	}
	for _, p := range m.GetExponentialHistogram().GetDataPoints() {
		n += float64(p.Count)
	}
	return n
}

func scrapedSums(f *dto.MetricFamily) (n float64) {
	for _, m := range f.Metric {
		n += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return n
}

// TestMetricsOverOTLP sends captures through the proxy and compares what a real receiver got last with a scrape at that time.
func TestMetricsOverOTLP(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"grpc by default":        {},
		"grpc, gzip":             {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"},
		"http/protobuf":          {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_METRICS_EXPORTER": "prometheus,otlp"},
		"http, gzip":             {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION": "gzip"},
		"exponential histograms": {"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION": "base2_exponential_bucket_histogram"},
	} {
		t.Run(name, func(t *testing.T) {
			agent, receiver := recorded.NewAgent(t), newMeter(t)
			env := receiver.environment(env)
			env["OTEL_RESOURCE_ATTRIBUTES"], env["OTEL_SERVICE_NAME"] = "k8s.pod.name=agent-0", "briefing"
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), env)
			for _, name := range []string{"adk-go/transfer", "adk-go/tool_error", "adk-python/parallel_tools"} {
				harness.AskOK(t, service, adkserver.RunRequest("u", "s", name, true))
			}
			service.Stop()
			got, described := receiver.last(t)
			if described["service.name"] != "briefing" || described["k8s.pod.name"] != "agent-0" || described["telemetry.sdk.language"] != "go" {
				t.Errorf("the resource is %v", described)
			}
			families, err := service.Registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(families) {
				t.Errorf("%d metrics were received, %d scraped", len(got), len(families))
			}
			for _, f := range families {
				m := got[arrivesAs(f.GetName())]
				if m == nil {
					t.Errorf("%s was not received", f.GetName())
					continue
				}
				theirs := strings.HasPrefix(f.GetName(), "go_") || strings.HasPrefix(f.GetName(), "process_") // which change
				if want := scrapedSums(f); !theirs && sums(m) != want {
					t.Errorf("%s is %v, and scraped %v", m.Name, sums(m), want)
				}
				if m.Description != f.GetHelp() {
					t.Errorf("%s is described as %q", m.Name, m.Description)
				}
			}
			if native := name == "exponential histograms"; native != (got["gen_ai.invoke_agent.duration"].GetExponentialHistogram() != nil) {
				t.Errorf("%v", got["gen_ai.invoke_agent.duration"])
			}
			if log := service.Log.String(); strings.Contains(log, "metrics backend") || strings.Contains(log, "not delivered") {
				t.Errorf("log:\n%s", log)
			}
		})
	}
}

// TestMetricsExemplarsOverOTLP follows the exemplars of metrics at one receiver to the spans at another.
func TestMetricsExemplarsOverOTLP(t *testing.T) {
	agent, receiver, traces := recorded.NewAgent(t), newMeter(t), harness.NewReceiver(t)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.environment(map[string]string{
		"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://" + traces.GRPC,
	}))
	harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
	service.Stop()
	got, _ := receiver.last(t)
	known := map[string]bool{}
	for _, s := range traces.Spans() {
		known[hex.EncodeToString(s.TraceId)+hex.EncodeToString(s.SpanId)] = true
	}
	exemplars := 0
	for _, p := range got["gen_ai.invoke_agent.duration"].GetHistogram().GetDataPoints() {
		for _, e := range p.Exemplars {
			exemplars++
			if id := hex.EncodeToString(e.TraceId) + hex.EncodeToString(e.SpanId); !known[id] {
				t.Errorf("the exemplar %s has no span", id)
			}
		}
	}
	if exemplars == 0 {
		t.Error("no exemplars")
	}
	if exported := sums(got["delegraph_spans_exported_total"]); exported != float64(len(traces.Spans())) {
		t.Errorf("the last metrics know of %v spans of %d", exported, len(traces.Spans()))
	}
}

// TestMetricsNotDelivered checks the settings that keep metrics from being sent. They can still be scraped.
func TestMetricsNotDelivered(t *testing.T) {
	for _, env := range []map[string]string{
		{"OTEL_METRICS_EXPORTER": ""},
		{"OTEL_METRICS_EXPORTER": "none"},
		{"OTEL_METRICS_EXPORTER": "prometheus"},
		{"OTEL_METRICS_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"},
	} {
		t.Run(fmt.Sprint(env), func(t *testing.T) {
			agent, receiver := recorded.NewAgent(t), newMeter(t)
			env["OTEL_METRIC_EXPORT_INTERVAL"] = "1"
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.environment(env))
			harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
			service.Stop()
			if attempts, _ := receiver.count(); attempts > 0 || service.Count(t, "delegraph_runs_ended_total") != 1 {
				t.Errorf("%d attempts", attempts)
			}
		})
	}
}

// TestMetricsEnvironmentIsChecked checks that each mistake in the environment is a startup error.
func TestMetricsEnvironmentIsChecked(t *testing.T) {
	c, err := config.Parse("test", fmt.Appendf(nil, harness.OneAgent, "http://127.0.0.1:1"), settings.KnownNames())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"OTEL_METRICS_EXPORTER": "statsd", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "udp", "OTEL_METRIC_EXPORT_INTERVAL": "1m"} {
		env := map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "otlp"}
		env[name] = value
		_, err := sidecar.New(t.Context(), c, slog.New(slog.DiscardHandler), func(name string) string { return env[name] })
		if err == nil || !strings.Contains(err.Error(), name+"="+value+" is not supported: use ") {
			t.Errorf("%s=%s: error %v", name, value, err)
		}
	}
}

// TestMetricsBackendFaults uses backends that do not accept metrics. Clients notice nothing, one line is logged, and the stop
// ends in time.
func TestMetricsBackendFaults(t *testing.T) {
	for name, fault := range map[string]struct {
		endpoint func(testing.TB, *harness.Receiver) string
		protocol string
	}{
		"refuses the connection":                {harness.ClosedURL, "grpc"},
		"refuses the connection over HTTP":      {harness.ClosedURL, "http/protobuf"},
		"accepts and hangs":                     {deaf, "grpc"},
		"accepts and hangs over HTTP":           {deaf, "http/protobuf"},
		"takes spans alone":                     {func(_ testing.TB, b *harness.Receiver) string { return "http://" + b.GRPC }, "grpc"},
		"has a certificate of nobody over HTTP": {encrypted, "http/protobuf"},
	} {
		t.Run(name, func(t *testing.T) {
			agent := recorded.NewAgent(t)
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{
				"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "otlp", "OTEL_METRIC_EXPORT_INTERVAL": "20", "OTEL_METRIC_EXPORT_TIMEOUT": "50",
				"OTEL_EXPORTER_OTLP_ENDPOINT": fault.endpoint(t, harness.NewReceiver(t)), "OTEL_EXPORTER_OTLP_PROTOCOL": fault.protocol,
			})
			service.Grace = time.Second / 2
			harness.Await(t, func(context.Context) error {
				if !strings.Contains(service.Log.String(), "the metrics backend does not accept all metrics") {
					return errors.New("no line is logged")
				}
				return nil
			})
			for range 10 {
				harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
			}
			service.Stop()
			log := service.Log.String()
			if n := strings.Count(log, "metrics backend"); n != 1 || strings.Count(log, "the last metrics were not delivered") != 1 {
				t.Errorf("%d lines:\n%s", n, log)
			}
		})
	}
}

// TestMetricsBackendComesBack uses a backend that is away for a while, which gives two log lines in all.
func TestMetricsBackendComesBack(t *testing.T) {
	agent, receiver := recorded.NewAgent(t), newMeter(t)
	receiver.refuse = func(attempt int) error {
		if attempt > 2 && attempt < 8 {
			return status.Error(codes.Unavailable, "starting")
		}
		return nil
	}
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.environment(map[string]string{"OTEL_METRIC_EXPORT_INTERVAL": "10"}))
	harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
	harness.Await(t, func(context.Context) error {
		if _, taken := receiver.count(); taken < 5 {
			return fmt.Errorf("%d taken", taken)
		}
		return nil
	})
	harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
	service.Stop()
	if got, _ := receiver.last(t); sums(got["delegraph_runs_ended_total"]) != 2 {
		t.Errorf("%v", got["delegraph_runs_ended_total"])
	}
	if log := service.Log.String(); strings.Count(log, "does not accept all metrics") != 1 || strings.Count(log, "the metrics backend is back") != 1 {
		t.Errorf("log:\n%s", log)
	}
}

// TestMetricsOfReloadedNames checks that configured names are admitted, even if names from the stream came first.
func TestMetricsOfReloadedNames(t *testing.T) {
	agent := recorded.NewAgent(t)
	configured := fmt.Sprintf(harness.Verbatim, agent.URL) + "metrics: {max_label_values: 1}\n"
	service := harness.Launch(t, configured, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	ask := func() { harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/parallel_tools", true)) }
	ask()
	c, err := config.Parse("test", []byte(strings.Replace(configured, "agents_as_tools: [", "agents_as_tools: [get_weather, ", 1)), settings.KnownNames())
	if err != nil {
		t.Fatal(err)
	}
	other := service.Count(t, "delegraph_tool_calls_total", "tool", "_other")
	if err := service.Configure(c); err != nil {
		t.Fatal(err)
	}
	ask()
	if n := service.Count(t, "delegraph_tool_calls_total", "tool", "get_weather"); n == 0 || other == 0 {
		t.Errorf("%v calls of the tool, and %v of others before", n, other)
	}
}

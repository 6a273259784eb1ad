package backends_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// buildCollector builds a Collector with our receiver, and returns its path.
func buildCollector(t *testing.T) string {
	t.Helper()
	builder := harness.Component(t, "otelcol", "builder")
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "builder.yaml")
	text := fmt.Sprintf(`
dist: {name: otelcol-delegraph, module: example.com/otelcol, output_path: %[1]q}
receivers: [{gomod: github.com/delegraph/delegraph/otelcol v0.0.0, name: delegraph}]
exporters: [{gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter v0.158.0}]
replaces:
  - github.com/delegraph/delegraph => %[2]s
  - github.com/delegraph/delegraph/otelcol => %[2]s/otelcol
`, dir, root)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := subprocess.Command(builder, "--config", file)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return filepath.Join(dir, "otelcol-delegraph")
}

// TestCollectorReceiver builds a Collector with the receiver and runs the same agent through it and through delegraph serve. The spans
// and metrics are the same, and so is the agent's answer.
func TestCollectorReceiver(t *testing.T) {
	harness.Slow(t)
	binary := buildCollector(t)
	agent := recorded.NewAgent(t)
	served, collected := newBackend(t), newBackend(t)
	service := harness.Launch(t, fmt.Sprintf(harness.OneAgent, agent.URL), map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": served.url, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
		"OTEL_METRICS_EXPORTER": "otlp", "OTEL_METRIC_EXPORT_INTERVAL": "60000",
	})
	address := loopback.FreeAddress(t)
	sources := strings.Replace(fmt.Sprintf(harness.OneAgent, agent.URL), `listen: "127.0.0.1:0", upstream`, fmt.Sprintf("listen: %q, upstream", address), 1)
	collector := startCollector(t, binary, fmt.Sprintf(`
receivers:
  delegraph:%s
exporters: {otlphttp: {endpoint: %q, compression: none}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [delegraph], exporters: [otlphttp]}
    metrics: {receivers: [delegraph], exporters: [otlphttp]}
`, strings.ReplaceAll(sources, "\n", "\n    "), collected.url), address)
	for i, name := range agent.Names() {
		want := harness.AskOK(t, service, body(i, name))
		got := harness.Post(t, "http://"+address, body(i, name), http.Header{"Content-Type": {"application/json"}})
		if got.Err != nil || string(got.Body) != string(want) {
			t.Errorf("%s: the Collector's answer differs: %v\n%.600s\n%.600s", name, got.Err, want, got.Body)
		}
	}
	service.Stop()
	collector.Signal(t, syscall.SIGTERM)
	if err := collector.Wait(); err != nil {
		t.Fatalf("the Collector ended: %v\n%s", err, collector.Log)
	}
	differ(t, "spans", served.describeSpans(), collected.describeSpans())
	differ(t, "metrics", served.describeMetrics(), collected.describeMetrics())
}

// differ reports lines that only one of the two has.
func differ(t *testing.T, what string, served, collected []string) {
	t.Helper()
	count := map[string]int{}
	for _, line := range served {
		count[line]++
	}
	for _, line := range collected {
		count[line]--
	}
	if len(served) == 0 {
		t.Errorf("serve gave no %s", what)
	}
	for line, n := range count {
		if n != 0 {
			t.Errorf("%s: serve has %d more of: %s", what, n, line)
		}
	}
}

// describeSpans returns a line for each span, without ids, times and ports.
func (b *backend) describeSpans() (lines []string) {
	names := map[string]string{}
	for _, s := range b.Spans() {
		names[string(s.SpanId)] = s.Name
	}
	for _, s := range b.Spans() {
		lines = append(lines, fmt.Sprintf("%s < %s: %v %v, %d events, %d links, %v", s.Name, names[string(s.ParentSpanId)], s.Kind, s.Status, len(s.Events), len(s.Links), labels(s.Attributes)))
	}
	slices.Sort(lines)
	return lines
}

// describeMetrics returns a line for each series with its count, without those of the Go runtime, of the process and of the log queue,
// which only serve has.
func (b *backend) describeMetrics() (lines []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, m := range b.metrics {
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") || name == "delegraph_log_lines_dropped_total" {
			continue
		}
		for _, p := range m.GetSum().GetDataPoints() {
			lines = append(lines, fmt.Sprintf("%s %s sum %v: %v", name, m.Unit, labels(p.Attributes), p.GetAsDouble()))
		}
		for _, p := range m.GetGauge().GetDataPoints() {
			lines = append(lines, fmt.Sprintf("%s %s gauge %v", name, m.Unit, labels(p.Attributes)))
		}
		for _, p := range m.GetHistogram().GetDataPoints() {
			lines = append(lines, fmt.Sprintf("%s %s histogram %v: %d, %d buckets, exemplars %v", name, m.Unit, labels(p.Attributes), p.Count, len(p.BucketCounts), len(p.Exemplars) > 0))
		}
	}
	slices.Sort(lines)
	return lines
}

// labels returns the attributes that do not differ between two processes.
func labels(attributes []*commonpb.KeyValue) (all []string) {
	for key, value := range harness.Attributes(attributes) {
		if !strings.HasSuffix(key, ".port") {
			all = append(all, key+"="+value)
		}
	}
	slices.Sort(all)
	return all
}

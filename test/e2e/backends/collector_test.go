package backends_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	metricscollector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// backend is a backend with OTLP over HTTP. It keeps all spans and the last value of each metric.
type backend struct {
	harness.Receiver
	url string

	mu      sync.Mutex
	metrics map[string]*metricspb.Metric
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{metrics: map[string]*metricspb.Metric{}}
	mux := http.NewServeMux()
	mux.Handle("/v1/traces", &b.Receiver)
	mux.HandleFunc("/v1/metrics", b.takeMetrics)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

func (b *backend) takeMetrics(w http.ResponseWriter, r *http.Request) {
	request := &metricscollector.ExportMetricsServiceRequest{}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = proto.Unmarshal(body, request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, resource := range request.ResourceMetrics {
		for _, scope := range resource.ScopeMetrics {
			for _, m := range scope.Metrics {
				b.metrics[m.Name] = m
			}
		}
	}
}

// sum returns the sum of a counter's series.
func (b *backend) sum(name string) (n float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.metrics[name].GetSum().GetDataPoints() {
		n += p.GetAsDouble()
	}
	return n
}

// startCollector runs a Collector until the test ends, and waits until it listens at an address.
func startCollector(t *testing.T, binary, configured, address string) *harness.Command {
	t.Helper()
	file := filepath.Join(t.TempDir(), "otelcol.yaml")
	if err := os.WriteFile(file, []byte(configured), 0o600); err != nil {
		t.Fatal(err)
	}
	command := subprocess.Command(binary, "--config", file)
	command.Env = []string{} // without OTEL_*
	c := harness.Start(t, command)
	harness.Await(t, func(context.Context) error {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return fmt.Errorf("the Collector is not up: %w\n%s", err, c.Log)
		}
		return conn.Close()
	})
	return c
}

// body returns the request to which the agent answers with a recording.
func body(i int, recording string) []byte {
	return fmt.Appendf(nil, `{"appName":"app","userId":"u","sessionId":"collected-%d","streaming":true,"newMessage":{"parts":[{"text":%q}]}}`, i, recording)
}

// relay passes TCP connections at an address on to another one until the test ends.
func relay(t *testing.T, address, upstream string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for from, err := listener.Accept(); err == nil; from, err = listener.Accept() {
			to, err := net.Dial("tcp", upstream)
			if err != nil {
				from.Close()
				continue
			}
			open.Go(func() { _, _ = io.Copy(to, from); to.Close() })
			open.Go(func() { _, _ = io.Copy(from, to); from.Close() })
		}
	})
	t.Cleanup(func() { listener.Close(); open.Wait() })
}

// TestCollectorBeforeJaeger sends spans and metrics through a Collector. It is restarted while agents run, and then cannot reach Jaeger
// for a while. Everything arrives.
func TestCollectorBeforeJaeger(t *testing.T) {
	harness.Slow(t)
	binary := harness.Component(t, "otelcol", "otelcol")
	agent := recorded.NewAgent(t)
	server, meter := startJaeger(t), newBackend(t)
	address, jaeger, late := loopback.FreeAddress(t), strings.TrimPrefix(server.grpc, "http://"), loopback.FreeAddress(t)
	configured := func(backend string) string {
		return fmt.Sprintf(`
receivers: {otlp: {protocols: {grpc: {endpoint: %q}}}}
processors: {batch: {timeout: 100ms}}
exporters:
  otlp: {endpoint: %q, tls: {insecure: true}, retry_on_failure: {initial_interval: 100ms}}
  otlphttp: {endpoint: %q, compression: none}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], processors: [batch], exporters: [otlp]}
    metrics: {receivers: [otlp], processors: [batch], exporters: [otlphttp]}
`, address, backend, meter.url)
	}
	collector := startCollector(t, binary, configured(jaeger), address)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + address, "OTEL_METRICS_EXPORTER": "otlp", "OTEL_METRIC_EXPORT_INTERVAL": "200",
	})
	var runs []liveRun
	ask := func(times int) {
		for range times {
			name := agent.Names()[len(runs)%len(agent.Names())]
			harness.AskOK(t, service, body(len(runs), name))
			runs = append(runs, liveRun{name, strings.Split(agent.Asked[len(runs)].Get("traceparent"), "-")[1], service.Recent.Reports()[0]})
		}
	}
	ask(20)
	collector.Signal(t, syscall.SIGTERM)
	ask(20) // while it stops
	if err := collector.Wait(); err != nil {
		t.Fatalf("the Collector ended: %v\n%s", err, collector.Log)
	}
	ask(20) // while it is away
	collector = startCollector(t, binary, configured(late), address)
	ask(20) // while it cannot reach Jaeger
	relay(t, late, jaeger)
	t.Cleanup(collector.Kill) // before the relay waits for its connections
	for _, r := range runs {
		trace := server.trace(t, r.trace, len(r.report.Operations)+1)
		server.check(t, r.capture, trace, r.report, trace.proxied())
	}
	if n := service.Count(t, "delegraph_spans_dropped_total"); n != 0 {
		t.Errorf("%v spans were dropped", n)
	}
	harness.Await(t, func(context.Context) error {
		if want, got := service.Count(t, "delegraph_runs_ended_total"), meter.sum("delegraph_runs_ended_total"); want != got || want == 0 {
			return fmt.Errorf("%v of %v runs are counted\n%s", got, want, collector.Log)
		}
		return nil
	})
}

package otelcol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/delegraph/delegraph/otelcol/internal/metadata"
)

const capture = "../collector/dialect/adk/testdata/js-text-and-tool.sse"

// running is a started receiver with an agent behind its proxy.
type running struct {
	*instance
	proxy     string // its URL
	telemetry *componenttest.Telemetry
}

// start runs a receiver with a proxy. Its pipelines end in the consumers, of which one may be nil.
func start(t *testing.T, traces consumer.Traces, metrics consumer.Metrics) *running {
	t.Helper()
	return startWith(t, "{sources: [{name: agent, proxy: {listen: 127.0.0.1:0, upstream: %q}}], stream: {listen: \"\"}}", traces, metrics)
}

// startWith is like start with a configuration that contains the agent's URL.
func startWith(t *testing.T, configured string, traces consumer.Traces, metrics consumer.Metrics) *running {
	t.Helper()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.ServeFile(w, r, capture)
	}))
	t.Cleanup(agent.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	c := unmarshal(t, fmt.Sprintf(configured, agent.URL))
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	set := receivertest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = telemetry.NewTelemetrySettings()
	factory := NewFactory()
	var shared *instance
	if traces != nil {
		r, err := factory.CreateTraces(t.Context(), set, c, traces)
		require.NoError(t, err)
		shared = r.(*instance)
	}
	if metrics != nil {
		r, err := factory.CreateMetrics(t.Context(), set, c, metrics)
		require.NoError(t, err)
		require.True(t, shared == nil || shared == r.(*instance), "each signal has a receiver of its own")
		shared = r.(*instance)
	}
	for range 2 { // once for each signal
		require.NoError(t, shared.Start(t.Context(), componenttest.NewNopHost()))
		t.Cleanup(func() { _ = shared.Shutdown(context.Background()) })
	}
	r := &running{instance: shared, telemetry: telemetry}
	for _, proxy := range shared.sidecar.Proxies() {
		r.proxy = "http://" + proxy.Addr
	}
	return r
}

// ask lets the agent answer and checks that its answer comes unchanged.
func (r *running) ask(t *testing.T) {
	t.Helper()
	answer, err := http.Post(r.proxy+"/run_sse", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	want, err := os.ReadFile(capture)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// dropped returns the number of spans that the sidecar dropped for a reason.
func (r *running) dropped(t *testing.T, reason string) float64 {
	t.Helper()
	families, err := r.sidecar.Registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == "delegraph_spans_dropped_total" && m.Label[0].GetValue() == reason {
				return m.Counter.GetValue()
			}
		}
	}
	return 0
}

// spanNames returns the names of all received spans.
func spanNames(all []ptrace.Traces) (names []string) {
	for _, traces := range all {
		for _, resource := range traces.ResourceSpans().All() {
			for _, scope := range resource.ScopeSpans().All() {
				for _, span := range scope.Spans().All() {
					names = append(names, span.Name())
				}
			}
		}
	}
	return names
}

// TestReceiver checks that both signals reach their pipelines, and that the Collector counts them.
func TestReceiver(t *testing.T) {
	var traces consumertest.TracesSink
	var metrics consumertest.MetricsSink
	r := start(t, &traces, &metrics)
	r.ask(t)
	require.NoError(t, r.Shutdown(t.Context()))
	names := spanNames(traces.AllTraces())
	require.Contains(t, names, "POST /run_sse")
	require.Greater(t, len(names), 2)
	found := map[string]pmetric.Metric{}
	for _, all := range metrics.AllMetrics() {
		for _, resource := range all.ResourceMetrics().All() {
			service, _ := resource.Resource().Attributes().Get("service.name")
			require.Equal(t, "delegraph", service.Str())
			for _, m := range resource.ScopeMetrics().At(0).Metrics().All() {
				found[m.Name()] = m
			}
		}
	}
	duration, ok := found["gen_ai.invoke_agent.duration"]
	require.True(t, ok, "the metrics: %v", found)
	require.Equal(t, "s", duration.Unit())
	require.Equal(t, pmetric.AggregationTemporalityCumulative, duration.Histogram().AggregationTemporality())
	trace := duration.Histogram().DataPoints().At(0).Exemplars().At(0).TraceID()
	require.Equal(t, traces.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).TraceID(), trace)
	accepted, err := r.telemetry.GetMetric("otelcol_receiver_accepted_spans")
	require.NoError(t, err)
	require.NotNil(t, accepted)
}

// TestReceiverOfOneSignal checks that a signal without a pipeline is not needed.
func TestReceiverOfOneSignal(t *testing.T) {
	var traces consumertest.TracesSink
	r := start(t, &traces, nil)
	r.ask(t)
	require.NoError(t, r.Shutdown(t.Context()))
	require.NotZero(t, traces.SpanCount())

	var metrics consumertest.MetricsSink
	r = start(t, nil, &metrics)
	r.ask(t)
	require.NoError(t, r.Shutdown(t.Context()))
	require.NotZero(t, metrics.DataPointCount())
}

// TestReceiverOfTail checks that the receiver reads a stream as a second subscriber, and serves the external stream.
func TestReceiverOfTail(t *testing.T) {
	var traces consumertest.TracesSink
	r := startWith(t, "{sources: [{name: agent, tail: {url: %q}}], stream: {listen: 127.0.0.1:0}}", &traces, nil)
	require.Eventually(t, func() bool { return traces.SpanCount() > 1 }, 20*time.Second, 10*time.Millisecond)
	answer, err := http.Get("http://" + r.sidecar.StreamAddr() + "/-/ready")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.NoError(t, r.Shutdown(t.Context()))
}

// TestReceiverEnvironment checks that variables that say where delegraph serve sends its signals have no effect.
func TestReceiverEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", "OTEL_METRIC_EXPORT_INTERVAL": "soon",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1/base", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/traces",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_HEADERS": "a=b",
	} {
		t.Setenv(name, value)
	}
	var traces consumertest.TracesSink
	var metrics consumertest.MetricsSink
	r := start(t, &traces, &metrics)
	r.ask(t)
	require.NoError(t, r.Shutdown(t.Context()))
	require.NotZero(t, traces.SpanCount())
	require.NotZero(t, metrics.DataPointCount())
}

// TestReceiverRepeats checks that spans wait while the pipeline is out of order for a moment.
func TestReceiverRepeats(t *testing.T) {
	var refusals atomic.Int32
	var sink consumertest.TracesSink
	next, err := consumer.NewTraces(func(ctx context.Context, traces ptrace.Traces) error {
		if refusals.Add(1) < 3 {
			return errors.New("the queue is full")
		}
		return sink.ConsumeTraces(ctx, traces)
	})
	require.NoError(t, err)
	r := start(t, next, nil)
	r.ask(t)
	require.NoError(t, r.Shutdown(t.Context()))
	require.NotZero(t, sink.SpanCount())
	for _, reason := range []string{"rejected", "shutdown"} {
		require.Zero(t, r.dropped(t, reason), reason)
	}
}

// TestReceiverCountsDrops checks that a batch is offered once after a permanent error, and counted.
func TestReceiverCountsDrops(t *testing.T) {
	offered := 0.0
	next, err := consumer.NewTraces(func(_ context.Context, traces ptrace.Traces) error {
		offered += float64(traces.SpanCount())
		return consumererror.NewPermanent(errors.New("no such tenant"))
	})
	require.NoError(t, err)
	r := start(t, next, nil)
	r.ask(t)
	require.NoError(t, r.Shutdown(t.Context()))
	require.NotZero(t, offered)
	require.Equal(t, offered, r.dropped(t, "rejected"))
}

// TestReceiverOfBlockedPipeline checks that a consumer that never returns delays neither the agent nor the shutdown.
func TestReceiverOfBlockedPipeline(t *testing.T) {
	blocked := make(chan struct{})
	t.Cleanup(func() { close(blocked) })
	entered := make(chan struct{}, 10)
	next, err := consumer.NewTraces(func(context.Context, ptrace.Traces) error {
		entered <- struct{}{}
		<-blocked
		return nil
	})
	require.NoError(t, err)
	r := start(t, next, nil)
	r.ask(t)
	<-entered
	r.ask(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	_ = r.Shutdown(ctx)
	require.Less(t, time.Since(began), 5*time.Second)
	<-r.stopped
	require.NotZero(t, r.dropped(t, "shutdown"))
}

// TestReceiverCannotStart checks the errors of Start.
func TestReceiverCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for text, want := range map[string]string{
		"": "sources: there is no source",
		fmt.Sprintf("{sources: [{name: agent, proxy: {listen: %q, upstream: http://127.0.0.1:1}}], stream: {listen: \"\"}}", taken.Addr()): "source agent: listen tcp " + taken.Addr().String(),
	} {
		r, err := NewFactory().CreateTraces(t.Context(), receivertest.NewNopSettings(metadata.Type), unmarshal(t, text), consumertest.NewNop())
		require.NoError(t, err)
		require.ErrorContains(t, r.Start(t.Context(), componenttest.NewNopHost()), want)
		require.NoError(t, r.Shutdown(t.Context()))
	}
}

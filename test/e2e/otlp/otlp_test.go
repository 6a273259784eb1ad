package otlp_test

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestEveryCaptureAsSpans sends every capture through the proxy and checks the spans at a real receiver: one trace for each run,
// in which parents exist and contain their children.
func TestEveryCaptureAsSpans(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"grpc by default": {},
		"grpc, gzip":      {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"},
		"http/protobuf":   {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
		"http, gzip":      {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"},
		"http/json":       {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"},
	} {
		t.Run(name, func(t *testing.T) {
			agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
			begun := time.Now()
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.Environment(env))
			runs := agent.Names()
			for _, name := range runs {
				if got := harness.AskOK(t, service, adkserver.RunRequest("u", name, name, true)); !bytes.Equal(got, agent.Recordings[name]) {
					t.Fatalf("%s: the client got %d bytes, the agent sent %d", name, len(got), len(agent.Recordings[name]))
				}
			}
			service.Stop()
			traces := receiver.Traces(t)
			if len(traces) != len(runs) {
				t.Fatalf("%d traces of %d runs", len(traces), len(runs))
			}
			sessions := map[string]bool{}
			for _, trace := range traces {
				server, run := trace.One(t, "POST /run_sse"), trace.Run(t)
				if len(server.ParentSpanId) > 0 || server.Kind != tracepb.Span_SPAN_KIND_SERVER || !bytes.Equal(run.ParentSpanId, server.SpanId) {
					t.Errorf("the parents of %s and %s are %x and %x", server.Name, run.Name, server.ParentSpanId, run.ParentSpanId)
				}
				if harness.Attribute(server, "http.response.status_code") != "200" || harness.Attribute(server, "url.path") != "/run_sse" {
					t.Errorf("the server span says %v", server.Attributes)
				}
				trace.CheckShape(t, begun, time.Now())
				sessions[harness.Attribute(run, "gen_ai.conversation.id")] = true
			}
			if len(sessions) != len(runs) {
				t.Errorf("%d sessions of %d runs", len(sessions), len(runs))
			}
			if exported, sent := service.Count(t, "delegraph_spans_exported_total"), float64(len(receiver.Spans())); exported != sent {
				t.Errorf("%v spans counted, %v received", exported, sent)
			}
		})
	}
}

// TestPausedAndResumedInOneTrace sends a request, gets a question and answers it, all in one trace of the client. The agent gives
// both runs the same id, but no two spans may share one.
func TestPausedAndResumedInOneTrace(t *testing.T) {
	agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.Environment(nil))
	for _, name := range []string{"adk-go/hitl_1_confirmation", "adk-go/hitl_2_approved"} {
		harness.Post(t, service.Address(), adkserver.RunRequest("u", "s", name, true), http.Header{"Traceparent": {harness.SampledCaller}})
	}
	service.Wait()
	service.Stop()
	if traces := receiver.Traces(t); len(traces) != 1 || len(traces[harness.CallerTrace]) != len(receiver.Spans()) {
		t.Errorf("%d spans in %d traces, and in the caller's %d", len(receiver.Spans()), len(traces), len(traces[harness.CallerTrace]))
	}
}

// TestResource checks the resource attributes of the spans.
func TestResource(t *testing.T) {
	for name, c := range map[string]struct{ env, want map[string]string }{
		"by default": {nil, map[string]string{"service.name": "delegraph", "telemetry.sdk.language": "go"}},
		"attributes": {
			map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "k8s.pod.name=agent-0,service.namespace=fire%20watch"},
			map[string]string{"service.name": "delegraph", "k8s.pod.name": "agent-0", "service.namespace": "fire watch"},
		},
		"a name among them": {map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "service.name=briefing"}, map[string]string{"service.name": "briefing"}},
		"a name of its own": {map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "service.name=a", "OTEL_SERVICE_NAME": "b"}, map[string]string{"service.name": "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.Environment(c.env))
			harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/plain", true))
			service.Stop()
			if len(receiver.Received) == 0 {
				t.Fatal("nothing received")
			}
			for _, batch := range receiver.Received {
				described := harness.Attributes(batch.Resource.Attributes)
				for key, want := range c.want {
					if described[key] != want {
						t.Errorf("%s is %q, not %q", key, described[key], want)
					}
				}
			}
		})
	}
}

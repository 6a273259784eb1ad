package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
)

// TestEveryCaptureAsSpans drives every capture through the proxy and holds what a real receiver is sent against itself: a trace
// for each run, whose parents exist and contain their children.
func TestEveryCaptureAsSpans(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"grpc by default": {},
		"grpc, gzip":      {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"},
		"http/protobuf":   {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
		"http, gzip":      {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"},
		"http/json":       {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"},
	} {
		t.Run(name, func(t *testing.T) {
			agent, receiver := newRecordedAgent(t), newBackend(t)
			begun := time.Now()
			car := launch(t, fmt.Sprintf(verbatim, agent.URL), receiver.environment(env))
			runs := agent.names()
			for _, name := range runs {
				if got := ask200(t, car, adkserver.RunRequest("u", name, name, true)); !bytes.Equal(got, agent.recordings[name]) {
					t.Fatalf("%s: the client got %d bytes, the agent sent %d", name, len(got), len(agent.recordings[name]))
				}
			}
			car.stop()
			traces := receiver.traces(t)
			if len(traces) != len(runs) {
				t.Fatalf("%d traces of %d runs", len(traces), len(runs))
			}
			sessions := map[string]bool{}
			for _, trace := range traces {
				server, run := trace.one(t, "POST /run_sse"), trace.run(t)
				if len(server.ParentSpanId) > 0 || server.Kind != tracepb.Span_SPAN_KIND_SERVER || !bytes.Equal(run.ParentSpanId, server.SpanId) {
					t.Errorf("the parents of %s and %s are %x and %x", server.Name, run.Name, server.ParentSpanId, run.ParentSpanId)
				}
				if said(server, "http.response.status_code") != "200" || said(server, "url.path") != "/run_sse" {
					t.Errorf("the server span says %v", server.Attributes)
				}
				trace.checkShape(t, begun, time.Now())
				sessions[said(run, "gen_ai.conversation.id")] = true
			}
			if len(sessions) != len(runs) {
				t.Errorf("%d sessions of %d runs", len(sessions), len(runs))
			}
			if exported, sent := car.count(t, "delegraph_spans_exported_total"), float64(len(receiver.spans())); exported != sent {
				t.Errorf("%v spans counted, %v received", exported, sent)
			}
		})
	}
}

// TestPausedAndResumedInOneTrace has a client that asks, is asked back and answers, all in its own trace: the agent names both
// runs alike, and yet no two spans may have one id.
func TestPausedAndResumedInOneTrace(t *testing.T) {
	agent, receiver := newRecordedAgent(t), newBackend(t)
	car := launch(t, fmt.Sprintf(verbatim, agent.URL), receiver.environment(nil))
	for _, name := range []string{"adk-go/hitl_1_confirmation", "adk-go/hitl_2_approved"} {
		post(t, car.address(), adkserver.RunRequest("u", "s", name, true), http.Header{"Traceparent": {sampledCaller}})
	}
	car.Wait()
	car.stop()
	if traces := receiver.traces(t); len(traces) != 1 || len(traces[callerTrace]) != len(receiver.spans()) {
		t.Errorf("%d spans in %d traces, and in the caller's %d", len(receiver.spans()), len(traces), len(traces[callerTrace]))
	}
}

// TestResource says who sends the spans.
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
			agent, receiver := newRecordedAgent(t), newBackend(t)
			car := launch(t, fmt.Sprintf(verbatim, agent.URL), receiver.environment(c.env))
			ask200(t, car, adkserver.RunRequest("u", "s", "adk-go/plain", true))
			car.stop()
			if len(receiver.received) == 0 {
				t.Fatal("nothing received")
			}
			for _, batch := range receiver.received {
				described := values(batch.Resource.Attributes)
				for key, want := range c.want {
					if described[key] != want {
						t.Errorf("%s is %q, not %q", key, described[key], want)
					}
				}
			}
		})
	}
}

// spanTree is the spans of one trace.
type spanTree []*tracepb.Span

// traces sorts what was received by trace id.
func (b *backend) traces(t *testing.T) map[string]spanTree {
	t.Helper()
	traces, seen := map[string]spanTree{}, map[string]string{}
	for _, s := range b.spans() {
		id := hex.EncodeToString(s.TraceId)
		if other, twice := seen[id+string(s.SpanId)]; twice {
			t.Errorf("%s and %s are both span %x of trace %s", other, s.Name, s.SpanId, id)
		}
		seen[id+string(s.SpanId)] = s.Name
		traces[id] = append(traces[id], s)
	}
	return traces
}

// one is the only span of that name.
func (tr spanTree) one(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	return tr.only(t, name, func(s *tracepb.Span) bool { return s.Name == name })
}

// run is the operation of the only run.
func (tr spanTree) run(t *testing.T) *tracepb.Span {
	t.Helper()
	return tr.only(t, "the run", func(s *tracepb.Span) bool { return said(s, "delegraph.run.status") != "" })
}

func (tr spanTree) only(t *testing.T, what string, is func(*tracepb.Span) bool) (found *tracepb.Span) {
	t.Helper()
	for _, s := range tr {
		switch {
		case !is(s):
		case found != nil:
			t.Fatalf("%s is there twice", what)
		default:
			found = s
		}
	}
	if found == nil {
		t.Fatalf("%s is not among %d spans", what, len(tr))
	}
	return found
}

// checkShape holds every span against its parent, and against the clock of whoever drove the run.
func (tr spanTree) checkShape(t *testing.T, after, before time.Time) {
	t.Helper()
	byID := map[string]*tracepb.Span{}
	for _, s := range tr {
		byID[string(s.SpanId)] = s
	}
	for _, s := range tr {
		if s.StartTimeUnixNano > s.EndTimeUnixNano || int64(s.StartTimeUnixNano) < after.UnixNano() || int64(s.EndTimeUnixNano) > before.UnixNano() {
			t.Errorf("%s lasts from %s to %s", s.Name, clock(s.StartTimeUnixNano), clock(s.EndTimeUnixNano))
		}
		parent := byID[string(s.ParentSpanId)]
		switch {
		case s.Kind == tracepb.Span_SPAN_KIND_SERVER: // its parent is the client's
		case parent == nil:
			t.Errorf("%s has the parent %x, which does not exist", s.Name, s.ParentSpanId)
		case s.StartTimeUnixNano < parent.StartTimeUnixNano || s.EndTimeUnixNano > parent.EndTimeUnixNano:
			t.Errorf("%s lasts from %s to %s, its parent %s from %s to %s", s.Name, clock(s.StartTimeUnixNano), clock(s.EndTimeUnixNano),
				parent.Name, clock(parent.StartTimeUnixNano), clock(parent.EndTimeUnixNano))
		}
	}
}

const clockLayout = "2006-01-02 15:04:05.000000"

func clock(nano uint64) string { return time.Unix(0, int64(nano)).Format(clockLayout) }

func said(s *tracepb.Span, key string) string { return values(s.Attributes)[key] }

func values(attributes []*commonpb.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			all[a.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			all[a.Key] = strconv.FormatInt(v.IntValue, 10)
		}
	}
	return all
}

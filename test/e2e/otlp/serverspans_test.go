package otlp_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestPathsThatAreNoText sends a path that is not UTF-8 next to an ordinary one, over each protocol, and checks that no span is
// lost.
func TestPathsThatAreNoText(t *testing.T) {
	for _, protocol := range []string{"grpc", "http/protobuf", "http/json"} {
		t.Run(protocol, func(t *testing.T) {
			agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.Environment(map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": protocol}))
			run := string(adkserver.RunRequest("u", "s", "adk-go/plain", true))
			for _, path := range []string{"/run_sse;%ff", "/run_sse"} {
				resp, err := http.Post(service.Address()+path, "application/json", strings.NewReader(run))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			service.Stop()
			traces := receiver.Traces(t)
			if dropped := service.Count(t, "delegraph_spans_dropped_total"); dropped != 0 || len(traces) != 2 {
				t.Fatalf("%v spans dropped, %d traces of 2 received", dropped, len(traces))
			}
			var paths []string
			for _, spans := range traces {
				paths = append(paths, harness.Attribute(spans.One(t, "POST /run_sse"), "url.path"))
			}
			if slices.Sort(paths); !slices.Equal(paths, []string{"/run_sse", "/run_sse;%ff"}) {
				t.Errorf("paths %q", paths)
			}
		})
	}
}

// TestTraceContext combines every sampler with a caller in a sampled trace, in an unsampled one, or in none.
func TestTraceContext(t *testing.T) {
	// decisions holds whether there are spans for each of the three callers.
	type decisions struct{ none, sampled, unsampled bool }
	for name, c := range map[string]struct {
		env  map[string]string
		want decisions
	}{
		"default":                        {nil, decisions{true, true, false}},
		"always_on":                      {sampler("always_on", ""), decisions{true, true, true}},
		"always_off":                     {sampler("always_off", ""), decisions{}},
		"traceidratio of all":            {sampler("traceidratio", "1"), decisions{true, true, true}},
		"traceidratio of none":           {sampler("traceidratio", "0"), decisions{}},
		"parentbased_always_on":          {sampler("parentbased_always_on", ""), decisions{true, true, false}},
		"parentbased_always_off":         {sampler("parentbased_always_off", ""), decisions{false, true, false}},
		"parentbased_traceidratio, all":  {sampler("parentbased_traceidratio", "1"), decisions{true, true, false}},
		"parentbased_traceidratio, none": {sampler("parentbased_traceidratio", "0"), decisions{false, true, false}},
		"no exporter":                    {map[string]string{"OTEL_TRACES_EXPORTER": "none"}, decisions{}},
		"disabled":                       {map[string]string{"OTEL_SDK_DISABLED": "true"}, decisions{}},
	} {
		for caller, spans := range map[string]bool{"": c.want.none, harness.SampledCaller: c.want.sampled, harness.UnsampledCaller: c.want.unsampled} {
			t.Run(name+"/"+caller, func(t *testing.T) {
				e := exchangeWith(t, c.env, caller)
				e.checkTelemetry(t, spans)
				e.checkHeaders(t, spans, caller != "")
			})
		}
	}
}

// TestTraceContextOfOthers sends trace headers that are malformed or that the configuration ignores.
func TestTraceContextOfOthers(t *testing.T) {
	const malformed = "00-" + harness.CallerTrace + "-0000000000000000-01"
	t.Run("malformed and sampled by us", func(t *testing.T) {
		e := exchangeWith(t, nil, malformed)
		e.checkTelemetry(t, true)
		e.checkHeaders(t, true, false)
	})
	t.Run("malformed and not sampled", func(t *testing.T) {
		e := exchangeWith(t, sampler("always_off", ""), malformed)
		e.checkTelemetry(t, false)
		e.checkHeaders(t, false, false)
	})
	t.Run("two and sampled by us", func(t *testing.T) {
		e := exchangeWith(t, nil, harness.SampledCaller, harness.UnsampledCaller)
		e.checkTelemetry(t, true)
		e.checkHeaders(t, true, false)
	})
	t.Run("two and not sampled", func(t *testing.T) {
		e := exchangeWith(t, sampler("always_off", ""), harness.SampledCaller, harness.SampledCaller)
		e.checkTelemetry(t, false)
		e.checkHeaders(t, false, false)
	})
	for _, propagators := range []string{"none", "baggage"} {
		t.Run("propagators "+propagators, func(t *testing.T) {
			e := exchangeWith(t, map[string]string{"OTEL_PROPAGATORS": propagators}, harness.SampledCaller)
			e.checkTelemetry(t, true)
			if e.forwarded.Get("traceparent") != harness.SampledCaller || e.answer.Header.Get("traceresponse") != "" {
				t.Errorf("the agent got %q, the client %q", e.forwarded.Get("traceparent"), e.answer.Header.Get("traceresponse"))
			}
			if trace, _ := e.server(t); trace == harness.CallerTrace {
				t.Error("the caller's trace continues")
			}
		})
	}
}

func sampler(name, argument string) map[string]string {
	return map[string]string{"OTEL_TRACES_SAMPLER": name, "OTEL_TRACES_SAMPLER_ARG": argument}
}

// tracedRun is a run through a sidecar, with what all sides saw of its trace.
type tracedRun struct {
	service   *harness.Service
	begun     time.Time
	sent      http.Header
	forwarded http.Header
	answer    harness.Response
	traces    map[string]harness.SpanTree
}

// exchangeWith runs once with the caller's headers traceparent, or without one if it is "".
func exchangeWith(t *testing.T, env map[string]string, callers ...string) *tracedRun {
	t.Helper()
	agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
	e := &tracedRun{sent: http.Header{}, begun: time.Now()}
	e.service = harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.Environment(env))
	if callers[0] != "" {
		e.sent = http.Header{
			"Traceparent": callers,
			"Tracestate":  {"congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7 , x=1"},
			"Baggage":     {"a=b;p , c=%20"},
		}
	}
	e.answer = harness.Post(t, e.service.Address(), adkserver.RunRequest("u", "s", "adk-go/transfer", true), e.sent.Clone())
	e.service.Stop()
	e.forwarded, e.traces = agent.Asked[0], receiver.Traces(t)
	return e
}

// server returns the trace and the span of the request.
func (e *tracedRun) server(t *testing.T) (trace, span string) {
	t.Helper()
	for id, spans := range e.traces {
		return id, hex.EncodeToString(spans.One(t, "POST /run_sse").SpanId)
	}
	return "", ""
}

// checkTelemetry expects a whole trace with exemplars that lead to it, or neither. The run is counted in any case.
func (e *tracedRun) checkTelemetry(t *testing.T, spans bool) {
	t.Helper()
	if ended := e.service.Count(t, "delegraph_runs_ended_total", "status", "completed"); ended != 1 {
		t.Errorf("%v runs completed", ended)
	}
	if len(e.traces) > 0 != spans || len(e.traces) > 1 {
		t.Fatalf("%d traces received", len(e.traces))
	}
	exemplars := e.service.Exemplars(t)
	if len(exemplars) > 0 != spans {
		t.Errorf("exemplars: %v", exemplars)
	}
	for id, spans := range e.traces {
		if !exemplars[id] {
			t.Errorf("no exemplar of %s: %v", id, exemplars)
		}
		spans.CheckShape(t, e.begun, time.Now())
	}
}

// checkHeaders expects our span in the headers to the agent and to the client if there is one. Otherwise the caller's headers
// pass unchanged.
func (e *tracedRun) checkHeaders(t *testing.T, spans, continued bool) {
	t.Helper()
	want, response := e.sent.Clone(), ""
	if spans {
		trace, span := e.server(t)
		below := hex.EncodeToString(e.traces[trace].One(t, "POST /run_sse").ParentSpanId)
		if trace == harness.CallerTrace != continued || below == harness.CallerSpan != continued {
			t.Errorf("the server's span is below %q in the trace %s", below, trace)
		}
		response = "00-" + trace + "-" + span + "-01"
		want.Set("Traceparent", response)
		if !continued {
			want.Del("Tracestate") // of another trace
		}
	}
	for _, name := range []string{"Traceparent", "Tracestate", "Baggage"} {
		if got := e.forwarded[name]; !slices.Equal(got, want[name]) {
			t.Errorf("the agent got %s %q, not %q", name, got, want[name])
		}
	}
	if got := e.answer.Header.Get("Traceresponse"); got != response {
		t.Errorf("the client got traceresponse %q, not %q", got, response)
	}
}

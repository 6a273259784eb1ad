package spans

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestExporterProtocol checks the protocol that arrives at a receiver.
func TestExporterProtocol(t *testing.T) {
	for protocol, want := range map[string]string{
		"http/protobuf": "application/x-protobuf", "http/json": "application/json", "HTTP/JSON": "application/json",
	} {
		t.Run(protocol, func(t *testing.T) {
			arrived := make(chan string, 1)
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				arrived <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + " " + r.Header.Get("X-Team")
			}))
			defer server.Close()
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=fire")
			e, err := NewExporter(t.Context(), os.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span("s")}); err != nil {
				t.Fatal(err)
			}
			if got, want := <-arrived, "POST /v1/traces "+want+" fire"; got != want {
				t.Errorf("got %s; want %s", got, want)
			}
			if err := e.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestExporterDoesNotRetry checks that only the processor retries.
func TestExporterDoesNotRetry(t *testing.T) {
	attempts := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		attempts++
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	e, err := NewExporter(t.Context(), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span("s")}); err == nil || attempts != 1 {
		t.Errorf("%d attempts, error %v", attempts, err)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

const noSampler = " is not supported: use always_on, always_off, traceidratio, or one of these with parentbased_ before it"

// TestSampler checks all values of OTEL_TRACES_SAMPLER and its argument.
func TestSampler(t *testing.T) {
	low, high := trace.TraceID{15: 1}, trace.TraceID{8: 0xff, 15: 1}
	for _, c := range []struct {
		name, argument string
		low, high      bool
		err            string
	}{
		{"", "", true, true, ""},
		{"always_on", "", true, true, ""},
		{"ALWAYS_ON", "", true, true, ""},
		{"always_off", "", false, false, ""},
		{"parentbased_always_on", "", true, true, ""},
		{"parentbased_always_off", "", false, false, ""},
		{"traceidratio", "", true, true, ""},
		{"traceidratio", "0.5", true, false, ""},
		{"traceidratio", " 0.5 ", true, false, ""},
		{"parentbased_traceidratio", "0.5", true, false, ""},
		{"parentbased_traceidratio", "0", false, false, ""},
		{"always_on", "nonsense", true, true, ""},
		{"traceidratio", "half", false, false, "OTEL_TRACES_SAMPLER_ARG=half is not a ratio: use a number from 0 to 1"},
		{"traceidratio", "NaN", false, false, "OTEL_TRACES_SAMPLER_ARG=NaN is not a ratio: use a number from 0 to 1"},
		{"traceidratio", "-0.1", false, false, "OTEL_TRACES_SAMPLER_ARG=-0.1 is not a ratio: use a number from 0 to 1"},
		{"parentbased_traceidratio", "1.1", false, false, "OTEL_TRACES_SAMPLER_ARG=1.1 is not a ratio: use a number from 0 to 1"},
		{"jaeger_remote", "", false, false, "OTEL_TRACES_SAMPLER=jaeger_remote" + noSampler},
		{"parentbased_", "", false, false, "OTEL_TRACES_SAMPLER=parentbased_" + noSampler},
		{"parentbased_parentbased_always_on", "", false, false, "OTEL_TRACES_SAMPLER=parentbased_parentbased_always_on" + noSampler},
	} {
		sampler, err := NewSampler(of("OTEL_TRACES_SAMPLER", c.name, "OTEL_TRACES_SAMPLER_ARG", c.argument))
		if c.err != "" || err != nil {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s %s: error %v; want %s", c.name, c.argument, err, c.err)
			}
			continue
		}
		decide := RunSampler(sampler, names)
		r := delegation()
		r.Parent = event.SpanContext{}
		for id, want := range map[trace.TraceID]bool{low: c.low, high: c.high} {
			if r.Trace = id; decide(r) != want {
				t.Errorf("%s %s decides %t on %s", c.name, c.argument, !want, id)
			}
		}
	}
}

// TestParentDecides checks that the sampler decides on a span without an identity and follows its parent, and that it is not
// asked about runs below such a span.
func TestParentDecides(t *testing.T) {
	sampler, err := NewSampler(of("OTEL_TRACES_SAMPLER", "parentbased_always_off"))
	if err != nil {
		t.Fatal(err)
	}
	tracer := NewProvider(sampler, tracetest.NewSpanRecorder(), resource.Empty()).Tracer("")
	_, alone := tracer.Start(t.Context(), "alone")
	if alone.SpanContext().IsSampled() {
		t.Error("a span without a parent is sampled")
	}
	caller := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, Remote: true})
	_, below := tracer.Start(trace.ContextWithRemoteSpanContext(t.Context(), caller), "below")
	if sc := below.SpanContext(); !sc.IsSampled() || sc.TraceID() != caller.TraceID() || sc.SpanID() == caller.SpanID() {
		t.Errorf("a span below a sampled one is %v", sc)
	}
	for _, decided := range []bool{true, false} {
		r, seen := delegation(), sdktrace.SamplingParameters{}
		r.Parent.Sampled = decided
		if got := RunSampler(recordingSampler{&seen}, names)(r); got != decided || seen.Name != "" {
			t.Errorf("decided %t, inherited %t; asked about %q", decided, got, seen.Name)
		}
	}
}

// TestSamplerSees checks the attributes that the sampler gets.
func TestSamplerSees(t *testing.T) {
	r := delegation()
	r.Parent = event.SpanContext{}
	var seen sdktrace.SamplingParameters
	RunSampler(recordingSampler{&seen}, names)(r)
	if seen.Name != "invoke_agent coordinator" || seen.Kind != trace.SpanKindInternal || seen.TraceID != r.Trace {
		t.Errorf("the sampler sees %s, %s, %s", seen.Name, seen.Kind, seen.TraceID)
	}
	a := attributes{names: &names}
	a.operation(r, r.Root)
	if !slices.Equal(seen.Attributes, a.list) {
		t.Errorf("the sampler sees %v", seen.Attributes)
	}
}

type recordingSampler struct{ parameters *sdktrace.SamplingParameters }

func (s recordingSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	*s.parameters = p
	return sdktrace.SamplingResult{}
}

func (recordingSampler) Description() string { return "" }

// TestIDs checks that ids without an identity are random and valid.
func TestIDs(t *testing.T) {
	tracer := NewProvider(sdktrace.AlwaysSample(), tracetest.NewSpanRecorder(), resource.Empty()).Tracer("")
	traces, spans := map[trace.TraceID]bool{}, map[trace.SpanID]bool{}
	for range 1000 {
		ctx, s := tracer.Start(t.Context(), "root")
		_, child := tracer.Start(ctx, "child")
		for _, sc := range []trace.SpanContext{s.SpanContext(), child.SpanContext()} {
			if !sc.IsValid() || spans[sc.SpanID()] {
				t.Fatalf("the span %v", sc)
			}
			spans[sc.SpanID()] = true
		}
		traces[s.SpanContext().TraceID()] = true
	}
	if len(traces) != 1000 {
		t.Errorf("got %d different traces, want 1000", len(traces))
	}
}

// TestSameSpans checks that a capture that is read again gives the same spans, each with a parent.
func TestSameSpans(t *testing.T) {
	read := func() []sdktrace.ReadOnlySpan {
		recorder := tracetest.NewSpanRecorder()
		follow := tracker.New(tracker.Settings{MaxOpenRuns: 1, MaxOperations: 100, MaxFacts: 100, IdleTimeout: 1}, nil,
			newObserver(NewProvider(sdktrace.AlwaysSample(), recorder, resource.Empty())))
		s := &event.Stream{Source: "capture.sse", Dialect: "adk", Nonce: "n"}
		follow.Open(s)
		call := &event.Batch{Stream: s, Run: "e-1", Agent: "coordinator", Time: start}
		*call.Add(event.KindModelEnded) = event.Event{Kind: event.KindModelEnded, Model: "m"}
		*call.Add(event.KindToolStarted) = event.Event{Kind: event.KindToolStarted, CallID: "1", Name: "transfer_to_agent"}
		answer := &event.Batch{Stream: s, Run: "e-1", Agent: "coordinator", Time: start}
		*answer.Add(event.KindToolEnded) = event.Event{Kind: event.KindToolEnded, CallID: "1", Name: "transfer_to_agent"}
		*answer.Add(event.KindTransfer) = event.Event{Kind: event.KindTransfer, CallID: "1", Name: "target"}
		final := &event.Batch{Stream: s, Run: "e-1", Agent: "target", Time: start}
		final.Add(event.KindFinal)
		for _, b := range []*event.Batch{call, answer, final} {
			follow.Consume(b)
		}
		follow.Close(s, event.EndOfStream, start)
		return recorder.Ended()
	}
	var once, again strings.Builder
	first := read()
	ids := map[trace.SpanID]bool{}
	for i, s := range read() {
		describe(&once, first[i])
		describe(&again, s)
		ids[s.SpanContext().SpanID()] = true
	}
	if diff := cmp.Diff(once.String(), again.String()); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
	if len(ids) != 4 {
		t.Errorf("got %d different span ids, want 4", len(ids))
	}
	roots := 0
	for _, s := range first {
		switch {
		case !s.Parent().SpanID().IsValid():
			roots++
		case !ids[s.Parent().SpanID()] || s.Parent().TraceID() != s.SpanContext().TraceID():
			t.Errorf("the span %s has the parent %v", s.Name(), s.Parent())
		}
		for _, l := range s.Links() {
			if !ids[l.SpanContext.SpanID()] {
				t.Errorf("%s has a link to %v", s.Name(), l.SpanContext)
			}
		}
	}
	if roots != 1 {
		t.Errorf("the trace has %d roots, want 1", roots)
	}
}

// TestPropagator checks all values of OTEL_PROPAGATORS.
func TestPropagator(t *testing.T) {
	for names, want := range map[string][]string{
		"": {"traceparent"}, "tracecontext,baggage": {"traceparent"}, "tracecontext": {"traceparent"}, " Baggage ": nil, "none": nil,
	} {
		p, err := NewPropagator(of("OTEL_PROPAGATORS", names))
		if err != nil {
			t.Errorf("%s: %v", names, err)
			continue
		}
		carried := propagation.MapCarrier{}
		sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
		ctx := propagation.Baggage{}.Extract(trace.ContextWithSpanContext(context.Background(), sc), propagation.MapCarrier{"baggage": "a=b"})
		p.Inject(ctx, carried)
		if got := slices.Collect(maps.Keys(carried)); !slices.Equal(got, want) {
			t.Errorf("%s: %v", names, carried)
		}
	}
	const want = "OTEL_PROPAGATORS=tracecontext,b3 is not supported: use none, or a comma-separated list of tracecontext and baggage"
	if _, err := NewPropagator(of("OTEL_PROPAGATORS", "tracecontext,b3")); err == nil || err.Error() != want {
		t.Errorf("error %v; want %s", err, want)
	}
}

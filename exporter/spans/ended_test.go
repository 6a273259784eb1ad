package spans

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestLikeTheSDK copies the spans of operations to spans of the SDK and checks that both are equal, also with limits of
// the environment.
func TestLikeTheSDK(t *testing.T) {
	for name, limits := range map[string]map[string]string{
		"defaults": nil,
		"limits": {
			"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "9", "OTEL_SPAN_EVENT_COUNT_LIMIT": "2", "OTEL_SPAN_LINK_COUNT_LIMIT": "1",
			"OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT": "1", "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT": "0", "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "host.name=h")
			r := delegation()
			r.Operations[1].Name = "äöüäöüäöü"
			r.Operations[2].Details = &tracker.Details{
				Thoughts:  []string{"planning", "ü"},
				Citations: []event.Citation{{Source: "a", URI: "b"}, {Source: "c", URI: "d"}, {}},
				Links:     []tracker.SpanID{id(8), id(9)},
			}
			unlimited := observe(t, r)
			for variable, value := range limits {
				t.Setenv(variable, value)
			}
			ours := tracetest.SpanStubsFromReadOnlySpans(observe(t, r))
			recorder := tracetest.NewSpanRecorder()
			tracer := NewTracer(NewProvider(sdktrace.AlwaysSample(), recorder, resource.Empty()), names, "1.2.3")
			for _, s := range unlimited {
				_, copied := tracer.Start(t.Context(), s.Name(), trace.WithTimestamp(s.StartTime()), trace.WithSpanKind(s.SpanKind()), trace.WithAttributes(s.Attributes()...))
				for _, l := range s.Links() {
					copied.AddLink(trace.Link{SpanContext: l.SpanContext, Attributes: l.Attributes})
				}
				for _, e := range s.Events() {
					copied.AddEvent(e.Name, trace.WithTimestamp(e.Time), trace.WithAttributes(e.Attributes...))
				}
				copied.SetStatus(s.Status().Code, s.Status().Description)
				copied.End(trace.WithTimestamp(s.EndTime()))
			}
			theirs := tracetest.SpanStubsFromReadOnlySpans(recorder.Ended())
			for i := range ours {
				theirs[i].SpanContext, theirs[i].Parent = ours[i].SpanContext, ours[i].Parent
			}
			comparers := cmp.Options{
				cmpopts.EquateEmpty(),
				cmp.Comparer(func(a, b attribute.Value) bool { return a == b }),
				cmp.Comparer(func(a, b instrumentation.Scope) bool { return a == b }),
				cmp.Comparer(func(a, b *resource.Resource) bool { return a.Equal(b) }),
				cmp.Comparer(func(a, b trace.SpanContext) bool { return a.Equal(b) }),
			}
			if diff := cmp.Diff(theirs, ours, comparers); diff != "" {
				t.Errorf("spans (-SDK +ours):\n%s", diff)
			}
		})
	}
}

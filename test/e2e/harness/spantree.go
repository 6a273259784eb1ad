package harness

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// SpanTree holds the spans of one trace.
type SpanTree []*tracepb.Span

// One returns the only span with a name.
func (tr SpanTree) One(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	return tr.Only(t, name, func(s *tracepb.Span) bool { return s.Name == name })
}

// Run returns the span of the only run.
func (tr SpanTree) Run(t *testing.T) *tracepb.Span {
	t.Helper()
	return tr.Only(t, "the run", func(s *tracepb.Span) bool { return Attribute(s, "delegraph.run.status") != "" })
}

// Only returns the only span for which a function is true. what describes the span in test failures.
func (tr SpanTree) Only(t *testing.T, what string, is func(*tracepb.Span) bool) (found *tracepb.Span) {
	t.Helper()
	for _, s := range tr {
		switch {
		case !is(s):
		case found != nil:
			t.Fatalf("the trace has %s twice", what)
		default:
			found = s
		}
	}
	if found == nil {
		t.Fatalf("none of %d spans is %s", len(tr), what)
	}
	return found
}

// CheckShape checks that each span lies within its parent and between two times.
func (tr SpanTree) CheckShape(t *testing.T, after, before time.Time) {
	t.Helper()
	byID := map[string]*tracepb.Span{}
	for _, s := range tr {
		byID[string(s.SpanId)] = s
	}
	for _, s := range tr {
		if s.StartTimeUnixNano > s.EndTimeUnixNano || int64(s.StartTimeUnixNano) < after.UnixNano() || int64(s.EndTimeUnixNano) > before.UnixNano() {
			t.Errorf("%s lasts from %s to %s", s.Name, Clock(s.StartTimeUnixNano), Clock(s.EndTimeUnixNano))
		}
		parent := byID[string(s.ParentSpanId)]
		switch {
		case s.Kind == tracepb.Span_SPAN_KIND_SERVER: // the parent of a server span belongs to the client
		case parent == nil:
			t.Errorf("%s has the parent %x, which does not exist", s.Name, s.ParentSpanId)
		case s.StartTimeUnixNano < parent.StartTimeUnixNano || s.EndTimeUnixNano > parent.EndTimeUnixNano:
			t.Errorf("%s lasts from %s to %s, its parent %s from %s to %s", s.Name, Clock(s.StartTimeUnixNano), Clock(s.EndTimeUnixNano),
				parent.Name, Clock(parent.StartTimeUnixNano), Clock(parent.EndTimeUnixNano))
		}
	}
}

// ClockLayout is the layout of Clock.
const ClockLayout = "2006-01-02 15:04:05.000000"

// Clock formats a time in nanoseconds since the epoch.
func Clock(nano uint64) string { return time.Unix(0, int64(nano)).Format(ClockLayout) }

// Attribute returns a text or integer attribute of a span, or "".
func Attribute(s *tracepb.Span, key string) string { return Attributes(s.Attributes)[key] }

// Attributes returns the text and integer attributes by key.
func Attributes(attributes []*commonpb.KeyValue) map[string]string {
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

// Interval is a name with a start and an end.
type Interval struct {
	Name         string
	Began, Ended time.Time
}

// IntervalOf returns the interval of a span.
func IntervalOf(s *tracepb.Span) Interval {
	return Interval{s.Name, time.Unix(0, int64(s.StartTimeUnixNano)), time.Unix(0, int64(s.EndTimeUnixNano))}
}

// ModelCalls returns the intervals of model calls, by start.
func (tr SpanTree) ModelCalls() (calls []Interval) {
	for _, s := range tr {
		operation, _, _ := strings.Cut(s.Name, " ")
		if operation == "chat" || operation == "generate_content" || operation == "call_llm" {
			calls = append(calls, IntervalOf(s))
		}
	}
	slices.SortFunc(calls, func(a, b Interval) int { return a.Began.Compare(b.Began) })
	return calls
}

// CallerTrace and CallerSpan are the IDs of a trace and span of a client.
const (
	CallerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	CallerSpan  = "00f067aa0ba902b7"
)

// SampledCaller and UnsampledCaller are traceparent headers of that client.
const (
	SampledCaller   = "00-" + CallerTrace + "-" + CallerSpan + "-01"
	UnsampledCaller = "00-" + CallerTrace + "-" + CallerSpan + "-00"
)

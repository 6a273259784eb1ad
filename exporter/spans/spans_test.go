package spans

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// names is the table of names unless a test uses another one.
var names = conventions.Released()

func newObserver(provider *Provider) *Observer {
	return NewObserver(provider, names, "1.2.3")
}

// observe returns the spans of a run. The provider's own sampler samples nothing.
func observe(t *testing.T, r *tracker.Run) []sdktrace.ReadOnlySpan {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	o := newObserver(NewProvider(sdktrace.NeverSample(), recorder, resource.Empty()))
	o.RunStarted(r)
	for _, op := range r.Operations {
		o.OperationEnded(r, op)
	}
	o.RunEnded(r)
	return recorder.Ended()
}

// start is the time when the run of the tests begins. at returns a time some seconds later.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(frame int) tracker.Timestamp {
	return tracker.Timestamp{At: start.Add(time.Duration(frame) * time.Second), Frame: frame}
}

func id(n byte) tracker.SpanID { return tracker.SpanID{7: n} }

func counted(n int64) event.Count { return event.Count{N: n, Known: true} }

// delegation returns a run with every kind of fact. The coordinator answers, calls an agent as a tool, and transfers
// control to another agent, whose tool fails.
func delegation() *tracker.Run {
	root := &tracker.Operation{
		ID: id(1), Kind: tracker.InvokeAgent, Name: "coordinator", Agent: "coordinator", Status: tracker.OperationOK,
		Started: at(0), Ended: at(9), Timing: tracker.TimingObserved,
	}
	chat := &tracker.Operation{
		ID: id(2), Parent: id(1), Kind: tracker.Chat, Name: "gemini-2.5-flash", Agent: "coordinator", Status: tracker.OperationOK,
		Started: at(0), Ended: at(1), Timing: tracker.TimingObserved,
		Response: &tracker.Response{
			FinishReason: "STOP",
			Usage:        event.Usage{Input: counted(100), Output: counted(20), CacheRead: counted(0), Reasoning: counted(5)},
		},
	}
	specialist := &tracker.Operation{
		ID: id(3), Parent: id(1), Kind: tracker.ExecuteTool, Name: "burn_analyst", Agent: "coordinator", Status: tracker.OperationOK,
		Started: at(1), Ended: at(3), Timing: tracker.TimingObserved, CallID: "call-1", AgentTool: true, ResponseInferred: true,
		Details: &tracker.Details{
			Confidence: []tracker.Confidence{
				{Agent: "burn_analyst", Confidence: event.Confidence{Value: 0.92, Known: true, Origin: event.OriginStructured, Overall: true}},
				{Agent: "burn_analyst", Confidence: event.Confidence{Label: "high", Low: event.Ratio{Value: 0.85, Known: true}, High: event.Ratio{Value: 0.9, Known: true}, Topic: "Fire Severity", Scope: "timber", Origin: event.OriginText}},
			},
			Citations: []event.Citation{
				{Source: "MTBS, Imagery date: 2022-09-15", Reference: "2022-09-15", Origin: event.OriginStructured},
				{Source: "36 CFR 220.6", URI: "https://www.ecfr.gov/", Origin: event.OriginStructured},
			},
			ReasoningSteps: counted(3),
		},
	}
	transfer := &tracker.Operation{
		ID: id(4), Parent: id(1), Kind: tracker.ExecuteTool, Name: "transfer_to_agent", Agent: "coordinator", Status: tracker.OperationOK,
		Started: at(3), Ended: at(4), Timing: tracker.TimingObserved, CallID: "call-2",
		Details: &tracker.Details{HandoffSource: "coordinator", HandoffTarget: "nepa_advisor"},
	}
	target := &tracker.Operation{
		ID: id(5), Parent: id(1), Kind: tracker.InvokeAgent, Name: "nepa_advisor", Agent: "nepa_advisor", Status: tracker.OperationInterrupted,
		Started: at(4), Ended: at(9), Timing: tracker.TimingObserved,
		Details: &tracker.Details{
			Links: []tracker.SpanID{id(4)},
			State: event.State{Keys: []string{"query", "plan"}, Bytes: counted(120)},
		},
	}
	failed := &tracker.Operation{
		ID: id(6), Parent: id(5), Kind: tracker.ExecuteTool, Name: "search", Agent: "nepa_advisor", Status: tracker.OperationError, Failure: event.ToolError, ErrorCode: "NOT_FOUND",
		Started: at(5), Ended: at(6), Timing: tracker.TimingObserved, CallID: "call-3",
	}
	unfinished := &tracker.Operation{
		ID: id(7), Parent: id(5), Kind: tracker.Chat, Agent: "nepa_advisor", Status: tracker.OperationUnfinished, Failure: event.FailureCanceled,
		Started: at(6), Ended: at(9), Timing: tracker.TimingObserved,
	}
	operations := []*tracker.Operation{root, chat, specialist, transfer, target, failed, unfinished}
	return &tracker.Run{
		ID: "e-1", Source: "fire-briefing", Dialect: "adk", Session: "ctx-1", App: "coordinator", Agent: "coordinator",
		Trace: [16]byte{15: 0xAA}, Sampled: true, Live: true, Parent: event.SpanContext{Trace: [16]byte{15: 0xAA}, Span: [8]byte{7: 0xBB}, Sampled: true},
		Status: tracker.Canceled, Reason: tracker.ReasonClientLeft, Root: root,
		Usage:       event.Usage{Input: counted(100), Output: counted(20)},
		ClockOffset: -20 * time.Millisecond, ClockOffsetKnown: true,
		ReportedDuration: event.Duration{D: 8500 * time.Millisecond, Known: true}, ReportedToolCalls: counted(2),
		Plan: event.Plan{Pending: 1, InProgress: 2, Completed: 3, Canceled: 4},
		Inputs: []*tracker.InputRequest{
			{ID: "q-1", Kind: event.InputConfirmation, Routing: event.RoutedToUser, Status: tracker.InputAnswered, Requested: at(2), Answered: at(5)},
			{Kind: event.InputData, Status: tracker.InputOpen},
		},
		Links:      []tracker.Link{{Kind: "resumes", Run: "e-0", Trace: [16]byte{15: 0xCC}, Root: id(8), Sampled: true}},
		Operations: operations,
	}
}

// TestRun compares every span of a run with a golden file.
func TestRun(t *testing.T) {
	var got strings.Builder
	for _, span := range observe(t, delegation()) {
		describe(&got, span)
	}
	golden := filepath.Join("testdata", "run.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("spans differ (-want +got; -update rewrites):\n%s", diff)
	}
}

// TestScope checks the instrumentation scope of the spans.
func TestScope(t *testing.T) {
	for _, table := range []conventions.Table{conventions.Released(), conventions.Latest()} {
		recorder := tracetest.NewSpanRecorder()
		NewObserver(NewProvider(sdktrace.NeverSample(), recorder, resource.Empty()), table, "1.2.3").OperationEnded(delegation(), delegation().Root)
		scope := recorder.Ended()[0].InstrumentationScope()
		if scope.Name != "github.com/delegraph/delegraph" || scope.Version != "1.2.3" || scope.SchemaURL != table.SchemaURL {
			t.Errorf("the scope is %+v", scope)
		}
	}
}

// TestLatest checks which attributes differ with the latest conventions.
func TestLatest(t *testing.T) {
	r, table := delegation(), conventions.Latest()
	r.Usage.CacheRead = counted(50)
	recorder := tracetest.NewSpanRecorder()
	o := NewObserver(NewProvider(sdktrace.NeverSample(), recorder, resource.Empty()), table, "")
	for _, op := range r.Operations {
		o.OperationEnded(r, op)
	}
	var differ []string
	for i, span := range observe(t, r) {
		latest := recorder.Ended()[i].Attributes()
		for _, a := range span.Attributes() {
			if !slices.Contains(latest, a) {
				differ = append(differ, span.Name()+" has "+string(a.Key)+" no more")
			}
		}
		if len(latest) > len(span.Attributes()) {
			t.Errorf("the span %s has the attributes %v", span.Name(), latest)
		}
	}
	if diff := cmp.Diff([]string{"invoke_agent coordinator has gen_ai.usage.cache_read.input_tokens no more"}, differ); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func describe(w *strings.Builder, s sdktrace.ReadOnlySpan) {
	context, parent := s.SpanContext(), s.Parent()
	fmt.Fprintf(w, "%s (%s)\n  id %s/%s, flags %s", s.Name(), s.SpanKind(), context.TraceID(), context.SpanID(), context.TraceFlags())
	if parent.SpanID().IsValid() {
		fmt.Fprintf(w, ", below %s/%s, remote %t", parent.TraceID(), parent.SpanID(), parent.IsRemote())
	}
	fmt.Fprintf(w, "\n  %s to %s\n", s.StartTime().Format(time.RFC3339Nano), s.EndTime().Format(time.RFC3339Nano))
	fmt.Fprintf(w, "  status %s %q\n", s.Status().Code, s.Status().Description)
	describeAttributes(w, s.Attributes())
	for _, e := range s.Events() {
		fmt.Fprintf(w, "  event %s at %s\n", e.Name, e.Time.Format(time.RFC3339Nano))
		describeAttributes(w, e.Attributes)
	}
	for _, l := range s.Links() {
		fmt.Fprintf(w, "  link to %s/%s, flags %s, remote %t\n", l.SpanContext.TraceID(), l.SpanContext.SpanID(), l.SpanContext.TraceFlags(), l.SpanContext.IsRemote())
		describeAttributes(w, l.Attributes)
	}
}

func describeAttributes(w *strings.Builder, attributes []attribute.KeyValue) {
	for _, a := range attributes {
		fmt.Fprintf(w, "    %s = %q (%s)\n", a.Key, a.Value.String(), a.Value.Type())
	}
}

// TestFinishReasons checks the finish reasons of responses that ended, failed or were cut off.
func TestFinishReasons(t *testing.T) {
	for _, c := range []struct {
		status tracker.OperationStatus
		said   *tracker.Response
		want   []string
	}{
		{tracker.OperationOK, &tracker.Response{FinishReason: "STOP"}, []string{"STOP"}},
		{tracker.OperationOK, &tracker.Response{}, nil}, // the protocol has no finish reasons
		{tracker.OperationError, &tracker.Response{FinishReason: "SAFETY"}, []string{"SAFETY"}},
		{tracker.OperationError, &tracker.Response{}, []string{"error"}},
		{tracker.OperationError, nil, []string{"error"}},
		{tracker.OperationUnfinished, nil, []string{"error"}},
	} {
		r := delegation()
		r.Operations[1].Status, r.Operations[1].Response = c.status, c.said
		r.Operations[1].Details = &tracker.Details{Content: &tracker.Content{Output: []tracker.MessagePart{{Kind: event.KindText}}}}
		span := observe(t, r)[1]
		var got []string
		for _, a := range span.Attributes() {
			if a.Key == names.FinishReasons {
				got = a.Value.AsStringSlice()
			}
		}
		message := `"finish_reason":"unknown"}]` // the conventions' JSON schema requires a reason
		if c.want != nil {
			message = fmt.Sprintf(`"finish_reason":%q}]`, c.want[0])
		}
		said := contentOf(t, span)[names.OutputMessages]
		if !slices.Equal(got, c.want) || !strings.HasSuffix(said, message) {
			t.Errorf("%s, %+v: %q, and %s; want %q", c.status, c.said, got, said, c.want)
		}
	}
}

// TestWorkflow checks the span of an application above its agents.
func TestWorkflow(t *testing.T) {
	r := delegation()
	r.Root = &tracker.Operation{ID: id(9), Kind: tracker.InvokeWorkflow, Name: "helpdesk", Status: tracker.OperationOK, Started: at(0), Ended: at(9)}
	r.Operations = append([]*tracker.Operation{r.Root}, r.Operations...)
	spans := observe(t, r)
	workflow, agent := attribute.NewSet(spans[0].Attributes()...), attribute.NewSet(spans[1].Attributes()...)
	if spans[0].Name() != "invoke_workflow helpdesk" || spans[0].SpanKind() != trace.SpanKindInternal {
		t.Errorf("the span is %s of kind %s", spans[0].Name(), spans[0].SpanKind())
	}
	for key, want := range map[attribute.Key][2]string{
		names.OperationName: {"invoke_workflow", "invoke_agent"}, names.WorkflowName: {"helpdesk", ""}, names.AgentName: {"", "coordinator"},
		runStatus: {"canceled", ""}, names.SessionID: {"ctx-1", "ctx-1"}, names.ConversationID: {"ctx-1", "ctx-1"},
	} {
		of, _ := workflow.Value(key)
		below, _ := agent.Value(key)
		if got := [2]string{of.AsString(), below.AsString()}; got != want {
			t.Errorf("%s is %q, not %q", key, got, want)
		}
	}
}

// TestRoot checks the parent and the name of the root span.
func TestRoot(t *testing.T) {
	r := delegation()
	root := observe(t, r)[0]
	if parent := root.Parent(); parent.SpanID() != r.Parent.Span || parent.TraceID() != r.Trace || root.SpanContext().TraceID() != r.Trace {
		t.Errorf("with a parent: below %v, in trace %s", parent, root.SpanContext().TraceID())
	}
	r = delegation()
	r.Parent = event.SpanContext{}
	root = observe(t, r)[0]
	if root.Parent().IsValid() || root.SpanContext().TraceID() != r.Trace {
		t.Errorf("without a parent: below %v, in trace %s", root.Parent(), root.SpanContext().TraceID())
	}
	r = delegation()
	r.Root.Name, r.Root.Agent = "", ""
	if root = observe(t, r)[0]; root.Name() != "invoke_agent" {
		t.Errorf("a run without an agent is named %q", root.Name())
	}
}

// TestUnsampled checks that an unsampled run creates no span, not even a non-recording one.
func TestUnsampled(t *testing.T) {
	r := delegation()
	r.Sampled = false
	recorder := tracetest.NewSpanRecorder()
	o := newObserver(NewProvider(sdktrace.AlwaysSample(), recorder, resource.Empty()))
	for _, op := range r.Operations {
		o.OperationEnded(r, op)
	}
	if n := len(recorder.Started()); n != 0 {
		t.Errorf("%d spans were created, want none", n)
	}
}

// TestTimes checks the times of spans for all combinations of known times.
func TestTimes(t *testing.T) {
	unknown := func(frame int) tracker.Timestamp { return tracker.Timestamp{Frame: frame} }
	millisecond := func(n int) time.Time { return time.Date(2000, 1, 1, 0, 0, 0, n*1e6, time.UTC) }
	for name, c := range map[string]struct {
		root           tracker.Timestamp
		started, ended tracker.Timestamp
		live           bool
		from, to       time.Time
	}{
		"both known":                       {at(0), at(1), at(2), true, at(1).At, at(2).At},
		"both known, of a file":            {at(0), at(1), at(2), false, at(1).At, at(2).At},
		"the end before the start":         {at(0), at(2), at(1), true, at(1).At, at(1).At},
		"a file without times":             {unknown(1), unknown(3), unknown(5), false, millisecond(3), millisecond(5)},
		"a file without times, turned":     {unknown(1), unknown(5), unknown(3), false, millisecond(3), millisecond(3)},
		"an answer whose call nobody saw":  {at(0), unknown(4), at(4), true, at(4).At, at(4).At},
		"the same in a file":               {at(0), unknown(4), at(4), false, at(4).At, at(4).At},
		"a call whose answer has no time":  {at(0), at(3), unknown(4), false, at(3).At, at(3).At},
		"no time in a file that has times": {at(0), unknown(3), unknown(4), false, at(0).At, at(0).At},
		"no time in a live run":            {at(0), unknown(3), unknown(4), true, at(0).At, at(0).At},
	} {
		t.Run(name, func(t *testing.T) {
			op := &tracker.Operation{ID: id(2), Parent: id(1), Kind: tracker.ExecuteTool, Started: c.started, Ended: c.ended, Timing: tracker.TimingUnknown}
			root := &tracker.Operation{ID: id(1), Kind: tracker.InvokeAgent, Started: c.root, Ended: c.root}
			span := observe(t, &tracker.Run{Trace: [16]byte{1}, Sampled: true, Live: c.live, Root: root, Operations: []*tracker.Operation{op}})[0]
			if !span.StartTime().Equal(c.from) || !span.EndTime().Equal(c.to.Add(time.Nanosecond)) {
				t.Errorf("from %s to %s; want from %s to %s", span.StartTime().UTC(), span.EndTime().UTC(), c.from, c.to)
			}
		})
	}
}

// TestLiveIsNow checks that the times of a live span never come from base.
func TestLiveIsNow(t *testing.T) {
	root := &tracker.Operation{ID: id(1), Kind: tracker.InvokeAgent, Timing: tracker.TimingUnknown}
	before := time.Now()
	span := observe(t, &tracker.Run{Trace: [16]byte{1}, Sampled: true, Live: true, Root: root, Operations: []*tracker.Operation{root}})[0]
	if span.StartTime().Before(before) || span.EndTime().Before(span.StartTime()) {
		t.Errorf("from %s to %s, which is before %s", span.StartTime(), span.EndTime(), before)
	}
}

// TestEventsAreBounded checks that statements beyond the limit on events are counted, and that
// confidences are kept.
func TestEventsAreBounded(t *testing.T) {
	r := delegation()
	op := &tracker.Details{DroppedStatements: 7}
	r.Operations[2].Details = op
	for range 100 {
		op.Confidence = append(op.Confidence, tracker.Confidence{Confidence: event.Confidence{Value: 1, Known: true}})
		op.Citations = append(op.Citations, event.Citation{Source: "s"})
	}
	span := observe(t, r)[2]
	kinds := map[string]int{}
	for _, e := range span.Events() {
		kinds[e.Name]++
	}
	if diff := cmp.Diff(map[string]int{names.EvaluationEvent: 100, citationEvent: 28}, kinds); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if n := span.DroppedEvents(); n != 72 {
		t.Errorf("%d events are counted as dropped", n)
	}
	if !slices.Contains(span.Attributes(), statementsDropped.Int(7)) {
		t.Errorf("no %s=7 in %v", statementsDropped, span.Attributes())
	}
}

// TestLinksAreBounded checks the limit on links.
func TestLinksAreBounded(t *testing.T) {
	r := delegation()
	for n := range 199 {
		into := r.Operations[4].Details
		into.Links = append(into.Links, id(byte(n+1)))
	}
	if span := observe(t, r)[4]; len(span.Links()) != 128 || span.DroppedLinks() != 72 {
		t.Errorf("%d links, and %d counted as dropped", len(span.Links()), span.DroppedLinks())
	}
}

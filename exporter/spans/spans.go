// Package spans turns the tracker's operations into OpenTelemetry spans and exports them without
// ever delaying a stream.
package spans

import (
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// scope is the name of the instrumentation scope of all spans.
const scope = "github.com/delegraph/delegraph"

// NewTracer returns the tracer for all of Delegraph's spans except those of operations. Its scope has
// Delegraph's version and the schema URL of the conventions.
func NewTracer(provider trace.TracerProvider, names conventions.Table, version string) trace.Tracer {
	return provider.Tracer(scope, trace.WithInstrumentationVersion(version), trace.WithSchemaURL(names.SchemaURL))
}

// Observer creates a span for each operation when it ends. It implements tracker.Observer.
type Observer struct {
	provider *Provider
	scope    instrumentation.Scope
	names    conventions.Table

	mu      sync.Mutex
	scratch []attribute.KeyValue // reused for the attributes of each span
}

// NewObserver returns an observer that passes spans to the provider's processor.
func NewObserver(provider *Provider, names conventions.Table, version string) *Observer {
	return &Observer{
		provider: provider, names: names,
		scope: instrumentation.Scope{Name: scope, Version: version, SchemaURL: names.SchemaURL},
	}
}

// RunStarted does nothing: a span is created when its operation ends.
func (o *Observer) RunStarted(*tracker.Run) {}

// RunEnded does nothing: OperationEnded was called for the root operation.
func (o *Observer) RunEnded(*tracker.Run) {}

// OperationEnded creates the operation's span if its run is sampled.
func (o *Observer) OperationEnded(r *tracker.Run, op *tracker.Operation) {
	if !r.Sampled {
		return
	}
	started, ended := times(r, op)
	s := &endedSpan{
		observer: o, name: name(op), kind: kind(op), started: started, ended: ended, parent: parent(r, op),
		context:    trace.NewSpanContext(trace.SpanContextConfig{TraceID: r.Trace, SpanID: trace.SpanID(op.ID), TraceFlags: trace.FlagsSampled}),
		attributes: o.attributes(r, op),
	}
	s.addLinks(r, op)
	details := detailsOf(op)
	// If there are too many events, those that were added first are dropped: citations, then requests for input, then confidences.
	for _, c := range details.Citations {
		s.addEvent(citationEvent, ended, citation(c))
	}
	if op == r.Root {
		s.addInputs(r)
	}
	for _, c := range details.Confidence {
		s.addEvent(o.names.EvaluationEvent, ended, o.evaluation(c))
	}
	if op.Status == tracker.OperationError {
		s.status = sdktrace.Status{Code: codes.Error, Description: op.ErrorType()}
	}
	s.limit(&o.provider.limits)
	o.provider.processor.OnEnd(s)
}

// attributes returns the attributes of an operation's span. It collects them in scratch and returns a
// copy.
func (o *Observer) attributes(r *tracker.Run, op *tracker.Operation) []attribute.KeyValue {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := attributes{&o.names, o.scratch[:0]}
	a.operation(r, op)
	o.scratch = a.list
	defer clear(o.scratch) // so that no content is kept
	return slices.Clone(o.scratch)
}

// addInputs adds an event for each request for input, at the time of the request.
func (s *endedSpan) addInputs(r *tracker.Run) {
	for _, in := range r.Inputs {
		at := steady(r, in.Requested.At)
		if at.IsZero() {
			at = s.ended
		}
		a := attributes{list: []attribute.KeyValue{inputKind.String(string(in.Kind)), inputStatus.String(string(in.Status))}}
		a.text(inputID, in.ID)
		a.text(inputRouting, string(in.Routing))
		if wait, ok := in.Wait(); ok {
			a.add(inputWait.Float64(wait.Seconds()))
		}
		a.question(in.Question)
		s.addEvent(inputEvent, at, a.list)
	}
}

// base stands for the start of a capture without times. Each frame is one millisecond after the one
// before. Spans with such times have delegraph.timing=unknown.
var base = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// times returns the times of an operation's span. The span ends one nanosecond after the operation,
// because Jaeger warns about a span of zero duration and then moves its end by a nanosecond.
func times(r *tracker.Run, op *tracker.Operation) (started, ended time.Time) {
	if started, ended = operationTimes(r, op); ended.IsZero() {
		now := time.Now()
		return now, now
	}
	return steady(r, started), steady(r, ended).Add(time.Nanosecond)
}

// steady converts a time to the wall clock as it was at the start of the run. It uses the monotonic
// time since then: if the wall clock was set meanwhile, spans would otherwise end before they begin
// or last for hours.
func steady(r *tracker.Run, t time.Time) time.Time {
	first := r.Root.Started.At
	if first.IsZero() || t.IsZero() {
		return t
	}
	return first.Add(t.Sub(first))
}

// operationTimes returns when an operation began and ended. If no time is known, a replayed operation gets times that are
// counted from base. A live one gets none; its span then gets the current time.
func operationTimes(r *tracker.Run, op *tracker.Operation) (started, ended time.Time) {
	started, ended, known := r.Interval(op)
	if known || r.Live {
		return started, ended
	}
	started, ended = frameTime(op.Started), frameTime(op.Ended)
	if ended.Before(started) {
		started = ended
	}
	return started, ended
}

// frameTime returns the time that stands for a frame without a time.
func frameTime(t tracker.Timestamp) time.Time {
	return base.Add(time.Duration(t.Frame) * time.Millisecond)
}

// parent returns the parent of an operation's span, or an invalid span context if there is none.
func parent(r *tracker.Run, op *tracker.Operation) trace.SpanContext {
	config := trace.SpanContextConfig{TraceID: r.Trace, SpanID: trace.SpanID(op.Parent), TraceFlags: trace.FlagsSampled}
	if op == r.Root {
		if !r.Parent.IsValid() {
			return trace.SpanContext{}
		}
		config.SpanID = r.Parent.Span
	}
	return trace.NewSpanContext(config)
}

func name(op *tracker.Operation) string {
	if op.Name == "" {
		return string(op.Kind)
	}
	return string(op.Kind) + " " + bounded(op.Name)
}

func kind(op *tracker.Operation) trace.SpanKind {
	if op.Kind == tracker.Chat {
		return trace.SpanKindClient
	}
	return trace.SpanKindInternal
}

func (s *endedSpan) addLinks(r *tracker.Run, op *tracker.Operation) {
	for _, id := range detailsOf(op).Links {
		s.addLink(linkTransfer, trace.SpanContextConfig{TraceID: r.Trace, SpanID: trace.SpanID(id), TraceFlags: trace.FlagsSampled})
	}
	if op == r.Root {
		for _, l := range r.Links {
			s.addLink(l.Kind, trace.SpanContextConfig{
				TraceID: l.Trace, SpanID: trace.SpanID(l.Root), TraceFlags: trace.TraceFlags(0).WithSampled(l.Sampled), Remote: true,
			})
		}
	}
}

// noDetails are the details of an operation that has none.
var noDetails tracker.Details

// detailsOf returns an operation's details for reading.
func detailsOf(op *tracker.Operation) *tracker.Details {
	if op.Details == nil {
		return &noDetails
	}
	return op.Details
}

// operation adds the attributes of an operation's span.
func (a *attributes) operation(r *tracker.Run, op *tracker.Operation) {
	details := detailsOf(op)
	a.text(a.names.OperationName, string(op.Kind))
	if op.Kind == tracker.InvokeWorkflow {
		a.text(a.names.WorkflowName, op.Name)
	} else {
		a.text(a.names.AgentName, op.Agent)
	}
	a.text(a.names.ConversationID, r.Session)
	a.text(a.names.SessionID, r.Session) // some backends group by it
	a.text(runID, r.ID)
	a.text(dialectName, r.Dialect)
	a.text(sourceName, r.Source)
	a.text(timing, op.Timing.String())
	if took := op.Details.OrZero().ReportedDuration; took.Known {
		a.add(reportedDuration.Float64(took.D.Seconds()))
	}
	a.text(a.names.ErrorType, op.ErrorType())
	a.text(failureClass, string(op.Failure))
	switch op.Kind {
	case tracker.ExecuteTool:
		a.tool(op, details)
	case tracker.Chat:
		a.chat(op, details)
	}
	if op == r.Root {
		a.run(r)
	}
	a.texts(stateKeys, details.State.Keys)
	a.count(stateBytes, details.State.Bytes)
	a.count(loopIteration, details.Loop.Iteration)
	a.count(loopMessages, details.Loop.Messages)
	a.count(loopTools, details.Loop.Tools)
	a.count(reportedIterations, details.ReportedIterations)
	a.texts(thoughtTypes, details.Thoughts)
	a.count(reasoningSteps, details.ReasoningSteps)
	a.content(op)
	if details.DroppedStatements > 0 {
		a.add(statementsDropped.Int(details.DroppedStatements))
	}
}

// tool adds the attributes of a tool call's span.
func (a *attributes) tool(op *tracker.Operation, details *tracker.Details) {
	a.text(a.names.ToolName, op.Name)
	a.text(a.names.ToolCallID, op.CallID)
	a.text(a.names.HandoffSource, details.HandoffSource)
	a.text(a.names.HandoffTarget, details.HandoffTarget)
	if op.AgentTool {
		a.add(toolIsAgent.Bool(true))
	}
	if op.ResponseInferred {
		a.add(toolInferred.Bool(true))
	}
	if details.Progress.Known {
		a.add(toolProgress.Float64(details.Progress.Value))
	}
}

// chat adds the attributes of a model response's span.
func (a *attributes) chat(op *tracker.Operation, details *tracker.Details) {
	a.text(a.names.RequestModel, details.RequestModel)
	a.text(a.names.ResponseModel, op.Name)
	if reason := finishReason(op); reason != "" {
		a.add(a.names.FinishReasons.StringSlice([]string{reason}))
	}
	a.usage(op.Response.OrZero().Usage, a.names.CacheReadTokens)
}

// finishReason returns why a model stopped, as the stream states it. For a response that failed or
// was cut off before it stated a reason, it returns the conventions' "error".
func finishReason(op *tracker.Operation) string {
	reason := bounded(op.Response.OrZero().FinishReason)
	if reason == "" && (op.Status == tracker.OperationError || op.Status == tracker.OperationUnfinished) {
		return "error"
	}
	return reason
}

// run adds the attributes of the root span.
func (a *attributes) run(r *tracker.Run) {
	a.text(runStatus, string(r.Status))
	a.text(runReason, string(r.Reason))
	a.usage(r.Usage, a.names.RunCacheReadTokens)
	if r.ClockOffsetKnown {
		a.add(clockOffset.Float64(r.ClockOffset.Seconds()))
	}
	if r.ReportedDuration.Known {
		a.add(runReportedDuration.Float64(r.ReportedDuration.D.Seconds()))
	}
	a.count(runReportedToolCalls, r.ReportedToolCalls)
	if p := r.Plan; p != (event.Plan{}) {
		a.add(planPending.Int(p.Pending))
		a.add(planInProgress.Int(p.InProgress))
		a.add(planCompleted.Int(p.Completed))
		a.add(planCanceled.Int(p.Canceled))
	}
}

// evaluation returns the attributes of a confidence's event.
func (o *Observer) evaluation(c tracker.Confidence) []attribute.KeyValue {
	a := attributes{list: []attribute.KeyValue{o.names.EvaluationName.String(proofConfidence)}}
	if c.Known {
		a.add(o.names.EvaluationScore.Float64(c.Value))
	}
	if c.Low.Known {
		a.add(confidenceLow.Float64(c.Low.Value))
	}
	if c.High.Known {
		a.add(confidenceHigh.Float64(c.High.Value))
	}
	a.text(o.names.EvaluationLabel, c.Label)
	a.text(o.names.EvaluationExplanation, explanation(c.Confidence))
	return a.list
}

// explanation describes the origin and the subject of a confidence.
func explanation(c event.Confidence) string {
	out := string(c.Origin)
	if c.Overall {
		out += ", overall"
	}
	for _, of := range []string{c.Topic, c.Scope} {
		if of != "" {
			out += ", of " + of
		}
	}
	return out
}

func citation(c event.Citation) []attribute.KeyValue {
	var a attributes
	a.text(citationSource, c.Source)
	a.text(citationReference, c.Reference)
	a.text(citationURI, c.URI)
	return a.list
}

// attributes collects a span's attributes. It leaves out unknown values and values for which the
// conventions have no name.
type attributes struct {
	names *conventions.Table
	list  []attribute.KeyValue
}

func (a *attributes) add(kv attribute.KeyValue) { a.list = append(a.list, kv) }

func (a *attributes) text(key attribute.Key, value string) {
	if key != "" && value != "" {
		a.add(key.String(bounded(value)))
	}
}

// texts adds the first texts of a list. Together they are at most as long as one text may be.
func (a *attributes) texts(key attribute.Key, values []string) {
	out, size := []string{}, 0
	for _, v := range values {
		v = bounded(v)
		if size += len(v); size > event.MaxText {
			break
		}
		out = append(out, v)
	}
	if len(out) > 0 {
		a.add(key.StringSlice(out))
	}
}

// bounded returns a text as valid UTF-8 of limited length.
func bounded(s string) string { return event.LimitText(s, event.MaxText) }

func (a *attributes) count(key attribute.Key, c event.Count) {
	if key != "" && c.Known {
		a.add(key.Int64(c.N))
	}
}

// usage adds token counts. The name of the count of cached tokens depends on whether the usage is a
// response's or a run's.
func (a *attributes) usage(u event.Usage, cacheRead attribute.Key) {
	a.count(a.names.InputTokens, u.Input)
	a.count(a.names.OutputTokens, u.Output)
	a.count(cacheRead, u.CacheRead)
	a.count(a.names.ReasoningTokens, u.Reasoning)
}

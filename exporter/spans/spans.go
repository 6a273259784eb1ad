// Package spans turns the tracker's operations into OpenTelemetry spans and delivers them without ever holding up a stream.
package spans

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// NewTracer returns the tracer of all our spans. Its scope says which version of Delegraph made them, and by which conventions.
func NewTracer(provider trace.TracerProvider, names conventions.Table, version string) trace.Tracer {
	return provider.Tracer("github.com/delegraph/delegraph", trace.WithInstrumentationVersion(version), trace.WithSchemaURL(names.SchemaURL))
}

// Observer makes a span of each operation when it ends. It is a tracker.Observer.
type Observer struct {
	tracer trace.Tracer
	names  conventions.Table

	mu      sync.Mutex
	scratch []attribute.KeyValue // for one span's attributes, which the SDK copies
}

// NewObserver returns an observer that makes spans of a provider of NewProvider's: only that one takes the operations' own ids.
func NewObserver(provider trace.TracerProvider, names conventions.Table, version string) *Observer {
	return &Observer{tracer: NewTracer(provider, names, version), names: names}
}

// RunStarted has nothing to show: a span is made when its operation ends.
func (o *Observer) RunStarted(*tracker.Run) {}

// RunEnded has nothing to add to the run's own operation.
func (o *Observer) RunEnded(*tracker.Run) {}

// OperationEnded makes the operation's span, if its run is sampled.
func (o *Observer) OperationEnded(r *tracker.Run, op *tracker.Operation) {
	if !r.Sampled {
		return
	}
	started, ended := times(r, op)
	_, span := o.tracer.Start(parent(r, op), name(op), trace.WithTimestamp(started), trace.WithSpanKind(kind(op)))
	for _, l := range links(r, op) {
		span.AddLink(l)
	}
	o.setAttributes(span, r, op)
	details := op.Details.OrNone()
	// Where there are too many events, the SDK lets the first go and counts them: a citation before a confidence.
	for _, c := range details.Citations {
		span.AddEvent(citationEvent, trace.WithTimestamp(ended), trace.WithAttributes(citation(c)...))
	}
	if op == r.Root {
		addInputs(span, r, ended)
	}
	for _, c := range details.Confidence {
		span.AddEvent(o.names.EvaluationEvent, trace.WithTimestamp(ended), trace.WithAttributes(o.evaluation(c)...))
	}
	if op.Status == tracker.Error {
		span.SetStatus(codes.Error, op.ErrorType())
	}
	span.End(trace.WithTimestamp(ended))
}

func (o *Observer) setAttributes(span trace.Span, r *tracker.Run, op *tracker.Operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := attributes{&o.names, o.scratch[:0]}
	a.operation(r, op)
	o.scratch = a.list
	span.SetAttributes(o.scratch...)
	clear(o.scratch) // else it would keep content
}

// addInputs shows what a run asked for, when it asked.
func addInputs(span trace.Span, r *tracker.Run, ended time.Time) {
	for _, in := range r.Inputs {
		at := in.Requested.At
		if at.IsZero() {
			at = ended
		}
		a := attributes{list: []attribute.KeyValue{inputKind.String(string(in.Kind)), inputStatus.String(string(in.Status))}}
		a.text(inputID, in.ID)
		a.text(inputRouting, string(in.Routing))
		if wait, ok := in.Wait(); ok {
			a.add(inputWait.Float64(wait.Seconds()))
		}
		span.AddEvent(inputEvent, trace.WithTimestamp(at), trace.WithAttributes(a.list...))
	}
}

// base dates a capture that has no times: a millisecond a frame from here on, marked by delegraph.timing=unknown.
var base = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// times are those of an operation's span, which ends a nanosecond after the moment that ended it: Jaeger takes a span that ends
// when it begins for a fault, puts the end later by as much, and warns.
func times(r *tracker.Run, op *tracker.Operation) (started, ended time.Time) {
	if started, ended = moments(r, op); ended.IsZero() {
		return started, ended
	}
	return started, ended.Add(time.Nanosecond)
}

// moments are when an operation began and ended. Only a capture without any times is dated from base: elsewhere an end that is not
// known, as that of an answer whose call nobody saw, is put beside what is, so that no span lasts from base until now.
func moments(r *tracker.Run, op *tracker.Operation) (started, ended time.Time) {
	started, ended, known := r.Place(op)
	if known || r.Live { // the SDK takes the present for what is not given
		return started, ended
	}
	started, ended = undated(op.Started), undated(op.Ended)
	if ended.Before(started) {
		started = ended
	}
	return started, ended
}

func undated(m tracker.Moment) time.Time { return base.Add(time.Duration(m.Frame) * time.Millisecond) }

// parent prepares the context from which the SDK takes a span's parent, its id and the run's decision to be sampled.
func parent(r *tracker.Run, op *tracker.Operation) context.Context {
	ctx := &identity{Context: context.Background(), trace: r.Trace, span: trace.SpanID(op.ID)}
	above := trace.SpanContextConfig{TraceID: r.Trace, SpanID: trace.SpanID(op.Parent), TraceFlags: trace.FlagsSampled}
	if op == r.Root {
		if !r.Parent.Valid() {
			return ctx
		}
		above.SpanID = r.Parent.Span
	}
	ctx.Context = trace.ContextWithSpanContext(ctx.Context, trace.NewSpanContext(above))
	return ctx
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

func links(r *tracker.Run, op *tracker.Operation) []trace.Link {
	led := op.Details.OrNone().Links
	out := make([]trace.Link, 0, len(led))
	for _, id := range led {
		out = append(out, link(linkTransfer, trace.SpanContextConfig{
			TraceID: r.Trace, SpanID: trace.SpanID(id), TraceFlags: trace.FlagsSampled,
		}))
	}
	if op == r.Root {
		for _, l := range r.Links {
			out = append(out, link(l.Kind, trace.SpanContextConfig{
				TraceID: l.Trace, SpanID: trace.SpanID(l.Root), TraceFlags: trace.TraceFlags(0).WithSampled(l.Sampled), Remote: true,
			}))
		}
	}
	return out
}

func link(kind string, to trace.SpanContextConfig) trace.Link {
	return trace.Link{SpanContext: trace.NewSpanContext(to), Attributes: []attribute.KeyValue{linkKind.String(kind)}}
}

// operation adds the attributes of an operation's span.
func (a *attributes) operation(r *tracker.Run, op *tracker.Operation) {
	details := op.Details.OrNone()
	a.text(a.names.OperationName, string(op.Kind))
	if op.Kind == tracker.InvokeWorkflow {
		a.text(a.names.WorkflowName, op.Name)
	} else {
		a.text(a.names.AgentName, op.Agent)
	}
	a.text(a.names.ConversationID, r.Session)
	a.text(a.names.SessionID, r.Session) // by which some backends group
	a.text(runID, r.ID)
	a.text(dialectName, r.Dialect)
	a.text(sourceName, r.Source)
	a.text(timingWorth, op.Timing.String())
	a.text(a.names.ErrorType, op.ErrorType())
	a.text(failureClass, string(op.Error))
	switch op.Kind {
	case tracker.ExecuteTool:
		a.text(a.names.ToolName, op.Name)
		a.text(a.names.ToolCallID, op.CallID)
		a.text(a.names.HandoffSource, details.HandoffSource)
		a.text(a.names.HandoffTarget, details.HandoffTarget)
		if op.AgentTool {
			a.add(toolIsAgent.Bool(true))
		}
		if op.Inferred {
			a.add(toolInferred.Bool(true))
		}
		if details.Progress.Known {
			a.add(toolProgress.Float64(details.Progress.Value))
		}
	case tracker.Chat:
		a.text(a.names.RequestModel, details.RequestModel)
		a.text(a.names.ResponseModel, op.Name)
		if reason := finishReason(op); reason != "" {
			a.add(a.names.FinishReasons.StringSlice([]string{reason}))
		}
		a.usage(op.Response.OrNone().Usage, a.names.CacheReadTokens)
	}
	if op == r.Root {
		a.run(r)
	}
	a.texts(stateKeys, details.State.Keys)
	a.count(stateBytes, details.State.Bytes)
	a.count(loopIteration, details.Loop.Iteration)
	a.count(loopMessages, details.Loop.Messages)
	a.count(loopTools, details.Loop.Tools)
	a.count(reportedIterations, details.Iterations)
	a.texts(thoughtTypes, details.Thoughts)
	a.count(reasoningSteps, details.ReasoningStep)
	a.content(op)
	if details.Dropped > 0 {
		a.add(statementsDropped.Int(details.Dropped))
	}
}

// finishReason returns why a model stopped, as the stream says. One that did not come to say it, because its response failed or was cut,
// has the reason that the conventions give to that.
func finishReason(op *tracker.Operation) string {
	reason := bounded(op.Response.OrNone().FinishReason)
	if reason == "" && (op.Status == tracker.Error || op.Status == tracker.Unfinished) {
		return "error"
	}
	return reason
}

// run adds what only the run's own span says.
func (a *attributes) run(r *tracker.Run) {
	a.text(runStatus, string(r.Status))
	a.text(runReason, string(r.Reason))
	a.usage(r.Usage, a.names.RunCacheReadTokens)
	if r.OffsetKnown {
		a.add(clockOffset.Float64(r.Offset.Seconds()))
	}
	if r.Took.Known {
		a.add(reportedDuration.Float64(r.Took.D.Seconds()))
	}
	a.count(reportedToolCalls, r.ToolCalls)
	if p := r.Plan; p != (event.Plan{}) {
		a.add(planPending.Int(p.Pending))
		a.add(planInProgress.Int(p.InProgress))
		a.add(planCompleted.Int(p.Completed))
		a.add(planCanceled.Int(p.Canceled))
	}
}

// evaluation returns the attributes of a confidence's event.
func (o *Observer) evaluation(s tracker.Statement) []attribute.KeyValue {
	a := attributes{list: []attribute.KeyValue{o.names.EvaluationName.String(proofConfidence)}}
	if s.Known {
		a.add(o.names.EvaluationScore.Float64(s.Value))
	}
	if s.Low.Known {
		a.add(confidenceLow.Float64(s.Low.Value))
	}
	if s.High.Known {
		a.add(confidenceHigh.Float64(s.High.Value))
	}
	a.text(o.names.EvaluationLabel, s.Label)
	a.text(o.names.EvaluationExplanation, where(s.Confidence))
	return a.list
}

// where says where a statement stood: its origin, and what it was said of.
func where(c event.Confidence) string {
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

// attributes collects what is known of a span. It leaves out what is unknown, and what the conventions have no name for.
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

// texts adds texts as long as all of them are no longer than one may be.
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

// bounded makes a text fit for OTLP.
func bounded(s string) string { return event.Bounded(s, event.MaxText) }

func (a *attributes) count(key attribute.Key, c event.Count) {
	if key != "" && c.Known {
		a.add(key.Int64(c.N))
	}
}

// usage adds token counts, those from a cache under a name that depends on whose they are.
func (a *attributes) usage(u event.Usage, cacheRead attribute.Key) {
	a.count(a.names.InputTokens, u.Input)
	a.count(a.names.OutputTokens, u.Output)
	a.count(cacheRead, u.CacheRead)
	a.count(a.names.ReasoningTokens, u.Reasoning)
}

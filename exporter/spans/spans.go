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
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Observer makes a span of each operation when it ends. It is a tracker.Observer.
type Observer struct {
	tracer trace.Tracer

	mu      sync.Mutex
	scratch known // for one span's attributes, which the SDK copies
}

// NewObserver makes spans of a provider that was set up by NewProvider: only that one takes the operations' own ids.
func NewObserver(provider trace.TracerProvider) *Observer {
	return &Observer{tracer: provider.Tracer("github.com/delegraph/delegraph")}
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
		span.AddEvent(evaluationResult, trace.WithTimestamp(ended), trace.WithAttributes(evaluation(c)...))
	}
	if op.Status == tracker.Error {
		span.SetStatus(codes.Error, string(op.Error))
	}
	span.End(trace.WithTimestamp(ended))
}

func (o *Observer) setAttributes(span trace.Span, r *tracker.Run, op *tracker.Operation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scratch = appendAttributes(o.scratch[:0], r, op)
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
		a := known{inputKind.String(string(in.Kind)), inputStatus.String(string(in.Status))}
		a.text(inputID, in.ID)
		a.text(inputRouting, string(in.Routing))
		if wait, ok := in.Wait(); ok {
			a.add(inputWait.Float64(wait.Seconds()))
		}
		span.AddEvent(inputEvent, trace.WithTimestamp(at), trace.WithAttributes(a...))
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

func appendAttributes(a known, r *tracker.Run, op *tracker.Operation) known {
	details := op.Details.OrNone()
	a.text(operationName, string(op.Kind))
	a.text(agentName, op.Agent)
	a.text(conversationID, r.Session)
	a.text(runID, r.ID)
	a.text(dialectName, r.Dialect)
	a.text(sourceName, r.Source)
	a.text(timingWorth, op.Timing.String())
	a.text(errorType, string(op.Error))
	switch op.Kind {
	case tracker.ExecuteTool:
		a.text(toolName, op.Name)
		a.text(toolCallID, op.CallID)
		a.text(toolType, "function")
		a.text(handoffSource, details.HandoffSource)
		a.text(handoffTarget, details.HandoffTarget)
		if op.AgentTool {
			a.add(toolIsAgent.Bool(true))
		}
		if op.Inferred {
			a.add(toolInferred.Bool(true))
		}
	case tracker.Chat:
		a.text(responseModel, op.Name)
		response := op.Response.OrNone()
		if response.FinishReason != "" {
			a.add(finishReasons.StringSlice([]string{bounded(response.FinishReason)}))
		}
		a.usage(response.Usage)
	case tracker.InvokeWorkflow:
		a.text(workflowName, op.Name)
	}
	if op == r.Root {
		a.text(runStatus, string(r.Status))
		a.text(runReason, string(r.Reason))
		a.usage(r.Usage)
		a.run(r)
	}
	a.list(stateKeys, details.State.Keys)
	a.count(stateBytes, details.State.Bytes)
	a.count(reasoningSteps, details.ReasoningStep)
	a.content(op)
	if details.Dropped > 0 {
		a.add(statementsDropped.Int(details.Dropped))
	}
	return a
}

// run is what only the run's own span says.
func (a *known) run(r *tracker.Run) {
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

func evaluation(s tracker.Statement) []attribute.KeyValue {
	a := known{evaluationName.String(proofConfidence)}
	if s.Known {
		a.add(evaluationScore.Float64(s.Value))
	}
	a.text(evaluationLabel, s.Label)
	a.text(evaluationExplanation, where(s.Confidence))
	return a
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
	a := known{}
	a.text(citationSource, c.Source)
	a.text(citationReference, c.Reference)
	a.text(citationURI, c.URI)
	return a
}

// known collects attributes and leaves out what nobody said.
type known []attribute.KeyValue

func (a *known) add(kv attribute.KeyValue) { *a = append(*a, kv) }

func (a *known) text(key attribute.Key, value string) {
	if value != "" {
		a.add(key.String(bounded(value)))
	}
}

// list adds texts as long as all of them are no longer than one may be.
func (a *known) list(key attribute.Key, values []string) {
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

func (a *known) count(key attribute.Key, c event.Count) {
	if c.Known {
		a.add(key.Int64(c.N))
	}
}

func (a *known) usage(u event.Usage) {
	a.count(inputTokens, u.Input)
	a.count(outputTokens, u.Output)
	a.count(cacheTokens, u.CacheRead)
	a.count(thoughtTokens, u.Reasoning)
}

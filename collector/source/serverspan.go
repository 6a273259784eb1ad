package source

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
)

// Tracing configures how a proxy takes part in traces.
type Tracing struct {
	Tracer     trace.Tracer
	Propagator propagation.TextMapPropagator
	Methods    []string // the HTTP methods that spans may name; nil for those of the conventions
}

// extract returns a context with the span and the baggage of the caller. Several traceparent headers count as none.
//
// Source: test_traceparent_duplicated in test/test.py of w3c/trace-context.
func (t Tracing) extract(ctx context.Context, h http.Header) context.Context {
	if len(h.Values("Traceparent")) > 1 {
		h = h.Clone()
		h.Del("Traceparent")
	}
	return t.Propagator.Extract(ctx, propagation.HeaderCarrier(h))
}

// conventionalMethods lists the methods that the OpenTelemetry conventions name: those of RFC 9110 and
// RFC 5789, and QUERY.
var conventionalMethods = []string{
	http.MethodConnect, http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost,
	http.MethodPut, "QUERY", http.MethodTrace,
}

// otherMethod replaces a method that spans do not name.
const otherMethod = "_OTHER"

// Values of error.type for failures that the status of the answer does not show.
const (
	failureUnreachable = "agent_unreachable"
	failureWithheld    = "stream_withheld" // the answer could not be filtered, because it could not be read
	failureBrokenOff   = "broken_off"
	failureShutdown    = "shutdown"
	failureCanceled    = "canceled" // by the client
)

// serverSpan is the span of a request on a run path.
type serverSpan struct {
	trace.Span
	started        time.Time
	traceparent    string // the traceparent that names the span; "" if the span is not sampled or must not appear in headers
	continuesTrace bool   // the span is part of the caller's trace
	failure        string
	runFailure     atomic.Pointer[string] // the error type of the run in the answer; nil unless the run failed

	users atomic.Int32 // number of users: the request and the observation of its answer; the last user ends the span
	ended time.Time    // of the request
}

// startSpan continues the caller's trace, or begins one.
func (p *Proxy) startSpan(r *http.Request, pattern string) *serverSpan {
	ctx := p.tracing.extract(r.Context(), r.Header)
	name, attributes := p.describe(r, pattern)
	s := &serverSpan{started: p.now(), continuesTrace: trace.SpanContextFromContext(ctx).IsValid()}
	s.users.Store(1)
	ctx, s.Span = p.tracing.Tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(s.started),
		trace.WithAttributes(attributes...))
	if s.IsRecording() {
		carrier := propagation.MapCarrier{} // only traceparent is used: tracestate and baggage stay as the caller sent them
		p.tracing.Propagator.Inject(ctx, carrier)
		s.traceparent = carrier.Get("traceparent")
	}
	return s
}

// describe returns the name of a request's span and the attributes that samplers see.
func (p *Proxy) describe(r *http.Request, pattern string) (name string, attributes []attribute.KeyValue) {
	text := func(key attribute.Key, value string) {
		// Clone: method and path are slices of the request line, which may be a megabyte long.
		attributes = append(attributes, key.String(strings.Clone(event.LimitText(value, event.MaxText))))
	}
	methods := p.tracing.Methods
	if methods == nil {
		methods = conventionalMethods
	}
	if slices.Contains(methods, r.Method) {
		text(requestMethod, r.Method)
		name = r.Method
	} else {
		text(requestMethod, otherMethod)
		text(originalMethod, r.Method)
		name = "HTTP"
	}
	text(httpRoute, pattern)
	scheme, host := origin(r)
	text(urlScheme, scheme)
	text(urlPath, r.URL.EscapedPath())
	address := url.URL{Host: host}
	if named := address.Hostname(); named != "" {
		text(serverAddress, named)
		if port, err := strconv.ParseUint(address.Port(), 10, 16); err == nil {
			attributes = append(attributes, serverPort.Int64(int64(port)))
		}
	}
	text(sourceName, p.settings.Name)
	return event.LimitText(name+" "+pattern, event.MaxText), attributes
}

// origin returns the scheme and the host that the client used: from the headers of outer proxies, else from
// the request.
func origin(r *http.Request) (scheme, host string) {
	first := func(header string) string {
		value, _, _ := strings.Cut(r.Header.Get(header), ",")
		return strings.TrimSpace(value)
	}
	scheme, host = first("X-Forwarded-Proto"), first("X-Forwarded-Host")
	for pair := range strings.SplitSeq(first("Forwarded"), ";") { // RFC 7239
		key, value, _ := strings.Cut(pair, "=")
		switch value = strings.Trim(value, "\" \t"); strings.ToLower(strings.TrimSpace(key)) {
		case "proto":
			scheme = value
		case "host":
			host = value
		}
	}
	if !strings.EqualFold(scheme, "https") {
		scheme = "http" // proxies listen without TLS
	}
	return strings.ToLower(scheme), cmp.Or(host, r.Host)
}

// propagate sets the span in the headers of the request to the agent. If the span is not sampled, the
// headers stay as the caller sent them: an unsampled traceparent where there was none would switch off the
// agent's own tracing.
func (s *serverSpan) propagate(h http.Header) {
	if s.traceparent == "" {
		return
	}
	if !s.continuesTrace {
		h.Del("Tracestate") // without a valid traceparent it must be discarded: W3C Trace Context, 4.2 and 4.3
	}
	h.Set("Traceparent", s.traceparent)
}

// setTraceresponse sets the traceresponse header (W3C Trace Context, level 2) unless the agent has set it.
func (s *serverSpan) setTraceresponse(h http.Header) {
	if s.traceparent != "" && len(h.Values("Traceresponse")) == 0 {
		h.Set("Traceresponse", s.traceparent)
	}
}

// recordStatus records the status that is sent to the client.
func (s *serverSpan) recordStatus(status int) {
	if status < http.StatusOK && status != http.StatusSwitchingProtocols || s.isCutOff() {
		return
	}
	s.SetAttributes(statusCode.Int(status))
	if status >= http.StatusInternalServerError {
		s.fail(strconv.Itoa(status))
	}
}

// isCutOff reports whether the client has left or the proxy has stopped.
func (s *serverSpan) isCutOff() bool {
	return s.failure == failureCanceled || s.failure == failureShutdown
}

// fail records why the request failed. Only the first reason counts. A client that leaves does not set the
// error status.
func (s *serverSpan) fail(why string) {
	if s.failure != "" {
		return
	}
	s.failure = why
	s.SetAttributes(errorType.String(why))
	if why != failureCanceled {
		s.SetStatus(codes.Error, "")
	}
}

// endSpan records the end of a request, after its answer has ended or was cut off.
func (p *Proxy) endSpan(answer *answerWriter) {
	defer p.settings.Panics.Recover(recovery.Spans, nil)
	if !answer.complete {
		answer.fail(p.cutOffReason(answer.clientCtx))
	}
	// Add the monotonic duration, as for the spans of operations: the wall clock may have been set meanwhile.
	started := answer.span.started
	answer.span.ended = started.Add(p.now().Sub(started))
	answer.span.release()
}

// keepSpan keeps the span of a request open until the returned function is called, after the answer has been
// observed. The run in the answer may fail although the status is 200, and the observation may be behind
// the relay.
func (p *Proxy) keepSpan(x *exchange) (release func()) {
	if x == nil || x.span == nil {
		return func() {}
	}
	x.span.users.Add(1)
	return func() {
		defer p.settings.Panics.Recover(recovery.Spans, nil)
		x.span.release()
	}
}

// setRunFailure records the error type of the run in the answer.
func (s *serverSpan) setRunFailure(errorType string) { s.runFailure.Store(&errorType) }

// release ends the span after its last use. A failure of the request itself takes precedence over that of
// the run.
func (s *serverSpan) release() {
	if s.users.Add(-1) > 0 {
		return
	}
	if code := s.runFailure.Load(); code != nil {
		s.fail(*code)
	}
	s.End(trace.WithTimestamp(s.ended))
}

// cutOffReason returns why an answer was cut off before its end.
func (p *Proxy) cutOffReason(client context.Context) string {
	switch {
	case client.Err() == nil:
		return failureBrokenOff
	case p.stopped.Err() != nil:
		return failureShutdown
	}
	return failureCanceled
}

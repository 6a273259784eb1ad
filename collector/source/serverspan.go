package source

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
)

// Tracing is how a proxy takes part in traces.
type Tracing struct {
	Tracer     trace.Tracer
	Propagator propagation.TextMapPropagator
	Methods    []string // the HTTP methods that spans name; nil for those of the conventions
}

// conventionalMethods are the methods of RFC 9110 and RFC 5789, and QUERY.
var conventionalMethods = []string{
	http.MethodConnect, http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost,
	http.MethodPut, "QUERY", http.MethodTrace,
}

// otherMethod stands for a method that spans do not name.
const otherMethod = "_OTHER"

// Why a request failed where the status of the answer does not tell; values of error.type.
const (
	failureUnreachable = "agent_unreachable"
	failureWithheld    = "stream_withheld" // an answer that could not be read, and so not be filtered
	failureBrokenOff   = "broken_off"
	failureShutdown    = "shutdown"
	failureCanceled    = "canceled" // by the client
)

// serverSpan is the span of a request on a path of agents' streams.
type serverSpan struct {
	trace.Span
	started   time.Time
	header    string // the traceparent that names the span; "" if the span is not sampled or headers are not to name it
	continues bool   // the caller's trace
	failure   string
}

// startSpan continues the caller's trace, or begins one.
func (p *Proxy) startSpan(r *http.Request, pattern string) *serverSpan {
	ctx := p.tracing.Propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	name, attributes := p.describe(r, pattern)
	s := &serverSpan{started: p.now(), continues: trace.SpanContextFromContext(ctx).IsValid()}
	ctx, s.Span = p.tracing.Tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(s.started),
		trace.WithAttributes(attributes...))
	if s.IsRecording() {
		carrier := propagation.MapCarrier{} // takes tracestate and baggage too, which stay as the caller sent them
		p.tracing.Propagator.Inject(ctx, carrier)
		s.header = carrier.Get("traceparent")
	}
	return s
}

// describe returns the name of a request's span and the attributes that samplers see.
func (p *Proxy) describe(r *http.Request, pattern string) (name string, attributes []attribute.KeyValue) {
	text := func(key attribute.Key, value string) {
		// A copy, since method and path are slices of the request's first line, which may have a megabyte.
		attributes = append(attributes, key.String(strings.Clone(event.Bounded(value, event.MaxText))))
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
	return event.Bounded(name+" "+pattern, event.MaxText), attributes
}

// origin returns the scheme and the host that the client asked for: as the proxies before us say, else as the request does.
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
		scheme = "http" // the ports of proxies speak no TLS
	}
	return strings.ToLower(scheme), cmp.Or(host, r.Host)
}

// propagate puts the span into the headers of the request to the agent. If the span is not sampled they stay as the caller sent
// them: a header that says so, where there was none, would switch off the agent's own tracing.
func (s *serverSpan) propagate(h http.Header) {
	if s.header == "" {
		return
	}
	if !s.continues {
		h.Del("Tracestate") // of no trace, or of one whose traceparent is malformed: W3C Trace Context, 4.2 and 4.3
	}
	h.Set("Traceparent", s.header)
}

// respond tells the client of the span, unless the agent tells of one: W3C Trace Context, level 2.
func (s *serverSpan) respond(h http.Header) {
	if s.header != "" && len(h.Values("Traceresponse")) == 0 {
		h.Set("Traceresponse", s.header)
	}
}

// answered records the status that the client is sent.
func (s *serverSpan) answered(status int) {
	if status < http.StatusOK && status != http.StatusSwitchingProtocols || s.isCut() {
		return
	}
	s.SetAttributes(statusCode.Int(status))
	if status >= http.StatusInternalServerError {
		s.fail(strconv.Itoa(status))
	}
}

// isCut reports whether the answer has no reader left.
func (s *serverSpan) isCut() bool {
	return s.failure == failureCanceled || s.failure == failureShutdown
}

// fail records why the request failed. The first reason counts. A client that leaves is no error of the server's.
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

// endSpan ends the span of a request that was answered, or whose answer was cut off.
func (p *Proxy) endSpan(answer *answerWriter) {
	defer p.settings.Panics.Recover(recovery.Spans, nil)
	if !answer.whole {
		answer.fail(p.cutOff(answer.client))
	}
	// The clock on the wall may have been set meanwhile: what counts is how long the request took, as for the operations' spans.
	started := answer.span.started
	answer.span.End(trace.WithTimestamp(started.Add(p.now().Sub(started))))
}

// cutOff returns why an answer ended before its end.
func (p *Proxy) cutOff(client context.Context) string {
	switch {
	case client.Err() == nil:
		return failureBrokenOff
	case p.stopped.Err() != nil:
		return failureShutdown
	}
	return failureCanceled
}

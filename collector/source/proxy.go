package source

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// Counters are told of what a proxy could not do.
type Counters interface {
	Up(source string, up bool)           // whether a request reached the agent
	Unobserved(source string, bytes int) // bytes that passed unseen
	Unread(source, reason string)        // a run request that names nobody
	Panicked(source string)              // an observation that a fault of ours ended
}

// ProxySettings are one proxy's.
type ProxySettings struct {
	Name       string
	Upstream   *url.URL
	Paths      []string // of agents' streams; nil for those of the dialects
	Dialect    string   // "" to find out
	BodyLimit  int      // bytes of a run request that are read
	JSONDepth  int
	QueueLimit int // bytes of one stream that may wait to be observed
}

// Tracing is how a proxy takes part in traces.
type Tracing struct {
	Tracer     trace.Tracer
	Propagator propagation.TextMapPropagator
}

// Proxy stands in front of an agent. It passes everything on as it is, at once, and observes the streams among the answers
// beside the path: whatever happens there, the client has its bytes.
type Proxy struct {
	settings  ProxySettings
	collector *collector.Collector
	dialects  []dialect.Dialect
	tracing   Tracing
	counters  Counters
	logger    *slog.Logger
	now       func() time.Time
	forward   *httputil.ReverseProxy
	observing sync.WaitGroup
}

// NewProxy prepares a proxy; Handler serves it.
func NewProxy(s ProxySettings, c *collector.Collector, dialects []dialect.Dialect, t Tracing, counters Counters, logger *slog.Logger, now func() time.Time) *Proxy {
	p := &Proxy{settings: s, collector: c, dialects: dialects, tracing: t, counters: counters, logger: logger, now: now}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.DisableCompression = true // else the transport asks for gzip by itself, and the bytes change
	transport.MaxIdleConnsPerHost = 100
	p.forward = &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		Transport:      transport,
		FlushInterval:  -1,
		ModifyResponse: p.observe,
		ErrorHandler:   p.fail,
		ErrorLog:       slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	return p
}

// Wait returns when every stream that was being observed has ended.
func (p *Proxy) Wait() { p.observing.Wait() }

// exchange is a request on a run path, from its forwarding to the end of its answer.
type exchange struct {
	dialect dialect.Dialect // that the path selects
	opened  time.Time
	body    *requestBody
	length  int64
	span    trace.Span
	parent  event.SpanContext
}

type exchangeKey struct{}

// ServeHTTP forwards a request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect || r.URL.Host != "" {
		http.Error(w, "delegraph forwards to one agent and is no open proxy", http.StatusBadRequest)
		return
	}
	// Without it the server reads a request to its end before it answers, and closes it under the transport that still reads
	// it: an agent that answers early would lose its stream. HTTP/2 is duplex of itself and says so by an error.
	_ = http.NewResponseController(w).EnableFullDuplex()
	if d := p.runPath(r); d != nil {
		ctx, span := p.startSpan(r)
		defer span.End()
		x := &exchange{dialect: d, opened: p.now(), length: r.ContentLength, span: span, parent: spanContext(span.SpanContext())}
		r = r.WithContext(context.WithValue(ctx, exchangeKey{}, x))
		if r.Body != nil {
			x.body = &requestBody{ReadCloser: r.Body, limit: p.settings.BodyLimit}
			r.Body = x.body
		}
	}
	p.forward.ServeHTTP(w, r)
}

// runPath returns the dialect whose runs a path answers, or nil.
func (p *Proxy) runPath(r *http.Request) dialect.Dialect {
	for _, d := range p.dialects {
		if p.settings.Dialect != "" && p.settings.Dialect != d.Name() {
			continue
		}
		globs := p.settings.Paths
		if globs == nil {
			globs = d.Paths()
		}
		for _, glob := range globs {
			if ok, _ := path.Match(glob, r.URL.Path); ok {
				return d
			}
		}
	}
	return nil
}

// startSpan continues the caller's trace, or begins one.
func (p *Proxy) startSpan(r *http.Request) (context.Context, trace.Span) {
	ctx := p.tracing.Propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	return p.tracing.Tracer.Start(ctx, r.Method+" "+r.URL.Path,
		trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(
			attribute.String("http.request.method", r.Method),
			attribute.String("url.path", r.URL.Path),
			attribute.String("delegraph.source", p.settings.Name)))
}

func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(p.settings.Upstream)
	r.Out.Host = r.In.Host
	r.Out.URL.RawQuery = r.In.URL.RawQuery // also what does not parse: it is the agent's
	r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
	r.SetXForwarded()
	if _, ok := r.In.Context().Value(exchangeKey{}).(*exchange); ok {
		p.tracing.Propagator.Inject(r.In.Context(), propagation.HeaderCarrier(r.Out.Header))
	}
}

// observe begins the observation of an answer that is a stream.
func (p *Proxy) observe(resp *http.Response) error {
	p.counters.Up(p.settings.Name, true)
	x, _ := resp.Request.Context().Value(exchangeKey{}).(*exchange)
	if x != nil {
		x.span.SetAttributes(attribute.Int("http.response.status_code", resp.StatusCode))
		if resp.StatusCode >= http.StatusInternalServerError {
			x.span.SetStatus(codes.Error, "")
		}
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media != "text/event-stream" || resp.StatusCode != http.StatusOK || resp.Body == nil {
		return nil
	}
	s, name := p.stream(x)
	body := &observedBody{ReadCloser: resp.Body, tap: newTap(p.settings.QueueLimit, p.now), gone: resp.Request.Context()}
	resp.Body = body
	p.observing.Go(func() { p.follow(s, body, name, resp.Header.Get("Content-Encoding")) })
	return nil
}

// stream describes the answer: on a run path it holds the run that the request asked for.
func (p *Proxy) stream(x *exchange) (*event.Stream, string) {
	s := &event.Stream{Source: p.settings.Name, Nonce: rand.Text(), Live: true, Opened: p.now()}
	if x == nil {
		return s, p.settings.Dialect
	}
	s.Answer, s.Opened, s.Parent, s.Dialect = true, x.opened, x.parent, x.dialect.Name()
	if x.body != nil {
		identity, reason := x.body.identify(x.dialect, x.length, p.settings.JSONDepth)
		s.Identity = identity
		if reason != "" {
			p.counters.Unread(p.settings.Name, reason)
		}
	}
	return s, x.dialect.Name()
}

// follow reads the copy of a stream to its end. A fault of ours ends the observation and nothing else.
func (p *Proxy) follow(s *event.Stream, body *observedBody, dialect, encoding string) {
	defer func() {
		if fault := recover(); fault != nil {
			p.counters.Panicked(p.settings.Name)
			p.logger.Error("observation of a stream failed; the stream itself goes on", "name", p.settings.Name, "fault", fmt.Sprint(fault))
		}
		// What came after the observation ended is let go of as it comes. A tap gives no error but its end.
		rest, _ := io.Copy(io.Discard, body.tap)
		if lost := int(rest) + body.tap.unobserved(); lost > 0 {
			p.counters.Unobserved(p.settings.Name, lost)
		}
	}()
	// An error here is one of the encoding: the client has the bytes, and the run ends as its stream does.
	_ = p.collector.Observe(s, collector.Input{Reader: decompress(body.tap, encoding), Arrival: body.tap.arrival, End: body.end}, dialect)
}

func (p *Proxy) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		w.WriteHeader(http.StatusBadGateway) // nobody is there to read it
		return
	}
	p.counters.Up(p.settings.Name, false)
	if x, ok := r.Context().Value(exchangeKey{}).(*exchange); ok {
		x.span.SetAttributes(attribute.Int("http.response.status_code", http.StatusBadGateway))
		x.span.SetStatus(codes.Error, "agent unreachable")
	}
	p.logger.Warn("agent unreachable", "name", p.settings.Name, "upstream", p.settings.Upstream.Host, "err", err)
	http.Error(w, fmt.Sprintf("delegraph: the agent behind source %q did not answer; is it running at %s?", p.settings.Name, p.settings.Upstream.Host), http.StatusBadGateway)
}

// observedBody is the agent's answer on its way to the client, with a copy going aside.
type observedBody struct {
	io.ReadCloser
	tap  *tap
	gone context.Context // done when the client has left

	mu     sync.Mutex
	ending event.End
}

func (b *observedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.tap.put(p[:n])
	if err != nil {
		b.finish(!errors.Is(err, io.EOF) && b.gone.Err() != nil)
	}
	return n, err
}

// Close is the proxy's: before the end of the stream it means that the client no longer reads.
func (b *observedBody) Close() error {
	b.finish(true)
	return b.ReadCloser.Close()
}

// finish closes the tap; the first to say how the stream ended is right.
func (b *observedBody) finish(clientLeft bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tap.isClosed() {
		return
	}
	if clientLeft {
		b.ending = event.EndClientLeft
	}
	b.tap.close()
}

func (b *observedBody) end() event.End {
	if b.tap.unobserved() > 0 {
		return event.EndUnobserved
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ending
}

func spanContext(sc trace.SpanContext) event.SpanContext {
	return event.SpanContext{Trace: sc.TraceID(), Span: sc.SpanID(), Sampled: sc.IsSampled()}
}

package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
)

// Counters records what a proxy could not do. The first argument of each method is the source's name.
type Counters interface {
	// SetSourceUp records whether the last request reached the agent.
	SetSourceUp(source string, up bool)
	// CountBrokenAnswer counts an answer that the agent broke off.
	CountBrokenAnswer(source string)
	// CountUnobserved counts bytes that were relayed unobserved, for one of the reasons that start with Unobserved.
	CountUnobserved(source, reason string, bytes int)
	// CountUnreadRequest counts a run request whose session, user and app could not be read.
	CountUnreadRequest(source, reason string)
	// CountUnchangedCard counts an agent card that passed unchanged and may lead clients around the proxy.
	CountUnchangedCard(source, reason string)
}

// ProxySettings configures a Proxy.
type ProxySettings struct {
	Name       string   // the name of the source
	Upstream   *url.URL // the agent
	Paths      []string // globs of the run paths; nil for those of the dialects
	Dialect    string   // "" to detect it
	Agent      string   // the name of the agent if its stream does not give it
	BodyLimit  int      // bytes of a run request that are read
	JSONDepth  int      // levels of JSON in a run request
	QueueLimit int      // bytes of one stream that may wait to be observed
	FrameLimit int      // bytes of a frame, or of a block of an unconfirmed stream

	// ObserveBudget bounds the memory that all streams together use for observation. RequestBudget bounds the
	// memory of requests that are being read. FrameMemory bounds the memory of large frames on the way to clients.
	// StreamBudget is charged for each open request; no request is refused for lack of it. Nil means no bound.
	ObserveBudget *budget.Account
	StreamBudget  *budget.Account
	RequestBudget *budget.Account
	FrameMemory   *FrameMemory
	ObserverSlots *ObserverSlots // shared by all proxies of a process; nil means no limit

	// OnSession is called with the session that a request on a run path names, once the request body has
	// been read. It may be called more than once for a request. It may be nil.
	OnSession func(session string)

	// RewriteCards replaces the agent's URLs in agent cards with the address that the client used.
	RewriteCards bool

	Panics *recovery.Recorder // nil recovers panics without a record

	// Public withholds all answers except the event streams of run paths and the answers on PublicPaths.
	// PublicPaths are globs in the syntax of path.Match.
	Public      bool
	PublicPaths []string

	// NewFilter returns the filter of one stream. If it is nil, every stream is relayed verbatim.
	NewFilter func() Filter
}

// Proxy is a reverse proxy in front of an agent. It relays answers without delay and observes the event
// streams among them in separate goroutines, which cannot delay or break the relay.
//
// A run path is a path on which an agent answers with the stream of a run. A stream is unconfirmed if its server may not
// be an agent: it is on another path, or on a run path that other servers use too (dialect.Path.AllowOthers). Until a
// dialect recognizes it, all of it passes, except that a proxy with a filter withholds blocks that declare themselves
// internal (see declaresInternal), or that a dialect which may be theirs withholds.
type Proxy struct {
	settings                    ProxySettings
	collector                   *collector.Collector
	dialects                    []dialect.Dialect
	tracing                     Tracing
	counters                    Counters
	logger                      *slog.Logger
	now                         func() time.Time
	linger                      time.Duration
	order                       order
	states                      event.States // what decoders of ended streams know
	filterStates                event.States // the same of decoders that only filter
	forward                     *httputil.ReverseProxy
	active                      sync.WaitGroup // open run requests and observations
	stopped                     context.Context
	stop                        context.CancelFunc
	loggedCards                 sync.Map // reasons for which an unchanged agent card was logged
	loggedWithheld, loggedStall throttle
	lastFailure                 atomic.Pointer[string] // the last logged failure to reach the agent; nil once the agent is reached again
}

// NewProxy returns a proxy. Serve it as an http.Handler.
func NewProxy(s ProxySettings, c *collector.Collector, dialects []dialect.Dialect, t Tracing, counters Counters, logger *slog.Logger, now func() time.Time) *Proxy {
	p := &Proxy{settings: s, collector: c, dialects: dialects, tracing: t, counters: counters, logger: logger, now: now, linger: linger, order: newOrder()}
	p.stopped, p.stop = context.WithCancel(context.Background())
	p.forward = &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		Transport:      newUpstream(),
		FlushInterval:  -1,
		BufferPool:     &copyBuffers{},
		ModifyResponse: p.prepareAnswer,
		ErrorHandler:   p.fail,
		ErrorLog:       slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	return p
}

// Wait returns when all run requests and their spans have ended and all streams have been observed to
// their end.
func (p *Proxy) Wait() { p.active.Wait() }

// CloseIdle closes the connections to the agent that serve no request.
func (p *Proxy) CloseIdle() { p.forward.Transport.(*upstream).closeIdle() }

// Stop closes the connections that have switched protocols. Streams that break off after Stop end with
// event.EndShutdown instead of event.EndClientLeft.
func (p *Proxy) Stop() { p.stop() }

// exchange is a request that may get an agent's stream, from its arrival to the end of its answer.
type exchange struct {
	route
	opened     time.Time
	body       *requestBody
	length     int64             // of the body, in bytes; -1 if unknown
	span       *serverSpan       // nil if the path is no run path
	parent     event.SpanContext // of the run's spans
	firstFrame *firstFrame       // of the answer; nil if the request begins no run
	isObserved bool              // the answer is observed, so the observation closes firstFrame
}

// observeAnswer records that the answer is observed. It returns the first frame, which the observation closes.
func (x *exchange) observeAnswer() *firstFrame {
	if x == nil || x.firstFrame == nil {
		return newFirstFrame()
	}
	x.isObserved = true
	return x.firstFrame
}

// isUnconfirmed reports whether the stream of the answer is unconfirmed: see Proxy.
func (x *exchange) isUnconfirmed() bool { return x == nil || x.unconfirmed }

// forwardedRequest holds what the proxy knows about a request that it forwards.
type forwardedRequest struct {
	body         *requestBody
	granted      permission
	disconnecter *disconnecter
	exchange     *exchange // nil if the request does not ask for an agent's stream
}

type forwardedRequestKey struct{}

// withForwarded returns r with f in its context.
func withForwarded(r *http.Request, f *forwardedRequest) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), forwardedRequestKey{}, f))
}

// forwardedOf returns the forwardedRequest in a context.
func forwardedOf(ctx context.Context) *forwardedRequest {
	return ctx.Value(forwardedRequestKey{}).(*forwardedRequest)
}

// ServeHTTP forwards a request to the agent and relays the answer.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	useOriginForm(r)
	if refuse(w, r) {
		return
	}
	body := newRequestBody(r)
	defer body.discard()
	answer := newAnswerWriter(w, r, body)
	r, done := p.withLinger(r)
	defer done()
	found := p.route(r)
	granted := p.permission(r, found)
	if granted == permitNothing {
		http.Error(w, "delegraph: "+errNotPublic.Error(), http.StatusForbidden)
		return
	}
	if p.settings.StreamBudget.ChargeWithin(streamSize) {
		defer p.settings.StreamBudget.Release(streamSize)
	}
	// By default an HTTP/1 server reads the whole request body before it answers. It then closes the body while the
	// transport still reads it, so that an agent that answers early would lose its stream. HTTP/2 always has full
	// duplex and returns an error. Denied requests have returned above: net/http would panic because their bodies
	// stay unread.
	_ = http.NewResponseController(w).EnableFullDuplex()
	answer.restricted = granted != permitAll
	f := &forwardedRequest{body: body, granted: granted, disconnecter: &disconnecter{writer: w, cancel: done}}
	defer f.disconnecter.release()
	defer answer.flushBroken()
	switch {
	case found.dialects != nil:
		p.active.Add(1)
		defer p.active.Done()
		answer.span = p.startSpan(r, found.pattern)
		defer p.endSpan(answer)
		f.exchange = p.begin(r, &exchange{route: found, body: body, span: answer.span, parent: spanContext(answer.span.SpanContext())})
	case mayRequestRun(r):
		found = route{dialects: p.dialects, continues: r.Method != http.MethodPost, unconfirmed: true}
		f.exchange = p.begin(r, &exchange{route: found, body: body, parent: p.callerOf(r)})
	}
	defer p.finish(f.exchange)
	r = withForwarded(r, f) // after startSpan: the span keeps the context it was given, which must not keep f in memory
	if r.Body != http.NoBody {
		r.Body = body
	}
	p.forward.ServeHTTP(answer, r)
	answer.complete = true
}

// streamSize is the memory in bytes that an open request takes, whatever it carries: buffers and goroutines of
// the connections to client and agent. docs/design/performance.md has the measurement.
const streamSize = 64 << 10

// refuse answers a request that cannot be forwarded to an agent, and reports whether it has.
func refuse(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case r.Method == http.MethodConnect || r.RequestURI != "*" && !strings.HasPrefix(r.RequestURI, "/"):
		http.Error(w, "delegraph forwards to one agent and is not an open proxy", http.StatusBadRequest)
	case r.Method == "PRI" && r.RequestURI == "*": // the preface of HTTP/2, which the server treats as a request
		w.Header().Set("Connection", "close")
		http.Error(w, "delegraph serves only HTTP/1.1 on connections without TLS", http.StatusHTTPVersionNotSupported)
	default:
		return false
	}
	return true
}

// begin starts the exchange of a request, and returns it.
func (p *Proxy) begin(r *http.Request, x *exchange) *exchange {
	x.opened, x.length = p.now(), r.ContentLength
	x.body.copy.limit, x.body.copy.memory = p.settings.BodyLimit, p.settings.RequestBudget
	if x.span != nil {
		// The run's span and the request's span must start at the same time: each computes its end as its start plus a
		// duration, so otherwise the run could seem to end after the request.
		x.opened = x.span.started
	}
	if x.span != nil && p.settings.OnSession != nil {
		x.body.onComplete = func() {
			x.body.keepCopy() // the answer may end before the goroutine runs
			p.active.Go(func() { p.reportSession(x) })
		}
	}
	if !x.continues {
		x.firstFrame = p.order.expect(x.earlySession())
	}
	return x
}

// finish removes a finished exchange from the order, unless its answer is observed. x may be nil.
func (p *Proxy) finish(x *exchange) {
	if x != nil && x.firstFrame != nil && !x.isObserved {
		p.order.abandon(x.firstFrame)
	}
}

// mayRequestRun reports whether a request on a path that is no run path may get an agent's stream. Only the answer
// shows whether it does.
func mayRequestRun(r *http.Request) bool {
	posts := r.Method == http.MethodPost && strings.Contains(strings.ToLower(r.Header.Get("Content-Type")), "json")
	return posts || asksForStream(r.Header)
}

// callerOf returns the span of the caller from the request's headers.
func (p *Proxy) callerOf(r *http.Request) event.SpanContext {
	return spanContext(trace.SpanContextFromContext(p.tracing.extract(context.Background(), r.Header)))
}

// fail answers a request that could not be forwarded, or whose answer may not be relayed.
func (p *Proxy) fail(w http.ResponseWriter, r *http.Request, err error) {
	answer := w.(*answerWriter)
	var withheld unfilterable
	switch {
	case r.Context().Err() != nil:
		answer.fail(p.cutOffReason(answer.clientCtx))
		w.WriteHeader(http.StatusBadGateway) // the client has left and does not get the status
	case answer.request.isBroken():
		http.Error(w, "delegraph: the request is malformed or incomplete", http.StatusBadRequest)
	case errors.Is(err, errUnrequestedUpgrade):
		http.Error(w, "delegraph: "+err.Error(), http.StatusBadGateway)
	case errors.Is(err, errNotPublic):
		http.Error(w, "delegraph: "+err.Error(), http.StatusForbidden)
	case errors.As(err, &withheld):
		answer.fail(failureWithheld)
		if p.loggedWithheld.allows() {
			p.logger.Warn("stream withheld; further ones within a minute are not logged", "name", p.settings.Name, "err", err)
		}
		sentence := "delegraph: " + err.Error()
		if answer.restricted {
			sentence = "delegraph: the agent's stream cannot be filtered" // the error quotes the agent's headers
		}
		http.Error(w, sentence, http.StatusBadGateway)
	default:
		p.failUnreachable(answer, err)
	}
}

// failUnreachable answers a request that did not reach the agent.
func (p *Proxy) failUnreachable(w *answerWriter, err error) {
	p.counters.SetSourceUp(p.settings.Name, false)
	w.fail(failureUnreachable)
	problem := "did not answer; is it running at %s?"
	if errors.Is(err, errNotHTTP) {
		problem = "did not answer in HTTP; is %s the agent's address, and is the scheme of its URL correct?"
	}
	if before := p.lastFailure.Swap(&problem); before == nil || *before != problem { // log once: clients may retry often
		p.logger.Warn("agent unreachable", "name", p.settings.Name, "upstream", p.settings.Upstream.Host, "err", err)
	}
	sentence := fmt.Sprintf("delegraph: the agent behind source %q "+problem, p.settings.Name, p.settings.Upstream.Host)
	if w.restricted {
		sentence = "delegraph: the agent did not answer" // public clients must not learn addresses
	}
	http.Error(w, sentence, http.StatusBadGateway)
}

func spanContext(sc trace.SpanContext) event.SpanContext {
	return event.SpanContext{Trace: sc.TraceID(), Span: sc.SpanID(), Sampled: sc.IsSampled()}
}

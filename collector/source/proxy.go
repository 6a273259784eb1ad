package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
)

// Counters are told of what a proxy could not do.
type Counters interface {
	Up(source string, up bool)                   // whether a request reached the agent
	BrokeOff(source string)                      // an answer of the agent
	Unobserved(source, reason string, bytes int) // bytes that passed unseen, by the reasons of UnobservedReasons
	Unread(source, reason string)                // a run request that names nobody
	CardPassed(source, reason string)            // an agent card that passed unchanged and may lead clients around the proxy
}

// ProxySettings are one proxy's.
type ProxySettings struct {
	Name       string
	Upstream   *url.URL
	Paths      []string // of agents' streams; nil for those of the dialects
	Dialect    string   // "" to find out
	Agent      string   // of streams that do not name theirs
	BodyLimit  int      // bytes of a run request that are read
	JSONDepth  int
	QueueLimit int // bytes of one stream that may wait to be observed
	FrameLimit int // bytes of a block of a stream that may be an agent's

	// Memory is what waits to be observed is taken from, and Relays what frames on their way take; nil for no bound on all streams
	// together.
	Memory, Relays *budget.Account

	// Named is told of the session that a request on a path of agents' streams names, as soon as the request is over; perhaps
	// more than once. Nil where nobody asks.
	Named func(session string)

	// Cards has agent cards lead to the proxy. Else they pass as they are.
	Cards bool

	Panics *recovery.Recorder // nil recovers panics without a record

	// Public refuses what is neither an event stream of a run path nor on one of the PublicPaths, which are globs of path.Match.
	Public      bool
	PublicPaths []string

	// Judge makes the judge of one stream's frames. Nil relays every stream as it comes.
	Judge func() Judge
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
	linger    time.Duration
	order     order
	forward   *httputil.ReverseProxy
	working   sync.WaitGroup // run requests and observations
	stopped   context.Context
	stop      context.CancelFunc
	unchanged sync.Map               // the reasons for which an agent card passed unchanged that were logged
	missed    atomic.Pointer[string] // what happened when the agent was not reached, as it was logged; nil when it was reached since
}

// NewProxy prepares a proxy; Handler serves it.
func NewProxy(s ProxySettings, c *collector.Collector, dialects []dialect.Dialect, t Tracing, counters Counters, logger *slog.Logger, now func() time.Time) *Proxy {
	p := &Proxy{settings: s, collector: c, dialects: dialects, tracing: t, counters: counters, logger: logger, now: now, linger: linger, order: newOrder()}
	p.stopped, p.stop = context.WithCancel(context.Background())
	p.forward = &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		Transport:      newUpstream(),
		FlushInterval:  -1,
		ModifyResponse: p.observe,
		ErrorHandler:   p.fail,
		ErrorLog:       slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	return p
}

// Wait returns when every run request is over, its span too, and every stream has been observed to its end.
func (p *Proxy) Wait() { p.working.Wait() }

// CloseIdle closes the connections to the agent that serve no request.
func (p *Proxy) CloseIdle() { p.forward.Transport.(*upstream).closeIdle() }

// Stop closes the connections that have switched protocols. A stream that breaks off after it is not the client's doing.
func (p *Proxy) Stop() { p.stop() }

// exchange is a request on a run path, from its forwarding to the end of its answer.
type exchange struct {
	route
	opened time.Time
	body   *requestBody
	length int64
	span   *serverSpan // nil on a path that is no agent's
	parent event.SpanContext
	first  *signal // closed once a frame of the answer was observed; nil if the request begins no run
	stream bool    // the answer is observed
}

// began returns the signal of the first frame, which the observation closes.
func (x *exchange) began() *signal {
	if x == nil || x.first == nil {
		return newSignal()
	}
	x.stream = true
	return x.first
}

type exchangeKey struct{}

// requestKey is that of the request itself where agent cards are replaced.
type requestKey struct{}

// ServeHTTP forwards a request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect || r.RequestURI != "*" && !strings.HasPrefix(r.RequestURI, "/") {
		http.Error(w, "delegraph forwards to one agent and is no open proxy", http.StatusBadRequest)
		return
	}
	if r.Method == "PRI" && r.RequestURI == "*" { // how HTTP/2 begins, which the server hands on like a request
		w.Header().Set("Connection", "close")
		http.Error(w, "delegraph speaks HTTP/1.1 where there is no TLS", http.StatusHTTPVersionNotSupported)
		return
	}
	// Without it the server reads a request to its end before it answers, and closes it under the transport that still reads
	// it: an agent that answers early would lose its stream. HTTP/2 is duplex of itself and says so by an error.
	_ = http.NewResponseController(w).EnableFullDuplex()
	body := newRequestBody(r)
	answer := &answerWriter{ResponseWriter: w, request: body, client: r.Context()}
	r, done := p.lingering(r)
	defer done()
	found := p.route(r)
	granted := p.reach(r, found)
	if granted == reachNothing {
		http.Error(w, "delegraph: "+notPublic{}.Error(), http.StatusForbidden)
		return
	}
	answer.restricted = granted != reachAll
	r = r.WithContext(context.WithValue(r.Context(), reachKey{}, granted))
	switch {
	case found.dialects != nil:
		p.working.Add(1)
		defer p.working.Done()
		answer.span = p.startSpan(r, found.pattern)
		defer p.endSpan(answer)
		r = p.exchanging(r, &exchange{route: found, body: body, span: answer.span, parent: spanContext(answer.span.SpanContext())})
	case mayAskForRun(r):
		found = route{dialects: p.dialects, continues: r.Method != http.MethodPost, open: true}
		r = p.exchanging(r, &exchange{route: found, body: body, parent: p.callerOf(r)})
	}
	defer p.answered(r)
	if p.settings.Cards {
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, body))
	}
	if r.Body != http.NoBody {
		r.Body = body
	}
	p.forward.ServeHTTP(answer, r)
	answer.whole = true
}

// exchanging returns the request with its exchange, which begins now.
func (p *Proxy) exchanging(r *http.Request, x *exchange) *http.Request {
	x.opened, x.length, x.body.limit = p.now(), r.ContentLength, p.settings.BodyLimit
	if x.span != nil {
		x.opened = x.span.started // one reading of the clock dates both spans, so that the run's cannot end after the request's
	}
	if x.span != nil && p.settings.Named != nil {
		x.body.over = func() { p.working.Go(func() { p.name(x) }) }
	}
	if !x.continues {
		x.first = p.order.begin()
	}
	return r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
}

// answered notes that a request is over. If its answer is observed, the observation does so.
func (p *Proxy) answered(r *http.Request) {
	if x, _ := r.Context().Value(exchangeKey{}).(*exchange); x != nil && x.first != nil && !x.stream {
		p.order.forget(x.first)
	}
}

// mayAskForRun reports whether a request on any path may ask for an agent's stream, which only the stream itself can tell.
func mayAskForRun(r *http.Request) bool {
	posts := r.Method == http.MethodPost && strings.Contains(strings.ToLower(r.Header.Get("Content-Type")), "json")
	return posts || asksForStream(r.Header)
}

// callerOf returns the span of the caller, which a request that has no span of its own belongs to.
func (p *Proxy) callerOf(r *http.Request) event.SpanContext {
	return spanContext(trace.SpanContextFromContext(p.tracing.Propagator.Extract(context.Background(), propagation.HeaderCarrier(r.Header))))
}

// route is what a request's path says of its answer.
type route struct {
	dialects  []dialect.Dialect // whose streams it may be; nil where it is no path of agents' streams
	pattern   string            // that the path matches: a glob of the configuration, else of the first dialect
	continues bool              // the stream goes on from run to run
	open      bool              // it need not be an agent's stream, and passes unless a dialect is sure of it
	doubtful  bool              // another server would take it for a path that is no agent's
}

// route finds the dialects that a path selects. A path that only the configuration knows answers one run request. Where the
// configuration names the agent's dialect, a path that only others have is judged as theirs: it passes no more than without that.
func (p *Proxy) route(r *http.Request) route {
	as := read(r.URL) // once: a path may have a megabyte
	found := p.routeAs(r.Method, as.canonical())
	if !as.isOdd() {
		return found
	}
	all := p.routeAs(r.Method, as)
	all.doubtful = found.dialects == nil
	if !all.doubtful {
		all.pattern = found.pattern
	}
	return all
}

func (p *Proxy) routeAs(method string, as readings) route {
	own := func(d dialect.Dialect) bool { return d.Name() == p.settings.Dialect }
	if i := slices.IndexFunc(p.dialects, own); i >= 0 {
		if found := p.routeAmong(p.dialects[i:i+1], method, as); found.dialects != nil {
			return found
		}
	}
	return p.routeAmong(p.dialects, method, as)
}

func (p *Proxy) routeAmong(dialects []dialect.Dialect, method string, as readings) (found route) {
	configured := slices.IndexFunc(p.settings.Paths, as.match)
	if configured >= 0 {
		found.pattern = p.settings.Paths[configured]
	}
	for _, d := range dialects {
		paths := slices.DeleteFunc(slices.Clone(d.Paths()), func(at dialect.Path) bool {
			return at.Method != "" && at.Method != method || !as.match(at.Glob)
		})
		if configured >= 0 || p.settings.Paths == nil && len(paths) > 0 {
			shared := configured < 0 && !slices.ContainsFunc(paths, func(at dialect.Path) bool { return !at.Shared })
			found.open = shared && p.settings.Dialect == "" && !p.settings.Public && (found.open || found.dialects == nil)
			found.dialects = append(found.dialects, d)
			found.continues = found.continues || slices.ContainsFunc(paths, func(at dialect.Path) bool { return at.Continues })
			if found.pattern == "" {
				found.pattern = paths[0].Glob
			}
		}
	}
	return found
}

func (p *Proxy) fail(w http.ResponseWriter, r *http.Request, err error) {
	answer := w.(*answerWriter)
	if r.Context().Err() != nil {
		answer.fail(p.cutOff(answer.client))
		w.WriteHeader(http.StatusBadGateway) // nobody is there to read it
		return
	}
	if answer.request.isBroken() {
		http.Error(w, "delegraph: the request is malformed or broke off", http.StatusBadRequest)
		return
	}
	if errors.As(err, &notUpgraded{}) {
		http.Error(w, "delegraph: "+err.Error(), http.StatusBadGateway)
		return
	}
	if errors.As(err, &notPublic{}) {
		http.Error(w, "delegraph: "+err.Error(), http.StatusForbidden)
		return
	}
	var unread unjudgeable
	if errors.As(err, &unread) {
		answer.fail(failureWithheld)
		p.logger.Warn("stream withheld", "name", p.settings.Name, "err", err)
		sentence := "delegraph: " + err.Error()
		if answer.restricted {
			sentence = "delegraph: the agent's stream cannot be filtered" // the error names what the agent said
		}
		http.Error(w, sentence, http.StatusBadGateway)
		return
	}
	p.counters.Up(p.settings.Name, false)
	answer.fail(failureUnreachable)
	happened := "did not answer; is it running at %s?"
	if errors.Is(err, errNoHTTP) {
		happened = "answered, but not in HTTP; is it what listens at %s, and is the scheme of its URL right?"
	}
	if before := p.missed.Swap(&happened); before == nil || *before != happened { // once: clients may ask a thousand times a second
		p.logger.Warn("agent unreachable", "name", p.settings.Name, "upstream", p.settings.Upstream.Host, "err", err)
	}
	sentence := fmt.Sprintf("delegraph: the agent behind source %q "+happened, p.settings.Name, p.settings.Upstream.Host)
	if answer.restricted {
		sentence = "delegraph: the agent did not answer" // strangers learn no addresses
	}
	http.Error(w, sentence, http.StatusBadGateway)
}

func spanContext(sc trace.SpanContext) event.SpanContext {
	return event.SpanContext{Trace: sc.TraceID(), Span: sc.SpanID(), Sampled: sc.IsSampled()}
}

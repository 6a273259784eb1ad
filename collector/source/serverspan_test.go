package source_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
)

// tracedProxy is a proxy with a recorder of its spans.
type tracedProxy struct {
	*proxyRecorder
	*source.Proxy
	address  string
	recorder *tracetest.SpanRecorder
	sampled  []sdktrace.SamplingParameters
}

// ShouldSample samples everything and records the parameters.
func (p *tracedProxy) ShouldSample(parameters sdktrace.SamplingParameters) sdktrace.SamplingResult {
	p.locked(func() { p.sampled = append(p.sampled, parameters) })
	return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
}

func (p *tracedProxy) Description() string { return "test" }

func startTraced(t *testing.T, agent string, settings source.ProxySettings, methods ...string) *tracedProxy {
	t.Helper()
	p := &tracedProxy{proxyRecorder: &proxyRecorder{}, recorder: tracetest.NewSpanRecorder()}
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSampler(p), sdktrace.WithSpanProcessor(p.recorder)).Tracer("")
	p.Proxy = newTracedProxy(t, p.proxyRecorder, agent, settings, source.Tracing{Tracer: tracer, Methods: methods})
	p.address = front(t, p.Proxy, p.Proxy)
	return p
}

// span waits for the only span and returns it.
func (p *tracedProxy) span(t *testing.T) sdktrace.ReadOnlySpan {
	t.Helper()
	p.Wait()
	ended := p.recorder.Ended()
	if len(ended) != 1 || ended[0].SpanKind() != trace.SpanKindServer {
		t.Fatalf("%d spans have ended, want one server span", len(ended))
	}
	return ended[0]
}

func attributesOf(all []attribute.KeyValue) map[string]string {
	attributes := map[string]string{}
	for _, a := range all {
		attributes[string(a.Key)] = a.Value.String()
	}
	return attributes
}

// startAgent starts an agent that sends one frame and returns its address.
func startAgent(t *testing.T) string {
	t.Helper()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, fmt.Sprintf(frame, 1)) }))
	t.Cleanup(agent.Close)
	return agent.URL
}

// TestServerSpan checks the name and attributes of a request's span, also as samplers see them.
func TestServerSpan(t *testing.T) {
	agent := startAgent(t)
	for name, c := range map[string]struct {
		method, path string
		header       http.Header
		paths        []string
		known        []string
		span         string
		want         map[string]string // attributes that differ from the usual ones; "" for an absent one
	}{
		"plain":             {span: "POST /run_sse"},
		"method":            {method: "GET", span: "GET /run_sse", want: map[string]string{"http.request.method": "GET"}},
		"newer method":      {method: "QUERY", span: "QUERY /run_sse", want: map[string]string{"http.request.method": "QUERY"}},
		"unknown method":    {method: "BREW", span: "HTTP /run_sse", want: map[string]string{"http.request.method": "_OTHER", "http.request.method_original": "BREW"}},
		"lower-case method": {method: "pOST", span: "HTTP /run_sse", want: map[string]string{"http.request.method": "_OTHER", "http.request.method_original": "pOST"}},
		"known methods":     {method: "BREW", known: []string{"BREW"}, span: "BREW /run_sse", want: map[string]string{"http.request.method": "BREW"}},
		"unlisted method":   {known: []string{"BREW"}, span: "HTTP /run_sse", want: map[string]string{"http.request.method": "_OTHER", "http.request.method_original": "POST"}},
		"ambiguous path":    {path: "/x/..//RUN_sse;a?secret=1", span: "POST /run_sse", want: map[string]string{"url.path": "/x/..//RUN_sse;a"}},
		"escaped":           {path: "/run_sse;%ff%20%C3%BC", span: "POST /run_sse", want: map[string]string{"url.path": "/run_sse;%ff%20%C3%BC"}},
		"pattern":           {path: "/events/s-1", span: "POST /events/*", want: map[string]string{"http.route": "/events/*", "url.path": "/events/s-1"}},
		"configured": {
			path: "/apps/a/run", paths: []string{"/run_sse", "/apps/*/run", "/apps/*/*"}, span: "POST /apps/*/run",
			want: map[string]string{"http.route": "/apps/*/run", "url.path": "/apps/a/run"},
		},
		"configured over a dialect's": {
			path: "/events/s-1", paths: []string{"/*/*"}, span: "POST /*/*", want: map[string]string{"http.route": "/*/*", "url.path": "/events/s-1"},
		},
		"no port": {header: http.Header{"X-Forwarded-Host": {"a.example.org"}}, span: "POST /run_sse", want: map[string]string{"server.address": "a.example.org", "server.port": ""}},
		"IPv6":    {header: http.Header{"X-Forwarded-Host": {"[::1]:81"}}, span: "POST /run_sse", want: map[string]string{"server.address": "::1", "server.port": "81"}},
		"invalid port": {
			header: http.Header{"X-Forwarded-Host": {"a:99999"}}, span: "POST /run_sse", want: map[string]string{"server.address": "a", "server.port": ""},
		},
		"behind proxies": {
			header: http.Header{"X-Forwarded-Host": {"a.example.org:8443, b"}, "X-Forwarded-Proto": {"HTTPS,http"}}, span: "POST /run_sse",
			want: map[string]string{"server.address": "a.example.org", "server.port": "8443", "url.scheme": "https"},
		},
		"behind proxies with Forwarded": {
			header: http.Header{"X-Forwarded-Host": {"b"}, "Forwarded": {`for=192.0.2.1; Host="a.example.org:8443";proto=https, host=c`}}, span: "POST /run_sse",
			want: map[string]string{"server.address": "a.example.org", "server.port": "8443", "url.scheme": "https"},
		},
		"invalid scheme": {header: http.Header{"X-Forwarded-Proto": {"gopher"}}, span: "POST /run_sse"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startTraced(t, agent, source.ProxySettings{Paths: c.paths}, c.known...)
			method, path := "POST", "/run_sse"
			if c.method != "" {
				method = c.method
			}
			if c.path != "" {
				path = c.path
			}
			ask(t, p.address, method, path, c.header)
			host, port, _ := net.SplitHostPort(strings.TrimPrefix(p.address, "http://"))
			want := map[string]string{
				"http.request.method": "POST", "http.route": "/run_sse", "url.scheme": "http", "url.path": "/run_sse",
				"server.address": host, "server.port": port, "delegraph.source": "test",
			}
			maps.Copy(want, c.want)
			maps.DeleteFunc(want, func(_, value string) bool { return value == "" })
			span := p.span(t)
			if diff := cmp.Diff(want, attributesOf(p.sampled[0].Attributes)); diff != "" {
				t.Errorf("the attributes for the sampler differ (-want +got):\n%s", diff)
			}
			want["http.response.status_code"] = "200"
			if diff := cmp.Diff(want, attributesOf(span.Attributes())); diff != "" || span.Name() != c.span || p.sampled[0].Name != c.span {
				t.Errorf("the span is %s, want %s; the attributes differ (-want +got):\n%s", span.Name(), c.span, diff)
			}
		})
	}
}

// ask sends a request and reads the whole answer.
func ask(t *testing.T, address, method, path string, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(r.Header, header)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
}

// TestServerSpanOutcome checks the status of the span for each way in which a request ends.
func TestServerSpanOutcome(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, c := range map[string]struct {
		agent    http.HandlerFunc // nil: nothing listens
		filtered bool
		body     string // the rest of the request, or "" for the usual one
		status   string
		error    string
		code     codes.Code
	}{
		"answered":    {agent: status(200), status: "200"},
		"redirected":  {agent: status(302), status: "302"},
		"not found":   {agent: status(404), status: "404"},
		"failed":      {agent: status(500), status: "500", error: "500", code: codes.Error},
		"overloaded":  {agent: status(503), status: "503", error: "503", code: codes.Error},
		"early hints": {agent: func(w http.ResponseWriter, r *http.Request) { status(103)(w, r); status(204)(w, r) }, status: "204"},
		"no agent":    {status: "502", error: "agent_unreachable", code: codes.Error},
		"aborted":     {agent: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, status: "502", error: "agent_unreachable", code: codes.Error},
		"incomplete": {agent: func(w http.ResponseWriter, _ *http.Request) {
			stream(w, fmt.Sprintf(frame, 1))
			panic(http.ErrAbortHandler)
		}, status: "200", error: "broken_off", code: codes.Error},
		"incomplete, filtered": {agent: func(w http.ResponseWriter, _ *http.Request) {
			stream(w, fmt.Sprintf(frame, 1))
			panic(http.ErrAbortHandler)
		}, filtered: true, status: "200", error: "broken_off", code: codes.Error},
		"incomplete, not a stream": {agent: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "{")
		}, status: "200", error: "broken_off", code: codes.Error},
		"failed and incomplete": {agent: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			w.WriteHeader(500)
		}, status: "500", error: "500", code: codes.Error},
		"withheld": {agent: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			stream(w, "x")
		}, filtered: true, status: "502", error: "stream_withheld", code: codes.Error},
		"malformed request": {agent: func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		}, body: "Transfer-Encoding: chunked\r\n\r\nnonsense\r\n", status: "400"},
	} {
		t.Run(name, func(t *testing.T) {
			agent := httptest.NewServer(c.agent)
			defer agent.Close()
			if c.agent == nil {
				agent.Close()
			}
			settings := source.ProxySettings{}
			if c.filtered {
				settings.NewFilter = func() source.Filter { return passValid{} }
			}
			p := startTraced(t, agent.URL, settings)
			body := c.body
			if body == "" {
				body = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(request), request)
			}
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.address, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "POST /run_sse HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+body)
			_, _ = io.Copy(io.Discard, conn) // the answer may be incomplete
			p.checkOutcome(t, c.status, c.error, c.code)
		})
	}
}

// TestServerSpanOfFailedRun checks that a run that fails in an answer with the status 200 is an error of the request, even if it is
// observed only after the request.
func TestServerSpanOfFailedRun(t *testing.T) {
	for name, c := range map[string]struct {
		filtered, brokenOff bool
		want                string
	}{
		"copied":     {want: "SAFETY"},
		"filtered":   {filtered: true, want: "SAFETY"},
		"broken off": {brokenOff: true, want: "broken_off"}, // the request's own failure comes first
	} {
		t.Run(name, func(t *testing.T) {
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				stream(w, fmt.Sprintf(frame, 1))
				if c.brokenOff {
					panic(http.ErrAbortHandler)
				}
			}))
			defer agent.Close()
			settings := source.ProxySettings{}
			if c.filtered {
				settings.NewFilter = func() source.Filter { return passValid{} }
			}
			p := startTraced(t, agent.URL, settings)
			over := make(chan struct{})
			p.frame = func(b *event.Batch) {
				<-over
				b.Stream.RunFailed("SAFETY")
			}
			ask(t, p.address, "POST", "/run_sse", nil)
			if ended := p.recorder.Ended(); len(ended) > 0 {
				t.Errorf("the span ended before the answer was observed")
			}
			close(over)
			p.checkOutcome(t, "200", c.want, codes.Error)
		})
	}
}

// TestServerSpanCutOff checks the span if the client leaves or the proxy stops, before or during the answer.
func TestServerSpanCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		answers, filtered, stops bool
		status, error            string
		code                     codes.Code
	}{
		"leaves before":           {error: "canceled"},
		"leaves during":           {answers: true, status: "200", error: "canceled"},
		"leaves during, filtered": {answers: true, filtered: true, status: "200", error: "canceled"},
		"stopped before":          {stops: true, error: "shutdown", code: codes.Error},
		"stopped during":          {stops: true, answers: true, status: "200", error: "shutdown", code: codes.Error},
	} {
		t.Run(name, func(t *testing.T) {
			asked, left := make(chan struct{}), make(chan struct{})
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client leaves
				if c.answers {
					stream(w, fmt.Sprintf(frame, 1))
				}
				close(asked)
				<-r.Context().Done()
				close(left)
			}))
			defer agent.Close()
			settings := source.ProxySettings{}
			if c.filtered {
				settings.NewFilter = func() source.Filter { return passValid{} }
			}
			p := startTraced(t, agent.URL, settings)
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.address, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "POST /run_sse HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", len(request), request)
			<-asked
			if c.answers {
				if _, err := conn.Read(make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
			}
			if c.stops {
				p.Stop()
			}
			conn.Close()
			<-left
			p.checkOutcome(t, c.status, c.error, c.code)
		})
	}
}

// checkOutcome checks the status and the error of the span.
func (p *tracedProxy) checkOutcome(t *testing.T, status, failure string, code codes.Code) {
	t.Helper()
	span := p.span(t)
	got := attributesOf(span.Attributes())
	if got["http.response.status_code"] != status || got["error.type"] != failure || span.Status() != (sdktrace.Status{Code: code}) {
		t.Errorf("the span has the status code %q, error %q and status %v; want %q, %q and %v", got["http.response.status_code"], got["error.type"], span.Status(), status, failure, code)
	}
}

// TestTraceresponse checks that clients of streams get a traceresponse header: ours, or the agent's if it sends one.
func TestTraceresponse(t *testing.T) {
	for name, c := range map[string]struct {
		media, own string
		ours       bool // the client gets our header
	}{
		"stream":                 {media: "text/event-stream", ours: true},
		"stream with a header":   {media: "text/event-stream", own: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
		"stream with an invalid": {media: "text/event-stream", own: "odd"},
		"no stream":              {media: "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.media)
				if c.own != "" {
					w.Header().Set("traceresponse", c.own)
				}
				_, _ = fmt.Fprintf(w, frame, 1)
			}))
			defer agent.Close()
			p := startTraced(t, agent.URL, source.ProxySettings{})
			resp := post(t, p.address, request)
			_, _ = io.Copy(io.Discard, resp.Body)
			sc, want := p.span(t).SpanContext(), c.own
			if c.ours {
				want = "00-" + sc.TraceID().String() + "-" + sc.SpanID().String() + "-01"
			}
			if got := strings.Join(resp.Header.Values("traceresponse"), ","); got != want {
				t.Errorf("the client gets %q, want %q", got, want)
			}
		})
	}
}

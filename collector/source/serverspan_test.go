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
	"unicode/utf8"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
)

// traced is a proxy with the spans that it makes.
type traced struct {
	*seen
	*source.Proxy
	address  string
	recorder *tracetest.SpanRecorder
	sampled  []sdktrace.SamplingParameters
}

// ShouldSample samples everything and keeps what a sampler sees.
func (p *traced) ShouldSample(seen sdktrace.SamplingParameters) sdktrace.SamplingResult {
	p.locked(func() { p.sampled = append(p.sampled, seen) })
	return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
}

func (p *traced) Description() string { return "test" }

func startTraced(t *testing.T, agent string, settings source.ProxySettings, methods ...string) *traced {
	t.Helper()
	p := &traced{seen: &seen{}, recorder: tracetest.NewSpanRecorder()}
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSampler(p), sdktrace.WithSpanProcessor(p.recorder)).Tracer("")
	p.Proxy = newTracedProxy(t, p.seen, agent, settings, source.Tracing{Tracer: tracer, Methods: methods})
	p.address = front(t, p.Proxy, p.Proxy)
	return p
}

// span returns the only span, when it has ended.
func (p *traced) span(t *testing.T) sdktrace.ReadOnlySpan {
	t.Helper()
	p.Wait()
	ended := p.recorder.Ended()
	if len(ended) != 1 || ended[0].SpanKind() != trace.SpanKindServer {
		t.Fatalf("%d spans", len(ended))
	}
	return ended[0]
}

func attributesOf(all []attribute.KeyValue) map[string]string {
	said := map[string]string{}
	for _, a := range all {
		said[string(a.Key)] = a.Value.String()
	}
	return said
}

// speaking is an agent that sends one frame.
func speaking(t *testing.T) string {
	t.Helper()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, fmt.Sprintf(frame, 1)) }))
	t.Cleanup(agent.Close)
	return agent.URL
}

// TestServerSpan has the name of a request's span and what it says of the request, to samplers too.
func TestServerSpan(t *testing.T) {
	agent := speaking(t)
	for name, c := range map[string]struct {
		method, path string
		header       http.Header
		paths        []string
		known        []string
		span         string
		want         map[string]string // beside what most have; "" for what is not there
	}{
		"plain":              {span: "POST /run_sse"},
		"method":             {method: "GET", span: "GET /run_sse", want: map[string]string{"http.request.method": "GET"}},
		"newer method":       {method: "QUERY", span: "QUERY /run_sse", want: map[string]string{"http.request.method": "QUERY"}},
		"unknown method":     {method: "BREW", span: "HTTP /run_sse", want: map[string]string{"http.request.method": "_OTHER", "http.request.method_original": "BREW"}},
		"method in its case": {method: "pOST", span: "HTTP /run_sse", want: map[string]string{"http.request.method": "_OTHER", "http.request.method_original": "pOST"}},
		"known methods":      {method: "BREW", known: []string{"BREW"}, span: "BREW /run_sse", want: map[string]string{"http.request.method": "BREW"}},
		"no longer known":    {known: []string{"BREW"}, span: "HTTP /run_sse", want: map[string]string{"http.request.method": "_OTHER", "http.request.method_original": "POST"}},
		"another spelling":   {path: "/x/..//RUN_sse;a?secret=1", span: "POST /run_sse", want: map[string]string{"url.path": "/x/..//RUN_sse;a"}},
		"escaped":            {path: "/run_sse;%ff%20%C3%BC", span: "POST /run_sse", want: map[string]string{"url.path": "/run_sse;%ff%20%C3%BC"}},
		"pattern":            {path: "/events/s-1", span: "POST /events/*", want: map[string]string{"http.route": "/events/*", "url.path": "/events/s-1"}},
		"configured": {
			path: "/apps/a/run", paths: []string{"/run_sse", "/apps/*/run", "/apps/*/*"}, span: "POST /apps/*/run",
			want: map[string]string{"http.route": "/apps/*/run", "url.path": "/apps/a/run"},
		},
		"configured for a dialect's": {
			path: "/events/s-1", paths: []string{"/*/*"}, span: "POST /*/*", want: map[string]string{"http.route": "/*/*", "url.path": "/events/s-1"},
		},
		"no port": {header: http.Header{"X-Forwarded-Host": {"a.example.org"}}, span: "POST /run_sse", want: map[string]string{"server.address": "a.example.org", "server.port": ""}},
		"IPv6":    {header: http.Header{"X-Forwarded-Host": {"[::1]:81"}}, span: "POST /run_sse", want: map[string]string{"server.address": "::1", "server.port": "81"}},
		"a port that is none": {
			header: http.Header{"X-Forwarded-Host": {"a:99999"}}, span: "POST /run_sse", want: map[string]string{"server.address": "a", "server.port": ""},
		},
		"behind proxies": {
			header: http.Header{"X-Forwarded-Host": {"a.example.org:8443, b"}, "X-Forwarded-Proto": {"HTTPS,http"}}, span: "POST /run_sse",
			want: map[string]string{"server.address": "a.example.org", "server.port": "8443", "url.scheme": "https"},
		},
		"behind proxies by the standard": {
			header: http.Header{"X-Forwarded-Host": {"b"}, "Forwarded": {`for=192.0.2.1; Host="a.example.org:8443";proto=https, host=c`}}, span: "POST /run_sse",
			want: map[string]string{"server.address": "a.example.org", "server.port": "8443", "url.scheme": "https"},
		},
		"a scheme that is none": {header: http.Header{"X-Forwarded-Proto": {"gopher"}}, span: "POST /run_sse"},
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
				t.Errorf("a sampler sees (-want +got):\n%s", diff)
			}
			want["http.response.status_code"] = "200"
			if diff := cmp.Diff(want, attributesOf(span.Attributes())); diff != "" || span.Name() != c.span || p.sampled[0].Name != c.span {
				t.Errorf("%s, not %s (-want +got):\n%s", span.Name(), c.span, diff)
			}
		})
	}
}

// ask reads the answer to its end.
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

// TestServerSpanTexts has requests with texts that are long, or no text: what is in the span is neither, and holds nothing of them.
func TestServerSpanTexts(t *testing.T) {
	const much = 900 << 10
	long := strings.Repeat("a", much)
	agent := speaking(t)
	for name, c := range map[string]struct {
		method, path string
		header       string // X-Forwarded-Host
	}{
		"long path":         {"POST", "/run_sse;" + long, ""},
		"long escaped path": {"POST", "/run_sse;" + strings.Repeat("%ff", much/3), ""},
		"long query":        {"POST", "/run_sse?" + long, ""},
		"long method":       {long, "/run_sse", ""},
		"long host":         {"POST", "/run_sse", long},
		"path of no text":   {"POST", "/run_sse;%ff%00", ""},
		"host of no text":   {"POST", "/run_sse", "a\xff\xfe:81"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startTraced(t, agent, source.ProxySettings{})
			var line, host string
			address := front(t, p.Proxy, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				line, host = requestLine(r), r.Header.Get("X-Forwarded-Host")
				p.ServeHTTP(w, r)
			}))
			header := ""
			if c.header != "" {
				header = "X-Forwarded-Host: " + c.header + "\r\n"
			}
			say(t, address, c.method+" "+c.path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+header+"\r\n", false)
			span := p.span(t)
			texts := map[string]string{"the name": span.Name()}
			for _, a := range span.Attributes() {
				if a.Value.Type() == attribute.STRING {
					texts[string(a.Key)] = a.Value.AsString()
				}
			}
			for what, s := range texts {
				if len(s) > event.MaxText || !utf8.ValidString(s) {
					t.Errorf("%s has %d bytes: %.40q", what, len(s), s)
				}
				if within(s, line) || within(s, host) {
					t.Errorf("%s is a part of the request: %.40q", what, s)
				}
			}
		})
	}
}

// within reports whether s lies in the memory of whole.
func within(s, whole string) bool {
	from, start := uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(unsafe.Pointer(unsafe.StringData(whole)))
	return s != "" && whole != "" && from >= start && from < start+uintptr(len(whole))
}

// TestServerSpanOutcome has every way in which a request ends.
func TestServerSpanOutcome(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, c := range map[string]struct {
		agent  http.HandlerFunc // nil: nobody is there
		judged bool
		body   string // of the request, instead of the usual
		status string
		error  string
		code   codes.Code
	}{
		"answered":       {agent: status(200), status: "200"},
		"redirected":     {agent: status(302), status: "302"},
		"refused":        {agent: status(404), status: "404"},
		"failed":         {agent: status(500), status: "500", error: "500", code: codes.Error},
		"overloaded":     {agent: status(503), status: "503", error: "503", code: codes.Error},
		"informed first": {agent: func(w http.ResponseWriter, r *http.Request) { status(103)(w, r); status(204)(w, r) }, status: "204"},
		"nobody":         {status: "502", error: "agent_unreachable", code: codes.Error},
		"aborted":        {agent: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, status: "502", error: "agent_unreachable", code: codes.Error},
		"broken off": {agent: func(w http.ResponseWriter, _ *http.Request) {
			stream(w, fmt.Sprintf(frame, 1))
			panic(http.ErrAbortHandler)
		}, status: "200", error: "broken_off", code: codes.Error},
		"broken off, judged": {agent: func(w http.ResponseWriter, _ *http.Request) {
			stream(w, fmt.Sprintf(frame, 1))
			panic(http.ErrAbortHandler)
		}, judged: true, status: "200", error: "broken_off", code: codes.Error},
		"broken off, and no stream": {agent: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "{")
		}, status: "200", error: "broken_off", code: codes.Error},
		"failed and broken off": {agent: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			w.WriteHeader(500)
		}, status: "500", error: "500", code: codes.Error},
		"withheld": {agent: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			stream(w, "x")
		}, judged: true, status: "502", error: "stream_withheld", code: codes.Error},
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
			if c.judged {
				settings.Judge = func() source.Judge { return clement{} }
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
			_, _ = io.Copy(io.Discard, conn) // it may break off
			p.check(t, c.status, c.error, c.code)
		})
	}
}

// TestServerSpanCutOff has a client that leaves, by itself or because we stop, before the answer or within it.
func TestServerSpanCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		answers, judged, stops bool
		status, error          string
		code                   codes.Code
	}{
		"leaves before":        {error: "canceled"},
		"leaves within":        {answers: true, status: "200", error: "canceled"},
		"leaves within judged": {answers: true, judged: true, status: "200", error: "canceled"},
		"stopped before":       {stops: true, error: "shutdown", code: codes.Error},
		"stopped within":       {stops: true, answers: true, status: "200", error: "shutdown", code: codes.Error},
	} {
		t.Run(name, func(t *testing.T) {
			asked, left := make(chan struct{}), make(chan struct{})
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client leaves
				if c.answers {
					stream(w, fmt.Sprintf(frame, 1))
				}
				close(asked)
				<-r.Context().Done()
				close(left)
			}))
			defer agent.Close()
			settings := source.ProxySettings{}
			if c.judged {
				settings.Judge = func() source.Judge { return clement{} }
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
			p.check(t, c.status, c.error, c.code)
		})
	}
}

// check wants the outcome in the span.
func (p *traced) check(t *testing.T, status, failure string, code codes.Code) {
	t.Helper()
	span := p.span(t)
	said := attributesOf(span.Attributes())
	if said["http.response.status_code"] != status || said["error.type"] != failure || span.Status() != (sdktrace.Status{Code: code}) {
		t.Errorf("status %q, error %q, %v", said["http.response.status_code"], said["error.type"], span.Status())
	}
}

// TestTraceresponse tells clients of streams of the span, unless the agent tells of one of its own.
func TestTraceresponse(t *testing.T) {
	for name, c := range map[string]struct {
		media, own string
		told       bool
	}{
		"stream":                 {media: "text/event-stream", told: true},
		"stream with one":        {media: "text/event-stream", own: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
		"stream with an odd one": {media: "text/event-stream", own: "odd"},
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
			if c.told {
				want = "00-" + sc.TraceID().String() + "-" + sc.SpanID().String() + "-01"
			}
			if got := strings.Join(resp.Header.Values("traceresponse"), ","); got != want {
				t.Errorf("the client got %q, not %q", got, want)
			}
		})
	}
}

// TestIdentityHoldsNoRequest has sessions that long requests name: they are kept as long as their runs, and the requests are not.
func TestIdentityHoldsNoRequest(t *testing.T) {
	const requests, length = 8, 900 << 10
	long := strings.Repeat("a", length)
	for _, path := range []string{"/sse/stream?contextId=s-1&" + long, "/api/chats/s-1/messages/" + long + "/stream"} {
		p := startTraced(t, speaking(t), source.ProxySettings{})
		ask(t, p.address, "GET", path, nil)
		p.Wait()
		before := heap()
		for range requests {
			ask(t, p.address, "GET", path, nil)
		}
		p.Wait()
		if grown := int64(heap()) - int64(before); grown > requests*length/4 {
			t.Errorf("%.40s: %d bytes are kept of %d requests of %d bytes", path, grown, requests, length)
		}
		if session := p.streams[requests].Session; session != "s-1" {
			t.Errorf("%.40s: session %q", path, session)
		}
	}
}

// requestLine returns the first line of a request as the server has it: method and path are slices of it.
func requestLine(r *http.Request) string {
	return unsafe.String(unsafe.StringData(r.Method), len(r.Method+" "+r.RequestURI))
}

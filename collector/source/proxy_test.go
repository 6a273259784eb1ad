package source_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const frame = `data: {"author":"a","invocationId":"e-1","content":{"role":"model","parts":[{"text":"t%d"}]},"finishReason":"STOP"}` + "\n\n"

// proxyRecorder records everything that a proxy reports: it is the sink, the counters and the log.
type proxyRecorder struct {
	mu         sync.Mutex
	batches    int
	rejected   []event.Reason
	streams    []event.Stream
	ends       []event.End
	down       int
	brokeOff   int
	unobserved int
	unread     []string
	cards      []string // reasons why agent cards passed unchanged
	panics     []recovery.Component
	log        bytes.Buffer
	consume    func()
	frame      func(*event.Batch)
}

func (s *proxyRecorder) locked(do func()) { s.mu.Lock(); defer s.mu.Unlock(); do() }

func (s *proxyRecorder) Open(*event.Stream) {}
func (s *proxyRecorder) Consume(b *event.Batch) {
	s.locked(func() {
		s.batches++
		if b.Rejected != "" {
			s.rejected = append(s.rejected, b.Rejected)
		}
	})
	if s.consume != nil {
		s.consume()
	}
	if s.frame != nil {
		s.frame(b)
	}
}

func (s *proxyRecorder) Close(stream *event.Stream, end event.End, _ time.Time) {
	s.locked(func() { s.streams, s.ends = append(s.streams, *stream), append(s.ends, end) })
}

func (s *proxyRecorder) SetSourceUp(_ string, up bool) {
	if !up {
		s.locked(func() { s.down++ })
	}
}
func (s *proxyRecorder) CountBrokenAnswer(string)           { s.locked(func() { s.brokeOff++ }) }
func (s *proxyRecorder) CountUnobserved(_, _ string, n int) { s.locked(func() { s.unobserved += n }) }
func (s *proxyRecorder) CountUnreadRequest(_, reason string) {
	s.locked(func() { s.unread = append(s.unread, reason) })
}
func (s *proxyRecorder) CountUnchangedCard(_, reason string) {
	s.locked(func() { s.cards = append(s.cards, reason) })
}

// Write records a line of the log.
func (s *proxyRecorder) Write(line []byte) (int, error) {
	s.locked(func() { s.log.Write(line) })
	return len(line), nil
}

// startProxy starts a verbatim proxy in front of an agent. The returned function waits until all streams have been observed.
func startProxy(t *testing.T, s *proxyRecorder, agent http.Handler, queue int, dialects ...dialect.Dialect) (string, func()) {
	t.Helper()
	return startFiltered(t, s, agent, queue, nil, dialects...)
}

// startFiltered is like startProxy with a filter, which may be nil.
func startFiltered(t *testing.T, s *proxyRecorder, agent http.Handler, queue int, newFilter func() source.Filter, dialects ...dialect.Dialect) (string, func()) {
	t.Helper()
	upstream := httptest.NewServer(agent)
	t.Cleanup(upstream.Close)
	p := newProxy(t, s, upstream.URL, source.ProxySettings{QueueLimit: queue, NewFilter: newFilter}, dialects...)
	return front(t, p, p), p.Wait
}

// eachRelay runs a test with verbatim and with filtered streams.
func eachRelay(t *testing.T, test func(t *testing.T, newFilter func() source.Filter)) {
	t.Run("verbatim", func(t *testing.T) { test(t, nil) })
	t.Run("filtered", func(t *testing.T) { test(t, func() source.Filter { return passValid{} }) })
}

// newProxy returns a proxy with the settings and defaults for the others.
func newProxy(t testing.TB, s *proxyRecorder, upstream string, settings source.ProxySettings, dialects ...dialect.Dialect) *source.Proxy {
	t.Helper()
	return newTracedProxy(t, s, upstream, settings, source.Tracing{Tracer: noop.NewTracerProvider().Tracer("")}, dialects...)
}

// newTracedProxy is like newProxy with tracing.
func newTracedProxy(t testing.TB, s *proxyRecorder, upstream string, settings source.ProxySettings, tracing source.Tracing, dialects ...dialect.Dialect) *source.Proxy {
	t.Helper()
	target, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	if dialects == nil {
		dialects = collector.Dialects()
	}
	settings.Name, settings.Upstream, settings.BodyLimit, settings.JSONDepth, settings.FrameLimit = "test", target, 1<<10, 64, 1<<20
	settings.QueueLimit = cmp.Or(settings.QueueLimit, 1<<20)
	logger := slog.New(slog.NewTextHandler(s, nil))
	settings.Panics = recovery.New(logger, func(c recovery.Component) { s.locked(func() { s.panics = append(s.panics, c) }) })
	c := collector.New(dialects, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 64, Proof: proof.Limits{MaxText: 1 << 16, MaxFindings: 32}, Panics: settings.Panics}, s)
	tracing.Propagator = propagation.TraceContext{}
	return source.NewProxy(settings, c, dialects, tracing, s, logger, time.Now)
}

// front serves a handler that forwards to a proxy, which may be nil, and returns its address.
func front(t *testing.T, p *source.Proxy, h http.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.ConnContext = source.ConnContext
	server.Start()
	t.Cleanup(func() {
		server.Close()
		if p != nil {
			p.Wait()
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return server.URL
}

// sendRaw sends bytes over a new connection and returns the bytes of the answer. If half is set, it closes the sending half.
func sendRaw(t *testing.T, address, sent string, half bool) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, sent)
	if half {
		_ = conn.(*net.TCPConn).CloseWrite()
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Errorf("reading the answer fails after %q: %v", answer, err)
	}
	return string(answer)
}

func post(t *testing.T, address, body string) *http.Response {
	t.Helper()
	resp, err := http.Post(address+"/run_sse", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func stream(w http.ResponseWriter, bytes string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, bytes)
	_ = http.NewResponseController(w).Flush()
}

const request = `{"appName":"app","userId":"u","sessionId":"s","newMessage":{"role":"user","parts":[{"text":"x"}]}}`

// TestFramesAreNotDelayed checks that each frame is relayed at once: the agent sends the next frame only when the client has the previous one.
func TestFramesAreNotDelayed(t *testing.T) { eachRelay(t, testFramesAreNotDelayed) }

func testFramesAreNotDelayed(t *testing.T, newFilter func() source.Filter) {
	acknowledged, left := make(chan struct{}), make(chan struct{})
	s := &proxyRecorder{}
	address, wait := startFiltered(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(left)
		for i := range 20 {
			stream(w, fmt.Sprintf(frame, i))
			select {
			case <-acknowledged:
			case <-r.Context().Done():
				return
			}
		}
	}), 1<<20, newFilter)
	resp := post(t, address, request)
	for i := range 20 {
		want := fmt.Sprintf(frame, i)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			t.Fatalf("frame %d arrives as %q, %v", i, got, err)
		}
		select {
		case acknowledged <- struct{}{}:
		case <-left:
			t.Fatalf("the agent loses its client after frame %d", i)
		}
	}
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Fatalf("after the last frame, the client gets %q, %v", rest, err)
	}
	wait()
	if s.batches != 20 || len(s.ends) != 1 || s.ends[0] != event.EndOfStream {
		t.Errorf("the sink gets %d batches and the ends %v", s.batches, s.ends)
	}
	if id := s.streams[0].Identity; id.App != "app" || id.User != "u" || id.Session != "s" {
		t.Errorf("the identity is %+v", id)
	}
}

// TestAgentAnswersEarly checks that an answer can start before the client has sent its whole request.
func TestAgentAnswersEarly(t *testing.T) {
	s := &proxyRecorder{}
	address, wait := startProxy(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		stream(w, fmt.Sprintf(frame, 1))
		rest, err := io.ReadAll(r.Body)
		stream(w, fmt.Sprintf(": %d bytes, %v\n\n", len(rest), err))
	}), 1<<20)
	body, send := io.Pipe()
	resp, err := http.Post(address+"/run_sse", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, len(fmt.Sprintf(frame, 1)))); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(send, request)
	send.Close()
	rest, err := io.ReadAll(resp.Body)
	if want := fmt.Sprintf(": %d bytes, <nil>\n\n", len(request)); err != nil || string(rest) != want {
		t.Errorf("the agent answers %q, %v, want %q", rest, err, want)
	}
	wait()
	if !slices.Equal(s.unread, []string{source.UnreadIncomplete}) {
		t.Errorf("the requests counted as unread are %v", s.unread)
	}
}

// TestAgentIsDown checks that an unreachable agent is reported to every client, counted each time, and logged once until it is back.
func TestAgentIsDown(t *testing.T) {
	s := &proxyRecorder{}
	var up atomic.Bool
	address, _ := startProxy(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !up.Load() {
			panic(http.ErrAbortHandler)
		}
		stream(w, fmt.Sprintf(frame, 1))
	}), 1<<20)
	for outage := 1; outage <= 2; outage++ {
		up.Store(false)
		for range 5 {
			resp := post(t, address, request)
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(body), "did not answer; is it running at") {
				t.Errorf("the client gets %d %q", resp.StatusCode, body)
			}
		}
		up.Store(true)
		for range 2 {
			_, _ = io.ReadAll(post(t, address, request).Body)
		}
		s.locked(func() {
			logged := func(line string) int { return strings.Count(s.log.String(), line) }
			if s.down != 5*outage || logged("agent unreachable") != outage || logged("the agent is back") != outage {
				t.Errorf("after %d outages of 5 requests each, %d are counted, and the log is\n%s", outage, s.down, s.log.String())
			}
		})
	}
}

// TestClientLeaves checks that the agent notices that the client leaves.
func TestClientLeaves(t *testing.T) { eachRelay(t, testClientLeaves) }

func testClientLeaves(t *testing.T, newFilter func() source.Filter) {
	left := make(chan struct{})
	s := &proxyRecorder{}
	address, wait := startFiltered(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream(w, fmt.Sprintf(frame, 1))
		<-r.Context().Done()
		close(left)
	}), 1<<20, newFilter)
	resp := post(t, address, request)
	if _, err := io.ReadFull(resp.Body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	<-left // the agent notices it
	wait()
	if len(s.ends) != 1 || s.ends[0] != event.EndClientLeft {
		t.Errorf("the stream ends with %v", s.ends)
	}
}

// TestObserverFallsBehind checks that the client gets the whole stream if the sink is stalled.
func TestObserverFallsBehind(t *testing.T) { eachRelay(t, testObserverFallsBehind) }

func testObserverFallsBehind(t *testing.T, newFilter func() source.Filter) {
	behind := make(chan struct{})
	s := &proxyRecorder{consume: sync.OnceFunc(func() { <-behind })}
	var sent bytes.Buffer
	for i := range 500 {
		fmt.Fprintf(&sent, frame, i)
	}
	address, wait := startFiltered(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, sent.String()) }), 1<<10, newFilter)
	got, err := io.ReadAll(post(t, address, request).Body)
	close(behind)
	wait()
	if err != nil || !bytes.Equal(got, sent.Bytes()) {
		t.Fatalf("the client gets %d of %d bytes: %v", len(got), sent.Len(), err)
	}
	if s.unobserved == 0 || s.ends[0] != event.EndUnobserved {
		t.Errorf("%d bytes are counted as unobserved, and the stream ends with %v", s.unobserved, s.ends)
	}
}

// TestBytesPassUnchanged checks that a verbatim relay changes no byte.
func TestBytesPassUnchanged(t *testing.T) {
	for name, sent := range map[string]string{
		"random":     "\x00\xff\xfe{\x80data: \r\r\n\xef\xbb\xbf",
		"not json":   "data: {broken\n\n",
		"incomplete": "data: {\"author\"",
		"no dialect": "event: x\ndata: 1\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := &proxyRecorder{}
			address, wait := startProxy(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, sent) }), 1<<20)
			got, err := io.ReadAll(post(t, address, request).Body)
			wait()
			if err != nil || string(got) != sent {
				t.Errorf("the client gets %q, %v", got, err)
			}
			if len(s.ends) != 1 {
				t.Errorf("the stream ends with %v", s.ends)
			}
		})
	}
}

// TestUnreadRequests checks that the agent gets requests that the proxy does not read.
func TestUnreadRequests(t *testing.T) {
	for _, test := range []struct{ name, body string }{
		{source.UnreadMalformed, `{"appName":"a","appName":"b"}`},
		{source.UnreadTooLarge, `{"appName":"` + strings.Repeat("a", 2000) + `"}`},
		{source.UnreadSession, `{"sessionId":"."}`},
		{source.UnreadSession, `{"sessionId":".."}`},
	} {
		name, body := test.name, test.body
		t.Run(name, func(t *testing.T) {
			s := &proxyRecorder{}
			var got string
			address, wait := startProxy(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				read, _ := io.ReadAll(r.Body)
				got = string(read)
				stream(w, fmt.Sprintf(frame, 1))
			}), 1<<20)
			_, _ = io.ReadAll(post(t, address, body).Body)
			wait()
			if got != body || len(s.unread) != 1 || s.unread[0] != name || s.streams[0].App != "" || s.streams[0].Session != "" {
				t.Errorf("the agent reads %d of %d bytes; counted as unread: %v; app: %q", len(got), len(body), s.unread, s.streams[0].App)
			}
		})
	}
}

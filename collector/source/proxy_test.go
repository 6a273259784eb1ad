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
	"github.com/delegraph/delegraph/collector/sse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const frame = `data: {"author":"a","invocationId":"e-1","content":{"role":"model","parts":[{"text":"t%d"}]},"finishReason":"STOP"}` + "\n\n"

// seen is a sink, the counters and the log of a proxy.
type seen struct {
	mu         sync.Mutex
	batches    int
	rejected   []event.Reason
	streams    []event.Stream
	ends       []event.End
	down       int
	brokeOff   int
	unobserved int
	unread     []string
	cards      []string // reasons for which agent cards passed unchanged
	panics     []recovery.Component
	log        bytes.Buffer
	consume    func()
	frame      func(*event.Batch)
}

func (s *seen) locked(do func()) { s.mu.Lock(); defer s.mu.Unlock(); do() }

func (s *seen) Open(*event.Stream) {}
func (s *seen) Consume(b *event.Batch) {
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

func (s *seen) Close(stream *event.Stream, end event.End, _ time.Time) {
	s.locked(func() { s.streams, s.ends = append(s.streams, *stream), append(s.ends, end) })
}

func (s *seen) Up(_ string, up bool) {
	if !up {
		s.locked(func() { s.down++ })
	}
}
func (s *seen) BrokeOff(string)               { s.locked(func() { s.brokeOff++ }) }
func (s *seen) Unobserved(_, _ string, n int) { s.locked(func() { s.unobserved += n }) }
func (s *seen) Unread(_, reason string)       { s.locked(func() { s.unread = append(s.unread, reason) }) }
func (s *seen) CardPassed(_, reason string)   { s.locked(func() { s.cards = append(s.cards, reason) }) }

// Write keeps what is logged.
func (s *seen) Write(line []byte) (int, error) {
	s.locked(func() { s.log.Write(line) })
	return len(line), nil
}

// startProxy puts a proxy in front of an agent. The function returned waits for all observation to be over.
func startProxy(t *testing.T, s *seen, agent http.Handler, queue int, dialects ...dialect.Dialect) (string, func()) {
	t.Helper()
	return startJudged(t, s, agent, queue, nil, dialects...)
}

// startJudged does so with a judge in the path, or none.
func startJudged(t *testing.T, s *seen, agent http.Handler, queue int, judge func() source.Judge, dialects ...dialect.Dialect) (string, func()) {
	t.Helper()
	upstream := httptest.NewServer(agent)
	t.Cleanup(upstream.Close)
	p := newProxy(t, s, upstream.URL, source.ProxySettings{QueueLimit: queue, Judge: judge}, dialects...)
	return front(t, p, p), p.Wait
}

// eachRelay runs a test with streams that are relayed as they are, and with streams that are judged.
func eachRelay(t *testing.T, test func(t *testing.T, judge func() source.Judge)) {
	t.Run("verbatim", func(t *testing.T) { test(t, nil) })
	t.Run("judged", func(t *testing.T) { test(t, func() source.Judge { return clement{} }) })
}

// clement is a judge that lets out what is not rejected.
type clement struct{}

func (clement) Append(dst []byte, b *event.Batch) []byte {
	if b.Rejected == "" {
		dst, _ = sse.AppendFrame(dst, sse.Frame{Data: b.Frame.Data})
	}
	return dst
}

// newProxy makes one with settings that say only what is particular.
func newProxy(t testing.TB, s *seen, upstream string, settings source.ProxySettings, dialects ...dialect.Dialect) *source.Proxy {
	t.Helper()
	return newTracedProxy(t, s, upstream, settings, source.Tracing{Tracer: noop.NewTracerProvider().Tracer("")}, dialects...)
}

// newTracedProxy makes one with a tracer.
func newTracedProxy(t testing.TB, s *seen, upstream string, settings source.ProxySettings, tracing source.Tracing, dialects ...dialect.Dialect) *source.Proxy {
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
	c := collector.New(dialects, collector.Settings{Frame: 1 << 20, JSONDepth: 64, Proof: proof.Limits{Text: 1 << 16, Findings: 32}, Panics: settings.Panics}, s)
	tracing.Propagator = propagation.TraceContext{}
	return source.NewProxy(settings, c, dialects, tracing, s, logger, time.Now)
}

// front serves a proxy, if there is one, through a handler.
func front(t *testing.T, p *source.Proxy, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.Close()
		if p != nil {
			p.Wait()
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return server.URL
}

// say sends bytes over a connection of their own, and no more after them if they are half of it; it returns the answer's.
func say(t *testing.T, address, sent string, half bool) string {
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
		t.Errorf("after %q: %v", answer, err)
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

// TestFramesAreNotHeld has an agent that sends its next frame only when the client has the last one: no clock is needed.
func TestFramesAreNotHeld(t *testing.T) { eachRelay(t, testFramesAreNotHeld) }

func testFramesAreNotHeld(t *testing.T, judge func() source.Judge) {
	acknowledged, left := make(chan struct{}), make(chan struct{})
	s := &seen{}
	address, wait := startJudged(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(left)
		for i := range 20 {
			stream(w, fmt.Sprintf(frame, i))
			select {
			case <-acknowledged:
			case <-r.Context().Done():
				return
			}
		}
	}), 1<<20, judge)
	resp := post(t, address, request)
	for i := range 20 {
		want := fmt.Sprintf(frame, i)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			t.Fatalf("frame %d: %q, %v", i, got, err)
		}
		select {
		case acknowledged <- struct{}{}:
		case <-left:
			t.Fatalf("the agent lost its client after frame %d", i)
		}
	}
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Fatalf("after the last frame: %q, %v", rest, err)
	}
	wait()
	if s.batches != 20 || len(s.ends) != 1 || s.ends[0] != event.EndOfStream {
		t.Errorf("%d batches, ends %v", s.batches, s.ends)
	}
	if id := s.streams[0].Identity; id.App != "app" || id.User != "u" || id.Session != "s" {
		t.Errorf("identity %+v", id)
	}
}

// TestAgentAnswersEarly has a client that sends the rest of its request only when the answer has begun.
func TestAgentAnswersEarly(t *testing.T) {
	s := &seen{}
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
		t.Errorf("unread %v", s.unread)
	}
}

// TestAgentIsDown tells every client, counts every time, and says it once until the agent is back.
func TestAgentIsDown(t *testing.T) {
	s := &seen{}
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
				t.Errorf("%d %q", resp.StatusCode, body)
			}
		}
		up.Store(true)
		for range 2 {
			_, _ = io.ReadAll(post(t, address, request).Body)
		}
		s.locked(func() {
			told := func(line string) int { return strings.Count(s.log.String(), line) }
			if s.down != 5*outage || told("agent unreachable") != outage || told("the agent is back") != outage {
				t.Errorf("after %d outages, of 5 requests each, counted %d times; the log:\n%s", outage, s.down, s.log.String())
			}
		})
	}
}

func TestClientLeaves(t *testing.T) { eachRelay(t, testClientLeaves) }

func testClientLeaves(t *testing.T, judge func() source.Judge) {
	left := make(chan struct{})
	s := &seen{}
	address, wait := startJudged(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream(w, fmt.Sprintf(frame, 1))
		<-r.Context().Done()
		close(left)
	}), 1<<20, judge)
	resp := post(t, address, request)
	if _, err := io.ReadFull(resp.Body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	<-left // the agent learns of it as it would without us
	wait()
	if len(s.ends) != 1 || s.ends[0] != event.EndClientLeft {
		t.Errorf("ends %v", s.ends)
	}
}

func TestObserverFallsBehind(t *testing.T) { eachRelay(t, testObserverFallsBehind) }

func testObserverFallsBehind(t *testing.T, judge func() source.Judge) {
	behind := make(chan struct{})
	s := &seen{consume: sync.OnceFunc(func() { <-behind })}
	var sent bytes.Buffer
	for i := range 500 {
		fmt.Fprintf(&sent, frame, i)
	}
	address, wait := startJudged(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, sent.String()) }), 1<<10, judge)
	got, err := io.ReadAll(post(t, address, request).Body)
	close(behind)
	wait()
	if err != nil || !bytes.Equal(got, sent.Bytes()) {
		t.Fatalf("the client got %d of %d bytes: %v", len(got), sent.Len(), err)
	}
	if s.unobserved == 0 || s.ends[0] != event.EndUnobserved {
		t.Errorf("unobserved %d, end %v", s.unobserved, s.ends)
	}
}

func TestBytesPassAsTheyAre(t *testing.T) {
	for name, sent := range map[string]string{
		"random":     "\x00\xff\xfe{\x80data: \r\r\n\xef\xbb\xbf",
		"not json":   "data: {broken\n\n",
		"broken off": "data: {\"author\"",
		"no dialect": "event: x\ndata: 1\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := &seen{}
			address, wait := startProxy(t, s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, sent) }), 1<<20)
			got, err := io.ReadAll(post(t, address, request).Body)
			wait()
			if err != nil || string(got) != sent {
				t.Errorf("got %q, %v", got, err)
			}
			if len(s.ends) != 1 {
				t.Errorf("ends %v", s.ends)
			}
		})
	}
}

func TestUnreadRequests(t *testing.T) {
	for _, test := range []struct{ name, body string }{
		{source.UnreadMalformed, `{"appName":"a","appName":"b"}`},
		{source.UnreadTooLarge, `{"appName":"` + strings.Repeat("a", 2000) + `"}`},
		{source.UnreadSession, `{"sessionId":"."}`},
		{source.UnreadSession, `{"sessionId":".."}`},
	} {
		name, body := test.name, test.body
		t.Run(name, func(t *testing.T) {
			s := &seen{}
			var got string
			address, wait := startProxy(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				read, _ := io.ReadAll(r.Body)
				got = string(read)
				stream(w, fmt.Sprintf(frame, 1))
			}), 1<<20)
			_, _ = io.ReadAll(post(t, address, body).Body)
			wait()
			if got != body || len(s.unread) != 1 || s.unread[0] != name || s.streams[0].App != "" || s.streams[0].Session != "" {
				t.Errorf("agent read %d bytes of %d; unread %v; app %q", len(got), len(body), s.unread, s.streams[0].App)
			}
		})
	}
}

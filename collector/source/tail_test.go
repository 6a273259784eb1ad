package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
)

// tailRecorder records everything that a tail reports: it is the sink, the counters and the log. It is also the clock.
type tailRecorder struct {
	mu     sync.Mutex
	got    []string        // frames, streams and counter calls in order
	frames []sse.Frame     // as received
	waited []time.Duration // the pauses
	log    bytes.Buffer
	stop   context.CancelFunc
	limit  int // number of pauses after which the test stops the tail

	clock time.Time
	lasts time.Duration // from the start of a connection to its first bytes
}

func (a *tailRecorder) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.got = append(a.got, fmt.Sprintf(format, args...))
}

func (a *tailRecorder) Open(s *event.Stream)                { a.note("open %s", s.Session) }
func (a *tailRecorder) CountReconnect(string)               { a.note("again") }
func (a *tailRecorder) CountRepeatedFrame(string)           { a.note("repeated") }
func (a *tailRecorder) CountEvictedSession(string)          { a.note("evicted") }
func (a *tailRecorder) CountMissedFrames(_ string, n int64) { a.note("missed %d", n) }
func (a *tailRecorder) SetSourceUp(_ string, up bool)       { a.note("up %v", up) }
func (a *tailRecorder) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.log.Write(p)
}

func (a *tailRecorder) Consume(b *event.Batch) {
	a.note("%s %s%s", b.Frame.ID, b.Agent, b.Rejected)
	f := b.Frame
	a.mu.Lock()
	defer a.mu.Unlock()
	a.frames = append(a.frames, sse.Frame{ID: bytes.Clone(f.ID), Event: bytes.Clone(f.Event), Data: bytes.Clone(f.Data)})
}

func (a *tailRecorder) Close(_ *event.Stream, end event.End, _ time.Time) {
	a.note("close %s", map[event.End]string{event.EndOfStream: "ended", event.EndShutdown: "stopped"}[end])
}

func (a *tailRecorder) pause(ctx context.Context, d time.Duration) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waited = append(a.waited, d); len(a.waited) > a.limit {
		a.stop()
	}
	a.clock = a.clock.Add(d)
	return ctx.Err()
}

func (a *tailRecorder) now() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.clock
}

func (a *tailRecorder) heard() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clock = a.clock.Add(a.lasts)
}

// runTail runs a tail against a server with the given answers until it pauses more often than the limit.
func runTail(t *testing.T, limit int, change func(*TailSettings), answers ...http.HandlerFunc) *tailRecorder {
	t.Helper()
	a := &tailRecorder{limit: limit}
	a.listen(t, change, answers...)
	return a
}

func (a *tailRecorder) listen(t *testing.T, change func(*TailSettings), answers ...http.HandlerFunc) {
	t.Helper()
	a.listenInto(t, a, change, answers...)
}

func (a *tailRecorder) listenInto(t *testing.T, sink event.Sink, change func(*TailSettings), answers ...http.HandlerFunc) {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[min(asked, len(answers)-1)]
		asked++
		answer(w, r)
	}))
	defer server.Close()
	settings := TailSettings{Name: "support", URL: server.URL + "/events/ctx", Dialect: "adk"}
	if change != nil {
		change(&settings)
	}
	tail := newTailInto(settings, sink, a)
	defer tail.client.CloseIdleConnections()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	a.stop = stop
	tail.Run(ctx, "ctx", a.heard)
}

func newTail(s TailSettings, a *tailRecorder) *Tail { return newTailInto(s, a, a) }

func newTailInto(s TailSettings, sink event.Sink, a *tailRecorder) *Tail {
	c := collector.New(collector.Dialects(), collector.Settings{MaxFrame: 1 << 17, MaxJSONDepth: 64, Proof: proof.Limits{MaxText: 1 << 10, MaxFindings: 8}}, sink)
	s.Panics = recovery.New(slog.New(slog.NewTextHandler(a, nil)), func(c recovery.Component) { a.note("%s panicked", c) })
	tail := NewTail(s, c, a, slog.New(slog.NewTextHandler(a, nil)), a.now)
	tail.pause = a.pause
	return tail
}

func says(id, agent string) string {
	return fmt.Sprintf("id: %s\ndata: {\"author\":%q,\"invocationId\":\"e-1\"}\n\n", id, agent)
}

func streams(frames ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.Join(frames, ""))
	}
}

func answers(status int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for pair := range slices.Chunk(header, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.WriteHeader(status)
	}
}

// TestTail checks one stream over several connections.
func TestTail(t *testing.T) {
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		want    string
	}{
		"an end": {[]http.HandlerFunc{streams(says("1", "a")), answers(204)},
			"open ctx, up true, 1 a, again, close ended"},
		"interruptions": {[]http.HandlerFunc{streams(says("1", "a"), "data: {"), streams(says("2", "b")), answers(204)},
			"open ctx, up true, 1 a, again, up true, 2 b, again, close ended"},
		"repeated frames": {[]http.HandlerFunc{streams(says("1", "a"), says("2", "b"), says("2", "b")), streams(says("2", "b"), says("1", "c"), says("3", "c")), answers(204)},
			"open ctx, up true, 1 a, 2 b, 2 b, again, up true, repeated, 1 c, 3 c, again, close ended"},
		"no agent": {[]http.HandlerFunc{answers(503), streams(says("1", "a")), answers(204)},
			"open ctx, up false, again, up true, 1 a, again, close ended"},
		"other answers": {[]http.HandlerFunc{answers(200, "Content-Type", "text/html"), answers(401), streams(says("1", "a")), answers(204)},
			"open ctx, up false, again, up false, again, up true, 1 a, again, close ended"},
		"a redirect on the host": {[]http.HandlerFunc{answers(307, "Location", "/elsewhere"), streams(says("1", "a")), answers(204)},
			"open ctx, up true, 1 a, again, close ended"},
		"a redirect elsewhere": {[]http.HandlerFunc{answers(307, "Location", "http://192.0.2.1/"), answers(204)},
			"open ctx, up false, again, close ended"},
		"redirects without end": {[]http.HandlerFunc{answers(307, "Location", "/1"), answers(307, "Location", "/2"), answers(307, "Location", "/3"),
			answers(307, "Location", "/4"), answers(307, "Location", "/5"), answers(307, "Location", "/6"), answers(307, "Location", "/7"),
			answers(307, "Location", "/8"), answers(307, "Location", "/9"), answers(307, "Location", "/10"), answers(204)},
			"open ctx, up false, again, close ended"},
		"repeated frames on one connection": {[]http.HandlerFunc{streams(says("1", "a")), streams(says("2", "b"), says("2", "b")), streams(says("2", "b"), says("2", "b"), says("2", "b")), answers(204)},
			"open ctx, up true, 1 a, again, up true, 2 b, 2 b, again, up true, repeated, repeated, 2 b, again, close ended"},
		"ids from one again": {[]http.HandlerFunc{streams(says("1", "a"), says("2", "b")), streams(says("1", "c"), says("2", "d")), answers(204)},
			"open ctx, up true, 1 a, 2 b, again, up true, 1 c, 2 d, again, close ended"},
		"a stop": {[]http.HandlerFunc{answers(503)},
			"open ctx, up false, again, up false, again, up false, again, up false, again, up false, again, up false, close stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			a := runTail(t, 5, nil, c.answers...)
			if got := strings.Join(a.got, ", "); got != c.want {
				t.Errorf("the tail reports %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestPauses checks that pauses grow while no frame arrives and follow the server's retry times. One wrong answer, as a balancer
// gives while an agent is replaced, must not cost a minute of the stream.
func TestPauses(t *testing.T) {
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		want    []time.Duration // each pause is between this and one and a half times this
	}{
		"no agent": {[]http.HandlerFunc{answers(503)},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute}},
		"an empty stream": {[]http.HandlerFunc{streams()},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}},
		"a frame resets the pause": {[]http.HandlerFunc{answers(503), answers(503), streams(says("1", "a")), answers(503), answers(503)},
			[]time.Duration{time.Second, 2 * time.Second, time.Second, time.Second, 2 * time.Second}},
		"retry in the stream":     {[]http.HandlerFunc{streams("retry: 200\n", says("1", "a"))}, []time.Duration{200 * time.Millisecond, 200 * time.Millisecond}},
		"retry of 0":              {[]http.HandlerFunc{streams("retry: 0\n", says("1", "a"))}, []time.Duration{100 * time.Millisecond}},
		"a very long retry":       {[]http.HandlerFunc{streams("retry: 1000000000000\n", says("1", "a"))}, []time.Duration{time.Minute, time.Minute}},
		"Retry-After":             {[]http.HandlerFunc{answers(429, "Retry-After", "90")}, []time.Duration{90 * time.Second}},
		"a very long Retry-After": {[]http.HandlerFunc{answers(429, "Retry-After", "86400")}, []time.Duration{5 * time.Minute}},
		"unauthorized":            {[]http.HandlerFunc{answers(401)}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		"not a stream":            {[]http.HandlerFunc{answers(200, "Content-Type", "text/html")}, []time.Duration{time.Second, 2 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			a := runTail(t, len(c.want), nil, c.answers...)
			for i, want := range c.want {
				if got := a.waited[i]; got < want || got > want*3/2 {
					t.Errorf("pause %d lasts %s, want %s", i+1, got, want)
				}
			}
		})
	}
}

// TestTailRequests checks that each request has the id of the last frame and the current credentials.
func TestTailRequests(t *testing.T) {
	var got []string
	secret := 0
	record := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			got = append(got, fmt.Sprintf("%s %s %q %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("Last-Event-ID"), r.Header.Get("Authorization"), r.Header.Get("Accept")))
			next(w, r)
		}
	}
	runTail(t, 5, func(s *TailSettings) {
		s.URL = strings.Replace(s.URL, "/events/ctx", "/events/{session}?filterInternal=false", 1)
		s.SessionPlaceholder = "{session}"
		s.Headers = map[string]func() (string, error){"Authorization": func() (string, error) { secret++; return fmt.Sprint("token ", secret), nil }}
	}, record(streams(says("ctx-1", "a"), "data: no id\n\n")), record(streams()), record(answers(204)))
	want := []string{
		`GET /events/ctx?filterInternal=false "" token 1 text/event-stream`,
		`GET /events/ctx?filterInternal=false "ctx-1" token 2 text/event-stream`,
		`GET /events/ctx?filterInternal=false "ctx-1" token 3 text/event-stream`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the requests differ (-want +got):\n%s", diff)
	}
}

// TestTailReadsGzip checks a stream that the server compresses and flushes after each frame.
func TestTailReadsGzip(t *testing.T) {
	a := runTail(t, 5, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip")
		pack := gzip.NewWriter(w)
		_, _ = io.WriteString(pack, says("1", "a"))
		_ = pack.Flush()
		_, _ = io.WriteString(pack, says("2", "b"))
		_ = pack.Close()
	}, answers(204))
	if got := strings.Join(a.got, ", "); got != "open ctx, up true, 1 a, 2 b, again, close ended" {
		t.Errorf("the tail reports %s", got)
	}
}

// TestTailKeepsSecrets checks that the log has each reason once, and neither the URL's query nor a header.
func TestTailKeepsSecrets(t *testing.T) {
	a := runTail(t, 5, func(s *TailSettings) {
		s.URL = "http://127.0.0.1:1/events?key=s3cr3t"
		s.Headers = map[string]func() (string, error){"Authorization": func() (string, error) { return "s3cr3t", nil }}
	}, answers(204))
	if log := a.log.String(); strings.Contains(log, "s3cr3t") || strings.Count(log, "no stream from the agent") != 1 {
		t.Errorf("the log is %s", log)
	}
	a = runTail(t, 5, func(s *TailSettings) {
		s.Headers = map[string]func() (string, error){"Authorization": func() (string, error) { return "", errors.New("no such file") }}
	}, answers(204))
	if log := a.log.String(); !strings.Contains(log, "header Authorization: no such file") {
		t.Errorf("the log is %s", log)
	}
}

// TestSessions checks that a stream is read for each session, up to the limit.
func TestSessions(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	begun := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, says("1", strings.TrimPrefix(r.URL.Path, "/events/")))
		_ = http.NewResponseController(w).Flush()
		begun <- r.URL.EscapedPath()
		<-r.Context().Done()
		begun <- "left " + r.URL.EscapedPath()
	}))
	defer server.Close()
	a := &tailRecorder{limit: 100, stop: func() {}}
	tail := newTail(TailSettings{Name: "support", URL: server.URL + "/events/{session}", SessionPlaceholder: "{session}", Dialect: "adk", MaxSessions: 2, IdleTimeout: time.Hour}, a)
	defer tail.client.CloseIdleConnections()
	if !tail.PerSession() {
		t.Error("PerSession() = false")
	}
	s := NewSessions(tail)
	expect := func(want ...string) {
		t.Helper()
		got := map[string]bool{}
		for range want {
			got[<-begun] = true
		}
		for _, w := range want {
			if !got[w] {
				t.Errorf("the tail reports %v, want %s", got, w)
			}
		}
	}
	s.Open("")
	s.Open("a")
	expect("/events/a")
	s.Open("a")
	s.Open("b/../c")
	expect("/events/b%2F..%2Fc")
	s.Open("a") // b has been idle for longest
	s.Open("d")
	expect("/events/d", "left /events/b%2F..%2Fc")
	s.Close()
	expect("left /events/a", "left /events/d")
	s.Open("e")
	if got := strings.Join(a.got, ", "); strings.Count(got, "evicted") != 1 || strings.Count(got, "close stopped") != 3 {
		t.Errorf("the tail reports %s", got)
	}
}

// TestIdleSessions checks that streams that are idle for too long end.
func TestIdleSessions(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	a := &tailRecorder{limit: 100, stop: func() {}}
	tail := newTail(TailSettings{Name: "support", URL: server.URL + "/{session}", SessionPlaceholder: "{session}", Dialect: "adk", MaxSessions: 2, IdleTimeout: time.Millisecond}, a)
	defer tail.client.CloseIdleConnections()
	s := NewSessions(tail)
	s.Open("a")
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open.Len() != 0 {
		t.Error("the session is still listed")
	}
}

// TestOpenDuringClose checks that Close waits for a session that is opened at the same time. The race detector
// reports it otherwise.
func TestOpenDuringClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	tail := newTail(TailSettings{Name: "support", URL: "http://127.0.0.1:0/{session}", SessionPlaceholder: "{session}", Dialect: "adk", MaxSessions: 2, IdleTimeout: time.Hour}, &tailRecorder{limit: 100, stop: func() {}})
	defer tail.client.CloseIdleConnections()
	for range 1000 {
		s := NewSessions(tail)
		opened := make(chan struct{})
		go func() {
			defer close(opened)
			s.Open("a")
		}()
		s.Close()
		<-opened
	}
}

package a2a_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// stand is a proxy in front of a server that plays captures, and what became of the runs that passed.
type stand struct {
	url   string
	proxy *source.Proxy

	mu   sync.Mutex
	runs []string
	log  bytes.Buffer
}

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.ServeFileFS(w, r, os.DirFS("testdata"), r.Header.Get("Play")+".sse")
	}))
	t.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	runs := tracker.New(tracker.Settings{MaxOpen: 100, MaxOperations: 1000, MaxFacts: 100, Idle: time.Hour}, s, s)
	dialects := []dialect.Dialect{a2a.Dialect{}}
	pipeline := collector.New(dialects, collector.Settings{Frame: 1 << 20, JSONDepth: 64, Proof: proof.Limits{Text: 1 << 16, Findings: 32}}, runs)
	settings := source.ProxySettings{Name: "agent", Upstream: target, BodyLimit: 1 << 10, JSONDepth: 64, QueueLimit: 1 << 20, FrameLimit: 1 << 20}
	settings.Panics = recovery.New(slog.New(slog.DiscardHandler), func(recovery.Component) { s.tell("a panic") })
	s.proxy = source.NewProxy(settings, pipeline, dialects, source.Tracing{Tracer: noop.NewTracerProvider().Tracer(""), Propagator: propagation.TraceContext{}},
		s, slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), time.Now)
	front := httptest.NewServer(s.proxy)
	t.Cleanup(front.Close)
	s.url = front.URL
	return s
}

// Up, BrokeOff, Unobserved, Unread and CardPassed are the proxy's counters: none of what they count happens here.
func (s *stand) Up(string, bool)                                 {}
func (s *stand) BrokeOff(string)                                 {}
func (s *stand) Unobserved(_, _ string, n int)                   { s.tell("%d bytes unobserved", n) }
func (s *stand) Unread(_, reason string)                         { s.tell("a request unread: %s", reason) }
func (s *stand) CardPassed(_, reason string)                     { s.tell("a card passed: %s", reason) }
func (s *stand) Evicted(kind string)                             { s.tell("evicted: %s", kind) }
func (s *stand) Expired(kind string)                             { s.tell("expired: %s", kind) }
func (s *stand) Late(string)                                     { s.tell("a late frame") }
func (s *stand) RunStarted(*tracker.Run)                         {}
func (s *stand) OperationEnded(*tracker.Run, *tracker.Operation) {}

func (s *stand) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, fmt.Sprintf(format, args...))
}

// RunEnded puts a run into words: a line for itself, and one for each of its operations, questions and links.
func (s *stand) RunEnded(r *tracker.Run) {
	var w strings.Builder
	fmt.Fprintln(&w, strings.TrimSpace(fmt.Sprintln(r.Status, r.Reason)))
	names := map[tracker.SpanID]string{}
	for _, op := range r.Operations {
		names[op.ID] = op.Name
	}
	for _, op := range r.Operations {
		tokens := ""
		if used := op.Response.OrNone().Usage; used.Input.Known {
			tokens = fmt.Sprintf(" %d in, %d out", used.Input.N, used.Output.N)
		}
		fmt.Fprintf(&w, "%s %s: %s%s\n", op.Kind, op.Name, strings.TrimSpace(fmt.Sprintf("%s %s < %s", op.Status, op.Error, names[op.Parent])), tokens)
		for _, c := range op.Details.OrNone().Confidence {
			fmt.Fprintf(&w, "  confidence %v\n", c.Value)
		}
	}
	for _, in := range r.Inputs {
		fmt.Fprintf(&w, "input %s %s\n", in.Kind, in.Status)
	}
	for _, a := range r.Artifacts {
		fmt.Fprintf(&w, "artifact %s %d bytes\n", a.Kind, a.Bytes.N)
	}
	for _, l := range r.Links {
		fmt.Fprintf(&w, "%s the run before: %t\n", l.Kind, l.Run == r.ID)
	}
	s.tell("%s", w.String())
}

// told waits until everything that passed was observed, and returns what became of it.
func (s *stand) told() string {
	s.proxy.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.runs, "\n")
}

// play sends the request that a capture answers, and returns the answer.
func (s *stand) play(t *testing.T, capture string) string {
	t.Helper()
	body, _ := os.ReadFile("testdata/" + capture + ".request.json") // a GET has none
	target := []byte("POST /")
	if recorded, err := os.ReadFile("testdata/" + capture + ".target"); err == nil {
		target = bytes.TrimSpace(recorded)
	}
	method, path, _ := strings.Cut(string(target), " ")
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Play", capture)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", capture, response.StatusCode, err)
	}
	s.proxy.Wait() // what is asked next may go on with this run
	return string(answer)
}

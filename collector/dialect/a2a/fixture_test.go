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
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// fixture is a proxy in front of a server that plays recordings, with the observed runs.
type fixture struct {
	url   string
	proxy *source.Proxy
	dedup *exporter.Deduplicator

	mu   sync.Mutex
	runs []string
	log  bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.ServeFileFS(w, r, os.DirFS("testdata"), r.Header.Get("Play")+".sse")
	}))
	t.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	runs := tracker.New(tracker.Settings{MaxOpenRuns: 100, MaxOperations: 1000, MaxFacts: 100, IdleTimeout: time.Hour}, s, s)
	s.dedup = exporter.NewDeduplicator(runs, s)
	dialects := []dialect.Dialect{a2a.Dialect{}}
	pipeline := collector.New(dialects, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 64, Proof: proof.Limits{MaxText: 1 << 16, MaxFindings: 32}}, s.dedup)
	settings := source.ProxySettings{Name: "agent", Upstream: target, BodyLimit: 1 << 10, JSONDepth: 64, QueueLimit: 1 << 20, FrameLimit: 1 << 20}
	settings.Panics = recovery.New(slog.New(slog.DiscardHandler), func(recovery.Component) { s.addLine("a panic") })
	s.proxy = source.NewProxy(settings, pipeline, dialects, source.Tracing{Tracer: noop.NewTracerProvider().Tracer(""), Propagator: propagation.TraceContext{}},
		s, slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), time.Now)
	front := httptest.NewServer(s.proxy)
	t.Cleanup(front.Close)
	s.url = front.URL
	return s
}

// SetSourceUp and the Count methods implement the proxy's observer. Most of what they count should not happen.
func (s *fixture) SetSourceUp(string, bool)                        {}
func (s *fixture) CountBrokenAnswer(string)                        {}
func (s *fixture) CountUnobserved(_, _ string, n int)              { s.addLine("%d bytes unobserved", n) }
func (s *fixture) CountUnreadRequest(_, reason string)             { s.addLine("a request unread: %s", reason) }
func (s *fixture) CountUnchangedCard(_, reason string)             { s.addLine("a card passed: %s", reason) }
func (s *fixture) CountEvicted(kind string)                        { s.addLine("evicted: %s", kind) }
func (s *fixture) CountExpired(kind string)                        { s.addLine("expired: %s", kind) }
func (s *fixture) CountLateFrame(string)                           { s.addLine("a late frame") }
func (s *fixture) RunStarted(*tracker.Run)                         {}
func (s *fixture) OperationEnded(*tracker.Run, *tracker.Operation) {}

func (s *fixture) addLine(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, fmt.Sprintf(format, args...))
}

// RunEnded describes a run: one line for the run and one for each of its operations, questions and links.
func (s *fixture) RunEnded(r *tracker.Run) {
	var w strings.Builder
	fmt.Fprintln(&w, strings.TrimSpace(fmt.Sprintln(r.Status, r.Reason)))
	names := map[tracker.SpanID]string{}
	for _, op := range r.Operations {
		names[op.ID] = op.Name
	}
	for _, op := range r.Operations {
		tokens := ""
		if used := op.Response.OrZero().Usage; used.Input.Known {
			tokens = fmt.Sprintf(" %d in, %d out", used.Input.N, used.Output.N)
		}
		fmt.Fprintf(&w, "%s %s: %s%s\n", op.Kind, op.Name, strings.TrimSpace(fmt.Sprintf("%s %s < %s", op.Status, op.Failure, names[op.Parent])), tokens)
		for _, c := range op.Details.OrZero().Confidence {
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
	s.addLine("%s", w.String())
}

// waitForRuns waits until all traffic is observed and returns the observed runs.
func (s *fixture) waitForRuns() string {
	s.proxy.Wait()
	s.dedup.EndDelayed()
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.runs, "\n")
}

// play sends the request of a recording and returns the response.
func (s *fixture) play(t *testing.T, capture string) string {
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
		t.Fatalf("%s: the response is %d, error %v", capture, response.StatusCode, err)
	}
	s.proxy.Wait() // the next request may continue this run
	return string(answer)
}

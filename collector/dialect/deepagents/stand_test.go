package deepagents_test

import (
	"bufio"
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
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/dialect/deepagents/deepserver"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// stand is a proxy in front of a server, and what became of the runs that passed.
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
	upstream := httptest.NewServer(deepserver.New(os.DirFS("testdata"), "made-resumed"))
	t.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	runs := tracker.New(tracker.Settings{MaxOpen: 100, MaxOperations: 1000, MaxFacts: 100, Idle: time.Hour}, s, s)
	dialects := []dialect.Dialect{deepagents.Dialect{}}
	pipeline := collector.New(dialects, collector.Settings{Frame: 1 << 20, JSONDepth: 64, Proof: proof.Limits{Text: 1 << 16, Findings: 32}}, runs)
	settings := source.ProxySettings{Name: "tenders", Upstream: target, BodyLimit: 1 << 10, JSONDepth: 64, QueueLimit: 1 << 20, FrameLimit: 1 << 20}
	settings.Panics = recovery.New(slog.New(slog.DiscardHandler), func(recovery.Component) { s.fault("a panic") })
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
func (s *stand) Unobserved(_, _ string, n int)                   { s.fault("%d bytes unobserved", n) }
func (s *stand) Unread(_, reason string)                         { s.fault("a request unread: %s", reason) }
func (s *stand) CardPassed(_, reason string)                     { s.fault("a card passed: %s", reason) }
func (s *stand) Evicted(kind string)                             { s.fault("evicted: %s", kind) }
func (s *stand) Expired(kind string)                             { s.fault("expired: %s", kind) }
func (s *stand) Late(string)                                     { s.fault("a late frame") }
func (s *stand) RunStarted(*tracker.Run)                         {}
func (s *stand) OperationEnded(*tracker.Run, *tracker.Operation) {}

func (s *stand) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, fmt.Sprintf(format, args...))
}

// RunEnded puts a run into words: a line for itself, and one for each of its operations and questions.
func (s *stand) RunEnded(r *tracker.Run) {
	var w strings.Builder
	fmt.Fprintf(&w, "%s: %s %s session=%s\n", r.ID, r.Status, r.Reason, r.Session)
	names := map[tracker.SpanID]string{}
	for _, op := range r.Operations {
		if names[op.ID] = op.Name; op.Kind == tracker.InvokeAgent && op.Branch != "" {
			names[op.ID] = op.Branch
		}
	}
	for _, op := range r.Operations {
		fmt.Fprintf(&w, "%s %s: %s\n", op.Kind, names[op.ID], strings.TrimSpace(fmt.Sprintf("%s %s < %s", op.Status, op.Error, names[op.Parent])))
		for _, c := range op.Details.OrNone().Confidence {
			fmt.Fprintf(&w, "  confidence %v by %s\n", c.Value, c.Agent)
		}
	}
	for _, in := range r.Inputs {
		fmt.Fprintf(&w, "input %s %s %s\n", in.ID, in.Kind, in.Status)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, w.String())
}

// told waits until everything that passed was observed, and returns what became of it.
func (s *stand) told() string {
	s.proxy.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.runs, "\n")
}

// ask sends a request and returns the whole answer. Where each is set, it gets every line of a stream as it comes.
func (s *stand) ask(t *testing.T, method, path, body string, each func(line string)) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var got strings.Builder
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadString('\n')
		got.WriteString(line)
		if each != nil {
			each(strings.TrimSuffix(line, "\n"))
		}
		if err == io.EOF {
			return response.StatusCode, got.String()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

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

// fixture is a proxy in front of a server, with the observed runs.
type fixture struct {
	url   string
	proxy *source.Proxy

	mu   sync.Mutex
	runs []string
	log  bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{}
	upstream := httptest.NewServer(deepserver.New(os.DirFS("testdata"), "made-resumed"))
	t.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	runs := tracker.New(tracker.Settings{MaxOpenRuns: 100, MaxOperations: 1000, MaxFacts: 100, IdleTimeout: time.Hour}, s, s)
	dialects := []dialect.Dialect{deepagents.Dialect{}}
	pipeline := collector.New(dialects, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 64, Proof: proof.Limits{MaxText: 1 << 16, MaxFindings: 32}}, runs)
	settings := source.ProxySettings{Name: "tenders", Upstream: target, BodyLimit: 1 << 10, JSONDepth: 64, QueueLimit: 1 << 20, FrameLimit: 1 << 20}
	settings.Panics = recovery.New(slog.New(slog.DiscardHandler), func(recovery.Component) { s.fault("a panic") })
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
func (s *fixture) CountUnobserved(_, _ string, n int)              { s.fault("%d bytes unobserved", n) }
func (s *fixture) CountUnreadRequest(_, reason string)             { s.fault("a request unread: %s", reason) }
func (s *fixture) CountUnchangedCard(_, reason string)             { s.fault("a card passed: %s", reason) }
func (s *fixture) CountEvicted(kind string)                        { s.fault("evicted: %s", kind) }
func (s *fixture) CountExpired(kind string)                        { s.fault("expired: %s", kind) }
func (s *fixture) CountLateFrame(string)                           { s.fault("a late frame") }
func (s *fixture) RunStarted(*tracker.Run)                         {}
func (s *fixture) OperationEnded(*tracker.Run, *tracker.Operation) {}

func (s *fixture) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, fmt.Sprintf(format, args...))
}

// RunEnded describes a run: one line for the run and one for each of its operations and questions.
func (s *fixture) RunEnded(r *tracker.Run) {
	var w strings.Builder
	fmt.Fprintf(&w, "%s: %s %s session=%s\n", r.ID, r.Status, r.Reason, r.Session)
	names := map[tracker.SpanID]string{}
	for _, op := range r.Operations {
		if names[op.ID] = op.Name; op.Kind == tracker.InvokeAgent && op.Branch != "" {
			names[op.ID] = op.Branch
		}
	}
	for _, op := range r.Operations {
		fmt.Fprintf(&w, "%s %s: %s\n", op.Kind, names[op.ID], strings.TrimSpace(fmt.Sprintf("%s %s < %s", op.Status, op.Failure, names[op.Parent])))
		for _, c := range op.Details.OrZero().Confidence {
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

// waitForRuns waits until all traffic is observed and returns the observed runs.
func (s *fixture) waitForRuns() string {
	s.proxy.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.runs, "\n")
}

// ask sends a request and returns the status and body of the response. It passes each line to each, unless
// that is nil.
func (s *fixture) ask(t *testing.T, method, path, body string, each func(line string)) (int, string) {
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

// Package proxyfixture puts a proxy in front of a test server and records the observed runs, for tests of dialects.
package proxyfixture

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Fixture is a proxy in front of a server, with the observed runs.
type Fixture struct {
	url      string
	proxy    *source.Proxy
	dedup    *exporter.Deduplicator
	describe func(*tracker.Run) string

	mu   sync.Mutex
	runs []string
	log  bytes.Buffer
}

// New starts a proxy in front of a server. It stops at the end of the test. It describes each run that ends.
func New(t *testing.T, d dialect.Dialect, server http.Handler, describe func(*tracker.Run) string) *Fixture {
	t.Helper()
	f := &Fixture{describe: describe}
	upstream := httptest.NewServer(server)
	t.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	runs := tracker.New(tracker.Settings{MaxOpenRuns: 100, MaxOperations: 1000, MaxFacts: 100, IdleTimeout: time.Hour}, (*observer)(f), (*observer)(f))
	f.dedup = exporter.NewDeduplicator(runs, (*observer)(f))
	dialects := []dialect.Dialect{d}
	pipeline := collector.New(dialects, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 64, Proof: proof.Limits{MaxText: 1 << 16, MaxFindings: 32}}, f.dedup)
	settings := source.ProxySettings{Name: "agent", Upstream: target, BodyLimit: 1 << 10, JSONDepth: 64, QueueLimit: 1 << 20, FrameLimit: 1 << 20}
	settings.Panics = recovery.New(slog.New(slog.DiscardHandler), func(recovery.Component) { f.addLine("a panic") })
	f.proxy = source.NewProxy(settings, pipeline, dialects, source.Tracing{Tracer: noop.NewTracerProvider().Tracer(""), Propagator: propagation.TraceContext{}},
		(*observer)(f), slog.New(slog.NewTextHandler(&f.log, &slog.HandlerOptions{Level: slog.LevelDebug})), time.Now)
	front := httptest.NewServer(f.proxy)
	t.Cleanup(front.Close)
	f.url = front.URL
	return f
}

// Ask sends a request with headers, such as "Play: server-flow", and returns the status and body of the response. It passes each line to
// each, unless that is nil.
func (f *Fixture) Ask(t *testing.T, method, path, body string, each func(line string), headers ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
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

// Wait waits until all traffic is observed.
func (f *Fixture) Wait() { f.proxy.Wait() }

// Runs waits until all traffic is observed and returns the descriptions of the runs, in the order of their ends, and a line for each event
// that no test expects, such as a panic.
func (f *Fixture) Runs() string {
	f.Wait()
	f.dedup.EndDelayed()
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.runs, "\n")
}

// Log returns the log, with all levels. Call Runs before.
func (f *Fixture) Log() string { return f.log.String() }

func (f *Fixture) addLine(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs = append(f.runs, fmt.Sprintf(format, args...))
}

// Describe describes a run: one line for the run and one for each of its operations and questions.
func Describe(r *tracker.Run) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s %s session=%s\n", r.Status, r.Reason, r.Session)
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
	return w.String()
}

// observer receives the runs, and the counts of the proxy, of which most should not happen.
type observer Fixture

func (o *observer) addLine(format string, args ...any) { (*Fixture)(o).addLine(format, args...) }

func (o *observer) SetSourceUp(string, bool)           {}
func (o *observer) CountBrokenAnswer(string)           {}
func (o *observer) CountUnobserved(_, _ string, n int) { o.addLine("%d bytes unobserved", n) }
func (o *observer) CountUnreadRequest(_, reason string) {
	o.addLine("a request unread: %s", reason)
}

func (o *observer) CountUnchangedCard(_, reason string) { o.addLine("a card passed: %s", reason) }
func (o *observer) CountEvicted(kind string)            { o.addLine("evicted: %s", kind) }
func (o *observer) CountExpired(kind string)            { o.addLine("expired: %s", kind) }
func (o *observer) CountLateFrame(string)               { o.addLine("a late frame") }

func (o *observer) RunStarted(*tracker.Run)                         {}
func (o *observer) OperationEnded(*tracker.Run, *tracker.Operation) {}
func (o *observer) RunEnded(r *tracker.Run)                         { o.addLine("%s", o.describe(r)) }

package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/internal/sidecar"
)

// Verbatim is OneAgent with a verbatim relay.
const Verbatim = OneAgent + "    relay: verbatim\n"

// Service is a sidecar that runs in the test's process.
type Service struct {
	*sidecar.Sidecar
	Admin  http.Handler
	Log    *LogBuffer
	logger *slog.Logger
	Stop   func() // drains and stops the sidecar, as the test's cleanup does
}

// LogBuffer holds a log that may be read while it is written.
type LogBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *LogBuffer) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *LogBuffer) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// Launch runs a sidecar with a configuration until the test ends. The environment replaces all variables that begin with OTEL_.
func Launch(t *testing.T, configured string, env map[string]string) *Service {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
	c, err := config.Parse("test", []byte(withOwnPorts(configured)), settings.KnownNames())
	if err != nil {
		t.Fatal(err)
	}
	log := &LogBuffer{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	service, err := sidecar.New(t.Context(), c, logger, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	service.ObserveDroppedLines(func() uint64 { return 0 })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- service.Run(ctx) }()
	r := &Service{Sidecar: service, Admin: service.Admin(nil, false), Log: log, logger: logger}
	r.Stop = sync.OnceFunc(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if text := log.String(); strings.Contains(text, "panic") || strings.Contains(text, "recovered from an internal error") {
			t.Error(log)
		}
	})
	t.Cleanup(r.Stop)
	return r
}

// documented reports whether docs/reference/metrics.md has a metric.
func documented(t *testing.T, name string) bool {
	t.Helper()
	page, err := os.ReadFile("../../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(page, []byte("\n- `"+name+"`")) || bytes.Contains(page, []byte("\n- `"+name+"{"))
}

// Count returns the sum of the samples of a counter or gauge whose labels include the given pairs of name and value. It is 0 for a
// documented metric without samples, because most counters appear with their first increment.
func (r *Service) Count(t *testing.T, name string, pairs ...string) (sum float64) {
	t.Helper()
	families, err := r.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range families {
		for _, m := range f.GetMetric() {
			wanted := f.GetName() == name
			for _, l := range m.GetLabel() {
				if i := slices.Index(pairs, l.GetName()); i >= 0 && pairs[i+1] != l.GetValue() {
					wanted = false
				}
			}
			if wanted {
				found = true
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	if !found && !documented(t, name) {
		t.Errorf("%s %v has no sample and is not documented", name, pairs)
	}
	return sum
}

// Exemplars returns the trace IDs of the exemplars of all histograms.
func (r *Service) Exemplars(t *testing.T) map[string]bool {
	t.Helper()
	families, err := r.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	traces := map[string]bool{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, e := range m.GetHistogram().GetExemplars() {
				for _, l := range e.GetLabel() {
					if l.GetName() == "trace_id" {
						traces[l.GetValue()] = true
					}
				}
			}
		}
	}
	return traces
}

// Response is the response that a client got.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	Err    error // of the request or of reading the body
}

// Post starts a run and reads the response to its end, over its own connection.
func Post(t *testing.T, address string, body []byte, header http.Header) Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/run_sse", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header
	}
	// Compression by the client would hide the agent's bytes.
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return Response{Err: err}
	}
	defer resp.Body.Close()
	a := Response{Status: resp.StatusCode, Header: resp.Header}
	a.Body, a.Err = io.ReadAll(resp.Body)
	return a
}

// Await calls a function until it returns no error, for at most a minute. The test fails with the last error.
func Await(t testing.TB, try func(context.Context) error) {
	t.Helper()
	AwaitWithin(t, time.Minute, try)
}

// AwaitWithin is Await with another limit.
func AwaitWithin(t testing.TB, limit time.Duration, try func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for last := error(nil); ; {
		err := try(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil || last == nil {
			last = err // the error of an attempt that the limit ended says nothing
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatal(last)
		}
	}
}

// OneAgent is a configuration of one agent behind a proxy. Format it with the URL of the agent.
const OneAgent = `
stream: {listen: "127.0.0.1:0"}
sources:
  - name: fire-briefing
    proxy: {listen: "127.0.0.1:0", upstream: "%s"}
    agents_as_tools: [burn_analyst, trail_assessor, cruising_assistant, nepa_advisor]
`

// Text returns a text, or "-" if it is unknown.
func Text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// Address returns the URL of the first proxy.
func (r *Service) Address() string { return "http://" + r.Proxies()[0].Addr }

// AskOK starts a run through the sidecar and returns the response once the run has been observed to its end.
func AskOK(t *testing.T, service *Service, body []byte) []byte {
	t.Helper()
	resp, err := http.Post(service.Address()+"/run_sse", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %v\n%s", resp.StatusCode, err, got)
	}
	service.Wait()
	return got
}

// Made returns the expected number of spans of the ended runs, including one for each request.
func (r *Service) Made() (n int) {
	for _, run := range r.Recent.Reports() {
		n += len(run.Operations) + 1
	}
	return n
}

// Differs returns how two responses differ, apart from their dates and a Content-Length of 0, or "".
func (a Response) Differs(b Response) string {
	for _, h := range []http.Header{a.Header, b.Header} {
		h.Del("Date")
		if h.Get("Content-Length") == "0" {
			h.Del("Content-Length")
		}
	}
	switch {
	case a.Status != b.Status:
		return fmt.Sprintf("status %d, not %d", a.Status, b.Status)
	case !maps.EqualFunc(a.Header, b.Header, slices.Equal):
		return fmt.Sprintf("header %v, not %v", a.Header, b.Header)
	case !bytes.Equal(a.Body, b.Body):
		return fmt.Sprintf("%d bytes, not %d: %.300q", len(a.Body), len(b.Body), a.Body)
	case !errors.Is(a.Err, b.Err):
		return fmt.Sprintf("the body ends with %v, not %v", a.Err, b.Err)
	}
	return ""
}

// Subscribe reads the external stream after an event ID, or from now on if it is empty.
func (r *Service) Subscribe(t *testing.T, last string) Subscription {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.StreamAddr()+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal("no external stream: ", resp, err)
	}
	return Subscription{resp.Body, sse.NewReader(resp.Body, 0)}
}

// Runs returns the number of runs of a source that have ended.
func (r *Service) Runs(t *testing.T, source string) (n int) {
	t.Helper()
	for _, run := range r.Recent.Reports() {
		if run.Source == source {
			n++
		}
	}
	return n
}

// WaitFrames waits until a source has read a number of frames.
func (r *Service) WaitFrames(t *testing.T, source string, frames int) {
	t.Helper()
	Await(t, func(context.Context) error {
		for _, s := range r.Sidecar.Sources.All() {
			if s.Name == source && int(s.Frames) == frames {
				return nil
			}
		}
		return fmt.Errorf("source %s has not read %d frames", source, frames)
	})
}

// withOwnPorts returns a configuration whose external stream listens on any free port if the text
// does not configure it. The default port can serve only one test of all packages at a time.
func withOwnPorts(configured string) string {
	if strings.Contains("\n"+configured, "\nstream:") {
		return configured
	}
	return configured + "\nstream: {listen: \"127.0.0.1:0\"}\n"
}

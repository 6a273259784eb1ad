package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/internal/sidecar"
)

// verbatim is a configuration under which a client gets the agent's own bytes.
const verbatim = oneAgent + "    relay: verbatim\n"

// running is a sidecar that serves, with its admin server's handler.
type running struct {
	*sidecar.Sidecar
	admin     http.Handler
	log       *journal
	logger    *slog.Logger
	panicking bool   // as the test wants
	stop      func() // returns when it has drained; the test's end stops too
}

// journal keeps what is logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// launch runs a sidecar with a configuration until the test ends, in an environment of which the test says all that begins with
// OTEL_.
func launch(t *testing.T, configured string, env map[string]string) *running {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
	c, err := config.Parse("test", []byte(configured), settings.Known())
	if err != nil {
		t.Fatal(err)
	}
	log := &journal{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	car, err := sidecar.New(t.Context(), c, logger, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	car.ObserveLog(func() uint64 { return 0 })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- car.Run(ctx) }()
	r := &running{Sidecar: car, admin: car.Admin(nil, false), log: log, logger: logger}
	r.stop = sync.OnceFunc(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if text := log.String(); strings.Contains(text, "panic") || strings.Contains(text, "a fault of Delegraph") && !r.panicking {
			t.Error(log)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// documented reports whether docs/reference/metrics.md has a metric.
func documented(t *testing.T, name string) bool {
	t.Helper()
	page, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(page, []byte("\n| `"+name+"` |"))
}

// count returns the sum of the samples of a counter or gauge whose labels are the given pairs, those not given being anything. A
// metric that is documented and has no sample is 0: most counters begin with what they first count.
func (r *running) count(t *testing.T, name string, pairs ...string) (sum float64) {
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
		t.Errorf("no sample of %s %v", name, pairs)
	}
	return sum
}

// exemplars are the traces that histograms point to.
func (r *running) exemplars(t *testing.T) map[string]bool {
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

// recordedAgent answers each run with the recording that its request names, a frame at a time.
type recordedAgent struct {
	*httptest.Server
	recordings map[string][]byte // by "family/name"
	fault      http.HandlerFunc  // what it does instead, where a request says "fault"

	mu    sync.Mutex
	asked []http.Header
}

// newRecordedAgent also watches over the goroutines of its test: made first, it is closed last.
func newRecordedAgent(t *testing.T) *recordedAgent {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	})
	a := &recordedAgent{recordings: map[string][]byte{}}
	for family, folder := range adkCaptures {
		for _, file := range sseFiles(t, folder) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(content, []byte("data:")) {
				a.recordings[family+"/"+strings.TrimSuffix(filepath.Base(file), ".sse")] = content
			}
		}
	}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func (a *recordedAgent) names() []string { return slices.Sorted(maps.Keys(a.recordings)) }

func (a *recordedAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	a.asked = append(a.asked, r.Header)
	a.mu.Unlock()
	if bytes.Contains(body, []byte(`"text":"fault"`)) {
		a.fault(w, r)
		return
	}
	for name, recording := range a.recordings {
		if !bytes.Contains(body, []byte(`"text":"`+name+`"`)) {
			continue
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, frame := range bytes.SplitAfter(recording, []byte("\n\n")) {
			_, _ = w.Write(frame)
			_ = http.NewResponseController(w).Flush()
		}
		return
	}
	http.Error(w, "no such recording", http.StatusNotFound)
}

// gotten is what a client got.
type gotten struct {
	status int
	header http.Header
	body   []byte
	err    error // of reading the body
}

// post asks for a run and reads the answer to its end, in a connection of its own.
func post(t *testing.T, address string, body []byte, header http.Header) gotten {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/run_sse", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header
	}
	// No compression of the client's own, which would hide the agent's bytes.
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return gotten{err: err}
	}
	defer resp.Body.Close()
	a := gotten{status: resp.StatusCode, header: resp.Header}
	a.body, a.err = io.ReadAll(resp.Body)
	return a
}

// await tries until there is no error, for as long as a slow machine may need.
func await(t testing.TB, try func(context.Context) error) {
	t.Helper()
	awaitWithin(t, time.Minute, try)
}

func awaitWithin(t testing.TB, limit time.Duration, try func(context.Context) error) {
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
			last = err // not what an attempt says that the limit ended
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatal(last)
		}
	}
}

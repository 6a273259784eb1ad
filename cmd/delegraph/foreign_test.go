package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/internal/settings"
)

// TestForeign has agents of two dialects behind sources that say so, and one of the first behind a source that says the second:
// its stream is refused by name, counted, and nothing of it leaves or becomes a fact.
func TestForeign(t *testing.T) {
	studio, err := os.ReadFile("../../collector/dialect/adkstudio/testdata/made-parallel.sse")
	if err != nil {
		t.Fatal(err)
	}
	deep, err := os.ReadFile("../../collector/dialect/deepagents/testdata/made-simple.sse")
	if err != nil {
		t.Fatal(err)
	}
	serve := func(stream []byte) string {
		agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(stream)
		}))
		t.Cleanup(agent.Close)
		return agent.URL
	}
	var sources strings.Builder
	for _, s := range []struct{ name, dialect, upstream string }{
		{"studio", "adkstudio", serve(studio)}, {"deep", "deepagents", serve(deep)}, {"wrong", "adkstudio", serve(deep)},
	} {
		fmt.Fprintf(&sources, "  - {name: %s, dialect: %s, proxy: {listen: \"127.0.0.1:0\", upstream: %q, paths: [/agent]}}\n", s.name, s.dialect, s.upstream)
	}
	car := launch(t, "sources:\n"+sources.String(), newBackend(t).environment(nil))
	for i, want := range [][]byte{studio, deep, nil} {
		name := []string{"studio", "deep", "wrong"}[i]
		resp, err := http.Get("http://" + car.Proxies()[i].Addr + "/agent")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || want == nil && len(bytes.TrimSpace(got)) > 0 || want != nil && len(got) == 0 {
			t.Errorf("%s: the client gets %q, %v", name, got, err)
		}
	}
	car.stop()
	if n := car.count(t, "delegraph_parse_errors_total", "source", "wrong", "dialect", "adkstudio", "reason", "foreign"); n != float64(bytes.Count(deep, []byte("\n\n"))) {
		t.Errorf("%g frames are counted as foreign", n)
	}
	if n := car.count(t, "delegraph_runs_ended_total", "source", "wrong", "status", "incomplete"); n != 1 { // its request was answered
		t.Errorf("%g incomplete runs", n)
	}
	for _, source := range []string{"studio", "deep"} {
		if n := car.count(t, "delegraph_runs_ended_total", "source", source, "status", "completed"); n != 1 {
			t.Errorf("%s: %g completed runs", source, n)
		}
	}
	if said := car.log.String(); strings.Count(said, "stream refused") != 1 || !strings.Contains(said, "source=wrong said=adkstudio found=deepagents") {
		t.Error(said)
	}
}

// TestDeclaredDialectElsewhere has an application send a stream of its own, on a path that is not an agent's, through a source that
// says whose dialect its agent has: not a byte of it changes.
func TestDeclaredDialectElsewhere(t *testing.T) {
	const ticks = ": hi\r\n\r\nevent: tick\r\ndata: {\"n\":1}\r\n\r\n"
	for _, name := range settings.DialectNames() {
		agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ticks)
		}))
		car := launch(t, fmt.Sprintf("sources:\n  - {name: app, dialect: %s, proxy: {listen: \"127.0.0.1:0\", upstream: %q}}\n", name, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
		resp, err := http.Get("http://" + car.Proxies()[0].Addr + "/prices")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(got) != ticks {
			t.Errorf("%s: the client gets %q, %v", name, got, err)
		}
		car.stop()
		agent.Close()
	}
}

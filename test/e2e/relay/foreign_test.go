package relay_test

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
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestForeign uses agents of two dialects behind sources with the right dialect, and one behind a source with the wrong one. Its
// stream is refused with the name of its dialect and counted, and nothing of it is forwarded or observed.
func TestForeign(t *testing.T) {
	studio, err := os.ReadFile("../../../collector/dialect/adkstudio/testdata/made-parallel.sse")
	if err != nil {
		t.Fatal(err)
	}
	deep, err := os.ReadFile("../../../collector/dialect/deepagents/testdata/made-simple.sse")
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
	service := harness.Launch(t, "sources:\n"+sources.String(), harness.NewReceiver(t).Environment(nil))
	for i, want := range [][]byte{studio, deep, nil} {
		name := []string{"studio", "deep", "wrong"}[i]
		resp, err := http.Get("http://" + service.Proxies()[i].Addr + "/agent")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || want == nil && len(bytes.TrimSpace(got)) > 0 || want != nil && len(got) == 0 {
			t.Errorf("%s: the client gets %q, %v", name, got, err)
		}
	}
	service.Stop()
	if n := service.Count(t, "delegraph_parse_errors_total", "source", "wrong", "dialect", "adkstudio", "reason", "foreign"); n != float64(bytes.Count(deep, []byte("\n\n"))) {
		t.Errorf("%g frames are counted as foreign", n)
	}
	if n := service.Count(t, "delegraph_runs_ended_total", "source", "wrong", "status", "incomplete"); n != 1 { // its request was answered
		t.Errorf("%g incomplete runs", n)
	}
	for _, source := range []string{"studio", "deep"} {
		if n := service.Count(t, "delegraph_runs_ended_total", "source", source, "status", "completed"); n != 1 {
			t.Errorf("%s: %g completed runs", source, n)
		}
	}
	if said := service.Log.String(); strings.Count(said, "stream refused") != 1 || !strings.Contains(said, "source=wrong said=adkstudio found=deepagents") {
		t.Error(said)
	}
}

// TestDeclaredDialectElsewhere sends an application's own stream, on a path that is not an agent's, through a source with a
// configured dialect, and checks that no byte changes.
func TestDeclaredDialectElsewhere(t *testing.T) {
	const ticks = ": hi\r\n\r\nevent: tick\r\ndata: {\"n\":1}\r\n\r\n"
	for _, name := range settings.DialectNames() {
		agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ticks)
		}))
		service := harness.Launch(t, fmt.Sprintf("sources:\n  - {name: app, dialect: %s, proxy: {listen: \"127.0.0.1:0\", upstream: %q}}\n", name, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
		resp, err := http.Get("http://" + service.Proxies()[0].Addr + "/prices")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(got) != ticks {
			t.Errorf("%s: the client gets %q, %v", name, got, err)
		}
		service.Stop()
		agent.Close()
	}
}

// TestNamesake puts a LangGraph server behind a source with the dialect deepagents, the name of a library whose agents it serves, and behind
// sources with auto and langgraph. The client gets every frame, and the run is observed.
func TestNamesake(t *testing.T) {
	answer := readAnswered(t, servers+"/langgraph-dev/recordings/subagents.http")
	for _, says := range []string{"deepagents", "auto", "langgraph"} {
		t.Run(says, func(t *testing.T) {
			agent := newRecordedServer([]exchange{answer})
			defer agent.Close()
			service := harness.Launch(t, fmt.Sprintf("sources:\n  - {name: app, dialect: %s, proxy: {listen: \"127.0.0.1:0\", upstream: %q, paths: [/runs/stream]}}\n", says, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			for _, difference := range compare(answer, ask(t, service.Address(), answer, make(chan struct{}))) {
				t.Error(difference)
			}
			service.Stop()
			one := 1
			for _, wrong := range judgeRuns(t, service, plannedStream{Runs: &one, Agents: []string{"meteorologist", "expert", "general-purpose"}, Tools: []string{"task"}}) {
				t.Error(wrong)
			}
		})
	}
}

package relay_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestLangGraphEventStream checks that a recording of LangGraph's newer protocol, which is not read, passes untouched under the policy
// client, is denied under public, and is no run.
func TestLangGraphEventStream(t *testing.T) {
	recorded, err := os.ReadFile("testdata/langgraph-events.sse")
	if err != nil {
		t.Fatal(err)
	}
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(recorded)
	}))
	t.Cleanup(agent.Close)
	service := harness.Launch(t, fmt.Sprintf(`
sources:
  - {name: client, proxy: {listen: "127.0.0.1:0", upstream: %[1]q}, dialect: langgraph}
  - {name: detected, proxy: {listen: "127.0.0.1:0", upstream: %[1]q}}
  - {name: public, proxy: {listen: "127.0.0.1:0", upstream: %[1]q}, dialect: langgraph, policy: public}
`, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	for i, source := range []string{"client", "detected", "public"} {
		response, err := http.Post("http://"+service.Proxies()[i].Addr+"/threads/t/stream/events", "application/json", bytes.NewReader([]byte(`{"channels":["values"]}`)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if passes := bytes.Equal(got, recorded); passes != (source != "public") {
			t.Errorf("%s: %s, %d bytes of %d: %.300s", source, response.Status, len(got), len(recorded), got)
		}
		if source == "public" && bytes.Contains(got, []byte("Rome")) {
			t.Errorf("public: %s", got)
		}
	}
	service.Stop()
	for _, source := range []string{"client", "detected"} {
		if n := service.Count(t, "delegraph_unrecognized_streams_total", "source", source); n != 1 {
			t.Errorf("%s: %g unrecognized streams", source, n)
		}
	}
	if n := service.Count(t, "delegraph_runs_started_total"); n > 0 {
		t.Errorf("%g runs", n)
	}
}

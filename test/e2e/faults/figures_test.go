package faults_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// eachPolicy maps a name to the lines of a source's configuration.
var eachPolicy = map[string]string{"verbatim": "verbatim", "filtered": "filtered", "public": "filtered, policy: public"}

// TestFaultComments sends 50,000 empty comments before an event through a plain proxy and through each relay, and logs the times.
func TestFaultComments(t *testing.T) {
	const rounds = 5
	event := `data: {"author":"a","invocationId":"e-1","content":{"role":"model","parts":[{"text":"hi"}]}}` + "\n\n"
	answer := strings.Repeat(":\n\n", 50_000) + event
	agent := &fastAgent{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answer)
	}))}
	t.Cleanup(agent.Close)
	fastest := func(proxy string) time.Duration {
		best := time.Hour
		for range rounds {
			began := time.Now()
			resp, err := openRun(t.Context(), proxy, "x")
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || !strings.Contains(string(got), `"text":"hi"`) {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			best = min(best, time.Since(began))
		}
		return best
	}
	proxy := loopback.FreeAddress(t)
	startPlain(t, proxy, agent.Listener.Addr().String(), "")
	floor := fastest(proxy)
	for name, relay := range eachPolicy {
		proxy := loopback.FreeAddress(t)
		harness.Serve(t, stalledConfig(t, agent, proxy, relay), nil)
		took := fastest(proxy)
		t.Logf("%s: %s, %.1f times as long as a plain proxy", name, took.Round(100*time.Microsecond), float64(took)/float64(floor))
	}
}

// TestFaultLongPaths sends 2,700 requests for runs with paths of 100 kB while the trace backend is away. The queue does not grow with
// the paths. Without -faults it sends 180.
func TestFaultLongPaths(t *testing.T) {
	const allowed = 64 << 20
	requests := 180
	if *slowFaults {
		requests = 2700
	}
	if harness.RaceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	agent := &fastAgent{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
	}))}
	agent.Config.MaxHeaderBytes = 2 << 20
	t.Cleanup(agent.Close)
	ask := func(proxy string) {
		for range requests {
			resp, err := http.Post("http://"+proxy+"/run_sse;"+strings.Repeat("x", 100_000), "application/json", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			if resp.Body.Close(); resp.StatusCode != http.StatusOK {
				t.Fatal(resp.Status)
			}
		}
	}
	proxy := loopback.FreeAddress(t)
	plain := startPlain(t, proxy, agent.Listener.Addr().String(), "")
	ask(proxy)
	floor := peakMemory(t, plain.Process.Pid)
	proxy = loopback.FreeAddress(t)
	service := harness.Serve(t, stalledConfig(t, agent, proxy, "filtered"), map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + loopback.FreeAddress(t)})
	ask(proxy)
	peak := peakMemory(t, service.Process.Pid)
	t.Logf("%d MiB resident at most, a plain proxy %d, %.1f times as much; %v spans wait", peak>>20, floor>>20, float64(peak)/float64(floor), service.Count(t, "delegraph_spans_queued"))
	if service.Count(t, "delegraph_spans_queued") == 0 {
		t.Error("no spans wait")
	}
	if peak > floor+allowed {
		t.Errorf("%d MiB resident, a plain proxy %d", peak>>20, floor>>20)
	}
}

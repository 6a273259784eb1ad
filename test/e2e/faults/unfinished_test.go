package faults_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// TestFaultUnfinishedFrames connects 60 clients through a verbatim relay to an agent that never ends a frame of 7.9 MB. Every client gets
// every byte, and memory stays below what all the frames would take.
func TestFaultUnfinishedFrames(t *testing.T) {
	const clients, size, limit, most = 60, 7_900_000, 200 << 20, 300 << 20
	if harness.RaceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	start := "data: " + strings.Repeat("x", size)
	agent := &fastAgent{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, start)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))}
	t.Cleanup(agent.Close)
	proxy := loopback.FreeAddress(t)
	service := harness.Serve(t, stalledConfig(t, agent, proxy, "verbatim"), map[string]string{"GOMEMLIMIT": fmt.Sprint(limit)})
	for range clients { // one after another, so that the observers keep up
		resp, err := openRun(t.Context(), proxy, "x")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		if n, err := io.CopyN(io.Discard, resp.Body, int64(len(start))); err != nil {
			t.Fatalf("a client got %d bytes: %v", n, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	peak, unobserved := peakMemory(t, service.Process.Pid), service.Count(t, "delegraph_source_unobserved_bytes_total")
	t.Logf("%d MiB resident at most, %.0f MiB unobserved of %d", peak>>20, unobserved/(1<<20), clients*size>>20)
	if peak > most {
		t.Errorf("%d MiB resident, want at most %d", peak>>20, most>>20)
	}
	if unobserved == 0 {
		t.Error("every frame is held")
	}
}

//go:build linux

package faults_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// hostileTails are hostile responses to a tail, by path. Endless ones are sent until the connection is closed.
var hostileTails = map[string]func(w http.ResponseWriter, r *http.Request){
	"line":     endless("x"),
	"data":     endless("data: x\n"),
	"comments": endless(":\n\n"),
	"ids":      endless("id: " + strings.Repeat("9", 3<<20) + "\ndata: {}\n\n"),
	"retry":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "retry: 0\n\ndata: {}\n\n") },
	"breaks": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "retry: 0\nid: 1\ndata: {}\n\ndata: {")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	},
	"redirects": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
	},
	"sips": func(w http.ResponseWriter, r *http.Request) {
		for i := 0; r.Context().Err() == nil; i++ {
			_, _ = w.Write([]byte{"data: {}\n\n"[i%10]})
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	},
	"gzip": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		piece := make([]byte, 1<<20) // a thousandth of that when compressed
		for r.Context().Err() == nil {
			if _, err := packed.Write(piece); err != nil {
				return
			}
		}
	},
}

func endless(text string) func(http.ResponseWriter, *http.Request) {
	piece := []byte(strings.Repeat(text, max(1, 64<<10/len(text))))
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
}

// TestFaultTailsAttacked runs all hostile tails at once with little memory. The process stays small, does not reconnect too
// early, serves every byte to the clients of a proxy, and stops in time.
func TestFaultTailsAttacked(t *testing.T) {
	const limit, most, enough = 64 << 20, 200 << 20, 32 << 20
	var mu sync.Mutex
	asked := map[string]int{}
	var sent atomic.Int64
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		mu.Lock()
		asked[name]++
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		hostileTails[name](countedWriter{w, &sent}, r)
	}))
	defer hostile.Close()
	agent, proxy := recorded.NewAgent(t), loopback.FreeAddress(t)
	configured := fmt.Sprintf("stream: {listen: %q}\nlimits: {frame: 1MiB}\nsources:\n  - {name: runs, relay: verbatim, proxy: {listen: %q, upstream: %q}}\n", loopback.FreeAddress(t), proxy, agent.URL)
	for name := range hostileTails {
		configured += fmt.Sprintf("  - {name: %[1]s, dialect: adk, tail: {url: \"%[2]s/%[1]s\"}}\n", name, hostile.URL)
	}
	begun := time.Now()
	service := harness.Serve(t, configured, map[string]string{"GOMEMLIMIT": fmt.Sprint(limit)})
	for _, name := range agent.Names()[:5] {
		if got := harness.AskRun(t, proxy, name); got.Err != nil || !bytes.Equal(got.Body, agent.Recordings[name]) {
			t.Errorf("%s: the client got %d bytes of %d: %v", name, len(got.Body), len(agent.Recordings[name]), got.Err)
		}
	}
	harness.Await(t, func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if asked["retry"] < 3 || asked["breaks"] < 3 || sent.Load() < enough {
			return fmt.Errorf("%v, %d MiB sent", asked, sent.Load()>>20)
		}
		return nil
	})
	harness.Await(t, func(ctx context.Context) error {
		large, err := service.Metric(ctx, "delegraph_parse_errors_total", "source", "ids", "reason", "too_large")
		if err == nil && large == 0 {
			err = fmt.Errorf("no id was counted as too large")
		}
		return err
	})
	mu.Lock()
	lasted := time.Since(begun)
	for _, name := range []string{"retry", "breaks"} {
		if soonest := int(lasted/(100*time.Millisecond)) + 1; asked[name] > soonest {
			t.Errorf("%s: asked %d times in %s", name, asked[name], lasted)
		}
	}
	for _, name := range []string{"line", "data", "comments", "ids", "sips", "gzip"} {
		if asked[name] != 1 {
			t.Errorf("%s: asked %d times", name, asked[name])
		}
	}
	t.Logf("after %s, %d MiB were sent, and the agent was asked %v", lasted.Round(time.Millisecond), sent.Load()>>20, asked)
	mu.Unlock()
	if up := service.Count(t, "delegraph_source_up", "source", "redirects"); up != 0 {
		t.Errorf("delegraph_source_up is %v where there are only redirects", up)
	}
	peak := peakMemory(t, service.Process.Pid)
	t.Logf("%d MiB resident at most with GOMEMLIMIT=%dMiB", peak>>20, limit>>20)
	if peak > most && !harness.RaceDetector {
		t.Errorf("%d MiB were resident", peak>>20)
	}
	service.Signal(t, syscall.SIGTERM)
	if err := service.Wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

// countedWriter counts what an agent sends.
type countedWriter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (w countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w countedWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.sent.Add(int64(n))
	return n, err
}

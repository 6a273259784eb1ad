//go:build linux

package main

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
)

// hostileTails are answers that a tail should not get, by path. Those without an end send until they are closed.
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
		piece := make([]byte, 1<<20) // a thousandth when it is packed
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

// TestFaultTailsAttacked has tails of agents that answer with lines, comments and blocks without an end, ids of megabytes, retry: 0,
// connections that break at once, redirects in a circle, a byte at a time and gzip of a giant, all at once and with little memory:
// the process stays small, it comes back no sooner than it may, the clients of a proxy have every byte, and a stop is a stop.
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
	agent, proxy := newRecordedAgent(t), vacant(t)
	configured := fmt.Sprintf("stream: {listen: %q}\nlimits: {frame: 1MiB}\nsources:\n  - {name: runs, relay: verbatim, proxy: {listen: %q, upstream: %q}}\n", vacant(t), proxy, agent.URL)
	for name := range hostileTails {
		configured += fmt.Sprintf("  - {name: %[1]s, dialect: adk, tail: {url: \"%[2]s/%[1]s\"}}\n", name, hostile.URL)
	}
	begun := time.Now()
	car := serveProcess(t, configured, map[string]string{"GOMEMLIMIT": fmt.Sprint(limit)})
	for _, name := range agent.names()[:5] {
		if got := askRun(t, proxy, name); got.err != nil || !bytes.Equal(got.body, agent.recordings[name]) {
			t.Errorf("%s: the client got %d bytes of %d: %v", name, len(got.body), len(agent.recordings[name]), got.err)
		}
	}
	await(t, func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if asked["retry"] < 3 || asked["breaks"] < 3 || sent.Load() < enough {
			return fmt.Errorf("%v, %d MiB sent", asked, sent.Load()>>20)
		}
		return nil
	})
	await(t, func(ctx context.Context) error {
		large, err := car.scrape(ctx, "delegraph_parse_errors_total", "source", "ids", "reason", "too_large")
		if err == nil && large == 0 {
			err = fmt.Errorf("no id is too large")
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
	if up := car.count(t, "delegraph_source_up", "source", "redirects"); up != 0 {
		t.Errorf("delegraph_source_up is %v where there are only redirects", up)
	}
	peak := peakMemory(t, car.Process.Pid)
	t.Logf("%d MiB resident at most with GOMEMLIMIT=%dMiB", peak>>20, limit>>20)
	if peak > most && !raceDetector {
		t.Errorf("%d MiB were resident", peak>>20)
	}
	car.signal(t, syscall.SIGTERM)
	if err := car.Wait(); err != nil {
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

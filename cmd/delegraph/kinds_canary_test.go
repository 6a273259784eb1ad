package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/collector/sse"
)

// dying is an agent that serves every capture of Looopy's, by its name, once somebody listens to the sidecar: half of it and some
// more, then, to whoever comes back, the rest, then nothing.
type dying struct {
	*httptest.Server
	heard  chan struct{}
	blocks map[string][]string // frames and comments
	wanted []string            // what is for its client, as event name and data
	frames int

	mu    sync.Mutex
	asked map[string]int
	fault string
}

func newDying(t *testing.T) *dying {
	t.Helper()
	d := &dying{heard: make(chan struct{}), blocks: map[string][]string{}, asked: map[string]int{}}
	for _, file := range sseFiles(t, captures["looopy"]) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d.blocks[filepath.Base(file)] = strings.SplitAfter(string(content), "\n\n")
		d.wanted = append(d.wanted, outside(t, content)...)
		d.frames += len(payloads(t, content))
	}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *dying) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	<-d.heard
	name := filepath.Base(r.URL.Path)
	blocks := d.blocks[name]
	half := len(blocks) / 2
	d.mu.Lock()
	d.asked[name]++
	asked := d.asked[name]
	d.mu.Unlock()
	first, rest := strings.Join(blocks[:half], ""), strings.Join(blocks[half:], "")
	if asked > 2 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "retry: 1\n\n")
	if asked == 1 {
		_, _ = io.WriteString(w, first+rest[:min(len(rest), 30)])
		return
	}
	if last := r.Header.Get("Last-Event-ID"); !strings.Contains(first+"id: \n", "id: "+last+"\n") {
		d.mu.Lock()
		d.fault = fmt.Sprintf("%s: came back with %q", name, last)
		d.mu.Unlock()
	}
	_, _ = io.WriteString(w, rest)
}

// left reads frames of the external stream after an id; "" is from now on.
type left struct {
	body   io.Closer
	frames *sse.Reader
}

func (r *running) leaving(t *testing.T, last string) left {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.external.listener.Addr().String()+"/events", nil)
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
	return left{resp.Body, sse.NewReader(resp.Body, 0)}
}

// take returns so many frames, as id, event name and data, and leaves.
func (l left) take(t *testing.T, n int) (all []string) {
	t.Helper()
	defer l.body.Close()
	for range n {
		f, err := l.frames.Next()
		if err != nil {
			t.Fatalf("%v after %d frames of %d", err, len(all), n)
		}
		all = append(all, fmt.Sprintf("%s|%s %s", f.ID, f.Event, f.Data))
	}
	return all
}

// TestNoCanaryOfLooopyLeaves tails every capture at once, each interrupted in the middle of a frame: a reader who listens gets all
// that is for him and nothing internal, also where upstream's own filter and replay let it pass, and so does whoever comes back
// with any id.
func TestNoCanaryOfLooopyLeaves(t *testing.T) {
	for _, policy := range []string{"client", "public"} {
		t.Run(policy, func(t *testing.T) {
			agent := newDying(t)
			configured := fmt.Sprintf("stream: {listen: \"127.0.0.1:0\", policy: %s, thoughts: detailed}\nsources:\n", policy)
			for name := range agent.blocks {
				source := strings.TrimSuffix(name, ".sse")
				configured += fmt.Sprintf("  - {name: %q, dialect: looopy, tail: {url: \"%s/events/%s?filterInternal=false\"}}\n", source, agent.URL, name)
			}
			car := launch(t, configured, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			listening := car.leaving(t, "")
			close(agent.heard)
			await(t, func(context.Context) error {
				left, kept := car.external.hub.Replay().Frames, car.count(t, "delegraph_stream_frames_dropped_total")
				if left+int(kept) != agent.frames {
					return fmt.Errorf("of %d frames %d left and %v stay in", agent.frames, left, kept)
				}
				return nil
			})
			agent.mu.Lock()
			fault := agent.fault
			agent.mu.Unlock()
			if fault != "" {
				t.Error(fault)
			}
			published := car.external.hub.Replay().Frames
			live := listening.take(t, published)
			if policy == "client" {
				var got []string
				for _, frame := range live {
					_, said, _ := strings.Cut(frame, "|")
					got = append(got, said)
				}
				slices.Sort(got)
				slices.Sort(agent.wanted)
				if !slices.Equal(got, agent.wanted) {
					t.Errorf("%d frames leave, %d are for clients", len(got), len(agent.wanted))
				}
			}
			for k := 0; k < published-1; k += 1 + published/20 {
				id, _, _ := strings.Cut(live[k], "|")
				if again := car.leaving(t, id).take(t, published-k-1); !slices.Equal(again, live[k+1:]) {
					t.Errorf("who comes back after frame %d gets something else", k+1)
				}
			}
			gap := car.leaving(t, "of-another-epoch").take(t, published+1)
			if !strings.Contains(gap[0], "delegraph.gap") || !slices.Equal(gap[1:], live) {
				t.Errorf("who comes back from elsewhere gets %s and %d frames", gap[0], len(gap)-1)
			}
			if all := strings.Join(live, "\n") + strings.Join(gap, "\n"); published < 100 || bytes.Contains([]byte(all), looopyCanary) || strings.Contains(all, "internal:") {
				t.Errorf("of %d frames something internal leaves", published)
			}
		})
	}
}

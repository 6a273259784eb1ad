//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
)

// soakToxics are in force one after the other, by round: on the way to the agents, and on that to the trace backend.
var soakToxics = map[string][]toxic{
	"agents": {
		{},
		{kind: "slicer", attributes: map[string]any{"average_size": 60, "size_variation": 50, "delay": 0}},
		{kind: "latency", attributes: map[string]any{"latency": 3, "jitter": 3}},
		{kind: "limit_data", attributes: map[string]any{"bytes": 3_000}},
		{kind: "reset_peer", attributes: map[string]any{"timeout": 20}},
		{kind: "down"},
	},
	"backend": {
		{},
		{kind: "down"},
		{kind: "latency", attributes: map[string]any{"latency": 2_000}},
		{kind: "reset_peer", attributes: map[string]any{"timeout": 5}},
		{},
	},
}

// soaking is a sidecar amid everything, and what those around it have counted.
type soaking struct {
	car        *instance
	toxics     *toxiproxy
	recordings map[string][][]byte // by dialect
	proxies    map[string]string   // by dialect
	external   string
	told       *oration // whom the tail listens to

	requests  int            // of runs
	frames    map[string]int // that clients got, by source
	mu        sync.Mutex     // of both
	made      int            // spans
	known     map[string]bool
	published atomic.Int64 // frames that a subscriber got who was always there
}

// TestSoak has agents of all dialects, a tail, subscribers who stay, who come back and who stop reading, scrapes and a trace backend
// go on for as long as asked, with connections that fail. In the end, what came in is what went out and what was dropped, by
// reason, to the frame and to the span; and heap, goroutines and descriptors are what they were in the middle.
func TestSoak(t *testing.T) {
	s, receiver := newSoaking(t)
	leave := s.surround(t)
	var sizes []size
	for round, end := 0, time.Now().Add(*soak); round < len(soakToxics["agents"]) || time.Now().Before(end); round++ {
		for _, link := range []string{"agents", "backend"} {
			if x := soakToxics[link][round%len(soakToxics[link])]; x.kind != "" {
				s.toxics.add(t, link, x)
			}
		}
		s.round(t)
		s.toxics.cure(t)
		s.rest(t)
		sizes = append(sizes, s.size(t))
	}
	s.checkFrames(t)
	s.checkSpans(t, receiver)
	leave()
	checkFlat(t, sizes)
}

func newSoaking(t *testing.T) (*soaking, *backend) {
	t.Helper()
	s := &soaking{toxics: startToxiproxy(t), recordings: others(t), proxies: map[string]string{}, frames: map[string]int{}, known: map[string]bool{}, external: vacant(t)}
	for _, name := range []string{"adk-go", "adk-python", "looopy"} {
		dialect, _, _ := strings.Cut(name, "-")
		for _, file := range sseFiles(t, captures[name]) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s.recordings[dialect] = append(s.recordings[dialect], content)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /agents/{dialect}", func(w http.ResponseWriter, r *http.Request) {
		of := s.recordings[r.PathValue("dialect")]
		w.Header().Set("Content-Type", "text/event-stream")
		for frame := range bytes.SplitAfterSeq(of[rand.IntN(len(of))], []byte("\n\n")) {
			_, _ = w.Write(frame)
			_ = http.NewResponseController(w).Flush()
		}
	})
	agents, receiver := httptest.NewServer(mux), newBackend(t)
	t.Cleanup(agents.Close)
	upstream := s.toxics.before(t, "agents", agents.Listener.Addr().String())

	configured := fmt.Sprintf("stream: {listen: %q, write_timeout: 1s, replay: {frames: 20000, bytes: 4MiB, age: 30s}}\nruns: {max_open: 1000, max_ended: 200}\nsources:\n", s.external)
	for _, name := range slices.Sorted(maps.Keys(s.recordings)) {
		s.proxies[name] = vacant(t)
		relay := []string{"verbatim", "filtered"}[len(s.proxies)%2]
		configured += fmt.Sprintf("  - {name: %[1]s, dialect: %[1]s, relay: %s, proxy: {listen: %q, upstream: \"http://%s\", paths: [/agents/%[1]s]}}\n", name, relay, s.proxies[name], upstream)
	}
	s.told = startOrator(t, vacant(t))
	configured += fmt.Sprintf("  - {name: tail, dialect: looopy, tail: {url: \"http://%s/events\"}}\n", s.toxics.before(t, "tail", s.told.address))
	s.toxics.add(t, "tail", toxic{kind: "limit_data", attributes: map[string]any{"bytes": 350}})
	env := receiver.environment(map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_BSP_EXPORT_TIMEOUT": "500", "OTEL_BSP_MAX_QUEUE_SIZE": "200", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "100"})
	env["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://" + s.toxics.before(t, "backend", receiver.grpc)
	s.car = serveProcess(t, configured, env)
	return s, receiver
}

// surround begins with scrapes and subscribers, and returns what ends them: who stays, who comes back where it left off after some
// frames, and who opens a stream and never reads it.
func (s *soaking) surround(t *testing.T) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	opened := make(chan struct{})
	all.Go(func() {
		s.follow(ctx, "", -1, func(f sse.Frame) {
			if f.Type() == "delegraph.gap" {
				t.Errorf("who was always there is told of a gap: %s", f.Data)
			}
			s.published.Add(1)
		}, func() { close(opened) })
	})
	<-opened
	s.told.say(t, "retry: 100\n\n")
	for _, frame := range story() {
		s.told.say(t, frame)
	}
	all.Go(func() {
		for last := ""; ctx.Err() == nil; {
			last = s.follow(ctx, last, rand.IntN(500)+1, func(sse.Frame) {}, func() {})
		}
	})
	all.Go(func() {
		for ctx.Err() == nil {
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.external+"/events", nil)
			if resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r); err == nil {
				pause := time.NewTimer(2 * time.Second)
				select {
				case <-pause.C:
				case <-ctx.Done():
				}
				pause.Stop()
				resp.Body.Close()
			}
		}
	})
	all.Go(func() {
		for ctx.Err() == nil {
			_, _, _ = look(ctx, s.car.admin+"/metrics")
		}
	})
	return func() { cancel(); all.Wait() }
}

// follow reads so many frames of the external stream behind an id, all for -1, and returns the id to come back with.
func (s *soaking) follow(ctx context.Context, last string, frames int, each func(sse.Frame), opened func()) string {
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.external+"/events", nil)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return last
	}
	defer resp.Body.Close()
	opened()
	read := sse.NewReader(resp.Body, 0)
	for ; frames != 0; frames-- {
		f, err := read.Next()
		if err != nil {
			return last
		}
		last = read.LastEventID()
		each(f)
	}
	return last
}

// round has users of every agent ask for some runs, all at once.
func (s *soaking) round(t *testing.T) {
	t.Helper()
	each := 4
	if raceDetector {
		each = 1
	}
	var users sync.WaitGroup
	for dialect, proxy := range s.proxies {
		for range each {
			users.Go(func() {
				for range 3 {
					n := s.ask(t.Context(), "http://"+proxy+"/agents/"+dialect)
					s.mu.Lock()
					s.requests++
					s.frames[dialect] += n
					s.mu.Unlock()
				}
			})
		}
	}
	users.Wait()
}

// ask asks for a run and returns how many frames came, however the answer ended.
func (s *soaking) ask(ctx context.Context, address string) (frames int) {
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader("{}"))
	resp, err := (&http.Transport{DisableKeepAlives: true, DisableCompression: true}).RoundTrip(r)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0
	}
	for read := sse.NewReader(resp.Body, 0); ; frames++ {
		if _, err := read.Next(); err != nil {
			return frames
		}
	}
}

// rest waits until every run is over, and notes their operations.
func (s *soaking) rest(t *testing.T) {
	t.Helper()
	s.car.becomes(t, 0, "delegraph_runs_open")
	status, page, err := look(t.Context(), s.car.admin+"/api/v1/runs?limit=1000")
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d %v", status, err)
	}
	var runs []struct{ Operations []struct{ ID string } }
	if err := json.Unmarshal([]byte(page), &runs); err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		if id := run.Operations[0].ID; !s.known[id] {
			s.known[id] = true
			s.made += len(run.Operations)
		}
	}
}

// checkFrames holds what was read of each source against what its clients got, and all of it against what was published.
func (s *soaking) checkFrames(t *testing.T) {
	t.Helper()
	for name, got := range s.frames {
		in := s.car.count(t, "delegraph_frames_total", "source", name)
		withheld := s.car.count(t, "delegraph_relay_frames_withheld_total", "source", name)
		if withheld > 0 { // among them what the end of a stream cut off, which is no frame
			withheld -= s.car.count(t, "delegraph_parse_errors_total", "source", name, "reason", "truncated")
		}
		lost := s.car.count(t, "delegraph_source_unobserved_bytes_total", "source", name)
		if in != float64(got)+withheld || got == 0 || lost > 0 {
			t.Errorf("%s: of %v frames the clients got %d, %v were withheld, %v bytes unobserved", name, in, got, withheld, lost)
		}
	}
	in, dropped := s.car.count(t, "delegraph_frames_total"), s.car.count(t, "delegraph_stream_frames_dropped_total")
	await(t, func(context.Context) error {
		if out := float64(s.published.Load()); in != out+dropped || out == 0 {
			return fmt.Errorf("of %v frames a subscriber got %v, and %v were dropped", in, out, dropped)
		}
		return nil
	})
	t.Logf("%v frames in %d runs, %v of them published, %v dropped; sent %v", in, s.requests, s.published.Load(), dropped, s.car.count(t, "delegraph_stream_frames_sent_total"))
}

// checkSpans holds the spans that were made against those that the backend has and those that were dropped.
func (s *soaking) checkSpans(t *testing.T, receiver *backend) {
	t.Helper()
	s.car.becomes(t, 0, "delegraph_spans_queued")
	made := float64(s.made + s.requests)
	await(t, func(ctx context.Context) error { // what is being sent is not queued
		exported, err := s.car.scrape(ctx, "delegraph_spans_exported_total")
		if err != nil {
			return err
		}
		dropped, err := s.car.scrape(ctx, "delegraph_spans_dropped_total")
		if err != nil || exported+dropped != made {
			return fmt.Errorf("of %v spans %v were exported and %v dropped: %w", made, exported, dropped, err)
		}
		return nil
	})
	exported := s.car.count(t, "delegraph_spans_exported_total")
	// Of a batch whose answer was lost, the backend may have what was dropped when it was to be sent again.
	if received := float64(receiver.distinct()); received < exported || received > made {
		t.Errorf("of %v spans the backend has %v, and %v are said to be exported", made, received, exported)
	}
	t.Logf("%v spans, %v of them exported, %v dropped", made, exported, made-exported)
}

// size is what a process takes when nothing goes on.
type size struct{ heap, goroutines, descriptors float64 }

// size has the collector run first. What the replay buffer holds is bounded by itself, and left out.
func (s *soaking) size(t *testing.T) (now size) {
	t.Helper()
	for range 2 { // what a finalizer lets go of is collected the second time
		if status, _, err := look(t.Context(), s.car.admin+"/debug/pprof/heap?gc=1"); err != nil || status != http.StatusOK {
			t.Fatalf("%d %v", status, err)
		}
	}
	now.heap = s.car.count(t, "go_memstats_heap_alloc_bytes") - s.car.count(t, "delegraph_stream_replay_bytes")
	now.goroutines, now.descriptors = s.car.count(t, "go_goroutines"), s.car.count(t, "process_open_fds")
	return now
}

// settled is after how many rounds what is bounded is full: ended runs, label sets, buffers. Before, the heap grows to its bounds.
const settled = 40

// checkFlat compares the last quarter with the one before the middle, by their medians; the heap only of a long soak.
func checkFlat(t *testing.T, sizes []size) {
	t.Helper()
	quarter := len(sizes) / 4
	for name, c := range map[string]struct {
		of    func(size) float64
		slack float64
	}{
		"heap":        {func(s size) float64 { return s.heap }, 4 << 20},
		"goroutines":  {func(s size) float64 { return s.goroutines }, 10},
		"descriptors": {func(s size) float64 { return s.descriptors }, 10},
	} {
		median := func(window []size) float64 {
			var all []float64
			for _, s := range window {
				all = append(all, c.of(s))
			}
			slices.Sort(all)
			return all[len(all)/2]
		}
		before, after := median(sizes[quarter:2*quarter]), median(sizes[len(sizes)-quarter:])
		t.Logf("%s: %.0f, %.0f, %.0f, %.0f in the quarters of %d rounds", name, median(sizes[:quarter]), before, median(sizes[2*quarter:3*quarter]), after, len(sizes))
		if after > 1.1*before+c.slack && (name != "heap" || len(sizes) >= settled) {
			t.Errorf("%s grow from %.0f to %.0f", name, before, after)
		}
	}
}

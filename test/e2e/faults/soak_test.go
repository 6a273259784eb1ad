//go:build linux

package faults_test

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
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// soakToxics are applied one after the other, one each round, to the connections of the agents and of the trace backend.
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

// soakTest is a sidecar with its peers and their counts.
type soakTest struct {
	service    *harness.Instance
	toxics     *toxiproxy
	recordings map[string][][]byte // by dialect
	proxies    map[string]string   // by dialect
	external   string
	told       *fakeAgent // the agent of the tail

	requests  int            // for runs
	frames    map[string]int // that clients got, by source
	mu        sync.Mutex     // guards requests and frames
	made      int            // spans
	known     map[string]bool
	published atomic.Int64 // frames that the permanent subscriber got
}

// TestSoak runs agents of all dialects, a tail, subscribers that stay, that resume and that do not read, scrapes and a trace
// backend, with connections that fail. In the end every frame and span that came in went out or was dropped, by reason. Heap,
// goroutines and descriptors do not grow after the middle.
func TestSoak(t *testing.T) {
	s, receiver := newSoakTest(t)
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

func newSoakTest(t *testing.T) (*soakTest, *harness.Receiver) {
	t.Helper()
	s := &soakTest{toxics: startToxiproxy(t), recordings: harness.OtherRecordings(t), proxies: map[string]string{}, frames: map[string]int{}, known: map[string]bool{}, external: loopback.FreeAddress(t)}
	for _, name := range []string{"adk-go", "adk-python", "looopy"} {
		dialect, _, _ := strings.Cut(name, "-")
		for _, file := range recorded.Files(t, recorded.Captures[name]) {
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
	agents, receiver := httptest.NewServer(mux), harness.NewReceiver(t)
	t.Cleanup(agents.Close)
	upstream := s.toxics.before(t, "agents", agents.Listener.Addr().String())

	configured := fmt.Sprintf("stream: {listen: %q, write_timeout: 1s, replay: {frames: 20000, bytes: 4MiB, age: 30s}}\nruns: {max_open: 1000, max_ended: 1000}\nsources:\n", s.external)
	for _, name := range slices.Sorted(maps.Keys(s.recordings)) {
		s.proxies[name] = loopback.FreeAddress(t)
		relay := []string{"verbatim", "filtered"}[len(s.proxies)%2]
		configured += fmt.Sprintf("  - {name: %[1]s, dialect: %[1]s, relay: %s, proxy: {listen: %q, upstream: \"http://%s\", paths: [/agents/%[1]s]}}\n", name, relay, s.proxies[name], upstream)
	}
	s.told = startFakeAgent(t, loopback.FreeAddress(t))
	configured += fmt.Sprintf("  - {name: tail, dialect: looopy, tail: {url: \"http://%s/events\"}}\n", s.toxics.before(t, "tail", s.told.address))
	s.toxics.add(t, "tail", toxic{kind: "limit_data", attributes: map[string]any{"bytes": 350}})
	env := receiver.Environment(map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_BSP_EXPORT_TIMEOUT": "500", "OTEL_BSP_MAX_QUEUE_SIZE": "200", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "100"})
	env["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://" + s.toxics.before(t, "backend", receiver.GRPC)
	s.service = harness.Serve(t, configured, env)
	return s, receiver
}

// surround starts scrapes and subscribers and returns a function that ends them. One subscriber stays, one resumes after some
// frames, and one never reads.
func (s *soakTest) surround(t *testing.T) (leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	opened := make(chan struct{})
	all.Go(func() {
		s.follow(ctx, "", -1, func(f sse.Frame) {
			if f.Type() == "delegraph.gap" {
				t.Errorf("the permanent subscriber got a gap: %s", f.Data)
			}
			s.published.Add(1)
		}, func() { close(opened) })
	})
	<-opened
	s.told.say(t, "retry: 100\n\n")
	for _, frame := range fakeagent.LooopyTurn() {
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
			_, _, _ = harness.Fetch(ctx, s.service.Admin+"/metrics")
		}
	})
	return func() { cancel(); all.Wait() }
}

// follow reads a number of frames of the external stream after an id, or all frames for -1, and returns the id to resume with.
func (s *soakTest) follow(ctx context.Context, last string, frames int, each func(sse.Frame), opened func()) string {
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

// round starts some runs of every agent at once.
func (s *soakTest) round(t *testing.T) {
	t.Helper()
	each := 4
	if harness.RaceDetector {
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

// ask starts a run and returns the number of frames received, even if the response broke off.
func (s *soakTest) ask(ctx context.Context, address string) (frames int) {
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

// rest waits until every run has ended, counts the operations, and returns the runs that it did not know.
func (s *soakTest) rest(t *testing.T) (latest []json.RawMessage) {
	t.Helper()
	s.service.WaitMetric(t, 0, "delegraph_runs_open")
	status, page, err := harness.Fetch(t.Context(), s.service.Admin+"/api/v1/runs?limit=1000")
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d %v", status, err)
	}
	var answer []json.RawMessage
	if err := json.Unmarshal([]byte(page), &answer); err != nil {
		t.Fatal(err)
	}
	for _, text := range answer {
		var run struct{ Operations []struct{ ID string } }
		if err := json.Unmarshal(text, &run); err != nil {
			t.Fatal(err)
		}
		if id := run.Operations[0].ID; !s.known[id] {
			s.known[id] = true
			s.made += len(run.Operations)
			latest = append(latest, text)
		}
	}
	return latest
}

// checkFrames compares the frames read from each source with those that clients got, and their total with the published ones.
func (s *soakTest) checkFrames(t *testing.T) {
	t.Helper()
	for name, got := range s.frames {
		in := s.service.Count(t, "delegraph_frames_total", "source", name)
		withheld := s.service.Count(t, "delegraph_relay_frames_withheld_total", "source", name)
		if withheld > 0 { // this includes frames that the end of a stream cut off, which do not count
			withheld -= s.service.Count(t, "delegraph_parse_errors_total", "source", name, "reason", "truncated")
		}
		lost := s.service.Count(t, "delegraph_source_unobserved_bytes_total", "source", name)
		if in != float64(got)+withheld || got == 0 || lost > 0 {
			t.Errorf("%s: of %v frames the clients got %d, %v were withheld, %v bytes unobserved", name, in, got, withheld, lost)
		}
	}
	in, dropped := s.service.Count(t, "delegraph_frames_total"), s.service.Count(t, "delegraph_stream_frames_dropped_total")
	harness.Await(t, func(context.Context) error {
		if out := float64(s.published.Load()); in != out+dropped || out == 0 {
			return fmt.Errorf("of %v frames a subscriber got %v, and %v were dropped", in, out, dropped)
		}
		return nil
	})
	t.Logf("%v frames in %d runs, %v of them published, %v dropped; sent %v", in, s.requests, s.published.Load(), dropped, s.service.Count(t, "delegraph_stream_frames_sent_total"))
}

// checkSpans compares the spans that were made with those that were received or dropped.
func (s *soakTest) checkSpans(t *testing.T, receiver *harness.Receiver) {
	t.Helper()
	s.service.WaitMetric(t, 0, "delegraph_spans_queued")
	for _, run := range s.rest(t) {
		t.Logf("a run started after the last round: %s", run)
	}
	made := float64(s.made + s.requests)
	harness.Await(t, func(ctx context.Context) error { // spans that are being sent are not in the queue
		exported, err := s.service.Metric(ctx, "delegraph_spans_exported_total")
		if err != nil {
			return err
		}
		dropped, err := s.service.Metric(ctx, "delegraph_spans_dropped_total")
		if err != nil || exported+dropped != made {
			return fmt.Errorf("of %v spans %v were exported and %v dropped: %w", made, exported, dropped, err)
		}
		return nil
	})
	exported := s.service.Count(t, "delegraph_spans_exported_total")
	// If an answer was lost, the backend may have spans that were later dropped before they could be sent again.
	if received := float64(receiver.Distinct()); received < exported || received > made {
		t.Errorf("of %v spans the backend has %v, and %v are said to be exported", made, received, exported)
	}
	t.Logf("%v spans, %v of them exported, %v dropped", made, exported, made-exported)
}

// size is what an idle process uses.
type size struct{ heap, goroutines, descriptors float64 }

// size collects garbage first. It leaves out the replay buffer, which has its own limit.
func (s *soakTest) size(t *testing.T) (now size) {
	t.Helper()
	for range 2 { // finalizers free their objects only in the second collection
		if status, _, err := harness.Fetch(t.Context(), s.service.Admin+"/debug/pprof/heap?gc=1"); err != nil || status != http.StatusOK {
			t.Fatalf("%d %v", status, err)
		}
	}
	now.heap = s.service.Count(t, "go_memstats_heap_alloc_bytes") - s.service.Count(t, "delegraph_stream_replay_bytes")
	now.goroutines, now.descriptors = s.service.Count(t, "go_goroutines"), s.service.Count(t, "process_open_fds")
	return now
}

// settled is the number of rounds until everything bounded is full. The heap grows until then.
const settled = 40

// checkFlat compares the medians of the last quarter and of the one before the middle, those of the heap only in a long soak.
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

package dashboards_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// scene has agents and users whose traffic contains everything that a dashboard shows. The recorded agents have the current time
// in their frames: one behind the proxy, one that is tailed, and one for each of the other dialects.
type scene struct {
	recordings map[string][]byte   // of the agent behind the proxy
	contexts   [][]byte            // of the tailed agent
	others     map[string][][]byte // of the other agents, by dialect
	end        chan struct{}
	finish     func() // ends the answers that never end by themselves

	mu    sync.Mutex
	turns int
}

// script lists the requests of users, repeated by frequency.
var script = []string{
	"briefing", "briefing", "adk-go/transfer", "adk-go/multi_transfer", "adk-go/parallel_tools", "adk-python/parallel_tools",
	"adk-js/plain", "adk-python/plain", "adk-go/agent_tool", "adk-go/sequential_tools", "adk-go/tool_error", "adk-go/model_429",
	"adk-go/confirmation", "adk-go/long_running", "adk-go/state_artifact", "adk-go/thought_tools", "garbled",
}

// askFrame calls a tool whose result must come from outside the agent.
const askFrame = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"model","parts":[{"functionCall":{"id":"c-1","name":"approve","args":{}}}]},"longRunningToolIds":["c-1"],"finishReason":"STOP"}` + "\n\n"

// unreadable is a request body that cannot be parsed.
const unreadable = "{"

// These match the times in recordings: seconds or milliseconds since the epoch, or a date.
var (
	epoch = regexp.MustCompile(`("timestamp": ?)(\d{10})(\d{3})?(\.\d+)?`)
	dated = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	tasks = regexp.MustCompile(`("(?:t|parentT)askId":")`)
)

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{recordings: recorded.NewAgent(t).Recordings, others: harness.OtherRecordings(t), end: make(chan struct{})}
	s.finish = sync.OnceFunc(func() { close(s.end) })
	briefing, err := os.ReadFile("../../../internal/demo/recordings/fire-briefing.sse")
	if err != nil {
		t.Fatal(err)
	}
	s.recordings["briefing"] = briefing
	s.recordings["garbled"] = []byte("data: {\n\ndata: {\"a\":1,\"a\":2}\n\nid: not one\n" + fakeagent.CallFrame)
	for _, file := range recorded.Files(t, recorded.Captures["looopy"]) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(filepath.Base(file), "2025-") || bytes.Contains(content, []byte("subtask")) {
			s.contexts = append(s.contexts, content)
		}
	}
	return s
}

// serve answers runs and subscriptions until the test ends.
func (s *scene) serve(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /run_sse", s.run)
	mux.HandleFunc("GET /events/{context}", s.listen)
	mux.HandleFunc("POST /agents/{dialect}", s.runOther)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func (s *scene) run(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	if bytes.Contains(body, []byte(`"text":"silence"`)) {
		s.send(w, []byte(askFrame))
		select {
		case <-r.Context().Done():
		case <-s.end:
		}
		return
	}
	for name, recording := range s.recordings {
		if bytes.Contains(body, []byte(`"text":"`+name+`"`)) || string(body) == unreadable && name == "garbled" {
			s.send(w, recording)
			return
		}
	}
	http.Error(w, "no such recording", http.StatusNotFound)
}

// listen serves one context's stream, which breaks off now and then.
func (s *scene) listen(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for range 3 {
		s.mu.Lock()
		s.turns++
		turn := s.turns
		s.mu.Unlock()
		again := tasks.ReplaceAll(s.contexts[turn%len(s.contexts)], fmt.Appendf(nil, "${1}%d-", turn))
		s.send(w, again)
	}
}

// send writes a recording frame by frame with the current time.
func (s *scene) send(w http.ResponseWriter, recording []byte) {
	for _, frame := range bytes.SplitAfter(recording, []byte("\n\n")) {
		_, _ = w.Write(atTime(frame, time.Now()))
		_ = http.NewResponseController(w).Flush()
	}
}

// atTime sets the times in a frame to now.
func atTime(frame []byte, now time.Time) []byte {
	frame = epoch.ReplaceAllFunc(frame, func(found []byte) []byte {
		parts := epoch.FindSubmatch(found)
		at := strconv.FormatFloat(float64(now.UnixMicro())/1e6, 'f', 6, 64)
		if len(parts[3]) > 0 {
			at = strconv.FormatInt(now.UnixMilli(), 10)
		}
		return slices.Concat(parts[1], []byte(at))
	})
	return dated.ReplaceAll(frame, []byte(now.UTC().Format("2006-01-02T15:04:05.000Z")))
}

// ask sends every request of the script once, some of them concurrently.
func (s *scene) ask(t *testing.T, service *harness.Service, together int) {
	t.Helper()
	asked := slices.Clone(script)
	rand.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	turns := make(chan string)
	var users sync.WaitGroup
	users.Go(func() { harness.Post(t, service.Address(), []byte(unreadable), nil) })
	for range together {
		users.Go(func() {
			for text := range turns {
				if got := harness.Post(t, service.Address(), adkserver.RunRequest("u", "s", text, true), nil); got.Err != nil || got.Status != http.StatusOK {
					t.Errorf("%s: %d, %v", text, got.Status, got.Err)
				}
			}
		})
	}
	for _, text := range asked {
		turns <- text
	}
	close(turns)
	users.Wait()
}

// fallSilent starts runs without any further frames. Their answers end with the scene.
func (s *scene) fallSilent(t *testing.T, service *harness.Service, runs int) {
	t.Helper()
	var users sync.WaitGroup
	t.Cleanup(func() {
		s.finish()
		users.Wait()
	})
	for range runs {
		users.Go(func() {
			r, err := http.NewRequest(http.MethodPost, service.Address()+"/run_sse", bytes.NewReader(adkserver.RunRequest("u", "s", "silence", true)))
			if err != nil {
				t.Error(err)
				return
			}
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			if resp, err := transport.RoundTrip(r); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}

// subscribe reads the external stream until it is stopped. stop returns the last id. With an id, it resumes after that.
func subscribe(t *testing.T, service *harness.Service, id string) (stop func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+service.StreamAddr()+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if id != "" {
		r.Header.Set("Last-Event-ID", id)
	}
	transport := &http.Transport{}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	last := make(chan string, 1)
	go func() {
		defer resp.Body.Close()
		frames, id := sse.NewReader(resp.Body, 0), ""
		for {
			f, err := frames.Next()
			if err != nil {
				last <- id
				return
			}
			if len(f.ID) > 0 {
				id = string(f.ID)
			}
		}
	}()
	stop = sync.OnceValue(func() string {
		cancel()
		defer transport.CloseIdleConnections()
		return <-last
	})
	t.Cleanup(func() { stop() })
	return stop
}

// happen causes each of these once:
//   - more readers of the external stream than allowed
//   - more runs than allowed
//   - silent runs
//   - readers that resume with a valid and with an unknown id
func (s *scene) happen(t *testing.T, service *harness.Service, open int) {
	t.Helper()
	var leave []func() string
	for range 5 {
		leave = append(leave, subscribe(t, service, ""))
	}
	if service.Count(t, "delegraph_runs_open", "source", "fire-briefing") == 0 {
		s.fallSilent(t, service, open+1)
	}
	var users sync.WaitGroup
	users.Go(func() { s.askOthers(t, service) })
	s.ask(t, service, 3)
	users.Wait()
	id := ""
	for _, stop := range leave {
		id = max(id, stop())
	}
	subscribe(t, service, id)()
	subscribe(t, service, "nobody's")()
}

package main

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
)

// scene is agents and their users, in whose traffic everything happens that a dashboard shows: recorded agents, whose clocks are
// today's, one behind the proxy, one that is listened to, and one for each protocol that these two do not speak.
type scene struct {
	recordings map[string][]byte   // of the agent behind the proxy
	contexts   [][]byte            // of the one that is listened to
	others     map[string][][]byte // of the others, by dialect
	end        chan struct{}
	finish     func() // ends what never ends by itself

	mu    sync.Mutex
	turns int
}

// script is what users ask for, as often as it stands here.
var script = []string{
	"briefing", "briefing", "adk-go/transfer", "adk-go/multi_transfer", "adk-go/parallel_tools", "adk-python/parallel_tools",
	"adk-js/plain", "adk-python/plain", "adk-go/agent_tool", "adk-go/sequential_tools", "adk-go/tool_error", "adk-go/model_429",
	"adk-go/confirmation", "adk-go/long_running", "adk-go/state_artifact", "adk-go/thought_tools", "garbled",
}

// askFrame asks for something that somebody outside is to answer.
const askFrame = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"model","parts":[{"functionCall":{"id":"c-1","name":"approve","args":{}}}]},"longRunningToolIds":["c-1"],"finishReason":"STOP"}` + "\n\n"

// unreadable is a request of which nobody can tell what it asks for.
const unreadable = "{"

// The clocks in recordings: seconds or milliseconds of an epoch, or a date.
var (
	epoch = regexp.MustCompile(`("timestamp": ?)(\d{10})(\d{3})?(\.\d+)?`)
	dated = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	tasks = regexp.MustCompile(`("(?:t|parentT)askId":")`)
)

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{recordings: newRecordedAgent(t).recordings, others: others(t), end: make(chan struct{})}
	s.finish = sync.OnceFunc(func() { close(s.end) })
	briefing, err := os.ReadFile("../../internal/demo/recordings/fire-briefing.sse")
	if err != nil {
		t.Fatal(err)
	}
	s.recordings["briefing"] = briefing
	s.recordings["garbled"] = []byte("data: {\n\ndata: {\"a\":1,\"a\":2}\n\nid: not one\n" + callFrame)
	for _, file := range sseFiles(t, captures["looopy"]) {
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

// listen is one context's stream, which breaks off now and then.
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

// send writes a recording frame by frame, as if it happened now.
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

// ask has users ask for everything in the script once, some at a time.
func (s *scene) ask(t *testing.T, car *running, together int) {
	t.Helper()
	asked := slices.Clone(script)
	rand.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	turns := make(chan string)
	var users sync.WaitGroup
	users.Go(func() { post(t, car.address(), []byte(unreadable), nil) })
	for range together {
		users.Go(func() {
			for text := range turns {
				if got := post(t, car.address(), adkserver.RunRequest("u", "s", text, true), nil); got.err != nil || got.status != http.StatusOK {
					t.Errorf("%s: %d, %v", text, got.status, got.err)
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

// fallSilent has users ask for runs of which nothing is heard any more, until their answers end with the scene.
func (s *scene) fallSilent(t *testing.T, car *running, runs int) {
	t.Helper()
	var users sync.WaitGroup
	t.Cleanup(func() {
		s.finish()
		users.Wait()
	})
	for range runs {
		users.Go(func() {
			r, err := http.NewRequest(http.MethodPost, car.address()+"/run_sse", bytes.NewReader(adkserver.RunRequest("u", "s", "silence", true)))
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

// subscribe reads the external stream until it is stopped, which tells the last id. It comes back with an id where one is given.
func subscribe(t *testing.T, car *running, id string) (stop func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+car.StreamAddr()+"/events", nil)
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

// happen has everything happen once: more readers of the external stream than there may be, more runs than there may be, some of
// which fall silent, and readers who come back, with an id and with nobody's.
func (s *scene) happen(t *testing.T, car *running, open int) {
	t.Helper()
	var leave []func() string
	for range 5 {
		leave = append(leave, subscribe(t, car, ""))
	}
	if car.count(t, "delegraph_runs_open", "source", "fire-briefing") == 0 {
		s.fallSilent(t, car, open+1)
	}
	var users sync.WaitGroup
	users.Go(func() { s.askOthers(t, car) })
	s.ask(t, car, 3)
	users.Wait()
	id := ""
	for _, stop := range leave {
		id = max(id, stop())
	}
	subscribe(t, car, id)()
	subscribe(t, car, "nobody's")()
}

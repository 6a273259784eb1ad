package relay_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestSecondListener sends a task to an A2A agent with one client while others listen to it from its middle on, over both
// transports. It is one run, readers of the external stream get each frame once, and each listener gets everything that it was
// sent.
func TestSecondListener(t *testing.T) {
	update := func(kind, rest string) string {
		return fmt.Sprintf(`{%q:{"taskId":"t1","contextId":"c1",%s}}`, kind, rest)
	}
	snapshot := func(state string) string {
		return fmt.Sprintf(`{"task":{"id":"t1","contextId":"c1","status":{"state":%q}}}`, state)
	}
	piece := func(artifact string, more bool) string {
		return update("artifactUpdate", fmt.Sprintf(`"artifact":{"artifactId":%q,"parts":[{"text":"la "}]},"append":%t`, artifact, more))
	}
	begin := []string{snapshot("TASK_STATE_SUBMITTED"), update("statusUpdate", `"status":{"state":"TASK_STATE_WORKING"}`), piece("a", false)}
	rest := []string{piece("b", false), piece("b", true), update("statusUpdate", `"status":{"state":"TASK_STATE_COMPLETED"}`)}
	const listeners = 2
	middle := make(chan struct{})
	begun := sync.OnceFunc(func() { close(middle) }) // the client of the request has the beginning, though it may not have been observed yet
	var joined sync.WaitGroup
	joined.Add(listeners)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(frames []string) {
			for _, frame := range frames {
				if r.Method == http.MethodPost {
					frame = fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, r.URL.Path, frame)
				}
				_, _ = fmt.Fprintf(w, "data: %s\n\n", frame)
			}
			_ = http.NewResponseController(w).Flush()
		}
		if strings.Contains(string(asked), "SendStreamingMessage") {
			send(begin)
			joined.Wait()
			send(rest)
			return
		}
		send([]string{snapshot("TASK_STATE_WORKING")})
		joined.Done()
		joined.Wait()
		send(rest)
	}))
	t.Cleanup(agent.Close)
	service := harness.Launch(t, fmt.Sprintf("stream: {listen: \"127.0.0.1:0\", policy: client}\nsources:\n  - {name: a, proxy: {listen: \"127.0.0.1:0\", upstream: %q}}\n", agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	base := "http://" + service.Proxies()[0].Addr
	listening := service.Subscribe(t, "")
	frames := make(chan int)
	listen := func(method, path, body string) {
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			frames <- 0
			return
		}
		defer resp.Body.Close()
		n := 0
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data:") {
				n++
			}
			if method == "POST" && path == "/" && n == len(begin) {
				begun()
			}
		}
		frames <- n
	}
	go listen("POST", "/", `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}`)
	<-middle
	go listen("POST", "/", `{"jsonrpc":"2.0","id":2,"method":"SubscribeToTask","params":{"id":"t1"}}`)
	go listen("GET", "/tasks/t1:subscribe", "")
	got := 0
	for range 1 + listeners {
		got += <-frames
	}
	if want := len(begin) + len(rest) + listeners*(1+len(rest)); got != want {
		t.Errorf("the clients get %d frames of %d", got, want)
	}
	service.Wait()
	if n := service.Replay().Frames; n != len(begin)+len(rest) {
		t.Errorf("%d frames are published", n)
	}
	for i, frame := range listening.Take(t, len(begin)+len(rest)) {
		if want := append(begin[:len(begin):len(begin)], rest...)[i]; !strings.Contains(frame, want) {
			t.Errorf("frame %d is %s, want %s", i, frame, want)
		}
	}
	service.Stop()
	for name, want := range map[string]float64{"delegraph_runs_started_total": 1, "delegraph_runs_ended_total": 1, "delegraph_frames_total": 6} {
		if n := service.Count(t, name, "source", "a"); n != want {
			t.Errorf("%s is %g, want %g", name, n, want)
		}
	}
	if n := service.Count(t, "delegraph_runs_ended_total", "source", "a", "status", "completed"); n != 1 {
		t.Errorf("%g runs are completed", n)
	}
}

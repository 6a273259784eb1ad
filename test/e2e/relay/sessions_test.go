package relay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// connection is a client of an agent that sends what the test tells it to.
type connection struct {
	t      *testing.T
	client *http.Response
	send   chan string // closed when the agent ends the stream
	left   chan struct{}
}

// take has the agent send events, and waits until the client has them.
func (c *connection) take(events ...string) {
	c.t.Helper()
	c.send <- strings.Join(events, "")
	expectText(c.t, c.client, strings.Join(events, ""))
}

// end has the agent end the stream.
func (c *connection) end() {
	c.t.Helper()
	close(c.send)
	if rest, err := io.ReadAll(c.client.Body); err != nil || len(rest) > 0 {
		c.t.Errorf("the client gets %q at the end: %v", rest, err)
	}
	c.client.Body.Close()
}

// leave has the client leave.
func (c *connection) leave() {
	c.client.Body.Close()
	<-c.left
}

// startScripted starts an agent and a sidecar before it, and returns the function that connects a client.
func startScripted(t *testing.T, proxy string) (service *harness.Service, connect func(method, path, body string) *connection) {
	t.Helper()
	opened := make(chan *connection)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &connection{t: t, send: make(chan string), left: make(chan struct{})}
		defer close(c.left)
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w).Flush
		_ = flush()
		for opened <- c; ; _ = flush() {
			select {
			case text, more := <-c.send:
				if !more {
					return
				}
				_, _ = io.WriteString(w, text)
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(agent.Close)
	service = harness.Launch(t, fmt.Sprintf(proxy, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	return service, func(method, path, body string) *connection {
		t.Helper()
		client := request(t, method, service.Address()+path, body)
		c := <-opened
		c.client = client
		return c
	}
}

// recordedEvents returns the events of a recording of the conformance suite.
func recordedEvents(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../conformance", name, "input.sse"))
	if err != nil {
		t.Fatal(err)
	}
	events := strings.SplitAfter(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n")
	return events[:len(events)-1]
}

// checkCompleted checks that a number of runs completed, each with the same number of events.
func checkCompleted(t *testing.T, service *harness.Service, runs, events int) {
	t.Helper()
	service.Stop()
	reports := service.Recent.Reports()
	if len(reports) != runs {
		t.Errorf("want %d runs, got %s", runs, listRuns(reports))
	}
	for _, r := range reports {
		if r.Status != tracker.Completed || r.Events != events {
			t.Errorf("a run is %s with %d events, want %d", listRuns(reports[:1]), r.Events, events)
		}
	}
}

// TestStreamOfAThread has one client of a LangGraph server read all runs of a thread, and another one a run of it.
func TestStreamOfAThread(t *testing.T) {
	const run, thread = "01a204ee-163c-779c-8c1e-ab93a2bcd863", "/threads/01a204ee-163c-779c-8c1e-ab9448f10334"
	events := recordedEvents(t, "langgraph/two-tools")
	done := fmt.Sprintf("event: metadata\ndata: {\"status\":\"run_done\",\"run_id\":%q}\n\n", run)
	half := len(events) / 2
	t.Run("the stream of the run ends first", func(t *testing.T) {
		service, connect := startScripted(t, retrievingProxy)
		ofThread := connect("GET", thread+"/stream", "")
		ofThread.take(events[:2]...)
		ofRun := connect("GET", thread+"/runs/"+run+"/stream", "")
		ofRun.take(events...)
		ofRun.end()
		ofThread.take(append(events[2:], done)...)
		for _, event := range append(events, done) { // the next run
			ofThread.take(strings.ReplaceAll(event, run, strings.Replace(run, "863", "864", 1)))
		}
		ofThread.leave()
		checkCompleted(t, service, 2, len(events)+1)
	})
	t.Run("the client of the thread leaves", func(t *testing.T) {
		service, connect := startScripted(t, retrievingProxy)
		ofThread := connect("GET", thread+"/stream", "")
		ofThread.take(events[:half]...)
		ofRun := connect("GET", thread+"/runs/"+run+"/stream", "")
		ofRun.take(events[:half]...)
		ofThread.leave()
		ofRun.take(events[half:]...)
		ofRun.end()
		checkCompleted(t, service, 1, len(events))
	})
}

// TestContextWithoutItsFirstClient has the client of a Looopy context leave during a turn. Another one gets the rest.
func TestContextWithoutItsFirstClient(t *testing.T) {
	events := recordedEvents(t, "looopy/text")
	half := len(events) / 2
	for name, listensBefore := range map[string]bool{"that listens too": true, "that comes later": false} {
		t.Run(name, func(t *testing.T) {
			service, connect := startScripted(t, retrievingProxy)
			first := connect("GET", "/events/ctx", "")
			var second *connection
			if listensBefore {
				second = connect("GET", "/events/ctx", "")
			}
			if first.take(events[:half]...); listensBefore {
				second.take(events[:half]...)
			}
			if first.leave(); !listensBefore {
				second = connect("GET", "/events/ctx", "")
			}
			second.take(events[half:]...)
			second.leave()
			checkCompleted(t, service, 1, len(events))
		})
	}
}

// TestReconnectionToCopilotKit has a client of a CopilotKit runtime leave in the middle of a long answer, and connect again once the
// run has ended. The runtime then sends the run with its deltas joined.
//
// Source: CopilotKit, packages/runtime/src/v2/runtime/runner/in-memory.ts; AG-UI, sdks/typescript/packages/client/src/compact.
func TestReconnectionToCopilotKit(t *testing.T) {
	const deltas = 1500
	recorded := recordedEvents(t, "agui/sdk-tools")
	at := slices.IndexFunc(recorded, func(e string) bool { return strings.Contains(e, `"TEXT_MESSAGE_CONTENT"`) })
	before, after := recorded[:at], recorded[at:]
	text := make([]string, deltas)
	for i := range text {
		text[i] = fmt.Sprintf("data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m1\",\"delta\":\"%d \"}\n\n", i%10)
	}
	seen := slices.Concat(before, text)
	const proxy = `
stream: {listen: "127.0.0.1:0", policy: client}
sources:
  - {name: app, proxy: {listen: "127.0.0.1:0", upstream: %q, paths: ["/api/copilotkit/agent/*/*"]}}
`
	service, connect := startScripted(t, proxy)
	const asked = `{"threadId":"t1","runId":"r-tools","messages":[],"tools":[],"context":[],"state":{},"forwardedProps":{}}`
	first := connect("POST", "/api/copilotkit/agent/default/run", asked)
	first.take(seen...)
	first.leave()
	again := connect("POST", "/api/copilotkit/agent/default/connect", asked)
	again.take(compact(t, slices.Concat(seen, after))...)
	again.end()
	const news = 2 // the ends of the text and the run
	checkCompleted(t, service, 1, len(seen)+news)
	if n := service.Replay().Frames; n != len(seen)+news {
		t.Errorf("%d frames are published, want %d", n, len(seen)+news)
	}
}

// compact joins the deltas of each text and each call, as CopilotKit does.
func compact(t *testing.T, events []string) (joined []string) {
	t.Helper()
	var last map[string]any
	for _, event := range events {
		var v map[string]any
		if err := json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &v); err != nil {
			t.Fatal(err)
		}
		if last != nil && v["delta"] != nil && last["type"] == v["type"] {
			last["delta"] = last["delta"].(string) + v["delta"].(string)
			text, err := json.Marshal(last)
			if err != nil {
				t.Fatal(err)
			}
			joined[len(joined)-1] = fmt.Sprintf("data: %s\n\n", text)
			continue
		}
		joined, last = append(joined, event), v
	}
	return joined
}

package reload_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// speaker is an agent whose responses are given by the test, one frame at a time.
type speaker struct {
	*httptest.Server
	frames chan string // for the stream that listens; "" ends it
}

func newSpeaker(t *testing.T) *speaker {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	})
	s := &speaker{frames: make(chan string)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case frame := <-s.frames:
				if frame == "" {
					return
				}
				_, _ = io.WriteString(w, frame)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// speak sends frames and ends the response.
func (s *speaker) speak(frames ...string) {
	for _, frame := range append(frames, "") {
		s.frames <- frame
	}
}

// startRun starts a run. Its response arrives when the agent has ended it.
func startRun(t *testing.T, address string) <-chan harness.Response {
	t.Helper()
	got := make(chan harness.Response, 1)
	go func() { got <- harness.Post(t, address, adkserver.RunRequest("u", "s", "hello", true), nil) }()
	return got
}

// whole has the frames of a run.
var whole = []string{fakeagent.CallFrame, fakeagent.ResponseFrame, fakeagent.FinalFrame}

// undisturbed returns what a client gets if the configuration never changes.
func undisturbed(t *testing.T, source string) string {
	t.Helper()
	agent := newSpeaker(t)
	service := harness.Launch(t, fmt.Sprintf(source, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	defer service.Stop()
	got := startRun(t, service.Address())
	agent.speak(whole...)
	return string((<-got).Body)
}

const ofClients = `
stream: {listen: "127.0.0.1:0"}
sources: [{name: support, proxy: {listen: "127.0.0.1:0", upstream: "%s"}}]
`

var (
	ofThePublic = strings.Replace(ofClients, `}}]`, `}, policy: public}]`, 1)
	ofEverybody = strings.Replace(ofClients, `}}]`, `}, relay: verbatim}]`, 1)
)

// TestReloadDuringStream changes the policy and the agent of a source within a stream. The stream ends as it began, with every
// byte and span. The next stream comes from the new agent under the new policy.
func TestReloadDuringStream(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"narrower": {ofClients, ofThePublic},
		"wider":    {ofThePublic, ofClients},
		"verbatim": {ofThePublic, ofEverybody},
		"filtered": {ofEverybody, ofThePublic},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := undisturbed(t, c.before), undisturbed(t, c.after)
			if before == after {
				t.Fatal("the two policies let out the same")
			}
			old, other, receiver := newSpeaker(t), newSpeaker(t), harness.NewReceiver(t)
			service := harness.LaunchFile(t, fmt.Sprintf(c.before, old.URL), receiver.Environment(nil))
			address := service.Address()
			first := startRun(t, address)
			old.frames <- fakeagent.CallFrame
			if err := service.Change(t, fmt.Sprintf(c.after, other.URL)); err != nil {
				t.Fatal(err)
			}
			second := startRun(t, address)
			other.frames <- fakeagent.CallFrame // both agents send
			old.speak(fakeagent.ResponseFrame, fakeagent.FinalFrame)
			if a := <-first; a.Err != nil || string(a.Body) != before {
				t.Errorf("the stream that was open brought %q, %v; not %q", a.Body, a.Err, before)
			}
			other.speak(fakeagent.ResponseFrame, fakeagent.FinalFrame)
			if a := <-second; a.Err != nil || string(a.Body) != after {
				t.Errorf("the next stream brought %q, %v; not %q", a.Body, a.Err, after)
			}
			service.Stop()
			traces := receiver.Traces(t)
			if len(traces) != 2 {
				t.Errorf("%d traces", len(traces))
			}
			for _, spans := range traces {
				if status := harness.Attribute(spans.Run(t), "delegraph.run.status"); status != "completed" {
					t.Errorf("a run is %s", status)
				}
				for _, name := range []string{"POST /run_sse", "execute_tool survey", "chat m-1", "chat m-2"} {
					spans.One(t, name)
				}
			}
		})
	}
}

// TestStopAfterReload stops while a stream from before a reload is open. It drains like any other stream and is cut when the
// grace period ends.
func TestStopAfterReload(t *testing.T) {
	for name, removed := range map[string]bool{"changed": false, "removed": true} {
		t.Run(name, func(t *testing.T) {
			old, other, receiver := newSpeaker(t), newSpeaker(t), harness.NewReceiver(t)
			service := harness.LaunchFile(t, fmt.Sprintf(ofClients, old.URL), receiver.Environment(nil))
			service.Grace = time.Second
			got := startRun(t, service.Address())
			old.frames <- fakeagent.CallFrame
			next := fmt.Sprintf(ofThePublic, other.URL)
			if removed {
				next = strings.Replace(next, "name: support", "name: another", 1)
			}
			if err := service.Change(t, next); err != nil {
				t.Fatal(err)
			}
			service.Stop()
			if a := <-got; !errors.Is(a.Err, io.ErrUnexpectedEOF) || string(a.Body) != fakeagent.CallFrame {
				t.Errorf("the client got %q, %v", a.Body, a.Err)
			}
			for _, spans := range receiver.Traces(t) {
				if run := spans.Run(t); harness.Attribute(run, "delegraph.run.status_reason") != "shutdown" {
					t.Errorf("the run's span says %v", run.Attributes)
				}
			}
			if len(receiver.Traces(t)) != 1 {
				t.Errorf("%d traces", len(receiver.Traces(t)))
			}
			if err := service.Reload(); err == nil || err.Error() != "delegraph is stopping" {
				t.Errorf("a reload after the end: %v", err)
			}
		})
	}
}

// TestManyReloads changes agent, policy and ports a hundred times while clients start runs. Each client gets a whole stream under
// one policy, and every run is counted.
func TestManyReloads(t *testing.T) {
	agents := []*recorded.Agent{recorded.NewAgent(t), recorded.NewAgent(t)}
	const name = "adk-go/transfer"
	recording := agents[0].Recordings[name]
	filtered := func(policy string) string {
		return fmt.Sprintf("stream: {listen: \"127.0.0.1:0\"}\nsources: [{name: support, proxy: {listen: \"127.0.0.1:0\", upstream: %q}, policy: %s}]\n", agents[0].URL, policy)
	}
	var possible [][]byte
	for _, policy := range []string{"client", "public"} {
		service := harness.Launch(t, filtered(policy), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
		possible = append(possible, harness.AskOK(t, service, adkserver.RunRequest("u", "s", name, true)))
		service.Stop()
	}
	if bytes.Equal(possible[0], possible[1]) || !bytes.Contains(recording, []byte("transfer")) {
		t.Fatal("the two policies let out the same")
	}
	receiver := harness.NewReceiver(t)
	service := harness.LaunchFile(t, filtered("client"), receiver.Environment(nil))
	address := service.Address()
	over := make(chan struct{})
	var clients sync.WaitGroup
	var asked [3]int
	for i := range asked {
		clients.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				asked[i]++
				if a := harness.Post(t, address, adkserver.RunRequest("u", "s", name, true), nil); a.Err != nil || !bytes.Equal(a.Body, possible[0]) && !bytes.Equal(a.Body, possible[1]) {
					t.Errorf("status %d, %v: %d bytes", a.Status, a.Err, len(a.Body))
					return
				}
			}
		})
	}
	for i := range 100 {
		text := strings.Replace(filtered([]string{"client", "public"}[i%2]), agents[0].URL, agents[i/2%2].URL, 1)
		if i%3 == 0 {
			text = strings.Replace(text, "}]", fmt.Sprintf("}, {name: second, proxy: {listen: \"127.0.0.1:0\", upstream: %q}}]", agents[0].URL), 1)
		}
		if err := service.Change(t, text); err != nil {
			t.Fatal(err)
		}
	}
	close(over)
	clients.Wait()
	service.Stop()
	if n := service.Count(t, "delegraph_runs_ended_total", "source", "support"); int(n) != asked[0]+asked[1]+asked[2] {
		t.Errorf("%v runs of %v", n, asked)
	}
	if n := len(receiver.Traces(t)); n != asked[0]+asked[1]+asked[2] {
		t.Errorf("%d traces of %v", n, asked)
	}
}

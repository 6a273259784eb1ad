package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/internal/sidecar"
)

// onFile is a sidecar that runs with a configuration file.
type onFile struct {
	*running
	*sidecar.Reloader
}

func launchOn(t *testing.T, text string, env map[string]string) *onFile {
	t.Helper()
	file := filepath.Join(t.TempDir(), "delegraph.yml")
	car := launch(t, text, env)
	f := &onFile{car, sidecar.NewReloader(file, []byte(text), car, car.logger)}
	f.write(t, text)
	return f
}

func (f *onFile) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(f.File, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// change reloads a text.
func (f *onFile) change(t *testing.T, text string) error {
	t.Helper()
	f.write(t, text)
	return f.Reload()
}

// speaker is an agent whose answers the test gives, a frame at a time; it also watches over the goroutines of its test.
type speaker struct {
	*httptest.Server
	frames chan string // to the stream that listens; "" ends it
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

// speak gives frames and then the end.
func (s *speaker) speak(frames ...string) {
	for _, frame := range append(frames, "") {
		s.frames <- frame
	}
}

// asking asks for a run, whose answer comes when the agent has spoken to its end.
func asking(t *testing.T, address string) <-chan gotten {
	t.Helper()
	got := make(chan gotten, 1)
	go func() { got <- post(t, address, adkserver.RunRequest("u", "s", "hello", true), nil) }()
	return got
}

// whole are the frames of a run.
var whole = []string{callFrame, responseFrame, finalFrame}

// undisturbed is what a client gets of a run under a configuration that is there from the beginning.
func undisturbed(t *testing.T, source string) string {
	t.Helper()
	agent := newSpeaker(t)
	car := launch(t, fmt.Sprintf(source, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	defer car.stop()
	got := asking(t, car.address())
	agent.speak(whole...)
	return string((<-got).body)
}

const ofClients = `
stream: {listen: "127.0.0.1:0"}
sources: [{name: support, proxy: {listen: "127.0.0.1:0", upstream: "%s"}}]
`

var (
	ofThePublic = strings.Replace(ofClients, `}}]`, `}, policy: public}]`, 1)
	ofEverybody = strings.Replace(ofClients, `}}]`, `}, relay: verbatim}]`, 1)
)

// TestReloadDuringStream changes the policy and the agent of a source in the middle of a stream: it ends as it began, with every
// byte and every span; the next is the new agent's, under the new policy.
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
			old, other, receiver := newSpeaker(t), newSpeaker(t), newBackend(t)
			car := launchOn(t, fmt.Sprintf(c.before, old.URL), receiver.environment(nil))
			address := car.address()
			first := asking(t, address)
			old.frames <- callFrame
			if err := car.change(t, fmt.Sprintf(c.after, other.URL)); err != nil {
				t.Fatal(err)
			}
			second := asking(t, address)
			other.frames <- callFrame // both speak
			old.speak(responseFrame, finalFrame)
			if a := <-first; a.err != nil || string(a.body) != before {
				t.Errorf("the stream that was open brought %q, %v; not %q", a.body, a.err, before)
			}
			other.speak(responseFrame, finalFrame)
			if a := <-second; a.err != nil || string(a.body) != after {
				t.Errorf("the next stream brought %q, %v; not %q", a.body, a.err, after)
			}
			car.stop()
			traces := receiver.traces(t)
			if len(traces) != 2 {
				t.Errorf("%d traces", len(traces))
			}
			for _, spans := range traces {
				if status := said(spans.run(t), "delegraph.run.status"); status != "completed" {
					t.Errorf("a run is %s", status)
				}
				for _, name := range []string{"POST /run_sse", "execute_tool survey", "chat m-1", "chat m-2"} {
					spans.one(t, name)
				}
			}
		})
	}
}

// TestStopAfterReload stops while a stream of before a reload is open: it is told like any other, and cut when the time is up.
func TestStopAfterReload(t *testing.T) {
	for name, removed := range map[string]bool{"changed": false, "removed": true} {
		t.Run(name, func(t *testing.T) {
			old, other, receiver := newSpeaker(t), newSpeaker(t), newBackend(t)
			car := launchOn(t, fmt.Sprintf(ofClients, old.URL), receiver.environment(nil))
			car.Grace = time.Second
			got := asking(t, car.address())
			old.frames <- callFrame
			next := fmt.Sprintf(ofThePublic, other.URL)
			if removed {
				next = strings.Replace(next, "name: support", "name: another", 1)
			}
			if err := car.change(t, next); err != nil {
				t.Fatal(err)
			}
			car.stop()
			if a := <-got; !errors.Is(a.err, io.ErrUnexpectedEOF) || string(a.body) != callFrame {
				t.Errorf("the client got %q, %v", a.body, a.err)
			}
			for _, spans := range receiver.traces(t) {
				if run := spans.run(t); said(run, "delegraph.run.status_reason") != "shutdown" {
					t.Errorf("the run's span says %v", run.Attributes)
				}
			}
			if len(receiver.traces(t)) != 1 {
				t.Errorf("%d traces", len(receiver.traces(t)))
			}
			if err := car.Reload(); err == nil || err.Error() != "delegraph is stopping" {
				t.Errorf("a reload after the end: %v", err)
			}
		})
	}
}

// TestManyReloads changes agent, policy and ports a hundred times while clients ask: each gets a whole stream by one policy or the
// other, and every run is counted.
func TestManyReloads(t *testing.T) {
	agents := []*recordedAgent{newRecordedAgent(t), newRecordedAgent(t)}
	const name = "adk-go/transfer"
	recording := agents[0].recordings[name]
	filtered := func(policy string) string {
		return fmt.Sprintf("stream: {listen: \"127.0.0.1:0\"}\nsources: [{name: support, proxy: {listen: \"127.0.0.1:0\", upstream: %q}, policy: %s}]\n", agents[0].URL, policy)
	}
	var possible [][]byte
	for _, policy := range []string{"client", "public"} {
		car := launch(t, filtered(policy), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
		possible = append(possible, ask200(t, car, adkserver.RunRequest("u", "s", name, true)))
		car.stop()
	}
	if bytes.Equal(possible[0], possible[1]) || !bytes.Contains(recording, []byte("transfer")) {
		t.Fatal("the two policies let out the same")
	}
	receiver := newBackend(t)
	car := launchOn(t, filtered("client"), receiver.environment(nil))
	address := car.address()
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
				if a := post(t, address, adkserver.RunRequest("u", "s", name, true), nil); a.err != nil || !bytes.Equal(a.body, possible[0]) && !bytes.Equal(a.body, possible[1]) {
					t.Errorf("status %d, %v: %d bytes", a.status, a.err, len(a.body))
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
		if err := car.change(t, text); err != nil {
			t.Fatal(err)
		}
	}
	close(over)
	clients.Wait()
	car.stop()
	if n := car.count(t, "delegraph_runs_ended_total", "source", "support"); int(n) != asked[0]+asked[1]+asked[2] {
		t.Errorf("%v runs of %v", n, asked)
	}
	if n := len(receiver.traces(t)); n != asked[0]+asked[1]+asked[2] {
		t.Errorf("%d traces of %v", n, asked)
	}
}

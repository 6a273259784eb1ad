package reload_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// publisher is an agent that clients subscribe to. The test sees each subscription and gives its frames.
type publisher struct {
	*httptest.Server
	asked chan *http.Request
	says  chan string
	left  chan string // paths
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	})
	p := &publisher{asked: make(chan *http.Request, 10), says: make(chan string), left: make(chan string, 10)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /run_sse", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.Join(whole, ""))
	})
	mux.HandleFunc("GET /events/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		p.asked <- r
		for {
			select {
			case frame := <-p.says:
				_, _ = io.WriteString(w, frame)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				p.left <- r.URL.Path
				return
			}
		}
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

const tailing = `
stream: {listen: "127.0.0.1:0"}
sources: [{name: support, dialect: adk, tail: {url: "%s/events/%s", headers: {Authorization: {value: %s}}, max_sessions: %d}}]
`

// TestReloadOfTails changes a tail within a run. With other headers it continues the same stream after its last frame. With
// another URL the stream ends and another one begins.
func TestReloadOfTails(t *testing.T) {
	agent, receiver := newPublisher(t), harness.NewReceiver(t)
	config := func(path, token string) string { return fmt.Sprintf(tailing, agent.URL, path, token, 10) }
	service := harness.LaunchFile(t, config("a", "one"), receiver.Environment(nil))
	<-agent.asked
	agent.says <- "id: 7\n" + fakeagent.CallFrame
	service.WaitFrames(t, "support", 1)

	if err := service.Change(t, config("a", "one")+"runs: {idle_timeout: 1h}\n"); err != nil { // does not concern the tail
		t.Fatal(err)
	}
	if err := service.Change(t, config("a", "two")); err != nil {
		t.Fatal(err)
	}
	if path := <-agent.left; path != "/events/a" || len(agent.left) > 0 || len(agent.asked) > 1 {
		t.Errorf("left %s and %d others", path, len(agent.left))
	}
	if r := <-agent.asked; r.URL.Path != "/events/a" || r.Header.Get("Authorization") != "two" || r.Header.Get("Last-Event-ID") != "7" {
		t.Errorf("asked for %s with %v", r.URL.Path, r.Header)
	}
	agent.says <- "id: 7\n" + fakeagent.CallFrame // again
	agent.says <- "id: 8\n" + fakeagent.ResponseFrame
	agent.says <- "id: 9\n" + fakeagent.FinalFrame
	service.WaitFrames(t, "support", 3)

	if err := service.Change(t, config("b", "two")); err != nil {
		t.Fatal(err)
	}
	if path := <-agent.left; path != "/events/a" {
		t.Errorf("left %s", path)
	}
	if r := <-agent.asked; r.URL.Path != "/events/b" || r.Header.Get("Last-Event-ID") != "" {
		t.Errorf("asked for %s with %v", r.URL.Path, r.Header)
	}
	if n := service.Count(t, "delegraph_source_reconnects_total", "source", "support"); n != 1 {
		t.Errorf("%v reconnects", n)
	}
	agent.says <- strings.ReplaceAll(fakeagent.CallFrame, "e-1", "e-2")
	service.WaitFrames(t, "support", 4)
	if err := service.Change(t, fmt.Sprintf(ofClients, agent.URL)); err != nil { // a proxy of the same name
		t.Fatal(err)
	}
	if path := <-agent.left; path != "/events/b" {
		t.Errorf("left %s", path)
	}
	if got := askAt(t, service.Address()); got.Status != http.StatusOK {
		t.Errorf("status %d", got.Status)
	}
	service.Stop()
	statuses := map[string]string{}
	for _, spans := range receiver.Traces(t) {
		run := spans.Run(t)
		if harness.Attribute(run, "delegraph.run.id") == "e-1" { // over two connections, or through the proxy
			for _, name := range []string{"execute_tool survey", "chat m-1", "chat m-2"} {
				spans.One(t, name)
			}
		}
		statuses[harness.Attribute(run, "delegraph.run.id")+" "+harness.Attribute(run, "delegraph.run.status")] = harness.Attribute(run, "delegraph.run.status_reason")
	}
	if fmt.Sprint(statuses) != "map[e-1 completed: e-1 incomplete:shutdown e-2 incomplete:shutdown]" {
		t.Errorf("runs: %v", statuses)
	}
}

// TestReloadOfSessions adds a tail by session next to a proxy that stays. From then on the tail learns of sessions. Other limits
// do not affect open streams. Another URL opens the streams of the same sessions.
func TestReloadOfSessions(t *testing.T) {
	agent := newPublisher(t)
	proxy := fmt.Sprintf("  - {name: front, proxy: {listen: %q, upstream: %q}}\n", loopback.FreeAddress(t), agent.URL)
	config := func(path string, most int) string {
		tail := fmt.Sprintf(tailing, agent.URL, path, "one", most)
		return strings.Replace(strings.Replace(tail, "[{", "\n"+proxy+"  - {", 1), "}]", "}", 1)
	}
	service := harness.LaunchFile(t, "stream: {listen: \"127.0.0.1:0\"}\nsources:\n"+proxy, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	askAt(t, service.Address())
	if err := service.Change(t, config("{session}", 10)); err != nil {
		t.Fatal(err)
	}
	if len(agent.asked) > 0 {
		t.Error("the tail subscribed before a session was known")
	}
	askAt(t, service.Address())
	if r := <-agent.asked; r.URL.Path != "/events/s" {
		t.Errorf("asked for %s", r.URL.Path)
	}
	if err := service.Change(t, config("{session}", 5)); err != nil {
		t.Fatal(err)
	}
	if len(agent.left) > 0 {
		t.Error("the stream of a session was closed because of another limit")
	}
	if err := service.Change(t, config("new-{session}", 5)); err != nil {
		t.Fatal(err)
	}
	if path, r := <-agent.left, <-agent.asked; path != "/events/s" || r.URL.Path != "/events/new-s" {
		t.Errorf("left %s, asked for %s", path, r.URL.Path)
	}
	if err := service.Change(t, "stream: {listen: \"127.0.0.1:0\"}\nsources:\n"+proxy); err != nil {
		t.Fatal(err)
	}
	if path := <-agent.left; path != "/events/new-s" {
		t.Errorf("left %s", path)
	}
	askAt(t, service.Address())
	service.Stop()
	if len(agent.asked) > 0 {
		t.Errorf("subscribed to %s, which is no longer configured", (<-agent.asked).URL.Path)
	}
}

// TestReloadOfExternalStream narrows the external stream. The change applies to connected subscribers from the next frame of
// every stream.
func TestReloadOfExternalStream(t *testing.T) {
	agent := newSpeaker(t)
	text := fmt.Sprintf(ofClients, agent.URL)
	service := harness.LaunchFile(t, text, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+service.StreamAddr()+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	next := func() string {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return data
			}
		}
		t.Fatal(lines.Err())
		return ""
	}
	got := startRun(t, service.Address())
	agent.frames <- strings.Replace(fakeagent.FinalFrame, "done", "first", 1)
	if data := next(); !strings.Contains(data, "first") {
		t.Errorf("published: %s", data)
	}
	for _, c := range []struct{ stream, said, leaves string }{
		{`kinds: {out: [text]}`, fakeagent.FinalFrame + fakeagent.CallFrame, "survey"},
		{`policy: client`, strings.Replace(fakeagent.FinalFrame, "done", "second", 1), "second"},
		{`authors: [nobody]`, fakeagent.FinalFrame + fakeagent.CallFrame, "survey"},
	} {
		if err := service.Change(t, strings.Replace(text, `"127.0.0.1:0"}`, `"127.0.0.1:0", `+c.stream+`}`, 1)); err != nil {
			t.Fatal(err)
		}
		agent.frames <- c.said
		if data := next(); !strings.Contains(data, c.leaves) || strings.Contains(data, "done") {
			t.Errorf("under %s was published: %s", c.stream, data)
		}
	}
	agent.frames <- ""
	if a := <-got; a.Err != nil {
		t.Error(a.Err)
	}
	leave()
}

// TestReloadRefused changes keys that a reload cannot apply, together with others that it can. Nothing is applied, and the error
// names the key.
func TestReloadRefused(t *testing.T) {
	agent, other := newSpeaker(t), newSpeaker(t)
	text := fmt.Sprintf(ofClients, agent.URL)
	service := harness.LaunchFile(t, text, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	for key, section := range map[string]string{
		"limits.frame": "limits: {frame: 1MiB}", "metrics.max_label_sets": "metrics: {max_label_sets: 99}",
		"runs.max_open": "runs: {max_open: 9}", "runs.max_ended": "runs: {max_ended: 9}",
		"web.trace_url":                   `web: {trace_url: "http://jaeger/trace/{trace_id}"}`,
		"stream.listen, stream.heartbeat": "", // which exists already
	} {
		changed := fmt.Sprintf(ofThePublic, other.URL) + section + "\n"
		if section == "" {
			changed = strings.Replace(changed, `"127.0.0.1:0"`, `"", heartbeat: 1s`, 1)
		}
		err := service.Change(t, changed)
		if want := "a reload cannot change " + key + ": restart delegraph"; err == nil || err.Error() != want {
			t.Errorf("error %v, not %s", err, want)
		}
		if n := service.Count(t, "delegraph_config_last_reload_successful"); n != 0 {
			t.Errorf("%s: delegraph_config_last_reload_successful is %v", key, n)
		}
		if !strings.Contains(service.Log.String(), key) {
			t.Errorf("the log:\n%s", service.Log)
		}
	}
	got := startRun(t, service.Address())
	agent.speak(whole...)
	if a := <-got; string(a.Body) != undisturbed(t, ofClients) {
		t.Errorf("after that a client gets %q", a.Body)
	}
	if err := service.Reload(); err == nil {
		t.Error("the refusal is forgotten")
	}
	if err := os.Remove(service.File); err != nil {
		t.Fatal(err)
	}
	if err := service.Reload(); err == nil || !strings.Contains(err.Error(), "there is no configuration") {
		t.Errorf("without a file: %v", err)
	}
}

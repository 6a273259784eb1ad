package main

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
)

// publisher is an agent that anyone may subscribe to: each subscription is told of, and says what the test gives it.
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

// brought waits until a source has brought so many frames.
func (r *running) brought(t *testing.T, source string, frames int) {
	t.Helper()
	await(t, func(context.Context) error {
		for _, s := range r.Sidecar.Sources.All() {
			if s.Name == source && int(s.Frames) == frames {
				return nil
			}
		}
		return fmt.Errorf("not %d frames of %s", frames, source)
	})
}

// TestReloadOfTails changes a subscription in the middle of a run. With other headers it goes on as the same stream, behind its
// last frame; with another URL it ends, and another begins.
func TestReloadOfTails(t *testing.T) {
	agent, receiver := newPublisher(t), newBackend(t)
	config := func(path, token string) string { return fmt.Sprintf(tailing, agent.URL, path, token, 10) }
	car := launchOn(t, config("a", "one"), receiver.environment(nil))
	<-agent.asked
	agent.says <- "id: 7\n" + callFrame
	car.brought(t, "support", 1)

	if err := car.change(t, config("a", "one")+"runs: {idle_timeout: 1h}\n"); err != nil { // no matter of the tail's
		t.Fatal(err)
	}
	if err := car.change(t, config("a", "two")); err != nil {
		t.Fatal(err)
	}
	if path := <-agent.left; path != "/events/a" || len(agent.left) > 0 || len(agent.asked) > 1 {
		t.Errorf("left %s and %d others", path, len(agent.left))
	}
	if r := <-agent.asked; r.URL.Path != "/events/a" || r.Header.Get("Authorization") != "two" || r.Header.Get("Last-Event-ID") != "7" {
		t.Errorf("asked for %s with %v", r.URL.Path, r.Header)
	}
	agent.says <- "id: 7\n" + callFrame // again
	agent.says <- "id: 8\n" + responseFrame
	agent.says <- "id: 9\n" + finalFrame
	car.brought(t, "support", 3)

	if err := car.change(t, config("b", "two")); err != nil {
		t.Fatal(err)
	}
	if path := <-agent.left; path != "/events/a" {
		t.Errorf("left %s", path)
	}
	if r := <-agent.asked; r.URL.Path != "/events/b" || r.Header.Get("Last-Event-ID") != "" {
		t.Errorf("asked for %s with %v", r.URL.Path, r.Header)
	}
	if n := car.count(t, "delegraph_source_reconnects_total", "source", "support"); n != 1 {
		t.Errorf("%v reconnects", n)
	}
	agent.says <- strings.ReplaceAll(callFrame, "e-1", "e-2")
	car.brought(t, "support", 4)
	if err := car.change(t, fmt.Sprintf(ofClients, agent.URL)); err != nil { // a proxy of the same name
		t.Fatal(err)
	}
	if path := <-agent.left; path != "/events/b" {
		t.Errorf("left %s", path)
	}
	if got := asks(t, car.address()); got.status != http.StatusOK {
		t.Errorf("status %d", got.status)
	}
	car.stop()
	statuses := map[string]string{}
	for _, spans := range receiver.traces(t) {
		run := spans.run(t)
		if said(run, "delegraph.run.id") == "e-1" { // over two connections, or through the proxy
			for _, name := range []string{"execute_tool survey", "chat m-1", "chat m-2"} {
				spans.one(t, name)
			}
		}
		statuses[said(run, "delegraph.run.id")+" "+said(run, "delegraph.run.status")] = said(run, "delegraph.run.status_reason")
	}
	if fmt.Sprint(statuses) != "map[e-1 completed: e-1 incomplete:shutdown e-2 incomplete:shutdown]" {
		t.Errorf("runs: %v", statuses)
	}
}

// TestReloadOfSessions adds a tail that reads by session behind a proxy that stays: it is told of sessions from then on. Other
// bounds leave the open streams alone, another URL opens those of the same sessions.
func TestReloadOfSessions(t *testing.T) {
	agent := newPublisher(t)
	proxy := fmt.Sprintf("  - {name: front, proxy: {listen: %q, upstream: %q}}\n", freePort(t), agent.URL)
	config := func(path string, most int) string {
		tail := fmt.Sprintf(tailing, agent.URL, path, "one", most)
		return strings.Replace(strings.Replace(tail, "[{", "\n"+proxy+"  - {", 1), "}]", "}", 1)
	}
	car := launchOn(t, "stream: {listen: \"127.0.0.1:0\"}\nsources:\n"+proxy, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	asks(t, car.address())
	if err := car.change(t, config("{session}", 10)); err != nil {
		t.Fatal(err)
	}
	if len(agent.asked) > 0 {
		t.Error("somebody asked before a session was named")
	}
	asks(t, car.address())
	if r := <-agent.asked; r.URL.Path != "/events/s" {
		t.Errorf("asked for %s", r.URL.Path)
	}
	if err := car.change(t, config("{session}", 5)); err != nil {
		t.Fatal(err)
	}
	if len(agent.left) > 0 {
		t.Error("the stream of a session was closed for another limit")
	}
	if err := car.change(t, config("new-{session}", 5)); err != nil {
		t.Fatal(err)
	}
	if path, r := <-agent.left, <-agent.asked; path != "/events/s" || r.URL.Path != "/events/new-s" {
		t.Errorf("left %s, asked for %s", path, r.URL.Path)
	}
	if err := car.change(t, "stream: {listen: \"127.0.0.1:0\"}\nsources:\n"+proxy); err != nil {
		t.Fatal(err)
	}
	if path := <-agent.left; path != "/events/new-s" {
		t.Errorf("left %s", path)
	}
	asks(t, car.address())
	car.stop()
	if len(agent.asked) > 0 {
		t.Errorf("asked for %s, which is configured no longer", (<-agent.asked).URL.Path)
	}
}

// TestReloadOfExternalStream narrows what others may read: from the next frame of every stream on, for subscribers that stay.
func TestReloadOfExternalStream(t *testing.T) {
	agent := newSpeaker(t)
	text := fmt.Sprintf(ofClients, agent.URL)
	car := launchOn(t, text, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+car.StreamAddr()+"/events", nil)
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
	got := asking(t, car.address())
	agent.frames <- strings.Replace(finalFrame, "done", "first", 1)
	if data := next(); !strings.Contains(data, "first") {
		t.Errorf("published: %s", data)
	}
	for _, c := range []struct{ stream, said, leaves string }{
		{`kinds: {out: [text]}`, finalFrame + callFrame, "survey"},
		{`policy: client`, strings.Replace(finalFrame, "done", "second", 1), "second"},
		{`authors: [nobody]`, finalFrame + callFrame, "survey"},
	} {
		if err := car.change(t, strings.Replace(text, `"127.0.0.1:0"}`, `"127.0.0.1:0", `+c.stream+`}`, 1)); err != nil {
			t.Fatal(err)
		}
		agent.frames <- c.said
		if data := next(); !strings.Contains(data, c.leaves) || strings.Contains(data, "done") {
			t.Errorf("under %s was published: %s", c.stream, data)
		}
	}
	agent.frames <- ""
	if a := <-got; a.err != nil {
		t.Error(a.err)
	}
	leave()
}

// TestReloadRefused changes, beside what a reload takes over, what it does not: nothing is taken over, and the key is named.
func TestReloadRefused(t *testing.T) {
	agent, other := newSpeaker(t), newSpeaker(t)
	text := fmt.Sprintf(ofClients, agent.URL)
	car := launchOn(t, text, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	for key, section := range map[string]string{
		"limits.frame": "limits: {frame: 1MiB}", "metrics.max_label_sets": "metrics: {max_label_sets: 99}",
		"runs.max_open": "runs: {max_open: 9}", "runs.max_ended": "runs: {max_ended: 9}",
		"web.trace_url":                   `web: {trace_url: "http://jaeger/trace/{trace_id}"}`,
		"stream.listen, stream.heartbeat": "", // which has a section already
	} {
		changed := fmt.Sprintf(ofThePublic, other.URL) + section + "\n"
		if section == "" {
			changed = strings.Replace(changed, `"127.0.0.1:0"`, `"", heartbeat: 1s`, 1)
		}
		err := car.change(t, changed)
		if want := "a reload cannot change " + key + ": restart delegraph"; err == nil || err.Error() != want {
			t.Errorf("error %v, not %s", err, want)
		}
		if n := car.count(t, "delegraph_config_last_reload_successful"); n != 0 {
			t.Errorf("%s: delegraph_config_last_reload_successful is %v", key, n)
		}
		if !strings.Contains(car.log.String(), key) {
			t.Errorf("the log:\n%s", car.log)
		}
	}
	got := asking(t, car.address())
	agent.speak(whole...)
	if a := <-got; string(a.body) != undisturbed(t, ofClients) {
		t.Errorf("after that a client gets %q", a.body)
	}
	if err := car.Reload(); err == nil {
		t.Error("the refusal is forgotten")
	}
	if err := os.Remove(car.File); err != nil {
		t.Fatal(err)
	}
	if err := car.Reload(); err == nil || !strings.Contains(err.Error(), "there is no configuration") {
		t.Errorf("without a file: %v", err)
	}
}

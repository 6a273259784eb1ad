//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
)

// besides is a configuration with a proxy and a tail of one agent.
const besides = `
stream: {listen: %q}
sources:
  - name: runs
    relay: verbatim
    proxy: {listen: %q, upstream: "http://%s"}
  - name: support
    dialect: looopy
    tail: {url: "http://%[3]s/events"}
`

// answering is a run's answer while it comes.
type answering struct {
	body io.ReadCloser
}

// begin asks a proxy for a run.
func begin(t *testing.T, proxy string) *answering {
	t.Helper()
	resp, err := openRun(t.Context(), proxy, "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &answering{resp.Body}
}

func openRun(ctx context.Context, proxy, says string) (*http.Response, error) {
	body := bytes.NewReader(adkserver.RunRequest("u", "s", says, true))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+proxy+"/run_sse", body)
	if err != nil {
		return nil, err
	}
	return (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
}

// gets waits for exactly these bytes.
func (a *answering) gets(t *testing.T, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(a.body, got); err != nil || string(got) != want {
		t.Fatalf("the client got %q, %v, not %q", got[:n], err, want)
	}
}

// ends waits for the end, with nothing before it.
func (a *answering) ends(t *testing.T, how error) {
	t.Helper()
	if rest, err := io.ReadAll(a.body); len(rest) > 0 || !errors.Is(err, how) {
		t.Errorf("at the end the client got %q, %v, not %v", rest, err, how)
	}
}

// TestFaultAgentKilled kills an agent within a frame and starts it again: a client has what the agent sent and then the break; the
// tail goes on with the frame that was cut off, and counts none twice.
func TestFaultAgentKilled(t *testing.T) {
	address, proxy := vacant(t), vacant(t)
	agent := startOrator(t, address)
	car := serveProcess(t, fmt.Sprintf(besides, vacant(t), proxy, address), nil)

	frames := story()
	for _, frame := range frames[:3] {
		agent.say(t, frame)
	}
	car.becomes(t, 3, "delegraph_frames_total", "source", "support")
	agent.say(t, frames[3][:20])
	agent.kill()
	car.becomes(t, 0, "delegraph_source_up", "source", "support")
	agent = startOrator(t, address)
	for _, frame := range frames {
		agent.say(t, frame)
	}
	car.becomes(t, 1, "delegraph_runs_ended_total", "source", "support", "status", "completed")
	if frames := car.count(t, "delegraph_frames_total", "source", "support"); frames != 6 || car.count(t, "delegraph_source_reconnects_total") == 0 ||
		car.count(t, "delegraph_tool_calls_total") != 1 || car.count(t, "delegraph_source_up", "source", "support") != 1 {
		t.Errorf("of 6 frames %v were read, and of one call %v", frames, car.count(t, "delegraph_tool_calls_total"))
	}
	agent.kill()

	agent = startOrator(t, address)
	agent.say(t, callFrame)
	agent.say(t, responseFrame[:50])
	client := begin(t, proxy)
	client.gets(t, callFrame+responseFrame[:50])
	agent.kill()
	client.ends(t, io.ErrUnexpectedEOF)
	car.becomes(t, 1, "delegraph_runs_ended_total", "source", "runs", "status", "incomplete")
	if cut, broken := car.count(t, "delegraph_parse_errors_total", "source", "runs", "reason", "truncated"), car.count(t, "delegraph_source_upstream_errors_total", "source", "runs"); cut != 1 || broken != 1 {
		t.Errorf("%v frames cut, %v answers broken off", cut, broken)
	}
}

// TestFaultAgentStopped stops an agent and wakes it again: nothing is lost, nothing comes twice, and meanwhile the sidecar answers.
func TestFaultAgentStopped(t *testing.T) {
	address, proxy := vacant(t), vacant(t)
	agent := startOrator(t, address)
	car := serveProcess(t, fmt.Sprintf(besides, vacant(t), proxy, address), nil)
	frames := story()
	agent.say(t, frames[0])
	car.becomes(t, 1, "delegraph_frames_total", "source", "support")
	client := begin(t, proxy)
	client.gets(t, frames[0])
	before := car.count(t, "delegraph_source_reconnects_total") // until the agent was there

	agent.signal(t, syscall.SIGSTOP)
	said := make(chan struct{})
	go func() { // the kernel takes the request; the agent reads it when it wakes
		defer close(said)
		for _, frame := range frames[1:] {
			agent.say(t, frame)
		}
	}()
	if open := car.count(t, "delegraph_runs_open"); open == 0 {
		t.Error("its runs are over")
	}
	agent.signal(t, syscall.SIGCONT)
	<-said
	client.gets(t, strings.Join(frames[1:], ""))
	car.becomes(t, 6, "delegraph_frames_total", "source", "support")
	car.becomes(t, 1, "delegraph_runs_ended_total", "source", "support", "status", "completed")
	if again := car.count(t, "delegraph_source_reconnects_total"); again != before {
		t.Errorf("%v reconnects of a connection that was never lost", again-before)
	}
}

// TestFaultSidecarKilled kills the sidecar under load and starts it again: it is ready at once, runs are answered, its tail reads
// on, and a subscriber who comes back is told that there is a gap.
func TestFaultSidecarKilled(t *testing.T) {
	address, proxy, external, admin := vacant(t), vacant(t), vacant(t), vacant(t)
	agent := startOrator(t, address)
	configured := fmt.Sprintf(besides, external, proxy, address)
	car := ready(t, serveCommand(t, configured, admin, nil, ""), admin)
	frames := story()
	for _, frame := range frames[:5] {
		agent.say(t, frame)
	}
	client := begin(t, proxy)
	client.gets(t, strings.Join(frames[:5], ""))
	subscriber := subscribeTo(t, external, "")
	agent.say(t, frames[5])
	client.gets(t, frames[5])
	last := subscriber.id(t)
	car.kill()
	client.ends(t, io.ErrUnexpectedEOF)

	car = ready(t, serveCommand(t, configured, admin, nil, ""), admin)
	if gap := subscribeTo(t, external, last).frame(t); !strings.Contains(gap, "event: delegraph.gap\n") || !strings.Contains(gap, `"reason":"restarted"`) {
		t.Errorf("who comes back with %s gets %q", last, gap)
	}
	if resumed := car.count(t, "delegraph_stream_resumes_total", "outcome", "restarted"); resumed != 1 {
		t.Errorf("%v subscribers came back to a restart", resumed)
	}
	begin(t, proxy).gets(t, strings.Join(frames, ""))
	car.becomes(t, 6, "delegraph_frames_total", "source", "support")
	car.becomes(t, 1, "delegraph_runs_ended_total", "source", "support", "status", "completed")
}

// TestFaultSidecarStopped stops the sidecar within a run: its clients wait, and have every byte when it wakes.
func TestFaultSidecarStopped(t *testing.T) {
	address, proxy := vacant(t), vacant(t)
	agent := startOrator(t, address)
	car := serveProcess(t, fmt.Sprintf(besides, vacant(t), proxy, address), nil)
	agent.say(t, callFrame)
	client := begin(t, proxy)
	client.gets(t, callFrame)
	car.signal(t, syscall.SIGSTOP)
	many := strings.Repeat(responseFrame, 1<<10)
	agent.say(t, many)
	agent.say(t, finalFrame)
	car.signal(t, syscall.SIGCONT)
	client.gets(t, many+finalFrame)
	agent.end(t)
	client.ends(t, nil)
	car.becomes(t, 1, "delegraph_runs_ended_total", "source", "runs", "status", "completed")
}

// subscribed is one of the external stream.
type subscribed struct {
	lines *bufio.Reader
}

func subscribeTo(t *testing.T, address, last string) *subscribed {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &subscribed{bufio.NewReader(resp.Body)}
}

// frame is the next frame with data.
func (s *subscribed) frame(t *testing.T) (frame string) {
	t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the external stream ended after %q: %v", frame, err)
		}
		if frame += line; line != "\n" {
			continue
		}
		if strings.Contains(frame, "data:") {
			return frame
		}
		frame = ""
	}
}

// id is that of the next frame.
func (s *subscribed) id(t *testing.T) string {
	t.Helper()
	frame := s.frame(t)
	_, after, _ := strings.Cut(frame, "id: ")
	id, _, found := strings.Cut(after, "\n")
	if !found {
		t.Fatalf("a frame without an id: %q", frame)
	}
	return id
}

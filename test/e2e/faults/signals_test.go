//go:build unix

package faults_test

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
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// besides configures a proxy and a tail of one agent.
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

// openResponse is the response of a run that is still being read.
type openResponse struct {
	body io.ReadCloser
}

// begin starts a run through a proxy.
func begin(t *testing.T, proxy string) *openResponse {
	t.Helper()
	resp, err := openRun(t.Context(), proxy, "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &openResponse{resp.Body}
}

func openRun(ctx context.Context, proxy, says string) (*http.Response, error) {
	body := bytes.NewReader(adkserver.RunRequest("u", "s", says, true))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+proxy+"/run_sse", body)
	if err != nil {
		return nil, err
	}
	return (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
}

// gets reads exactly these bytes.
func (a *openResponse) gets(t *testing.T, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(a.body, got); err != nil || string(got) != want {
		t.Fatalf("the client got %q, %v, not %q", got[:n], err, want)
	}
}

// ends expects the end of the response without further bytes.
func (a *openResponse) ends(t *testing.T, how error) {
	t.Helper()
	if rest, err := io.ReadAll(a.body); len(rest) > 0 || !errors.Is(err, how) {
		t.Errorf("at the end the client got %q, %v, not %v", rest, err, how)
	}
}

// TestFaultAgentKilled kills an agent within a frame and starts it again. A client gets everything that the agent sent, and then
// a broken connection. The tail continues with the frame that was cut off and counts no frame twice.
func TestFaultAgentKilled(t *testing.T) {
	address, proxy := loopback.FreeAddress(t), loopback.FreeAddress(t)
	agent := startFakeAgent(t, address)
	service := harness.Serve(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, address), nil)

	frames := fakeagent.LooopyTurn()
	for _, frame := range frames[:3] {
		agent.say(t, frame)
	}
	service.WaitMetric(t, 3, "delegraph_frames_total", "source", "support")
	agent.say(t, frames[3][:20])
	agent.Kill()
	service.WaitMetric(t, 0, "delegraph_source_up", "source", "support")
	agent = startFakeAgent(t, address)
	for _, frame := range frames {
		agent.say(t, frame)
	}
	service.WaitMetric(t, 1, "delegraph_runs_ended_total", "source", "support", "status", "completed")
	if frames := service.Count(t, "delegraph_frames_total", "source", "support"); frames != 6 || service.Count(t, "delegraph_source_reconnects_total") == 0 ||
		service.Count(t, "delegraph_tool_calls_total") != 1 || service.Count(t, "delegraph_source_up", "source", "support") != 1 {
		t.Errorf("of 6 frames %v were read, and of one call %v", frames, service.Count(t, "delegraph_tool_calls_total"))
	}
	agent.Kill()

	agent = startFakeAgent(t, address)
	agent.say(t, fakeagent.CallFrame)
	agent.say(t, fakeagent.ResponseFrame[:50])
	client := begin(t, proxy)
	client.gets(t, fakeagent.CallFrame+fakeagent.ResponseFrame[:50])
	agent.Kill()
	client.ends(t, io.ErrUnexpectedEOF)
	service.WaitMetric(t, 1, "delegraph_runs_ended_total", "source", "runs", "status", "incomplete")
	if cut, broken := service.Count(t, "delegraph_parse_errors_total", "source", "runs", "reason", "truncated"), service.Count(t, "delegraph_source_upstream_errors_total", "source", "runs"); cut != 1 || broken != 1 {
		t.Errorf("%v frames cut off, %v responses broken off", cut, broken)
	}
}

// TestFaultAgentStopped stops an agent with SIGSTOP and continues it. Nothing is lost or duplicated, and the sidecar responds
// meanwhile.
func TestFaultAgentStopped(t *testing.T) {
	address, proxy := loopback.FreeAddress(t), loopback.FreeAddress(t)
	agent := startFakeAgent(t, address)
	service := harness.Serve(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, address), nil)
	frames := fakeagent.LooopyTurn()
	agent.say(t, frames[0])
	service.WaitMetric(t, 1, "delegraph_frames_total", "source", "support")
	client := begin(t, proxy)
	client.gets(t, frames[0])
	before := service.Count(t, "delegraph_source_reconnects_total") // before the agent answered

	agent.Signal(t, syscall.SIGSTOP)
	said := make(chan struct{})
	go func() { // the kernel accepts the request; the agent reads it when it continues
		defer close(said)
		for _, frame := range frames[1:] {
			agent.say(t, frame)
		}
	}()
	if open := service.Count(t, "delegraph_runs_open"); open == 0 {
		t.Error("its runs are over")
	}
	agent.Signal(t, syscall.SIGCONT)
	<-said
	client.gets(t, strings.Join(frames[1:], ""))
	service.WaitMetric(t, 6, "delegraph_frames_total", "source", "support")
	service.WaitMetric(t, 1, "delegraph_runs_ended_total", "source", "support", "status", "completed")
	if again := service.Count(t, "delegraph_source_reconnects_total"); again != before {
		t.Errorf("%v reconnects of a connection that was never lost", again-before)
	}
}

// TestFaultSidecarKilled kills the sidecar under load and starts it again. It is ready at once, runs are answered, its tail
// continues, and a subscriber that resumes gets a gap event.
func TestFaultSidecarKilled(t *testing.T) {
	address, proxy, external, admin := loopback.FreeAddress(t), loopback.FreeAddress(t), loopback.FreeAddress(t), loopback.FreeAddress(t)
	agent := startFakeAgent(t, address)
	configured := fmt.Sprintf(besides, external, proxy, address)
	service := harness.StartReady(t, harness.ServeCommand(t, configured, admin, nil, ""), admin)
	frames := fakeagent.LooopyTurn()
	for _, frame := range frames[:5] {
		agent.say(t, frame)
	}
	client := begin(t, proxy)
	client.gets(t, strings.Join(frames[:5], ""))
	subscriber := subscribeTo(t, external, "")
	agent.say(t, frames[5])
	client.gets(t, frames[5])
	last := subscriber.id(t)
	service.Kill()
	client.ends(t, io.ErrUnexpectedEOF)

	service = harness.StartReady(t, harness.ServeCommand(t, configured, admin, nil, ""), admin)
	if gap := subscribeTo(t, external, last).frame(t); !strings.Contains(gap, "event: delegraph.gap\n") || !strings.Contains(gap, `"reason":"restarted"`) {
		t.Errorf("a subscriber that resumes with %s gets %q", last, gap)
	}
	if resumed := service.Count(t, "delegraph_stream_resumes_total", "outcome", "restarted"); resumed != 1 {
		t.Errorf("%v subscribers resumed after a restart", resumed)
	}
	begin(t, proxy).gets(t, strings.Join(frames, ""))
	service.WaitMetric(t, 6, "delegraph_frames_total", "source", "support")
	service.WaitMetric(t, 1, "delegraph_runs_ended_total", "source", "support", "status", "completed")
}

// TestFaultSidecarStopped stops the sidecar with SIGSTOP within a run and continues it. Its clients wait and get every byte.
func TestFaultSidecarStopped(t *testing.T) {
	address, proxy := loopback.FreeAddress(t), loopback.FreeAddress(t)
	agent := startFakeAgent(t, address)
	service := harness.Serve(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, address), nil)
	agent.say(t, fakeagent.CallFrame)
	client := begin(t, proxy)
	client.gets(t, fakeagent.CallFrame)
	service.Signal(t, syscall.SIGSTOP)
	many := strings.Repeat(fakeagent.ResponseFrame, 1<<10)
	agent.say(t, many)
	agent.say(t, fakeagent.FinalFrame)
	service.Signal(t, syscall.SIGCONT)
	client.gets(t, many+fakeagent.FinalFrame)
	agent.end(t)
	client.ends(t, nil)
	service.WaitMetric(t, 1, "delegraph_runs_ended_total", "source", "runs", "status", "completed")
}

// subscribed is a subscriber of the external stream.
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

// frame returns the next frame with data.
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

// id returns the ID of the next frame.
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

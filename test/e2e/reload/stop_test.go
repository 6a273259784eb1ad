package reload_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// TestTwoClocks compares the times of a live run with the times at which the agent sent and the client received.
func TestTwoClocks(t *testing.T) {
	agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
	next, sent := make(chan struct{}), make(chan time.Time, 3)
	defer close(next)
	agent.Fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, frame := range []string{fakeagent.CallFrame, fakeagent.ResponseFrame, fakeagent.FinalFrame} {
			<-next
			at := time.Now()
			_, _ = io.WriteString(w, frame)
			_ = http.NewResponseController(w).Flush()
			sent <- at
		}
		<-next
	}
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.Environment(nil))
	asked := time.Now()
	answered := make(chan *http.Response, 1)
	go func() {
		resp, err := http.Post(service.Address()+"/run_sse", "application/json", bytes.NewReader(adkserver.RunRequest("u", "s", "fault", true)))
		if err != nil {
			t.Error(err)
		}
		answered <- resp
	}()
	var spoken, heard []time.Time
	var resp *http.Response
	for i, frame := range []string{fakeagent.CallFrame, fakeagent.ResponseFrame, fakeagent.FinalFrame} {
		next <- struct{}{}
		spoken = append(spoken, <-sent)
		if i == 0 {
			resp = <-answered
			defer resp.Body.Close()
		}
		got := make([]byte, len(frame))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != frame {
			t.Fatalf("%q, %v", got, err)
		}
		heard = append(heard, time.Now())
	}
	ending := time.Now()
	next <- struct{}{}
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	service.Wait()
	over := time.Now()
	service.Stop()

	for _, spans := range receiver.Traces(t) {
		spans.CheckShape(t, asked, over)
		for _, c := range []struct {
			span                                         *tracepb.Span
			startAfter, startBefore, endAfter, endBefore time.Time
		}{
			{spans.One(t, "POST /run_sse"), asked, spoken[0], ending, over},
			{spans.Run(t), asked, spoken[0], ending, over},
			{spans.One(t, "chat m-1"), asked, spoken[0], spoken[0], heard[0]},
			{spans.One(t, "execute_tool survey"), spoken[0], heard[0], spoken[1], heard[1]},
			{spans.One(t, "chat m-2"), spoken[1], heard[1], spoken[2], heard[2]},
		} {
			start, end := int64(c.span.StartTimeUnixNano), int64(c.span.EndTimeUnixNano)
			if start < c.startAfter.UnixNano() || start > c.startBefore.UnixNano() || end < c.endAfter.UnixNano() || end > c.endBefore.UnixNano() {
				t.Errorf("%s lasts from %s to %s, not from %s … %s to %s … %s", c.span.Name, harness.Clock(c.span.StartTimeUnixNano), harness.Clock(c.span.EndTimeUnixNano),
					c.startAfter.Format(harness.ClockLayout), c.startBefore.Format(harness.ClockLayout), c.endAfter.Format(harness.ClockLayout), c.endBefore.Format(harness.ClockLayout))
			}
		}
		for _, s := range spans {
			if timing := harness.Attribute(s, "delegraph.timing"); s.Kind != tracepb.Span_SPAN_KIND_SERVER && timing != "observed" {
				t.Errorf("the timing of %s is %q", s.Name, timing)
			}
		}
	}
}

// TestStopWithOpenStream stops a sidecar within two streams: one that ends in time and one that does not.
func TestStopWithOpenStream(t *testing.T) {
	for name, c := range map[string]struct {
		late []string // frames after the stop began
		ends bool     // the agent ends on its own
		run  string
		err  error // of the client
	}{
		"the agent ends":       {[]string{fakeagent.ResponseFrame, fakeagent.FinalFrame}, true, "completed -", nil},
		"the agent never ends": {[]string{fakeagent.ResponseFrame}, false, "incomplete shutdown", io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
			frames := make(chan string)
			agent.Fault = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for {
					select {
					case frame, more := <-frames:
						if !more {
							return
						}
						_, _ = io.WriteString(w, frame)
						_ = http.NewResponseController(w).Flush()
					case <-r.Context().Done():
						return
					}
				}
			}
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.Environment(nil))
			if service.Grace = 2 * time.Second; c.ends {
				service.Grace = time.Hour
			}
			got := make(chan harness.Response, 1)
			go func() { got <- harness.Post(t, service.Address(), adkserver.RunRequest("u", "s", "fault", true), nil) }()
			sent := fakeagent.CallFrame
			frames <- fakeagent.CallFrame
			stopped := make(chan struct{})
			go func() { defer close(stopped); service.Stop() }()
			harness.Await(t, func(context.Context) error {
				w := httptest.NewRecorder()
				service.Admin.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/-/ready", nil))
				if w.Code == http.StatusServiceUnavailable {
					return nil
				}
				return fmt.Errorf("ready while stopping: %d", w.Code)
			})
			for _, frame := range c.late {
				sent += frame
				frames <- frame
			}
			if c.ends {
				close(frames)
			}
			a := <-got
			if string(a.Body) != sent || !errors.Is(a.Err, c.err) {
				t.Errorf("the client got %d bytes of %d, then %v", len(a.Body), len(sent), a.Err)
			}
			<-stopped
			for _, r := range service.Recent.Reports() {
				if said := string(r.Status) + " " + harness.Text(r.StatusReason); said != c.run {
					t.Errorf("the run is %q, not %q", said, c.run)
				}
			}
			for _, spans := range receiver.Traces(t) {
				if run := spans.Run(t); harness.Attribute(run, "delegraph.run.status")+" "+cmp.Or(harness.Attribute(run, "delegraph.run.status_reason"), "-") != c.run {
					t.Errorf("the span says %v", run.Attributes)
				}
				spans.CheckShape(t, time.Unix(0, 0), time.Now())
			}
			if len(service.Recent.Reports()) != 1 || len(receiver.Traces(t)) != 1 {
				t.Errorf("%d runs, %d traces", len(service.Recent.Reports()), len(receiver.Traces(t)))
			}
		})
	}
}

// TestWebSocket sends a WebSocket, such as ADK's /run_live, through either relay. It is no run. A stop lets it end, then closes
// it.
func TestWebSocket(t *testing.T) {
	agent := recorded.NewAgent(t)
	agent.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Type: text/event-stream\r\n\r\n")
		_, _ = io.Copy(conn, buffered)
	})
	for name, c := range map[string]struct {
		configured, path string
		leaves           bool // on its own
	}{
		"filtered, cut":           {harness.OneAgent, "/run_sse", false},
		"verbatim, cut":           {harness.Verbatim, "/run_sse", false},
		"filtered, leaves":        {harness.OneAgent, "/run_live", true},
		"verbatim, on a run path": {harness.Verbatim, "/run_sse", true},
	} {
		t.Run(name, func(t *testing.T) {
			service := harness.Launch(t, fmt.Sprintf(c.configured, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			if service.Grace = time.Second / 4; c.leaves {
				service.Grace = time.Hour
			}
			conn, err := net.Dial("tcp", service.Proxies()[0].Addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "GET "+c.path+" HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			read := bufio.NewReader(conn)
			if resp, err := http.ReadResponse(read, nil); err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
				t.Fatal(resp, err)
			}
			said := func(word string) {
				heard := make([]byte, len(word))
				_, _ = io.WriteString(conn, word)
				if _, err := io.ReadFull(read, heard); err != nil || string(heard) != word {
					t.Errorf("%q, %v", heard, err)
				}
			}
			said("before")
			go service.Stop()
			if c.leaves {
				harness.Await(t, func(context.Context) error {
					w := httptest.NewRecorder()
					service.Admin.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/-/ready", nil))
					if w.Code == http.StatusServiceUnavailable {
						return nil
					}
					return fmt.Errorf("ready while stopping: %d", w.Code)
				})
				said("while stopping")
				conn.Close()
			} else if rest, _ := io.ReadAll(read); len(rest) > 0 { // a reset is as good as an end
				t.Errorf("after that came %q", rest)
			}
			service.Stop()
			if runs := service.Recent.Reports(); len(runs) != 0 {
				t.Errorf("%d runs", len(runs))
			}
		})
	}
}

// noisyAgent answers once and then sends more on the idle connection. The channel is closed when the other end has closed the
// connection.
func noisyAgent(t *testing.T) (address string, heard chan struct{}) {
	t.Helper()
	l := loopback.Listen(t)
	t.Cleanup(func() { l.Close() })
	heard = make(chan struct{})
	go func() {
		defer close(heard)
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 1<<10))
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		_, _ = io.WriteString(conn, "hunter2 is the password\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}()
	return l.Addr().String(), heard
}

// addressLogged reads the log up to a line with a text and returns the address of that line.
func addressLogged(t *testing.T, log *bufio.Reader, says string) string {
	t.Helper()
	for {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("the process ended before it said %q: %v", says, err)
		}
		if _, after, ok := strings.Cut(line, "address="); ok && strings.Contains(line, says) {
			return strings.Fields(after)[0]
		}
	}
}

func fetch(t *testing.T, address string) string {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

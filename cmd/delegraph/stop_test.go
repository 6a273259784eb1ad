package main

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
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/subprocess"
)

// TestTwoClocks holds the times of a live run against those at which the agent spoke and the client heard it.
func TestTwoClocks(t *testing.T) {
	agent, receiver := newRecordedAgent(t), newBackend(t)
	next, sent := make(chan struct{}), make(chan time.Time, 3)
	defer close(next)
	agent.fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, frame := range []string{callFrame, responseFrame, finalFrame} {
			<-next
			at := time.Now()
			_, _ = io.WriteString(w, frame)
			_ = http.NewResponseController(w).Flush()
			sent <- at
		}
		<-next
	}
	car := launch(t, fmt.Sprintf(verbatim, agent.URL), receiver.environment(nil))
	asked := time.Now()
	answered := make(chan *http.Response, 1)
	go func() {
		resp, err := http.Post(car.address()+"/run_sse", "application/json", bytes.NewReader(adkserver.RunRequest("u", "s", "fault", true)))
		if err != nil {
			t.Error(err)
		}
		answered <- resp
	}()
	var spoken, heard []time.Time
	var resp *http.Response
	for i, frame := range []string{callFrame, responseFrame, finalFrame} {
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
	car.Wait()
	over := time.Now()
	car.stop()

	for _, spans := range receiver.traces(t) {
		spans.checkShape(t, asked, over)
		for _, c := range []struct {
			span                                         *tracepb.Span
			startAfter, startBefore, endAfter, endBefore time.Time
		}{
			{spans.one(t, "POST /run_sse"), asked, spoken[0], ending, over},
			{spans.run(t), asked, spoken[0], ending, over},
			{spans.one(t, "chat m-1"), asked, spoken[0], spoken[0], heard[0]},
			{spans.one(t, "execute_tool survey"), spoken[0], heard[0], spoken[1], heard[1]},
			{spans.one(t, "chat m-2"), spoken[1], heard[1], spoken[2], heard[2]},
		} {
			start, end := int64(c.span.StartTimeUnixNano), int64(c.span.EndTimeUnixNano)
			if start < c.startAfter.UnixNano() || start > c.startBefore.UnixNano() || end < c.endAfter.UnixNano() || end > c.endBefore.UnixNano() {
				t.Errorf("%s lasts from %s to %s, not from %s … %s to %s … %s", c.span.Name, clock(c.span.StartTimeUnixNano), clock(c.span.EndTimeUnixNano),
					c.startAfter.Format(clockLayout), c.startBefore.Format(clockLayout), c.endAfter.Format(clockLayout), c.endBefore.Format(clockLayout))
			}
		}
		for _, s := range spans {
			if timing := said(s, "delegraph.timing"); s.Kind != tracepb.Span_SPAN_KIND_SERVER && timing != "observed" {
				t.Errorf("the timing of %s is %q", s.Name, timing)
			}
		}
	}
}

// TestStopWithOpenStream stops a sidecar through which an agent is speaking: one that comes to its end, and one that does not.
func TestStopWithOpenStream(t *testing.T) {
	for name, c := range map[string]struct {
		late []string // frames after the stop began
		ends bool     // the agent, by itself
		run  string
		err  error // of the client
	}{
		"the agent ends":       {[]string{responseFrame, finalFrame}, true, "completed -", nil},
		"the agent never ends": {[]string{responseFrame}, false, "incomplete shutdown", io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			agent, receiver := newRecordedAgent(t), newBackend(t)
			frames := make(chan string)
			agent.fault = func(w http.ResponseWriter, r *http.Request) {
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
			car := launch(t, fmt.Sprintf(verbatim, agent.URL), receiver.environment(nil))
			if car.Grace = 2 * time.Second; c.ends {
				car.Grace = time.Hour
			}
			got := make(chan gotten, 1)
			go func() { got <- post(t, car.address(), adkserver.RunRequest("u", "s", "fault", true), nil) }()
			sent := callFrame
			frames <- callFrame
			stopped := make(chan struct{})
			go func() { defer close(stopped); car.stop() }()
			await(t, func(context.Context) error {
				w := httptest.NewRecorder()
				car.admin.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/-/ready", nil))
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
			if string(a.body) != sent || !errors.Is(a.err, c.err) {
				t.Errorf("the client got %d bytes of %d, then %v", len(a.body), len(sent), a.err)
			}
			<-stopped
			for _, r := range car.Recent.Reports() {
				if said := string(r.Status) + " " + text(r.StatusReason); said != c.run {
					t.Errorf("the run is %q, not %q", said, c.run)
				}
			}
			for _, spans := range receiver.traces(t) {
				if run := spans.run(t); said(run, "delegraph.run.status")+" "+cmp.Or(said(run, "delegraph.run.status_reason"), "-") != c.run {
					t.Errorf("the span says %v", run.Attributes)
				}
				spans.checkShape(t, time.Unix(0, 0), time.Now())
			}
			if len(car.Recent.Reports()) != 1 || len(receiver.traces(t)) != 1 {
				t.Errorf("%d runs, %d traces", len(car.Recent.Reports()), len(receiver.traces(t)))
			}
		})
	}
}

// TestWebSocket passes one through either relay, as ADK's /run_live is. It is no run. A stop lets it end, and then closes it.
func TestWebSocket(t *testing.T) {
	agent := newRecordedAgent(t)
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
		leaves           bool // by itself
	}{
		"filtered, cut":           {oneAgent, "/run_sse", false},
		"verbatim, cut":           {verbatim, "/run_sse", false},
		"filtered, leaves":        {oneAgent, "/run_live", true},
		"verbatim, on a run path": {verbatim, "/run_sse", true},
	} {
		t.Run(name, func(t *testing.T) {
			car := launch(t, fmt.Sprintf(c.configured, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			if car.Grace = time.Second / 4; c.leaves {
				car.Grace = time.Hour
			}
			conn, err := net.Dial("tcp", car.Proxies()[0].Addr)
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
			go car.stop()
			if c.leaves {
				await(t, func(context.Context) error {
					w := httptest.NewRecorder()
					car.admin.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/-/ready", nil))
					if w.Code == http.StatusServiceUnavailable {
						return nil
					}
					return fmt.Errorf("ready while stopping: %d", w.Code)
				})
				said("while stopping")
				conn.Close()
			} else if rest, _ := io.ReadAll(read); len(rest) > 0 { // a reset is as good as an end
				t.Errorf("then comes %q", rest)
			}
			car.stop()
			if runs := car.Recent.Reports(); len(runs) != 0 {
				t.Errorf("%d runs", len(runs))
			}
		})
	}
}

// TestSignal ends the process itself while an agent speaks through it: the agent may finish, the admin server answers until then,
// and what was seen is delivered.
func TestSignal(t *testing.T) {
	agent, receiver := newRecordedAgent(t), newBackend(t)
	speaking, stopping := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(stopping) })
	defer goOn()
	agent.fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, callFrame)
		_ = http.NewResponseController(w).Flush()
		close(speaking)
		<-stopping
		_, _ = io.WriteString(w, responseFrame+finalFrame)
	}
	noisy, heard := noisyAgent(t)
	configured := fmt.Appendf(nil, verbatim+"  - {name: noisy, proxy: {listen: '127.0.0.1:0', upstream: 'http://%s'}}\n", agent.URL, noisy)
	file := filepath.Join(t.TempDir(), "delegraph.yml")
	if err := os.WriteFile(file, configured, 0o600); err != nil {
		t.Fatal(err)
	}
	command := subprocess.CommandContext(t.Context(), "delegraph", "serve", "--config.file="+file, "--web.listen-address=127.0.0.1:0")
	command.Env = []string{"GORACE=atexit_sleep_ms=0"}
	for name, value := range receiver.environment(nil) {
		command.Env = append(command.Env, name+"="+value)
	}
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(log)
	proxy, other := "http://"+addressLogged(t, lines, "name=fire-briefing"), "http://"+addressLogged(t, lines, "name=noisy")
	admin := "http://" + addressLogged(t, lines, `msg="Listening on" server=admin`)

	if said := fetch(t, other); said != "ok" {
		t.Errorf("the noisy agent says %q", said)
	}
	<-heard

	got := make(chan gotten, 1)
	go func() { got <- post(t, proxy, adkserver.RunRequest("u", "s", "fault", true), nil) }()
	<-speaking
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await(t, func(context.Context) error {
		if said := fetch(t, admin+"/-/ready"); strings.Contains(said, "is ready") {
			return errors.New(said)
		}
		return nil
	})
	await(t, func(context.Context) error {
		if page := fetch(t, admin+"/metrics"); !strings.Contains(page, `delegraph_runs_open{source="fire-briefing"} 1`) {
			return fmt.Errorf("while draining, the metrics are\n%s", page)
		}
		return nil
	})
	goOn()
	if a := <-got; string(a.body) != callFrame+responseFrame+finalFrame || a.err != nil {
		t.Errorf("the client got %q, then %v", a.body, a.err)
	}
	rest, _ := io.ReadAll(lines)
	if err := command.Wait(); err != nil || strings.Contains(string(rest), "level=ERROR") || strings.Contains(string(rest), "level=WARN") || strings.Contains(string(rest), "hunter2") {
		t.Errorf("the process ended with %v:\n%s", err, rest)
	}
	for _, spans := range receiver.traces(t) {
		if status := said(spans.run(t), "delegraph.run.status"); status != "completed" {
			t.Errorf("the run's span says %s", status)
		}
	}
	if len(receiver.traces(t)) != 1 {
		t.Errorf("%d traces", len(receiver.traces(t)))
	}
}

// TestSignalTwice is told to stop twice at once, as timeout(1) does it: what was to be said at the end is said.
func TestSignalTwice(t *testing.T) {
	command := subprocess.CommandContext(t.Context(), "delegraph", "demo", "--web.listen-address=127.0.0.1:0")
	command.Env = []string{"GORACE=atexit_sleep_ms=0"}
	said, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines, last := bufio.NewScanner(said), ""
	for lines.Scan() {
		last = lines.Text()
		if strings.Contains(last, " interrupted ") || strings.Contains(last, " canceled ") { // the first run that ends, and those that end with that
			_ = command.Process.Signal(syscall.SIGTERM) // once it is over there is nobody to tell
		}
	}
	if err := command.Wait(); err != nil || !strings.Contains(last, " runs · ") {
		t.Errorf("%v, after %q", err, last)
	}
}

// noisyAgent answers once and then goes on talking on a connection that has nothing left to say. The channel is closed when the
// other end has heard it and closed the connection.
func noisyAgent(t *testing.T) (address string, heard chan struct{}) {
	t.Helper()
	l := listen(t)
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

// addressLogged reads the log up to a line that says so and returns its address.
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

package readers_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// talker is an agent whose sessions can be resumed after any event. It sends numbers, with internal frames in between.
type talker struct {
	*httptest.Server
	mu    sync.Mutex
	said  int
	more  chan struct{} // closed when there is more
	ended chan struct{}
}

func newTalker(t *testing.T) *talker {
	t.Helper()
	a := &talker{more: make(chan struct{}), ended: make(chan struct{})}
	a.Server = httptest.NewServer(a)
	t.Cleanup(func() {
		close(a.ended)
		a.Close()
	})
	return a
}

func (a *talker) say() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said++
	close(a.more)
	a.more = make(chan struct{})
}

func (a *talker) so() (int, chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said, a.more
}

// ServeHTTP sends everything after the Last-Event-ID.
func (a *talker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := strings.TrimPrefix(r.URL.Path, "/events/")
	w.Header().Set("Content-Type", "text/event-stream")
	_, after, _ := strings.Cut(r.Header.Get("Last-Event-ID"), "-")
	next, _ := strconv.Atoi(after)
	for {
		said, more := a.so()
		for ; next < said; next++ {
			_, _ = fmt.Fprintf(w, "id: %[1]s-%[2]d\nevent: content-delta\ndata: {\"kind\":\"content-delta\",\"contextId\":\"%[1]s\",\"taskId\":\"t\",\"delta\":\"n=%[3]d;\",\"index\":%[3]d,\"timestamp\":\"2026-11-21T02:55:10.304Z\",\"metadata\":{\"secret\":\"%[4]s\"}}\n\n"+
				"event: internal:thought-process\ndata: {\"kind\":\"internal:thought-process\",\"contextId\":\"%[1]s\",\"taskId\":\"t\",\"iteration\":1,\"stage\":\"pre-llm\",\"reasoning\":\"%[4]s\",\"timestamp\":\"2026-11-21T02:55:10.304Z\"}\n\n",
				session, next+1, next, internal)
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-more:
		case <-r.Context().Done():
			return
		case <-a.ended:
			return
		}
	}
}

// member is a program that is killed and restarted.
type member struct {
	t       *testing.T
	program string
	args    []string
	log     *harness.LogBuffer // of all its processes
	running *harness.Command
}

func (m *member) start() {
	m.t.Helper()
	command := subprocess.Command(m.program, m.args...)
	command.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "OTEL_TRACES_EXPORTER=none")
	command.Stdout, command.Stderr = m.log, m.log
	m.running = harness.Start(m.t, command)
}

// fleet is NATS, two sidecars that tail the same agent, and gateways.
type fleet struct {
	nats               *member
	sidecars, gateways []*member
	natsURL            string
	streams, admins    []string // of the gateways
	sidecarAdmins      []string
	everything         []*member
}

func newFleet(t *testing.T, agent string, gateways int) *fleet {
	t.Helper()
	binary, folder := harness.Component(t, "nats", "nats-server"), t.TempDir()
	begin := func(name, program string, args ...string) *member {
		m := &member{t: t, program: program, args: args, log: &harness.LogBuffer{}}
		t.Cleanup(func() {
			if said := m.log.String(); t.Failed() {
				t.Logf("%s:\n%s", name, said[max(0, len(said)-3000):])
			}
		})
		return m
	}
	write := func(name, text string) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	natsAddress := loopback.FreeAddress(t)
	f := &fleet{natsURL: "nats://" + natsAddress}
	// Without a limit, the server uses three quarters of the free disk space, which can be less than the stream needs.
	f.nats = begin("nats", binary, "-c", write("nats.conf", fmt.Sprintf("listen: %q\njetstream: {store_dir: %q, max_file: 10GB}\n",
		natsAddress, filepath.Join(folder, "jetstream"))))
	stream := fmt.Sprintf(`store: jetstream, heartbeat: 1s, jetstream: {urls: [%q], max_bytes: 256MiB, max_messages: 1000000, duplicates: 30m}`, f.natsURL)
	for i := range 2 {
		sidecar := write(fmt.Sprint("sidecar", i, ".yml"), fmt.Sprintf(`
stream: {listen: "", %s}
sources:
  - {name: alpha, dialect: looopy, tail: {url: "%[2]s/events/c1"}}
  - {name: beta, dialect: looopy, tail: {url: "%[2]s/events/c2"}}
`, stream, agent))
		admin := loopback.FreeAddress(t)
		f.sidecarAdmins = append(f.sidecarAdmins, "http://"+admin)
		f.sidecars = append(f.sidecars, begin(fmt.Sprint("sidecar", i), "delegraph", "serve", "--config.file="+sidecar, "--web.listen-address="+admin))
	}
	for i := range gateways {
		listen, admin := loopback.FreeAddress(t), loopback.FreeAddress(t)
		gateway := write(fmt.Sprint("gateway", i, ".yml"), fmt.Sprintf("stream: {listen: %q, drain_delay: 3s, %s}\n", listen, stream))
		f.streams = append(f.streams, "http://"+listen)
		f.admins = append(f.admins, "http://"+admin)
		f.gateways = append(f.gateways, begin(fmt.Sprint("gateway", i), "delegraph", "gateway", "--config.file="+gateway, "--web.listen-address="+admin))
	}
	f.everything = append(append([]*member{f.nats}, f.sidecars...), f.gateways...)
	return f
}

// start starts everything and waits until it is ready.
func (f *fleet) start() {
	for _, m := range f.everything {
		m.start()
	}
	for i, admin := range f.admins {
		f.gateways[i].running.WaitReady(f.nats.t, admin)
	}
	for i, admin := range f.sidecarAdmins {
		f.sidecars[i].running.WaitReady(f.nats.t, admin)
	}
}

// follower reads from one gateway after the other and resumes each time.
type follower struct {
	path    string
	mu      sync.Mutex
	next    map[string]int // the next number of each session
	gaps    []string
	fail    string
	last    string
	came    int    // the number of connections
	refused int    // answers other than 200
	at      string // the host of the last answer
}

// follow reads until the context is done.
func (f *follower) follow(ctx context.Context, gateways []string, choose func(int) int) {
	for ctx.Err() == nil {
		if f.read(ctx, gateways[choose(len(gateways))]) != nil {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
}

func (f *follower) read(ctx context.Context, gateway string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, gateway+f.path, nil)
	if err != nil {
		return err
	}
	if f.last != "" {
		r.Header.Set("Last-Event-ID", f.last)
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, answer.Body)
		f.mu.Lock()
		f.refused++
		f.mu.Unlock()
		return fmt.Errorf("status %d", answer.StatusCode)
	}
	f.mu.Lock()
	f.at = answer.Request.URL.Host
	f.came++
	f.mu.Unlock()
	frames := sse.NewReader(answer.Body, 0)
	for {
		frame, err := frames.Next()
		if id := frames.LastEventID(); id != "" {
			f.last = id
		}
		if err != nil {
			return err
		}
		f.note(frame)
	}
}

// note compares a frame with the next expected one of its session.
func (f *follower) note(frame sse.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data := string(frame.Data)
	if string(frame.Event) == "delegraph.gap" {
		f.gaps = append(f.gaps, data)
		return
	}
	_, rest, _ := strings.Cut(data, `"contextId":"`)
	session, _, _ := strings.Cut(rest, `"`)
	_, rest, _ = strings.Cut(data, "n=")
	number, _, _ := strings.Cut(rest, ";")
	n, err := strconv.Atoi(number)
	switch {
	case strings.Contains(data, internal):
		f.fail = "internal: " + data
	case err != nil:
		f.fail = "not understood: " + data
	case n != f.next[session] && f.fail == "":
		f.fail = fmt.Sprintf("%s: got %d of %s where %d is next; gaps %q", f.path, n, session, f.next[session], f.gaps)
	}
	f.next[session] = n + 1
}

func (f *follower) has(n int, sessions ...string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, session := range sessions {
		if f.next[session] < n {
			return false
		}
	}
	return true
}

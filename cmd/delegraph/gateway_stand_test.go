package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/test/subprocess"
)

// talker is an agent whose sessions anybody may listen to, from wherever they were: it says numbers, and internal things between.
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

// ServeHTTP says everything behind the Last-Event-ID.
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

// member is a program that is killed and started again.
type member struct {
	*testing.T
	program string
	args    []string
	log     string
	command *exec.Cmd
}

func (p *member) start() {
	p.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.Fatal(err)
	}
	defer log.Close()
	p.command = subprocess.Command(p.program, p.args...)
	p.command.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "OTEL_TRACES_EXPORTER=none")
	p.command.Stdout, p.command.Stderr = log, log
	if err := p.command.Start(); err != nil {
		p.Fatal(err)
	}
}

// kill ends the process as a crash does.
func (p *member) kill() {
	if p.command != nil {
		_ = p.command.Process.Kill()
		_ = p.command.Wait()
		p.command = nil
	}
}

// fleet is two sidecars that listen to the same agent, NATS, and two gateways.
type fleet struct {
	nats               *member
	sidecars, gateways []*member
	natsURL            string
	streams, admins    []string // of the gateways
	sidecarAdmins      []string
	everything         []*member
}

func newFleet(t *testing.T, agent string) *fleet {
	t.Helper()
	binary, folder := component(t, "nats", "nats-server"), t.TempDir()
	var ports []int
	for range 7 {
		l := listen(t)
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		defer l.Close()
	}
	begin := func(name, program string, args ...string) *member {
		p := &member{T: t, program: program, args: args, log: filepath.Join(folder, name+".log")}
		t.Cleanup(func() {
			p.kill()
			if said, err := os.ReadFile(p.log); t.Failed() && err == nil {
				t.Logf("%s:\n%s", name, said[max(0, len(said)-3000):])
			}
		})
		return p
	}
	write := func(name, text string) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	f := &fleet{natsURL: fmt.Sprintf("nats://127.0.0.1:%d", ports[0])}
	// Told no limit, the server takes three quarters of what is free on the disk, which can be less than the stream wants.
	f.nats = begin("nats", binary, "-c", write("nats.conf", fmt.Sprintf("listen: \"127.0.0.1:%d\"\njetstream: {store_dir: %q, max_file: 10GB}\n",
		ports[0], filepath.Join(folder, "jetstream"))))
	stream := fmt.Sprintf(`store: jetstream, heartbeat: 1s, jetstream: {urls: [%q], max_messages: 1000000, duplicates: 30m}`, f.natsURL)
	for i := range 2 {
		sidecar := write(fmt.Sprint("sidecar", i, ".yml"), fmt.Sprintf(`
stream: {listen: "", %s}
sources:
  - {name: alpha, dialect: looopy, tail: {url: "%[2]s/events/c1"}}
  - {name: beta, dialect: looopy, tail: {url: "%[2]s/events/c2"}}
`, stream, agent))
		gateway := write(fmt.Sprint("gateway", i, ".yml"), fmt.Sprintf("stream: {listen: \"127.0.0.1:%d\", %s}\n", ports[1+i], stream))
		f.streams = append(f.streams, fmt.Sprintf("http://127.0.0.1:%d", ports[1+i]))
		f.admins = append(f.admins, fmt.Sprintf("http://127.0.0.1:%d", ports[3+i]))
		f.sidecarAdmins = append(f.sidecarAdmins, fmt.Sprintf("http://127.0.0.1:%d", ports[5+i]))
		f.sidecars = append(f.sidecars, begin(fmt.Sprint("sidecar", i), "delegraph", "serve", "--config.file="+sidecar, fmt.Sprintf("--web.listen-address=127.0.0.1:%d", ports[5+i])))
		f.gateways = append(f.gateways, begin(fmt.Sprint("gateway", i), "delegraph", "gateway", "--config.file="+gateway, fmt.Sprintf("--web.listen-address=127.0.0.1:%d", ports[3+i])))
	}
	f.everything = append(append([]*member{f.nats}, f.sidecars...), f.gateways...)
	return f
}

// isReady says whether a process's admin server says so.
func isReady(admin string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, admin+"/-/ready", nil)
	if err != nil {
		return false
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// follower reads from one gateway after the other, from wherever it was.
type follower struct {
	path string
	mu   sync.Mutex
	next map[string]int // by session, the number that it has not had
	gaps []string
	fail string
	last string
	came int // times
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
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, answer.Body)
		return fmt.Errorf("status %d", answer.StatusCode)
	}
	f.mu.Lock()
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

// note holds a frame against what was next of its session.
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

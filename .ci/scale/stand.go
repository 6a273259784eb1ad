package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// stand is a test bed: an agent, a sidecar that reads it, NATS, a gateway, and readers.
type stand struct {
	folder           string
	agent            *agent
	sidecar, gateway *exec.Cmd
	nats             []*exec.Cmd
	stream, admin    string // of the gateway
	conns            []net.Conn
}

func newStand(ctx context.Context, servers int) (s *stand, err error) {
	server, err := natsServer()
	if err != nil {
		return nil, err
	}
	s = &stand{}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	if s.folder, err = os.MkdirTemp("", "delegraph-scale"); err != nil {
		return nil, err
	}
	program := filepath.Join(s.folder, "delegraph")
	build := exec.Command("go", "build", "-o", program, "./cmd/delegraph")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	addresses, err := free(3 + 2*servers)
	if err != nil {
		return nil, err
	}
	if s.agent, err = newAgent(); err != nil {
		return nil, err
	}
	s.stream, s.admin = addresses[0], addresses[1]
	clients, routes := addresses[3:3+servers], addresses[3+servers:]
	store := fmt.Sprintf("store: jetstream, jetstream: {replicas: %d, urls: [\"nats://%s\"]}", servers, strings.Join(clients, `", "nats://`))
	sources := "sources:\n"
	for i := range talkers {
		sources += fmt.Sprintf("  - {name: s%[1]d, dialect: looopy, tail: {url: \"http://%[2]s/events/c%[1]d\"}}\n", i, s.agent.address)
	}
	write := func(name, text string) string {
		path := filepath.Join(s.folder, name)
		if failed := os.WriteFile(path, []byte(text), 0o600); failed != nil {
			err = failed
		}
		return path
	}
	sidecar := write("sidecar.yml", "stream: {listen: \"\", "+store+"}\n"+sources)
	gateway := write("gateway.yml", fmt.Sprintf("stream: {listen: %q, %s}\n", s.stream, store))
	for i, address := range clients {
		name := fmt.Sprint("nats", i)
		// Without a limit the server uses three quarters of the free disk space, which can be less than the stream needs.
		text := fmt.Sprintf("server_name: %s\nlisten: %q\njetstream: {store_dir: %q, max_file: 10GB}\n", name, address, filepath.Join(s.folder, name))
		if servers > 1 {
			text += fmt.Sprintf("cluster: {name: c, listen: %q, routes: [\"nats://%s\"]}\n", routes[i], strings.Join(routes, `", "nats://`))
		}
		conf := write(name+".conf", text)
		if err != nil {
			return nil, err
		}
		process, err := s.start(ctx, server, "-c", conf)
		if err != nil {
			return nil, err
		}
		s.nats = append(s.nats, process)
	}
	if s.sidecar, err = s.start(ctx, program, "serve", "--config.file="+sidecar, "--web.listen-address="+addresses[2]); err != nil {
		return nil, err
	}
	if s.gateway, err = s.start(ctx, program, "gateway", "--config.file="+gateway, "--web.listen-address="+s.admin); err != nil {
		return nil, err
	}
	for range 300 {
		if answer, err := http.Get("http://" + s.admin + "/-/ready"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK && s.agent.listeners.Load() == talkers {
				return s, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, errors.New("the test bed was not ready within 30 s")
}

func (s *stand) start(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	return command, command.Start()
}

func (s *stand) stop() {
	for _, conn := range s.conns {
		_ = conn.Close()
	}
	for _, p := range append([]*exec.Cmd{s.sidecar, s.gateway}, s.nats...) {
		if p != nil && p.Process != nil {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	}
	if s.agent != nil {
		_ = s.agent.server.Close()
	}
	_ = os.RemoveAll(s.folder)
}

// free returns n free loopback addresses.
func free(n int) (addresses []string, err error) {
	for range n {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

// connect connects the readers, which discard what they read.
func (s *stand) connect(ctx context.Context) error {
	for i := range crowd + talkers - 1 {
		session := max(0, i-crowd+1) // session 0 has the crowd
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp4", s.stream)
		if err != nil {
			return err
		}
		s.conns = append(s.conns, conn)
		if _, err := fmt.Fprintf(conn, "GET /events/c%d HTTP/1.1\r\nHost: %s\r\n\r\n", session, s.stream); err != nil {
			return err
		}
		answer := make([]byte, 12)
		if _, err := io.ReadFull(conn, answer); err != nil || !strings.HasSuffix(string(answer), "200") {
			return fmt.Errorf("reader %d was answered %q (%v)", i, answer, err)
		}
		go func() { _, _ = io.Copy(io.Discard, conn) }()
	}
	return nil
}

// moment holds the totals at one time: processor seconds, events and deliveries.
type moment struct{ sidecar, nats, gateway, said, sent float64 }

func (s *stand) now() moment {
	m := moment{sidecar: onProcessors(s.sidecar), gateway: onProcessors(s.gateway), said: float64(s.agent.said.Load()), sent: s.sent()}
	for _, server := range s.nats {
		m.nats += onProcessors(server)
	}
	return m
}

// sent returns the gateway's counter of sent frames.
func (s *stand) sent() (n float64) {
	answer, err := http.Get("http://" + s.admin + "/metrics")
	if err != nil {
		return 0
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(answer.Body)
	_, rest, _ := strings.Cut(string(text), "\ndelegraph_stream_frames_sent_total ")
	_, _ = fmt.Sscan(rest, &n)
	return n
}

// agent sends the model's rate of events in each session, and fewer in the first.
type agent struct {
	server    *http.Server
	address   string
	listeners atomic.Int64
	said      atomic.Int64
	begin     chan struct{}
	speak     func()
}

func newAgent() (*agent, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &agent{address: listener.Addr().String(), begin: make(chan struct{})}
	a.speak = sync.OnceFunc(func() { close(a.begin) })
	a.server = &http.Server{Handler: a, ReadHeaderTimeout: time.Second}
	go func() { _ = a.server.Serve(listener) }()
	return a, nil
}

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := strings.TrimPrefix(r.URL.Path, "/events/")
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	a.listeners.Add(1)
	select {
	case <-a.begin:
	case <-r.Context().Done():
		return
	}
	rate := speaking
	if session == "c0" {
		rate = slow
	}
	paced := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer paced.Stop()
	delta := strings.Repeat("word ", 90)
	for n := 1; ; n++ {
		select {
		case <-paced.C:
		case <-r.Context().Done():
			return
		}
		_, err := fmt.Fprintf(w, "id: %[1]s-%[2]d\nevent: content-delta\ndata: {\"kind\":\"content-delta\",\"contextId\":\"%[1]s\",\"taskId\":\"t\",\"delta\":\"%[3]s\",\"index\":%[2]d,\"timestamp\":\"2026-11-21T02:55:10.304Z\"}\n\n", session, n, delta)
		if err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		a.said.Add(1)
	}
}

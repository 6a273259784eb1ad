package stream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// stand is a hub behind a real HTTP server on an in-memory network, so that synctest controls its clock.
type stand struct {
	*testing.T
	writers bool // waiting subscribers need no goroutine
	hub     *Hub
	seen    *tally
	server  *http.Server
	dialed  chan net.Conn
	down    chan struct{}
	served  chan struct{}
}

func newStand(t *testing.T, writers bool, change func(*Settings)) *stand {
	t.Helper()
	s := &stand{T: t, writers: writers, seen: newTally(), dialed: make(chan net.Conn), down: make(chan struct{}), served: make(chan struct{})}
	set := settings(s.seen)
	set.Replay.Epoch = "e"
	if change != nil {
		change(&set)
	}
	var err error
	if s.hub, err = New(set); err != nil {
		t.Fatal(err)
	}
	s.server = newBoundedServer(s.hub.Handler())
	go func() { defer close(s.served); _ = s.server.Serve(s) }()
	return s
}

func (s *stand) stop() {
	_ = s.server.Close()
	<-s.served
	s.hub.Close()
	synctest.Wait()
}

func (s *stand) Accept() (net.Conn, error) {
	select {
	case c := <-s.dialed:
		return c, nil
	case <-s.down:
		return nil, net.ErrClosed
	}
}

func (s *stand) Close() error   { close(s.down); return nil }
func (s *stand) Addr() net.Addr { return &net.TCPAddr{} }

// client is a subscriber that keeps what it has read.
type client struct {
	conn net.Conn
	at   time.Time // when it connected

	mu   sync.Mutex
	read bytes.Buffer
	gone time.Time // when the stream ended
}

// request sends a request with header lines and reads nothing.
func (s *stand) request(method, path string, header ...string) *client {
	s.Helper()
	ours, theirs := net.Pipe()
	if s.writers {
		reader := &reader{Conn: ours}
		ours, theirs = reader, trying{theirs, reader}
	}
	s.dialed <- theirs
	lines := append([]string{method + " " + path + " HTTP/1.1", "Host: stream"}, header...)
	if _, err := io.WriteString(ours, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		s.Fatal(err)
	}
	return &client{conn: ours, at: time.Now()}
}

// get subscribes and reads everything that the hub sends.
func (s *stand) get(path string, header ...string) *client {
	s.Helper()
	c := s.request("GET", path, header...)
	go c.listen()
	synctest.Wait()
	return c
}

func (c *client) listen() {
	buf := make([]byte, 4096)
	for {
		n, err := c.conn.Read(buf)
		c.mu.Lock()
		c.read.Write(buf[:n])
		if err != nil {
			c.gone = time.Now()
		}
		c.mu.Unlock()
		if err != nil {
			_ = c.conn.Close()
			return
		}
	}
}

func (c *client) leave() {
	_ = c.conn.Close()
	synctest.Wait()
}

func (c *client) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.gone.IsZero()
}

// lived returns how long an ended connection was open.
func (c *client) lived() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone.Sub(c.at)
}

// take returns the part of the body that was received since the last call.
func (c *client) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	body := c.read.String()
	if strings.HasPrefix(body, "HTTP/1.1") {
		_, body, _ = strings.Cut(body, "\r\n\r\n")
	}
	c.read.Reset()
	return body
}

// response parses everything that was received.
func (c *client) response(t *testing.T) (*http.Response, string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(c.read.Bytes())), nil)
	if err != nil {
		t.Fatalf("the response %q is invalid: %v", c.read.String(), err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return response, string(body)
}

// received parses a stream as a conforming client does, and returns its frames as "id type data" and the id to resume with.
func received(t testing.TB, stream string) (frames []string, lastEventID string) {
	t.Helper()
	r := sse.NewReader(strings.NewReader(stream), 0)
	for {
		f, err := r.Next()
		if err != nil {
			return frames, r.LastEventID()
		}
		frames = append(frames, string(f.ID)+" "+f.Type()+" "+string(f.Data))
	}
}

func say(text string) replay.Entry { return replay.Entry{Data: []byte(text)} }

// bubble runs a test with a fake clock. It runs once with connections that need a goroutine for each subscriber, and
// once with connections to which a writer can write.
func bubble(t *testing.T, change func(*Settings), test func(*stand)) {
	t.Helper()
	bubbleWith(t, false, change, test)
	bubbleWith(t, true, change, test)
}

func bubbleWith(t *testing.T, writers bool, change func(*Settings), test func(*stand)) {
	t.Helper()
	t.Run(map[bool]string{false: "goroutines", true: "writers"}[writers], func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStand(t, writers, change)
			defer s.stop()
			test(s)
		})
	})
}

func (s *stand) counted(what string, want int) {
	s.Helper()
	if got := s.seen.count(what); got != want {
		s.Errorf("%q was counted %d times, want %d: %v", what, got, want, s.seen.events)
	}
}

// head returns the id of the newest frame.
func (s *stand) head() string {
	ring := s.hub.store.(*memoryStore).ring
	return ring.ID(ring.Head())
}

// settle waits until all goroutines are blocked.
func (s *stand) settle() { synctest.Wait() }

// tally is an Observer that counts.
type tally struct {
	subscribers, sent atomic.Int64
	mu                sync.Mutex
	events            map[string]int
	changed           chan struct{} // closed at the next change
}

func newTally() *tally { return &tally{events: map[string]int{}, changed: make(chan struct{})} }

func (t *tally) SetSubscribers(n int)         { t.subscribers.Store(int64(n)); t.note("") }
func (t *tally) CountSent(frames int)         { t.sent.Add(int64(frames)) }
func (t *tally) CountDropped(d replay.Drop)   { t.note("dropped " + string(d)) }
func (t *tally) CountDisconnect(d Disconnect) { t.note("disconnected " + string(d)) }
func (t *tally) CountRefusal(r Refusal, a RefusalResponse) {
	t.note("refused " + string(r) + " " + string(a))
}
func (t *tally) CountResume(o ResumeOutcome) { t.note("resumed " + string(o)) }

func (t *tally) note(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if what != "" {
		t.events[what]++
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *tally) count(what string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events[what]
}

// until waits until an event makes the condition true.
func (t *tally) until(condition func() bool) {
	for {
		t.mu.Lock()
		changed := t.changed
		t.mu.Unlock()
		if condition() {
			return
		}
		<-changed
	}
}

func settings(observer Observer) Settings {
	return Settings{
		Replay:         replay.Settings{Frames: 10_000, Bytes: 64 << 20, Age: 5 * time.Minute},
		Observer:       observer,
		MaxSubscribers: 10_000, MaxSubscribersPerToken: 10,
		Heartbeat: 15 * time.Second, WriteDeadline: 5 * time.Second, MaxLifetime: time.Hour, RecheckInterval: time.Minute,
	}
}

// serve serves a hub until the test ends, and returns the address.
func serve(t testing.TB, hub *Hub) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newBoundedServer(hub.Handler())
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
		hub.Close()
		<-hub.drained
	})
	return listener.Addr().String()
}

package stream

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// TestSlowReaders connects a subscriber that stops reading, a subscriber that reads a few bytes at a time, and others.
// The fake clock stands still while anything runs, so every publish and every frame to the others must happen at its
// exact time.
func TestSlowReaders(t *testing.T) {
	bubble(t, func(set *Settings) { set.WriteDeadline = time.Hour }, func(s *stand) {
		var others []*client
		for range 3 {
			others = append(others, s.get("/events"))
		}
		stopped := s.request("GET", "/events")
		slow := s.request("GET", "/events")
		go slow.sip(100, 10*time.Millisecond)
		s.settle()
		for _, c := range others {
			c.take()
		}
		start := time.Now()
		for i := 1; i <= 1000; i++ {
			s.hub.store.Publish(say(strings.Repeat("x", 500)))
			s.settle()
			for _, c := range others {
				if want := fmt.Sprintf("id: e-%d\ndata: %s\n\n", i, strings.Repeat("x", 500)); c.take() != want {
					s.Fatalf("frame %d is not delivered at once", i)
				}
			}
			if late := time.Since(start) - time.Duration(i-1)*time.Millisecond; late != 0 {
				s.Fatalf("frame %d is %v late", i, late)
			}
			time.Sleep(time.Millisecond)
		}
		frames, _ := received(s.T, slow.take())
		if len(frames) == 0 || len(frames) > 500 {
			s.Fatalf("the slow reader has %d frames, so it does not fall behind", len(frames))
		}
		time.Sleep(2 * time.Minute)
		s.settle()
		rest := slow.take()
		if !strings.Contains(rest, "id: e-1000\n") || slow.ended() {
			s.Errorf("the slow reader does not have the last frame")
		}
		_ = stopped.conn.Close()
		_ = slow.conn.Close()
	})
}

// TestSlowReaderOfALargeFrame checks that a subscriber that needs far longer for a frame than the write deadline gets
// the frame once.
func TestSlowReaderOfALargeFrame(t *testing.T) {
	bubble(t, func(set *Settings) { set.WriteDeadline = 5 * time.Second }, func(s *stand) {
		slow := s.request("GET", "/events")
		go slow.sip(4<<10, 500*time.Millisecond)
		s.settle()
		large := strings.Repeat("x", 400<<10) // takes 50 seconds
		s.hub.store.Publish(say(large))
		s.hub.store.Publish(say("and then"))
		time.Sleep(2 * time.Minute)
		s.settle()
		if got := slow.take(); slow.ended() || !strings.Contains(got, "data: "+large+"\n\n") || !strings.Contains(got, "data: and then\n\n") {
			s.Errorf("the reader has %d bytes; disconnected: %v", len(got), slow.ended())
		}
		_ = slow.conn.Close()
	})
}

// sip reads at most n bytes, pauses, and repeats.
func (c *client) sip(n int, pause time.Duration) {
	buf := make([]byte, n)
	for {
		n, err := c.conn.Read(buf)
		c.mu.Lock()
		c.read.Write(buf[:n])
		if err != nil {
			c.gone = time.Now()
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// TestStoppedReader checks that a subscriber that does not read its real socket is disconnected after few bytes were
// sent.
func TestStoppedReader(t *testing.T) {
	seen := newTally()
	set := settings(seen)
	set.WriteDeadline = 100 * time.Millisecond
	hub, err := New(set)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp4", serve(t, hub))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: stream\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // until the stream has begun
		t.Fatal(err)
	}
	const size = 10_000
	for range 800 { // fewer than the ring holds
		hub.store.Publish(replay.Entry{Data: bytes.Repeat([]byte("x"), size)})
	}
	seen.until(func() bool { return seen.count("disconnected write_timeout") == 1 })
	if sent := seen.sent.Load() * size; sent > 3<<20 {
		t.Errorf("%d bytes were sent to a reader that had stopped", sent)
	} else {
		t.Logf("%d bytes were sent before the disconnect", sent)
	}
}

// TestHTTP2 serves over TLS, where a stream shares its connection with others.
func TestHTTP2(t *testing.T) {
	seen := newTally()
	set := settings(seen)
	set.WriteDeadline, set.Replay.Epoch = 100*time.Millisecond, "e"
	hub, err := New(set)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config = newBoundedServer(hub.Handler())
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	server.Client().Transport.(*http.Transport).TLSClientConfig.MinVersion = tls.VersionTLS12
	response, err := server.Client().Get(server.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.ProtoMajor != 2 || response.Header.Get("Transfer-Encoding") != "" {
		t.Errorf("the response is %s with %v", response.Proto, response.Header)
	}
	lines := bufio.NewReader(response.Body)
	hub.store.Publish(say("here"))
	for _, want := range []string{"id: e-0\n", ": open\n", "\n", "id: e-1\n", "data: here\n", "\n"} {
		if line, err := lines.ReadString('\n'); line != want {
			t.Fatalf("got %q, %v, want %q", line, err, want)
		}
	}
	for range 100 { // more than its flow-control window
		hub.store.Publish(replay.Entry{Data: make([]byte, 100_000)})
	}
	seen.until(func() bool { return seen.count("disconnected write_timeout") == 1 })
}

// TestRevokedSlowReader revokes a grant while a subscriber slowly reads a large frame. After the next recheck the
// subscriber must get at most one more piece, and not the rest of the frame.
func TestRevokedSlowReader(t *testing.T) {
	var revoked atomic.Bool
	bubble(t, func(set *Settings) {
		revoked.Store(false)
		set.RecheckInterval = 5 * time.Second
		set.Authorize = func(*http.Request) (Grant, error) {
			return Grant{Valid: func() bool { return !revoked.Load() }}, nil
		}
	}, func(s *stand) {
		slow := s.request("GET", "/events")
		go slow.sip(4<<10, time.Second) // a piece takes four seconds
		s.settle()
		s.hub.store.Publish(say(strings.Repeat("x", 400<<10))) // takes 100 seconds
		time.Sleep(20 * time.Second)
		revoked.Store(true)
		time.Sleep((5 + 4) * time.Second)
		s.settle()
		s.counted("disconnected revoked", 1)
		time.Sleep(10 * time.Second)
		if s.settle(); !slow.ended() {
			s.Error("the reader still reads")
		}
	})
}

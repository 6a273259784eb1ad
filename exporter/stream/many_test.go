//go:build unix

package stream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// TestManySubscribers connects 5,000 subscribers over the loopback network, half of them to single sessions. All must
// get the exact bytes of their frames. Some leave, the others are disconnected, and then no resources may be in use.
func TestManySubscribers(t *testing.T) {
	if testing.Short() {
		t.Skip("5,000 subscribers take some seconds")
	}
	subscribers := 5000
	if raceDetector {
		subscribers = 1000 // the race detector supports 8,128 goroutines
	}
	needFiles(t, uint64(2*subscribers+200))
	before := goleak.IgnoreCurrent()
	t.Run(fmt.Sprint(subscribers), func(t *testing.T) { testManySubscribers(t, subscribers) })
	goleak.VerifyNone(t, before)
}

func testManySubscribers(t *testing.T, subscribers int) {
	const frames, sessions = 200, 50
	seen := newTally()
	set := settings(seen)
	set.Replay.Epoch, set.Heartbeat, set.WriteDeadline = "e", time.Hour, time.Minute
	hub, err := New(set)
	if err != nil {
		t.Fatal(err)
	}
	want := make([][]byte, sessions+1) // the bytes of each session, and of all sessions
	for i := range want {
		want[i] = []byte("id: e-0\n: open\n\n")
	}
	entries := make([]replay.Entry, frames)
	for i := range entries {
		session := i % sessions
		entries[i] = replay.Entry{Session: fmt.Sprint(session), Data: bytes.Repeat([]byte{'a' + byte(i%26)}, 50+i)}
		wire := fmt.Appendf(nil, "id: e-%d\ndata: %s\n\n", i+1, entries[i].Data)
		want[session] = append(want[session], wire...)
		want[sessions] = append(want[sessions], wire...)
	}

	var all sync.WaitGroup
	address := serve(t, hub)
	var opened, complete atomic.Int64
	for i := range subscribers {
		path, expect := "/events", want[sessions]
		if i%2 == 1 {
			path, expect = fmt.Sprint("/events/", i/2%sessions), want[i/2%sessions]
		}
		conn, err := dial(address, i)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: stream\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer func() { _ = conn.Close() }()
			begun := func() { opened.Add(1); seen.note("") }
			if err := readExactly(conn, expect, begun); err != nil {
				t.Errorf("subscriber %d of %s: %v", i, path, err)
			}
			complete.Add(1)
			seen.note("")
			if i%3 == 0 {
				return // it leaves
			}
			_, _ = io.Copy(io.Discard, conn)
		})
	}
	seen.until(func() bool { return opened.Load() == int64(subscribers) })
	for _, e := range entries {
		hub.store.Publish(e)
	}
	seen.until(func() bool { return complete.Load() == int64(subscribers) })
	if err := hub.Drain(context.Background(), time.Second); err != nil {
		t.Error(err)
	}
	all.Wait()
	gone := seen.count("disconnected shutdown") + seen.count("disconnected client_left")
	if gone != subscribers || seen.count("disconnected shutdown") < subscribers/2 || seen.subscribers.Load() != 0 {
		t.Errorf("%d of %d were disconnected: %v", gone, subscribers, seen.events)
	}
}

// readExactly skips the headers, calls begun, and compares the rest.
func readExactly(conn net.Conn, want []byte, begun func()) error {
	buf, inBody := make([]byte, 0, 4096), false
	for len(want) > 0 {
		n, err := conn.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return err
		}
		if !inBody {
			_, body, found := bytes.Cut(buf, []byte("\r\n\r\n"))
			if !found {
				continue
			}
			inBody, buf = true, append(buf[:0], body...)
			begun()
		}
		if len(buf) > len(want) || !bytes.HasPrefix(want, buf) {
			return fmt.Errorf("got %.100q, want %.100q", buf, want)
		}
		want, buf = want[len(buf):], buf[:0]
	}
	return nil
}

func needFiles(t testing.TB, n uint64) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= n {
		return
	}
	if os.Getenv("DELEGRAPH_REQUIRE") == "all" {
		t.Fatalf("this test needs %d open files, the limit is %d", n, limit.Cur)
	}
	t.Skipf("this test needs %d open files, the limit is %d: raise it with ulimit -n", n, limit.Cur)
}

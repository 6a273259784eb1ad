package stream

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

var reconnects = flag.Int("reconnects", 2000, "how many connections TestReconnects cuts")

// TestReconnects cuts real connections at random bytes while frames are published as fast as the slowest reader can
// take them. No frame may be lost or repeated.
func TestReconnects(t *testing.T) {
	const readers, sessions, ahead = 8, 4, 20_000
	seen := newTally()
	set := settings(seen)
	set.Replay.Frames, set.Replay.Epoch, set.Heartbeat = 2*ahead, "e", time.Hour
	set.WriteDeadline = time.Minute // so that a reader on a loaded machine does not count as blocked
	hub, err := New(set)
	if err != nil {
		t.Fatal(err)
	}
	address := serve(t, hub)
	var all sync.WaitGroup
	var left atomic.Int32
	left.Store(readers)
	progress := make(chan struct{}, 1)
	list := make([]*reconnector, readers)
	for i := range list {
		r := &reconnector{path: "/events", step: 1, random: rand.New(rand.NewPCG(uint64(i), 3)), next: 1, progress: progress}
		if i%2 == 1 {
			r.path, r.step, r.next = fmt.Sprintf("/events/c%d", i%sessions), sessions, int64(i%sessions)
		}
		list[i] = r
		all.Go(func() {
			defer left.Add(-1)
			defer r.finished()
			for range *reconnects / readers {
				if err := r.connect(address); err != nil {
					t.Errorf("%s behind %q: %v", r.path, r.last, err)
					return
				}
			}
		})
	}
	var n int64
	for left.Load() > 0 {
		slowest := n + 1
		for _, r := range list {
			if at := r.at.Load(); at >= 0 {
				slowest = min(slowest, at)
			}
		}
		if n-slowest > ahead {
			<-progress
			continue
		}
		for range 100 {
			n++
			hub.store.Publish(replay.Entry{Session: fmt.Sprintf("c%d", n%sessions), Data: fmt.Append(nil, n, strings.Repeat(" ", int(n%200)))})
		}
	}
	all.Wait()
	for _, d := range []string{"disconnected fell_off", "disconnected write_timeout", "resumed evicted", "resumed unknown", "resumed future", "resumed restarted"} {
		if seen.count(d) > 0 {
			t.Errorf("the event %s is counted %d times", d, seen.count(d))
		}
	}
	var frames int64
	for _, r := range list {
		frames += r.frames
	}
	t.Logf("%d connections read %d of %d frames and resumed %d times", *reconnects, frames, n, seen.count("resumed continued"))
	if frames < int64(*reconnects) {
		t.Errorf("only %d frames were read", frames)
	}
}

type reconnector struct {
	path   string
	step   int64 // the distance between two of its frames
	random *rand.Rand

	last     string // the id to resume with
	next     int64  // the number of the next frame
	frames   int64
	at       atomic.Int64 // a copy of next for the publisher; negative when the reader has finished
	progress chan struct{}
}

func (r *reconnector) finished() {
	r.at.Store(-1)
	r.tell()
}

func (r *reconnector) tell() {
	select {
	case r.progress <- struct{}{}:
	default:
	}
}

// connect reads some bytes and then cuts the connection, like a network failure.
func (r *reconnector) connect(address string) error {
	conn, err := net.Dial("tcp4", address)
	if err != nil {
		return err
	}
	defer func() {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}()
	id := r.last
	if id == "" {
		id = "e-0"
	}
	if _, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: stream\r\nLast-Event-ID: %s\r\n\r\n", r.path, id); err != nil {
		return err
	}
	answer := bufio.NewReader(io.LimitReader(conn, r.random.Int64N(30_000)))
	for line := ""; line != "\r\n"; {
		if line, err = answer.ReadString('\n'); err != nil {
			return nil // cut within the headers
		}
	}
	frames := sse.NewReader(answer, 0)
	defer func() {
		if id := frames.LastEventID(); id != "" {
			r.last = id
		}
		r.tell()
	}()
	for {
		f, err := frames.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		if err := r.take(f); err != nil {
			return err
		}
	}
}

func (r *reconnector) take(f sse.Frame) error {
	number, err := strconv.ParseInt(strings.TrimRight(string(f.Data), " "), 10, 64)
	if err != nil || string(f.ID) != fmt.Sprint("e-", number) {
		return fmt.Errorf("frame %s %s %s", f.ID, f.Event, f.Data)
	}
	if number != r.next {
		return fmt.Errorf("frame %d, want %d", number, r.next)
	}
	r.next += r.step
	r.frames++
	r.at.Store(number)
	return nil
}

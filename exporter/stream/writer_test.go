package stream

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// waiting returns the number of subscribers that wait with a writer.
func (s *stand) waiting() (n int) {
	s.settle()
	s.hub.writers.mu.Lock()
	defer s.hub.writers.mu.Unlock()
	for _, all := range s.hub.writers.byKey {
		for _, w := range all {
			w.mu.Lock()
			n += len(w.waiting)
			w.mu.Unlock()
		}
	}
	return n
}

// TestWaitsWithAWriter checks when a subscriber has a goroutine: while it starts, and while its client does not read.
func TestWaitsWithAWriter(t *testing.T) {
	bubbleWith(t, true, nil, func(s *stand) {
		s.get("/events")
		s.get("/events/s")
		stuck := s.request("GET", "/events")
		if n := s.waiting(); n != 2 {
			t.Fatalf("%d of 3 subscribers wait, want the 2 that read", n)
		}
		go stuck.listen()
		if n := s.waiting(); n != 3 {
			t.Fatalf("%d subscribers wait, want 3", n)
		}
		for _, c := range []string{"/events", "/events/s"} {
			s.get(c).leave()
		}
		if n := s.waiting(); n != 3 {
			t.Errorf("%d subscribers wait after two others have left, want 3", n)
		}
	})
}

// TestWritersEnd checks that a writer has a limited number of subscribers, and that a writer ends with its last one.
func TestWritersEnd(t *testing.T) {
	bubbleWith(t, true, nil, func(s *stand) {
		var all []*client
		for range writerCapacity + 1 {
			all = append(all, s.get("/events"))
		}
		for _, list := range s.hub.writers.byKey {
			if len(list) != 2 {
				t.Errorf("%d writers for %d subscribers, want 2", len(list), len(all))
			}
		}
		s.hub.store.Publish(say("x"))
		s.settle()
		for _, c := range all {
			if got := c.take(); got != "id: e-0\n: open\n\nid: e-1\ndata: x\n\n" {
				t.Fatalf("got %q", got)
			}
			c.leave()
		}
		if n := len(s.hub.writers.byKey) + len(s.hub.sockets.open); n > 0 {
			t.Errorf("%d writers or sockets are left", n)
		}
	})
}

// TestTakenInPart checks frames that a connection takes only in part at once.
func TestTakenInPart(t *testing.T) {
	for name, path := range map[string]string{"all": "/events", "a selection": "/events/s"} {
		t.Run(name, func(t *testing.T) {
			bubbleWith(t, true, nil, func(s *stand) {
				c := s.get(path)
				c.take()
				sizes := []int{10, 5000, 1, 70_000, 4000, 4000, 300_000}
				var want []string
				for i, size := range sizes {
					text := strings.Repeat(string(rune('a'+i)), size)
					want = append(want, s.hub.idAt(i+1)+" message "+text)
					s.hub.store.Publish(replay.Entry{Session: "s", Data: []byte(text)})
					if i%2 == 0 {
						s.settle()
					}
				}
				s.settle()
				if frames, _ := received(s.T, c.take()); !slices.Equal(frames, want) {
					t.Errorf("got %d frames, want %d, each whole and once", len(frames), len(want))
				}
				if n := s.seen.sent.Load(); n != int64(len(sizes)) {
					t.Errorf("%d frames were counted, want %d", n, len(sizes))
				}
				if n := s.waiting(); n != 1 {
					t.Errorf("%d subscribers wait again, want 1", n)
				}
			})
		})
	}
}

func (h *Hub) idAt(number int) string {
	return string(h.store.(*memoryStore).ring.AppendID(nil, uint64(number)))
}

// TestClientTalks checks a client that sends bytes after its request. A few are ignored, too many end the connection.
func TestClientTalks(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		c := s.get("/events")
		if _, err := io.WriteString(c.conn, "GET /events HTTP/1.1\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		s.hub.store.Publish(say("x"))
		s.expect(c, "id: e-0\n: open\n\nid: e-1\ndata: x\n\n")
		if _, err := c.conn.Write(make([]byte, 2*maxIgnored)); err == nil {
			t.Error("the hub reads all of a client's input, want a limit")
		}
		s.settle()
		if !c.ended() {
			t.Error("the connection is still open after too much input")
		}
		s.counted("disconnected client_left", 1)
	})
}

// TestClose checks that a hub ends its connections without a server.
func TestClose(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		waits, stuck := s.get("/events"), s.request("GET", "/events")
		s.hub.Close()
		s.settle()
		if !waits.ended() {
			t.Error("a waiting subscriber is still connected")
		}
		if _, err := io.ReadAll(stuck.conn); err != nil {
			t.Error(err)
		}
		s.settle()
		if err := s.hub.Drain(s.Context(), time.Hour); err != nil {
			t.Error(err)
		}
	})
}

// panics is an Observer that panics at the first sent frame.
type panics struct {
	*tally
	happened bool
}

func (p *panics) CountSent(n int) {
	if !p.happened {
		p.happened = true
		panic("planted")
	}
	p.tally.CountSent(n)
}

// TestGrantPanics checks that a panic while a grant is rechecked ends neither the process nor other streams, and that
// the grant counts as invalid.
func TestGrantPanics(t *testing.T) {
	bubbleWith(t, true, func(set *Settings) {
		set.Authorize = func(r *http.Request) (Grant, error) {
			return Grant{Valid: func() bool {
				if r.Header.Get("X-Panic") != "" {
					panic("planted")
				}
				return true
			}}, nil
		}
	}, func(s *stand) {
		good, bad := s.get("/events"), s.get("/events", "X-Panic: yes")
		time.Sleep(2 * time.Minute) // the fake clock of synctest
		s.settle()
		if good.ended() || !bad.ended() {
			t.Errorf("after a recheck, the valid stream has ended: %v, and the other: %v", good.ended(), bad.ended())
		}
	})
}

// resumePanics is an Observer that panics at a resume.
type resumePanics struct{ *tally }

func (resumePanics) CountResume(ResumeOutcome) { panic(http.ErrAbortHandler) }

// TestOpeningPanics checks that the connection of a subscriber is closed after a panic before its first frame.
func TestOpeningPanics(t *testing.T) {
	bubble(t, func(set *Settings) { set.Observer = resumePanics{set.Observer.(*tally)} }, func(s *stand) {
		if c := s.get("/events", "Last-Event-ID: e-0"); !c.ended() {
			t.Error("the connection is still open")
		}
		if n := s.seen.subscribers.Load(); n != 0 {
			t.Errorf("%d subscribers are counted, want 0", n)
		}
	})
}

// releasePanics is a Store whose readers cannot be released.
type releasePanics struct{ Store }

func (p releasePanics) Attach(ctx context.Context, r Request) (Attachment, Refusal) {
	at, why := p.Store.Attach(ctx, r)
	at.Release = func() { panic("planted") }
	return at, why
}

// TestReleasePanics checks that a panic while a subscriber is released does not end the process.
func TestReleasePanics(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		s.hub.store = releasePanics{s.hub.store}
		s.get("/events").leave()
		if n := s.seen.subscribers.Load(); n != 0 {
			t.Errorf("%d subscribers are counted, want 0", n)
		}
	})
}

// TestWriterSurvivesAPanic checks that a panic in a writer ends neither the process nor the streams.
func TestWriterSurvivesAPanic(t *testing.T) {
	bubbleWith(t, true, func(set *Settings) { set.Observer = &panics{tally: set.Observer.(*tally)} }, func(s *stand) {
		c := s.get("/events")
		s.hub.store.Publish(say("one"))
		s.settle()
		s.hub.store.Publish(say("two"))
		s.expect(c, "id: e-0\n: open\n\nid: e-1\ndata: one\n\nid: e-2\ndata: two\n\n")
	})
}

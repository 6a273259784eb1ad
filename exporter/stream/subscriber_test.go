package stream

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"net/http"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

func (s *stand) expect(c *client, want string) {
	s.Helper()
	synctest.Wait()
	if got := c.take(); got != want {
		s.Errorf("after %v: got %q, want %q", time.Since(c.at), got, want)
	}
}

func TestOpensAtOnce(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		s.hub.store.Publish(say("before"))
		c := s.get("/events")
		response, _ := c.response(s.T)
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no",
			"X-Content-Type-Options": "nosniff", "Content-Encoding": "", "Transfer-Encoding": "", "Access-Control-Allow-Origin": "",
		} {
			if got := response.Header.Get(name); got != want {
				s.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		s.expect(c, "id: e-1\n: open\n\n")
		s.hub.store.Publish(say("after"))
		s.expect(c, "id: e-2\ndata: after\n\n")
		if n := s.seen.sent.Load(); n != 1 {
			s.Errorf("%d frames were counted as sent", n)
		}
	})
}

// TestHeartbeat checks that heartbeats count from the last byte sent.
func TestHeartbeat(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		c := s.get("/events")
		s.expect(c, "id: e-0\n: open\n\n")
		time.Sleep(15*time.Second - time.Nanosecond)
		s.expect(c, "")
		time.Sleep(time.Nanosecond)
		s.expect(c, ": \n\n")
		time.Sleep(10 * time.Second)
		s.hub.store.Publish(say("x"))
		s.expect(c, "id: e-1\ndata: x\n\n")
		time.Sleep(15*time.Second - time.Nanosecond)
		s.expect(c, "")
		time.Sleep(time.Nanosecond)
		s.expect(c, ": \n\n")
	})
}

// TestQuietSubscriberKnowsItsPlace fills the ring with frames of other sessions. A subscriber that resumes with the id of its
// last heartbeat has missed nothing, and gets no gap.
func TestQuietSubscriberKnowsItsPlace(t *testing.T) {
	bubble(t, func(set *Settings) { set.Replay.Frames = 5 }, func(s *stand) {
		for _, path := range []string{"/events/quiet", "/events?run=quiet"} {
			c := s.get(path)
			c.take()
			for range 8 {
				s.hub.store.Publish(replay.Entry{Session: "loud", Run: "loud", Data: []byte("x")})
				synctest.Wait()
			}
			time.Sleep(15 * time.Second)
			synctest.Wait()
			frames, id := received(s.T, c.take())
			if head := s.head(); len(frames) > 0 || id != head {
				s.Fatalf("%s: the heartbeat has the id %q after %q, the newest id is %q", path, id, frames, head)
			}
			time.Sleep(15 * time.Second)
			s.expect(c, ": \n\n")
			c.leave()
			s.hub.store.Publish(replay.Entry{Session: "quiet", Run: "quiet", Data: []byte("missed")})
			again := s.get(path, "Last-Event-ID: "+id)
			if body := again.take(); strings.Contains(body, gapEvent) || !strings.Contains(body, "data: missed\n") {
				s.Errorf("%s: came back to %q", path, body)
			}
			again.leave()
		}
	})
}

// TestLastWords checks the closing comment: a quiet subscriber without a heartbeat still gets its position.
func TestLastWords(t *testing.T) {
	bubble(t, func(set *Settings) { set.Heartbeat, set.MaxLifetime = 2*time.Hour, time.Hour }, func(s *stand) {
		c := s.get("/events/quiet")
		s.hub.store.Publish(replay.Entry{Session: "loud"})
		time.Sleep(time.Hour)
		s.settle()
		if _, id := received(s.T, c.take()); id != "e-1" || !c.ended() {
			s.Errorf("the last id is %q", id)
		}
	})
}

// TestNothingYet checks that a subscriber that received no frame resumes at its position.
func TestNothingYet(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		c := s.get("/events")
		_, id := received(s.T, c.take())
		c.leave()
		s.hub.store.Publish(say("between"))
		s.expect(s.get("/events", "Last-Event-ID: "+id), "id: e-0\n: open\n\nid: e-1\ndata: between\n\n")
	})
}

func TestLife(t *testing.T) {
	bubble(t, func(set *Settings) { set.MaxLifetime, set.Heartbeat = 10*time.Minute, time.Hour }, func(s *stand) {
		lives := map[time.Duration]bool{}
		var clients []*client
		for range 50 {
			clients = append(clients, s.get("/events"))
		}
		time.Sleep(8*time.Minute - 1)
		synctest.Wait()
		s.counted("disconnected life_over", 0)
		time.Sleep(2*time.Minute + 1)
		synctest.Wait()
		s.counted("disconnected life_over", 50)
		for _, c := range clients {
			lives[c.lived()] = true
			if body := c.take(); !strings.HasSuffix(body, ": life_over\n\n") || !c.ended() {
				s.Errorf("the connection lasted %v: %q", c.lived(), body)
			}
		}
		if len(lives) < 40 {
			s.Errorf("50 connections ended at %d different times", len(lives))
		}
	})
}

func TestExpires(t *testing.T) {
	for name, publish := range map[string]bool{"in silence": false, "while frames come": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(set *Settings) {
				expires := time.Now().Add(100 * time.Second)
				set.Authorize = func(*http.Request) (Grant, error) { return Grant{Token: "t", Expires: expires}, nil }
			}, func(s *stand) {
				c := s.get("/events")
				for range 200 {
					time.Sleep(time.Second)
					if publish {
						s.hub.store.Publish(say("x"))
					}
				}
				synctest.Wait()
				s.counted("disconnected expired", 1)
				if c.lived() != 100*time.Second || !strings.HasSuffix(c.take(), ": expired\n\n") {
					s.Errorf("lived %v", c.lived())
				}
			})
		})
	}
}

func TestRecheck(t *testing.T) {
	var revoked atomic.Bool
	var asked atomic.Int32
	bubble(t, func(set *Settings) {
		revoked.Store(false)
		asked.Store(0)
		set.Authorize = func(*http.Request) (Grant, error) {
			return Grant{Valid: func() bool { asked.Add(1); return !revoked.Load() }}, nil
		}
	}, func(s *stand) {
		c := s.get("/events")
		time.Sleep(150 * time.Second)
		revoked.Store(true)
		time.Sleep(29 * time.Second)
		synctest.Wait()
		if c.ended() || asked.Load() != 2 {
			s.Errorf("Valid was called %d times, and the connection lasted %v", asked.Load(), c.lived())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		s.counted("disconnected revoked", 1)
		if c.lived() != 3*time.Minute {
			s.Errorf("lived %v", c.lived())
		}
	})
}

// TestBlockedWrite checks that a subscriber that stops reading is disconnected at the write deadline, and that others are not
// affected.
func TestBlockedWrite(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		other := s.get("/events")
		stuck := s.request("GET", "/events")
		head := make([]byte, 4096)
		if _, err := stuck.conn.Read(head); err != nil {
			s.Fatal(err)
		}
		synctest.Wait()
		s.hub.store.Publish(say("x"))
		before := time.Now()
		s.hub.store.Publish(say("y"))
		if waited := time.Since(before); waited != 0 {
			s.Errorf("a publish took %v, want no wait", waited)
		}
		s.expect(other, "id: e-0\n: open\n\nid: e-1\ndata: x\n\nid: e-2\ndata: y\n\n")
		time.Sleep(5*time.Second - 1)
		synctest.Wait()
		s.counted("disconnected write_timeout", 0)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		s.counted("disconnected write_timeout", 1)
		_ = stuck.conn.Close()
		again := s.get("/events", "Last-Event-ID: e-0")
		s.expect(again, "id: e-0\n: open\n\nid: e-1\ndata: x\n\nid: e-2\ndata: y\n\n")
	})
}

// TestFallsOff checks that a subscriber is disconnected if the ring evicts its next frame during a write.
func TestFallsOff(t *testing.T) {
	bubble(t, func(set *Settings) { set.Replay.Frames = 3 }, func(s *stand) {
		c := s.request("GET", "/events")
		if _, err := c.conn.Read(make([]byte, 4096)); err != nil {
			s.Fatal(err)
		}
		synctest.Wait()
		s.hub.store.Publish(say("first"))
		synctest.Wait() // until the subscriber writes this frame
		for i := range 5 {
			s.hub.store.Publish(say(fmt.Sprint(i)))
		}
		go c.listen()
		s.expect(c, "id: e-1\ndata: first\n\n")
		s.counted("disconnected fell_off", 1)
		again := s.get("/events", "Last-Event-ID: e-1")
		frames, _ := received(s.T, again.take())
		want := []string{`e-3 delegraph.gap {"reason":"evicted","requested":"e-1","oldest":"e-4","head":"e-6"}`, "e-4 message 2", "e-5 message 3", "e-6 message 4"}
		if fmt.Sprint(frames) != fmt.Sprint(want) {
			s.Errorf("after the reconnection: got %q, want %q", frames, want)
		}
		s.counted("resumed evicted", 1)
	})
}

func TestLeaves(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		c := s.get("/events")
		if n := s.seen.subscribers.Load(); n != 1 {
			s.Errorf("%d subscribers are connected", n)
		}
		c.leave()
		s.counted("disconnected client_left", 1)
		if n := s.seen.subscribers.Load(); n != 0 {
			s.Errorf("%d subscribers are connected", n)
		}
	})
}

// TestAge checks that a resume reports frames that were evicted for their age.
func TestAge(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		s.hub.store.Publish(say("x"))
		time.Sleep(5*time.Minute - 1)
		s.expect(s.get("/events", "Last-Event-ID: e-0"), "id: e-0\n: open\n\nid: e-1\ndata: x\n\n")
		time.Sleep(time.Nanosecond)
		frames, id := received(s.T, s.get("/events", "Last-Event-ID: e-0").take())
		if want := []string{`e-1 delegraph.gap {"reason":"evicted","requested":"e-0","oldest":null,"head":"e-1"}`}; fmt.Sprint(frames) != fmt.Sprint(want) {
			s.Errorf("got %q", frames)
		}
		s.hub.store.Publish(say("y"))
		s.expect(s.get("/events", "Last-Event-ID: "+id), "id: e-1\n: open\n\nid: e-2\ndata: y\n\n")
	})
}

// TestDrain checks that the disconnects are spread over the grace period, that no frame is lost until then, and that
// new subscribers are refused.
func TestDrain(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		var clients []*client
		for range 200 {
			clients = append(clients, s.get("/events"))
		}
		drained := make(chan error, 1)
		go func() { drained <- s.hub.Drain(s.Context(), 10*time.Second) }()
		synctest.Wait()
		late, body := s.get("/events").response(s.T)
		if late.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "shutting down") {
			s.Errorf("a late subscriber: %d %q", late.StatusCode, body)
		}
		s.counted("refused draining status", 1)
		time.Sleep(5 * time.Second)
		s.hub.store.Publish(say("still here"))
		time.Sleep(5 * time.Second)
		if err := <-drained; err != nil {
			s.Error(err)
		}
		synctest.Wait()
		s.counted("disconnected shutdown", 200)
		ends, retries, got := map[int]int{}, map[string]bool{}, 0
		last := regexp.MustCompile(`retry: (\d+)\n\n: shutdown\n\n$`)
		for _, c := range clients {
			body := c.take()
			ends[int(c.lived()/time.Second)]++
			m := last.FindStringSubmatch(body)
			if m == nil {
				s.Fatalf("the stream ends with %q", body)
			}
			retries[m[1]] = true
			if sent := strings.Contains(body, "still here"); sent != (c.lived() > 5*time.Second) {
				s.Errorf("disconnected after %v: has the frame of 5 s: %v", c.lived(), sent)
			} else if sent {
				got++
			}
		}
		for second, n := range ends {
			if n > 50 {
				s.Errorf("%d of 200 left in second %d", n, second)
			}
		}
		if len(retries) < 150 || got == 0 || got == 200 {
			s.Errorf("%d different retries; %d were there after 5 s", len(retries), got)
		}
	})
}

func TestDrainOfNobody(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		for range 2 {
			if err := s.hub.Drain(s.Context(), time.Hour); err != nil {
				s.Error(err)
			}
		}
	})
}

// TestDrainGivesUp checks that Drain returns an error if a subscriber stays connected.
func TestDrainGivesUp(t *testing.T) {
	bubble(t, func(set *Settings) { set.WriteDeadline = time.Hour }, func(s *stand) {
		c := s.request("GET", "/events")
		if _, err := c.conn.Read(make([]byte, 4096)); err != nil {
			s.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(s.Context(), 10*time.Second)
		defer cancel()
		err := s.hub.Drain(ctx, 5*time.Second)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 subscribers") {
			s.Errorf("Drain() = %v", err)
		}
		_ = c.conn.Close()
	})
}

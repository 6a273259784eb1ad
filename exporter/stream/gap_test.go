package stream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

func TestGapFrame(t *testing.T) {
	for _, test := range []struct {
		gap  replay.Gap
		want string
	}{
		{
			replay.Gap{Reason: replay.GapEvicted, Requested: "e-1", Oldest: "e-5", Head: "e-9"},
			"id: e-4\nevent: delegraph.gap\ndata: {\"reason\":\"evicted\",\"requested\":\"e-1\",\"oldest\":\"e-5\",\"head\":\"e-9\"}\n\n",
		},
		{
			replay.Gap{Reason: replay.GapUnknown, Head: "e-0"},
			"id: e-4\nevent: delegraph.gap\ndata: {\"reason\":\"unknown\",\"requested\":null,\"oldest\":null,\"head\":\"e-0\"}\n\n",
		},
	} {
		if got := string(appendGap(nil, "e-4", &test.gap)); got != test.want {
			t.Errorf("%+v: %q, want %q", test.gap, got, test.want)
		}
	}
}

// TestResumeFromGap cuts the connection right after each kind of gap frame. A client that resumes with the id of the
// gap must get every later frame once. It must get no second gap while the first of those frames is still in the ring.
func TestResumeFromGap(t *testing.T) {
	for _, test := range []struct{ id, reason string }{
		{"e-1", "evicted"}, {"e-99", "future"}, {"other-3", "restarted"}, {"<script>", "unknown"}, {strings.Repeat("9", 8000), "unknown"},
	} {
		for name, published := range map[string]int{"nothing was published": 0, "all is held": 3, "some is gone": 9} {
			if test.reason == "evicted" && published < 9 {
				continue
			}
			t.Run(test.reason+", "+name, func(t *testing.T) {
				bubble(t, func(set *Settings) { set.Replay.Frames = 5 }, func(s *stand) {
					for i := range published {
						s.hub.store.Publish(say(fmt.Sprint(i + 1)))
					}
					frames, _ := received(s.T, s.get("/events", "Last-Event-ID: "+test.id).take())
					if len(frames) == 0 || !strings.Contains(frames[0], `delegraph.gap {"reason":"`+test.reason+`"`) {
						s.Fatalf("got %q", frames)
					}
					id, _, _ := strings.Cut(frames[0], " ")
					again := s.get("/events", "Last-Event-ID: "+id)
					s.hub.store.Publish(say("live"))
					synctest.Wait()
					got, _ := received(s.T, again.take())
					want := append(frames[1:], fmt.Sprintf("e-%d message live", published+1))
					if !slices.Equal(got, want) {
						s.Errorf("after %s: got %q, want %q", frames[0], got, want)
					}
				})
			})
		}
	}
}

// TestGapWithin publishes a gap in the middle of the stream. Every subscriber to anything of the session must get the
// gap, and again after a reconnection if it was disconnected before the gap.
func TestGapWithin(t *testing.T) {
	bubble(t, nil, func(s *stand) {
		reader, other := s.get("/events?kind=text"), s.get("/events/c2")
		text := func(number uint64, session, data string) {
			s.hub.store.Publish(replay.Entry{Number: number, Session: session, Kinds: replay.KindsOf(event.KindText), Data: []byte(data)})
		}
		text(3, "c1", "a")
		s.hub.store.Publish(GapEntry(&replay.Gap{Reason: replay.GapLost, Oldest: "e-9", Head: "e-9"}, 8, "c1"))
		text(9, "c1", "b")
		synctest.Wait()
		want := []string{"e-3 message a", `e-8 delegraph.gap {"reason":"lost","requested":null,"oldest":"e-9","head":"e-9"}`, "e-9 message b"}
		if got, _ := received(s.T, reader.take()); !slices.Equal(got, want) {
			s.Errorf("got %q, want %q", got, want)
		}
		if got, _ := received(s.T, other.take()); len(got) > 0 {
			s.Errorf("a reader of another session got %q, want nothing", got)
		}
		for id, from := range map[string]int{"e-3": 1, "e-5": 1, "e-8": 1, "e-9": 3} {
			if got, _ := received(s.T, s.get("/events", "Last-Event-ID: "+id).take()); !slices.Equal(got, want[from:]) {
				s.Errorf("after %s: got %q, want %q", id, got, want[from:])
			}
		}
	})
}

// TestOver checks that the readers of a store that restarts get all earlier frames and are then disconnected.
func TestOver(t *testing.T) {
	var over chan struct{}
	bubble(t, func(set *Settings) {
		over = make(chan struct{}) // inside the synctest bubble
		ring, err := NewMemory(set.Replay, set.Observer.CountDropped)
		if err != nil {
			t.Fatal(err)
		}
		set.Store = &endingStore{Store: ring, over: over}
	}, func(s *stand) {
		reader := s.get("/events")
		s.hub.store.Publish(say("last"))
		close(over)
		synctest.Wait()
		if got := reader.take(); !reader.ended() || !strings.Contains(got, "data: last\n") || !strings.HasSuffix(got, ": restarted\n\n") {
			s.Errorf("ended: %v; got %q", reader.ended(), got)
		}
		s.counted("disconnected restarted", 1)
		refused := s.get("/events/refused")
		response, body := refused.response(s.T)
		if response.StatusCode != 503 || !strings.Contains(body, "is not reachable yet") {
			s.Errorf("the response is %d %q", response.StatusCode, body)
		}
		s.counted("refused unavailable status", 1)
	})
}

// endingStore is a store that ends when over is closed and refuses one session.
type endingStore struct {
	Store
	over chan struct{}
}

func (p *endingStore) Attach(ctx context.Context, r Request) (Attachment, Refusal) {
	if slices.Contains(r.Query.Sessions, "refused") {
		return Attachment{}, Unavailable
	}
	place, why := p.Store.Attach(ctx, r)
	place.Done = p.over
	return place, why
}

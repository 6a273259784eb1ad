package stream

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// TestPositionWithoutFrame lets a reader's position move past entries that it does not get. It must learn the position with a heartbeat:
// if the entries are evicted, its own last id would be one before a gap.
func TestPositionWithoutFrame(t *testing.T) {
	stream := &replay.Stream{}
	text := replay.Entry{Session: "a", Stream: stream, Data: []byte("hello")}
	for name, test := range map[string]struct {
		path   string
		behind replay.Entry // published with the text
	}{
		"the end of a stream":        {"/events", replay.Entry{Session: "a", Stream: stream, StreamEnded: true}},
		"a frame of another session": {"/events/a", replay.Entry{Session: "b", Data: []byte("x")}},
		"one, in another format":     {"/events/a?format=normalized", replay.Entry{Session: "b", Stream: &replay.Stream{}, Data: []byte("x")}},
		"the end, in another format": {"/events?format=normalized", replay.Entry{Session: "a", Stream: stream, StreamEnded: true}},
		"an end of another session":  {"/events/a", replay.Entry{Session: "b", Stream: &replay.Stream{}, StreamEnded: true}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(set *Settings) {
				set.Decoder = func(string, string, bool) format.Decoder { return textDecoder{} }
			}, func(s *stand) {
				start := s.head()
				s.hub.store.Publish(text)
				s.hub.store.Publish(test.behind)
				c := s.get(test.path, "Last-Event-ID: "+start)
				time.Sleep(2 * s.hub.settings.Heartbeat)
				synctest.Wait()
				got := c.take()
				c.leave()
				if _, last := received(s.T, got); !strings.Contains(got, "hello") || last != s.head() {
					s.Errorf("the reader would resume after %s, not %s: %q", last, s.head(), got)
				}
			})
		})
	}
}

// closingStore ends its readers' connections.
type closingStore struct {
	Store
	done, moved chan struct{}
}

func (c *closingStore) Attach(ctx context.Context, r Request) (Attachment, Refusal) {
	at, why := c.Store.Attach(ctx, r)
	at.Done, at.Moved = c.done, c.moved
	return at, why
}

// TestRestBeforeTheEnd ends a connection whose reader cannot get the frames elsewhere: the ids change, or another shard takes the
// session. The reader must get all frames first.
func TestRestBeforeTheEnd(t *testing.T) {
	for _, why := range []Disconnect{StoreRestarted, Moved} {
		for _, path := range []string{"/events", "/events/a", "/events?format=normalized"} {
			t.Run(string(why)+path, func(t *testing.T) {
				var closing *closingStore
				bubble(t, func(set *Settings) {
					set.Decoder = func(string, string, bool) format.Decoder { return textDecoder{} }
					memory, err := NewMemory(set.Replay, func(replay.Drop) {})
					if err != nil {
						t.Fatal(err)
					}
					closing = &closingStore{Store: memory, done: make(chan struct{}), moved: make(chan struct{})}
					set.Store = closing
				}, func(s *stand) {
					for range 10 {
						s.hub.store.Publish(replay.Entry{Session: "a", Stream: &replay.Stream{}, Data: []byte(strings.Repeat("long ", 12<<10))})
					}
					if why == Moved {
						close(closing.moved)
					} else {
						close(closing.done)
					}
					c := s.get(path, "Last-Event-ID: bad")
					got := c.take()
					if n := strings.Count(got, "long long"); n == 0 || !strings.HasSuffix(got, ": "+string(why)+"\n\n") {
						s.Fatalf("the stream ends with %q", got[max(0, len(got)-100):])
					}
					if frames, _ := received(s.T, got); len(frames) < 10 {
						s.Errorf("%d frames, want 10", len(frames))
					}
				})
			})
		}
	}
}

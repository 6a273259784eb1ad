package stream

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// shardedStore is a store with shards that other processes serve.
type shardedStore struct {
	Store
	moved chan struct{}
}

func (p *shardedStore) Attach(ctx context.Context, r Request) (Attachment, Refusal) {
	switch {
	case r.Shard == "north" || slices.Contains(r.Query.Sessions, "there"), slices.Contains(r.Query.Sessions, "a/b ü"):
		return Attachment{Location: "https://north.example.org/base"}, OtherShard
	case slices.Contains(r.Query.Sessions, "nowhere"):
		return Attachment{}, OtherShard
	case r.Shard != "":
		return Attachment{Shards: []string{"north", "south"}}, UnknownShard
	case r.Query.Sessions == nil:
		return Attachment{Shards: []string{"north", "south"}}, ShardRequired
	}
	place, why := p.Store.Attach(ctx, r)
	place.Moved = p.moved
	return place, why
}

// sharded runs a test with a shardedStore. Requests need the token "secret" or the ticket "once".
func sharded(t *testing.T, test func(*stand, chan struct{})) {
	t.Helper()
	var moved chan struct{}
	bubble(t, func(set *Settings) {
		moved = make(chan struct{}) // inside the synctest bubble
		ring, err := NewMemory(set.Replay, set.Observer.CountDropped)
		if err != nil {
			t.Fatal(err)
		}
		set.Store = &shardedStore{Store: ring, moved: moved}
		set.Authorize = func(r *http.Request) (Grant, error) {
			if r.Header.Get("Authorization") != "Bearer secret" && r.URL.Query().Get("ticket") != "once" {
				return Grant{}, errors.New("no")
			}
			return Grant{Token: "t"}, nil
		}
	}, func(s *stand) { test(s, moved) })
}

// TestRedirect checks the answers to requests for shards that this process does not serve.
func TestRedirect(t *testing.T) {
	sharded(t, func(s *stand, _ chan struct{}) {
		const base = "https://north.example.org/base"
		for _, c := range []struct {
			path           string
			status         int
			location, says string
		}{
			{"/events/there", 307, base + "/events/there", ""},
			{"/events/there?kind=text&run=a%20b&last_event_id=e-1", 307, base + "/events/there?kind=text&run=a%20b&last_event_id=e-1", ""},
			{"/events/a%2Fb%20%C3%BC?run=%zz", 400, "", "malformed"},
			{"/events/a%2Fb%20%C3%BC", 307, base + "/events/a%2Fb%20%C3%BC", ""},
			{"/events/there?ticket=once", 307, base + "/events/there", ""},
			{"/events/there?kind=text&ticket=once&run=r", 307, base + "/events/there?kind=text&run=r", ""},
			{"/events/there?%74icket=once&kind=text", 307, base + "/events/there?kind=text", ""},
			{"/events?shard=north", 307, base + "/events?shard=north", ""},
			{"/events/nowhere", 421, "", "does not serve the session's shard"},
			{"/events?shard=east", 400, "", "no such shard; use one of north, south"},
			{"/events", 400, "", "all of one shard at /events?shard=NAME with one of north, south"},
		} {
			header := []string{}
			if !strings.Contains(c.path, "icket=") {
				header = []string{"Authorization: Bearer secret"}
			}
			response, body := s.get(c.path, append(header, "Cookie: session=1", "Origin: https://app.example.org")...).response(s.T)
			if response.StatusCode != c.status || response.Header.Get("Location") != c.location || !strings.Contains(body, c.says) {
				s.Errorf("%s: %d, location %q, %q", c.path, response.StatusCode, response.Header.Get("Location"), body)
			}
			for name, values := range response.Header {
				if text := strings.Join(values, " "); strings.Contains(text, "secret") || strings.Contains(text, "once") {
					s.Errorf("%s: the header %s has a credential: %s", c.path, name, text)
				}
			}
			if c.status != 400 && response.Header.Get("Cache-Control") != "no-store" {
				s.Errorf("%s may be cached", c.path)
			}
		}
		s.counted("refused other_shard redirect", 7)
		s.counted("refused other_shard status", 1)
	})
}

// TestRedirectNeedsAuthorization checks that a reader without a credential does not learn where a session is.
func TestRedirectNeedsAuthorization(t *testing.T) {
	sharded(t, func(s *stand, _ chan struct{}) {
		for _, path := range []string{"/events/there", "/events/nowhere", "/events/here", "/events", "/events?shard=north", "/events?shard=east"} {
			response, _ := s.get(path).response(s.T)
			if response.StatusCode != 401 || response.Header.Get("Location") != "" {
				s.Errorf("%s: %d %v", path, response.StatusCode, response.Header)
			}
		}
	})
}

// TestMoved checks that the readers of a session that moves get all published frames and are then disconnected.
func TestMoved(t *testing.T) {
	sharded(t, func(s *stand, moved chan struct{}) {
		reader := s.get("/events/here", "Authorization: Bearer secret")
		for range 100 {
			s.hub.store.Publish(replay.Entry{Session: "here", Data: bytes.Repeat([]byte("x"), 1000)})
		}
		close(moved)
		s.settle()
		got := reader.take()
		if frames, last := received(s.T, got); !reader.ended() || len(frames) != 100 || last != "e-100" {
			s.Errorf("ended: %v; %d frames until %s", reader.ended(), len(frames), last)
		}
		if !strings.HasSuffix(got, ": moved\n\n") {
			s.Errorf("the stream ends with %q", got[max(0, len(got)-100):])
		}
		s.counted("disconnected moved", 1)
	})
}

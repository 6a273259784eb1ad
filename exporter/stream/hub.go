// Package stream serves what the filter lets out to any number of subscribers, each of which sees every frame once and in order, or is told of the gap.
package stream

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Settings say whom a Hub serves and how. All numbers and times must be positive.
type Settings struct {
	Replay    replay.Settings                    // of the ring that a Hub has without a Store
	Store     Store                              // nil: that ring
	Authorize func(*http.Request) (Grant, error) // nil: everybody reads everything; an error is answered with 401, its text is not
	Origins   []string                           // whose pages may read, exactly as browsers send them: "https://app.example.org"
	Observer  Observer

	// Decoder begins to read a stream of a source and its dialect again, for formats other than the native one; nil: there are none.
	Decoder func(source, dialect string, answer bool) format.Decoder

	Subscribers         int
	SubscribersPerToken int

	Heartbeat     time.Duration // of silence before a comment
	WriteDeadline time.Duration // for one write
	Life          time.Duration // of a connection at most; each ends between 80 and 100 % of it
	Recheck       time.Duration // between two calls of a grant's Recheck
}

// Grant is what a request may read, and for how long.
type Grant struct {
	Token    string      // an opaque name by which connections are limited; "": by the limit for all only
	Sessions []string    // the only sessions that it may read; nil: all, and frames of no session
	Expires  time.Time   // zero: never
	Recheck  func() bool // says whether the grant still stands; nil: it does
}

// Hub hands published frames to its subscribers.
type Hub struct {
	settings Settings
	store    Store
	slots    *slots
	evicted  atomic.Uint64

	drain    sync.Once
	grace    time.Duration // set before draining is closed
	draining chan struct{}
	empty    <-chan struct{}
}

// New makes a Hub without subscribers.
func New(s Settings) (*Hub, error) {
	if min(s.Subscribers, s.SubscribersPerToken) <= 0 || min(s.Heartbeat, s.WriteDeadline, s.Life, s.Recheck) <= 0 {
		return nil, fmt.Errorf("stream: %d subscribers, %d a token, heartbeat %v, write deadline %v, life %v, recheck %v: each must be more than 0",
			s.Subscribers, s.SubscribersPerToken, s.Heartbeat, s.WriteDeadline, s.Life, s.Recheck)
	}
	if s.Store == nil {
		var err error
		if s.Store, err = NewMemory(s.Replay, s.Observer.Dropped); err != nil {
			return nil, err
		}
	}
	if s.Authorize == nil {
		s.Authorize = func(*http.Request) (Grant, error) { return Grant{}, nil }
	}
	return &Hub{
		settings: s, store: s.Store, draining: make(chan struct{}),
		slots: newSlots(s.Subscribers, s.SubscribersPerToken, s.Observer.Subscribers),
	}, nil
}

// Publish gives a frame to all who want it, now or when they come back. It waits for no subscriber.
func (h *Hub) Publish(e replay.Entry) { h.store.Publish(e) }

// Replay says what is held for those who come back.
func (h *Hub) Replay() replay.Stats { return h.store.Stats() }

// Evicted is how many decoders of subscribers to other formats than the native one were forgotten for room. The ring knows the
// frames that they had read, mostly.
func (h *Hub) Evicted() uint64 { return h.evicted.Load() }

// Handler serves /events and /events/{session}.
func (h *Hub) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", h.serve)
	mux.HandleFunc("GET /events/{session}", h.serve)
	return CORS(h.settings.Origins, mux)
}

// Drain lets nobody in any more, and sends away those who are here, spread over the grace time so that they do not all come
// back at once. It returns when the last is gone, or with an error when the context is done before: what is published until
// then is still sent. The context should leave a write deadline more than the grace time.
func (h *Hub) Drain(ctx context.Context, grace time.Duration) error {
	h.drain.Do(func() {
		h.grace, h.empty = grace, h.slots.close()
		close(h.draining)
	})
	select {
	case <-h.empty:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stream: %d subscribers did not leave in time: %w", h.slots.taken(), ctx.Err())
	}
}

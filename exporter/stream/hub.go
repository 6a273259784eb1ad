// Package stream serves the filtered stream to any number of subscribers. Each subscriber receives
// every frame once and in order, and is notified of every gap.
package stream

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Settings configure a Hub. MaxSubscribers, MaxSubscribersPerToken and all durations must be positive. ArrivalBurst must be at least 1 if ArrivalRate is set.
type Settings struct {
	Replay         replay.Settings                    // of the in-memory ring that is used without a Store
	Store          Store                              // nil: an in-memory ring with the Replay settings
	Authorize      func(*http.Request) (Grant, error) // nil: anyone may read everything; after an error, the response is 401 and does not quote the error
	AllowedOrigins []string                           // for CORS, exactly as browsers send them: "https://app.example.org"
	Observer       Observer
	Panics         *recovery.Recorder // nil: panics are recovered without a record

	// Decoder returns a decoder for a stream of a source and dialect; response reports whether the
	// stream is the response to one run request. It is needed for formats other than the native
	// one; nil disables them.
	Decoder       func(source, dialect string, response bool) format.Decoder
	DecoderMemory *budget.Account // account that decoders are charged to; nil: unlimited

	Turns  *budget.Turns   // limits the memory for converting large frames to other formats; nil: unlimited
	Memory *budget.Account // account for subscribers, and for frames that are converted or copied for them; nil: unlimited

	MaxSubscribers         int
	MaxSubscribersPerToken int

	ArrivalRate  float64 // subscribers a second; 0: unlimited
	ArrivalBurst int     // subscribers that may arrive at once

	Heartbeat       time.Duration // a comment is sent after this time without a frame
	WriteDeadline   time.Duration // of one write
	MaxLifetime     time.Duration // of a connection; each ends after a random 80 to 100 % of it
	RecheckInterval time.Duration // between two calls of Grant.Valid
}

// Grant says what a request may read, and for how long.
type Grant struct {
	Token    string      // an opaque name for the per-token limit; "": only the total limit applies
	Sessions []string    // the only sessions that may be read; nil: everything, including frames without a session
	Expires  time.Time   // zero: never
	Valid    func() bool // reports whether the grant is still valid, without blocking; nil: always
}

// Hub serves the frames of a store to subscribers.
type Hub struct {
	settings  Settings
	store     Store
	slots     *slots
	admission *admission
	decodings *format.Decodings
	unsent    unsentMemory

	writers writers
	sockets sockets

	convertingLarge sync.Mutex    // held while a large frame is converted
	processors      chan struct{} // one element for each goroutine that selects or converts frames, or writes to many subscribers

	drainOnce    sync.Once
	grace        time.Duration // set before drainStarted is closed
	drainStarted chan struct{}
	drained      <-chan struct{}
}

// New returns a Hub without subscribers.
func New(s Settings) (*Hub, error) {
	if min(s.MaxSubscribers, s.MaxSubscribersPerToken) <= 0 || min(s.Heartbeat, s.WriteDeadline, s.MaxLifetime, s.RecheckInterval) <= 0 {
		return nil, fmt.Errorf("stream: %d subscribers, %d per token, heartbeat %v, write deadline %v, max lifetime %v, recheck interval %v: each must be more than 0",
			s.MaxSubscribers, s.MaxSubscribersPerToken, s.Heartbeat, s.WriteDeadline, s.MaxLifetime, s.RecheckInterval)
	}
	if s.ArrivalRate > 0 && s.ArrivalBurst < 1 {
		return nil, fmt.Errorf("stream: an arrival rate of %v needs a burst of 1 or more, not %v", s.ArrivalRate, s.ArrivalBurst)
	}
	if s.Store == nil {
		var err error
		if s.Store, err = NewMemory(s.Replay, s.Observer.CountDropped); err != nil {
			return nil, err
		}
	}
	if s.Authorize == nil {
		s.Authorize = func(*http.Request) (Grant, error) { return Grant{}, nil }
	}
	return &Hub{
		settings: s, store: s.Store, decodings: format.NewDecodings(s.Decoder, s.DecoderMemory), drainStarted: make(chan struct{}),
		unsent: unsentMemory{account: s.Memory}, processors: newProcessors(),
		writers: writers{byKey: map[writerKey][]*writer{}}, sockets: sockets{open: map[*socket]struct{}{}},
		admission: newAdmission(s.ArrivalRate, s.ArrivalBurst),
		slots:     newSlots(s.MaxSubscribers, s.MaxSubscribersPerToken, s.Observer.SetSubscribers),
	}, nil
}

// newProcessors returns a channel with room for half of the processors. The others stay free for the
// agents' streams: thousands of subscribers may wake at one frame.
func newProcessors() chan struct{} { return make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)) }

// Store returns the store that the subscribers read.
func (h *Hub) Store() Store { return h.store }

// ReplayStats returns what is buffered for resuming subscribers.
func (h *Hub) ReplayStats() replay.Stats { return h.store.Stats() }

// EvictedDecoders returns how often a subscriber to another format lost its decoder in the middle of
// a stream. The next decoder reads the earlier frames again, as far as the ring still holds them.
func (h *Hub) EvictedDecoders() uint64 { return h.decodings.Evicted() }

// Handler serves /events and /events/{session}. It hijacks HTTP/1 connections without TLS. The server cannot
// close these: call Drain or Close.
func (h *Hub) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", h.serve)
	mux.HandleFunc("GET /events/{session}", h.serve)
	return CORS(h.settings.AllowedOrigins, mux)
}

// stop refuses new subscribers and begins to disconnect the current ones. Only the first call has an effect.
func (h *Hub) stop(grace time.Duration) {
	h.drainOnce.Do(func() {
		h.grace, h.drained = grace, h.slots.close()
		close(h.drainStarted)
	})
}

// Drain refuses new subscribers and disconnects the current ones, spread over the grace period so
// that they do not all reconnect at once. Frames published in the meantime are still sent. Drain
// returns when the last subscriber is gone, or an error if the context is done first. The context
// should last at least one write deadline longer than the grace period.
func (h *Hub) Drain(ctx context.Context, grace time.Duration) error {
	h.stop(grace)
	select {
	case <-h.drained:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stream: %d subscribers were still connected: %w", h.slots.count(), ctx.Err())
	}
}

// Close refuses new subscribers and closes the hijacked connections. It asks the other subscribers to end, and
// does not wait for them.
func (h *Hub) Close() {
	h.stop(0)
	h.sockets.close()
}

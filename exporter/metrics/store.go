package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/exporter/stream/jetstream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Store counts what happens between the external stream and its store in NATS. It is a jetstream.Observer.
type Store struct {
	stream                              *Stream
	published, repeated, retried, again prometheus.Counter
	dropped, gaps                       *family[prometheus.Counter]
}

// Store registers the metrics of a store in NATS.
func (m *Metrics) Store(of *Stream) *Store {
	counter := func(t metric) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: t.name, Help: t.help})
		m.reg.MustRegister(c)
		return c
	}
	s := &Store{
		stream: of, published: counter(storePublished), repeated: counter(storeRepeated), retried: counter(storeRetries), again: counter(storeFeedTries),
		dropped: storeDropped.counter(m.reg, m.caps), gaps: storeFeedGaps.counter(m.reg, m.caps),
	}
	s.dropped.begin(nil)
	s.gaps.begin(nil)
	return s
}

// Observe adds what the store says of itself.
func (s *Store) Observe(store interface {
	Queued() int
	Feeds() int
	Connected() bool
}) {
	for t, value := range map[*metric]func() float64{
		&storeQueued: func() float64 { return float64(store.Queued()) },
		&storeFeeds:  func() float64 { return float64(store.Feeds()) },
		&storeConnected: func() float64 {
			if store.Connected() {
				return 1
			}
			return 0
		},
	} {
		s.stream.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: t.name, Help: t.help}, value))
	}
}

// Published counts a frame that we published.
func (s *Store) Published() { s.published.Inc() }

// Repeated counts a frame that another had published before.
func (s *Store) Repeated() { s.repeated.Inc() }

// Retried counts an attempt to publish that failed, or may have.
func (s *Store) Retried() { s.retried.Inc() }

// Dropped counts a frame that was not published.
func (s *Store) Dropped(why jetstream.Drop) { s.dropped.with(string(why)).Inc() }

// FeedRetried counts an attempt to bring a feed that failed.
func (s *Store) FeedRetried() { s.again.Inc() }

// FeedGap counts a gap in a feed.
func (s *Store) FeedGap(why replay.Reason) { s.gaps.with(string(why)).Inc() }

// FrameDropped counts a frame that a feed could not hold.
func (s *Store) FrameDropped(why replay.Drop) { s.stream.Dropped(why) }

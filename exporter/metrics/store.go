package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/exporter/stream/jetstream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Store counts events of the external stream's store in NATS. It implements jetstream.Observer.
type Store struct {
	stream                                    *Stream
	published, repeated, retried, feedRetries prometheus.Counter
	dropped, gaps                             *family[prometheus.Counter]
}

// Store registers the metrics of a store in NATS.
func (m *Metrics) Store(of *Stream) *Store {
	counter := func(t metric) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: t.name, Help: t.help})
		m.reg.MustRegister(c)
		return c
	}
	s := &Store{
		stream: of, published: counter(storePublished), repeated: counter(storeRepeated), retried: counter(storeRetries), feedRetries: counter(storeFeedRetries),
		dropped: storeDropped.counter(m.reg, m.caps), gaps: storeFeedGaps.counter(m.reg, m.caps),
	}
	s.dropped.createZeros(nil)
	s.gaps.createZeros(nil)
	return s
}

// Observe registers the gauges of the store.
func (s *Store) Observe(store interface {
	QueuedBytes() int
	QueueCapacity() int
	OpenFeeds() int
	Connected() bool
}) {
	for t, value := range map[*metric]func() float64{
		&storeQueued:   func() float64 { return float64(store.QueuedBytes()) },
		&storeCapacity: func() float64 { return float64(store.QueueCapacity()) },
		&storeFeeds:    func() float64 { return float64(store.OpenFeeds()) },
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

// CountPublished counts a frame that this process published.
func (s *Store) CountPublished() { s.published.Inc() }

// CountRepeated counts a frame that was already in the store.
func (s *Store) CountRepeated() { s.repeated.Inc() }

// CountRetry counts an attempt to publish that failed or may have failed.
func (s *Store) CountRetry() { s.retried.Inc() }

// CountDropped counts a frame that was not published.
func (s *Store) CountDropped(why jetstream.Drop) { s.dropped.with(string(why)).Inc() }

// CountFeedRetry counts a failed attempt to read a feed.
func (s *Store) CountFeedRetry() { s.feedRetries.Inc() }

// CountFeedGap counts a gap in a feed.
func (s *Store) CountFeedGap(why replay.GapReason) { s.gaps.with(string(why)).Inc() }

// CountDroppedFeedFrame counts a frame that did not fit into a feed.
func (s *Store) CountDroppedFeedFrame(why replay.Drop) { s.stream.CountDropped(why) }

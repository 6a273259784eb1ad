package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/access"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Stream counts what happens on the external stream. It is a stream.Observer.
type Stream struct {
	reg                                     prometheus.Registerer
	subscribers                             prometheus.Gauge
	sent                                    prometheus.Counter
	dropped, disconnects, resumes, refusals *family[prometheus.Counter]
}

// Stream registers the metrics of the external stream.
func (m *Metrics) Stream() *Stream {
	s := &Stream{
		reg:         m.reg,
		subscribers: prometheus.NewGauge(prometheus.GaugeOpts{Name: streamSubscribers.name, Help: streamSubscribers.help}),
		sent:        prometheus.NewCounter(prometheus.CounterOpts{Name: streamSent.name, Help: streamSent.help}),
		dropped:     streamDropped.counter(m.reg, m.caps),
		disconnects: streamDisconnects.counter(m.reg, m.caps),
		resumes:     streamResumes.counter(m.reg, m.caps),
		refusals:    streamRefusals.counter(m.reg, m.caps),
	}
	m.reg.MustRegister(s.subscribers, s.sent)
	s.disconnects.begin(nil)
	return s
}

// Observe adds what is held for those who come back, and what access lost.
func (s *Stream) Observe(held func() replay.Stats, lost func() access.Counts) {
	gauge := func(t metric, value func() float64) {
		s.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: t.name, Help: t.help}, value))
	}
	counter := func(t metric, value func() float64) {
		s.reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: t.name, Help: t.help}, value))
	}
	gauge(streamReplayFrames, func() float64 { return float64(held().Frames) })
	gauge(streamReplayBytes, func() float64 { return float64(held().Bytes) })
	counter(streamTokensFailures, func() float64 { return float64(lost().FailedReadings) })
	counter(streamTicketsEvicted, func() float64 { return float64(lost().EvictedTickets) })
}

// Subscribers notes how many are connected.
func (s *Stream) Subscribers(n int) { s.subscribers.Set(float64(n)) }

// Sent counts frames sent to one subscriber.
func (s *Stream) Sent(frames int) { s.sent.Add(float64(frames)) }

// Kept counts a frame that the filter kept in.
func (s *Stream) Kept(why filter.Reason) { s.dropped.with(string(why)).Inc() }

// Dropped counts a frame that could not be published.
func (s *Stream) Dropped(why replay.Drop) { s.dropped.with(string(why)).Inc() }

// Disconnected counts a subscriber's end.
func (s *Stream) Disconnected(why stream.Disconnect) { s.disconnects.with(string(why)).Inc() }

// Refused counts a request that was given no stream.
func (s *Stream) Refused(why stream.Refusal, answer stream.Answer) {
	s.refusals.with(string(why), string(answer)).Inc()
}

// Resumed counts a subscriber that came with an id.
func (s *Stream) Resumed(outcome stream.Outcome) { s.resumes.with(string(outcome)).Inc() }

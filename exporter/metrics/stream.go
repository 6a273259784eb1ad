package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/access"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Stream counts events of the external stream. It implements stream.Observer.
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
	s.disconnects.createZeros(nil)
	s.refusals.createZeros(nil)
	return s
}

// Observe registers the metrics of the replay buffer and of access control.
func (s *Stream) Observe(replayStats func() replay.Stats, accessCounts func() access.Counts) {
	gauge := func(t metric, value func() float64) {
		s.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: t.name, Help: t.help}, value))
	}
	counter := func(t metric, value func() float64) {
		s.reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: t.name, Help: t.help}, value))
	}
	gauge(streamReplayFrames, func() float64 { return float64(replayStats().Frames) })
	gauge(streamReplayBytes, func() float64 { return float64(replayStats().Bytes) })
	counter(streamTokensFailures, func() float64 { return float64(accessCounts().FailedReloads) })
	counter(streamTicketsEvicted, func() float64 { return float64(accessCounts().EvictedTickets) })
}

// SetSubscribers records the number of connected subscribers.
func (s *Stream) SetSubscribers(n int) { s.subscribers.Set(float64(n)) }

// CountSent counts frames sent to one subscriber.
func (s *Stream) CountSent(frames int) { s.sent.Add(float64(frames)) }

// CountWithheld counts a frame that the filter withheld.
func (s *Stream) CountWithheld(why filter.Reason) { s.dropped.with(string(why)).Inc() }

// CountDropped counts a frame that could not be published.
func (s *Stream) CountDropped(why replay.Drop) { s.dropped.with(string(why)).Inc() }

// CountDisconnect counts a subscriber's disconnection.
func (s *Stream) CountDisconnect(why stream.Disconnect) { s.disconnects.with(string(why)).Inc() }

// CountRefusal counts a request that was refused a stream.
func (s *Stream) CountRefusal(why stream.Refusal, answer stream.RefusalResponse) {
	s.refusals.with(string(why), string(answer)).Inc()
}

// CountResume counts a subscriber that reconnected with an event ID.
func (s *Stream) CountResume(outcome stream.ResumeOutcome) { s.resumes.with(string(outcome)).Inc() }

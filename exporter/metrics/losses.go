package metrics

import (
	"maps"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// Evicted counts what a limit took from the tracker.
func (m *Metrics) Evicted(kind string) { m.operationsEvicted.with(kind).Inc() }

// Expired counts what idleness took from the tracker.
func (m *Metrics) Expired(kind string) { m.operationsExpired.with(kind).Inc() }

// Late counts a frame that came after its run's end.
func (m *Metrics) Late(source string) { m.lateFrames.with(source).Inc() }

// Up notes whether a request reached the agent.
func (m *Metrics) Up(source string, up bool) {
	if !up {
		m.sourceUp.with(source).Set(0)
		m.upstreamErrors.with(source).Inc()
		return
	}
	m.sourceUp.with(source).Set(1)
}

// Gone ends what is said of a source only as long as it is configured: an alert on it would never end.
func (m *Metrics) Gone(source string) {
	m.sourceUp.forget(source)
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.perSource, func(key [2]string, _ *framed) bool { return key[0] == source })
	m.lastEvent.forget(source)
}

// BrokeOff counts an answer that did, of an agent that was reached.
func (m *Metrics) BrokeOff(source string) { m.upstreamErrors.with(source).Inc() }

// Reconnected counts an attempt of a tail to get its stream back.
func (m *Metrics) Reconnected(source string) { m.reconnects.with(source).Inc() }

// Repeated counts a frame that a server sent again.
func (m *Metrics) Repeated(source string) { m.repeatedFrames.with(source).Inc() }

// Missed counts frames that a tail did not get while it was not connected.
func (m *Metrics) Missed(source string, frames int64) {
	m.missedFrames.with(source).Add(float64(frames))
}

// SessionEvicted counts a session's stream that made room for another's.
func (m *Metrics) SessionEvicted(source string) { m.sessionsEvicted.with(source).Inc() }

// Unrecognized counts a stream of no dialect that passed.
func (m *Metrics) Unrecognized(source string) { m.unrecognized.with(source).Inc() }

// Unobserved counts bytes that went to the client unseen.
func (m *Metrics) Unobserved(source, reason string, bytes int) {
	m.unobservedBytes.with(source, reason).Add(float64(bytes))
}

// Unread counts a run request that named nobody because it could not be read.
func (m *Metrics) Unread(source, reason string) { m.unreadRequests.with(source, reason).Inc() }

// CardPassed counts an agent card that passed unchanged, and may lead clients around the proxy.
func (m *Metrics) CardPassed(source, reason string) { m.cardsUnchanged.with(source, reason).Inc() }

// Withheld counts a frame that a filtered relay kept in.
func (m *Metrics) Withheld(source string, why filter.Reason) {
	m.relayWithheld.with(source, string(why)).Inc()
}

// IDWithheld counts a frame that was relayed without its id.
func (m *Metrics) IDWithheld(source string) { m.relayIDsWithheld.with(source).Inc() }

// Panicked counts a panic that was recovered.
func (m *Metrics) Panicked(c recovery.Component) { m.panics.with(string(c)).Inc() }

package metrics

import (
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// CountEvicted counts something that the tracker dropped because of a limit.
func (m *Metrics) CountEvicted(kind string) { m.operationsEvicted.with(kind).Inc() }

// CountExpired counts a run or an operation that the tracker ended after the idle timeout.
func (m *Metrics) CountExpired(kind string) { m.operationsExpired.with(kind).Inc() }

// CountLateFrame counts a frame that arrived after its run or agent had ended.
func (m *Metrics) CountLateFrame(source string) { m.lateFrames.with(source).Inc() }

// SetSourceUp records whether a request reached the agent.
func (m *Metrics) SetSourceUp(source string, up bool) {
	if !up {
		m.sourceUp.with(source).Set(0)
		m.upstreamErrors.with(source).Inc()
		return
	}
	m.sourceUp.with(source).Set(1)
}

// RemoveSource removes the gauges of a source that is no longer configured, which would keep their last
// values: whether it is up, the time of its last frame, and its clock offset.
func (m *Metrics) RemoveSource(source string) {
	m.sourceUp.forget(source)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.configured[source] = false
	m.forgetFrameSeries(source)
	m.lastEvent.forget(source)
	m.clockOffset.forget(source)
}

// CountBrokenAnswer counts a response that broke off after the agent was reached.
func (m *Metrics) CountBrokenAnswer(source string) { m.upstreamErrors.with(source).Inc() }

// CountReconnect counts an attempt of a tail to reconnect.
func (m *Metrics) CountReconnect(source string) { m.reconnects.with(source).Inc() }

// CountRepeatedFrame counts a frame that a server sent again.
func (m *Metrics) CountRepeatedFrame(source string) { m.repeatedFrames.with(source).Inc() }

// CountMissedFrames counts frames that a tail missed while it was disconnected.
func (m *Metrics) CountMissedFrames(source string, frames int64) {
	m.missedFrames.with(source).Add(float64(frames))
}

// CountEvictedSession counts a session's stream that a tail closed to make room for another.
func (m *Metrics) CountEvictedSession(source string) { m.sessionsEvicted.with(source).Inc() }

// CountUnrecognizedStream counts a relayed stream that no dialect recognized.
func (m *Metrics) CountUnrecognizedStream(source string) { m.unrecognized.with(source).Inc() }

// CountUnobserved counts bytes relayed to the client without being observed.
func (m *Metrics) CountUnobserved(source, reason string, bytes int) {
	m.unobservedBytes.with(source, reason).Add(float64(bytes))
}

// CountUnreadRequest counts a run request whose session, user and app could not be read.
func (m *Metrics) CountUnreadRequest(source, reason string) {
	m.unreadRequests.with(source, reason).Inc()
}

// CountUnchangedCard counts an agent card that was relayed unchanged and may lead clients around the proxy.
func (m *Metrics) CountUnchangedCard(source, reason string) {
	m.cardsUnchanged.with(source, reason).Inc()
}

// CountWithheld counts a frame that a filtered relay withheld.
func (m *Metrics) CountWithheld(source string, why filter.Reason) {
	m.relayWithheld.with(source, string(why)).Inc()
}

// CountRemovedID counts a relayed frame whose event ID was removed.
func (m *Metrics) CountRemovedID(source string) { m.relayIDsWithheld.with(source).Inc() }

// CountPanic counts a recovered panic.
func (m *Metrics) CountPanic(c recovery.Component) { m.panics.with(string(c)).Inc() }

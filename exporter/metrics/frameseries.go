package metrics

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// frameSeries holds the series that each frame of a source in one dialect changes, so that no frame has to look
// them up.
type frameSeries struct {
	frames, bytes prometheus.Counter
	events        [64]atomic.Pointer[prometheus.Counter] // by kind
	lag           func() prometheus.Observer             // created with the first observation
	last          func() prometheus.Gauge                // returns nil if the source was removed while a stream of it is open
}

// forgetFrameSeries makes the next frame of a source look its series up again. The caller holds the lock.
func (m *Metrics) forgetFrameSeries(source string) {
	maps.DeleteFunc(m.perSource, func(key [2]string, _ *frameSeries) bool { return key[0] == source })
}

func (m *Metrics) frameSeries(source, dialect string) *frameSeries {
	key := [2]string{source, dialect}
	m.mu.RLock()
	f, ok := m.perSource[key]
	m.mu.RUnlock()
	if ok {
		return f
	}
	f = &frameSeries{
		frames: m.frames.with(source), bytes: m.frameBytes.with(source),
		lag:  sync.OnceValue(func() prometheus.Observer { return m.eventLag.with(source) }),
		last: sync.OnceValue(func() prometheus.Gauge { return m.lastFrame(source) }),
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.perSource) < m.caps.maxSets {
		m.perSource[key] = f
		if m.configured[source] { // InitSource knows only configured dialects; this one was detected
			m.parseErrors.createZeros(map[string][]string{"source": {source}, "dialect": {dialect}})
		}
	}
	return f
}

// lastFrame returns the gauge of a source's last frame, or nil if the source was removed. Both hold the lock, so
// RemoveSource also removes a gauge that is created here.
func (m *Metrics) lastFrame(source string) prometheus.Gauge {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if isConfigured, known := m.configured[source]; known && !isConfigured {
		return nil
	}
	return m.lastEvent.with(source)
}

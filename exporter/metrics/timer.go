package metrics

import (
	"encoding/hex"
	"sort"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// timer is a histogram series of durations, with exemplars that link to spans. An observation with
// an exemplar costs ten times as much as one without, and a scrape returns only the last exemplar
// of each bucket. Therefore, in each bucket, an operation gets one only if it is the first to end in
// a second of the run's clock, or if it took longer than the bucket's last exemplar of the same
// second.
type timer struct {
	prometheus.ExemplarObserver
	prometheus.Observer
	bounds []float64

	mu    sync.Mutex
	shown []exemplar // by bucket
}

// exemplar describes the last exemplar of a bucket.
type exemplar struct {
	second  int64 // Unix time at which it ended
	seconds float64
}

// timer registers a histogram whose series have exemplars.
func (m metric) timer(reg prometheus.Registerer, c *caps, buckets []float64) *family[*timer] {
	observer := m.histogramVec(reg, buckets).WithLabelValues
	return newFamily(m, c, func(values ...string) *timer {
		series := observer(values...)
		linked := series.(prometheus.ExemplarObserver) // every histogram of the library implements it
		return &timer{ExemplarObserver: linked, Observer: series, bounds: buckets, shown: make([]exemplar, len(buckets)+1)}
	})
}

// observe records an operation's duration if it is known, either measured or reported by the
// protocol.
func observe(f *family[*timer], r *tracker.Run, op *tracker.Operation, labels ...string) {
	took, by := op.Duration()
	if by == tracker.TimingUnknown {
		return
	}
	series, seconds := f.with(labels...), took.Seconds()
	if r.Sampled && series.replaceExemplar(exemplar{op.Ended.At.Unix(), seconds}) {
		series.ObserveWithExemplar(seconds, prometheus.Labels{
			"trace_id": hex.EncodeToString(r.Trace[:]), "span_id": hex.EncodeToString(op.ID[:]),
		})
		return
	}
	series.Observe(seconds)
}

// replaceExemplar makes next the exemplar of its bucket if the rule of timer selects it. It reports whether it did.
func (t *timer) replaceExemplar(next exemplar) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := &t.shown[sort.SearchFloat64s(t.bounds, next.seconds)]
	if next.second == last.second && next.seconds <= last.seconds {
		return false
	}
	*last = next
	return true
}

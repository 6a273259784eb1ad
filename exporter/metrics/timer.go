package metrics

import (
	"encoding/hex"
	"sort"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// timer is a series of times of runs or operations, which lead to their spans. An exemplar costs ten times what an observation
// does, and a scrape takes the last of each bucket: so of what ends within one second, by the run's own clock, a bucket's exemplar
// is the first, and after that only what took longer.
type timer struct {
	prometheus.ExemplarObserver
	prometheus.Observer
	bounds []float64

	mu    sync.Mutex
	shown []shown // by bucket
}

// shown is what the last exemplar of a bucket is of.
type shown struct {
	second  int64 // in which it ended, since 1970
	seconds float64
}

// timer is a histogram whose series have exemplars.
func (m metric) timer(reg prometheus.Registerer, c *caps, buckets []float64) *family[*timer] {
	observer := m.histogramVec(reg, buckets).WithLabelValues
	return newFamily(m, c, func(values ...string) *timer {
		series := observer(values...)
		linked := series.(prometheus.ExemplarObserver) // as every histogram of the library is
		return &timer{ExemplarObserver: linked, Observer: series, bounds: buckets, shown: make([]shown, len(buckets)+1)}
	})
}

// observe measures what has a duration: one with an unknown end has none, unless the protocol says how long it took.
func observe(f *family[*timer], r *tracker.Run, op *tracker.Operation, labels ...string) {
	took, by := op.Duration()
	if by == tracker.Unknown {
		return
	}
	series, seconds := f.with(labels...), took.Seconds()
	if r.Sampled && series.leads(shown{op.Ended.At.Unix(), seconds}) {
		series.ObserveWithExemplar(seconds, prometheus.Labels{
			"trace_id": hex.EncodeToString(r.Trace[:]), "span_id": hex.EncodeToString(op.ID[:]),
		})
		return
	}
	series.Observe(seconds)
}

// leads says whether a bucket's exemplar is to be of this one from now on.
func (t *timer) leads(next shown) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := &t.shown[sort.SearchFloat64s(t.bounds, next.seconds)]
	if next.second == last.second && next.seconds <= last.seconds {
		return false
	}
	*last = next
	return true
}

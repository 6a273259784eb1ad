package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metric is one line of the table of names.
type metric struct {
	name   string
	help   string
	labels []string
}

// maxLabels is the most labels that a metric of ours has.
const maxLabels = 3

// key is a label set, in the order of the metric's labels.
type key [maxLabels]string

// family hands out the series of one metric, and no more of them than the bound.
type family[T any] struct {
	metric
	caps   *caps
	create func(values ...string) T

	mu     sync.RWMutex
	series map[key]T
}

func newFamily[T any](m metric, c *caps, create func(values ...string) T) *family[T] {
	return &family[T]{metric: m, caps: c, create: create, series: map[key]T{}}
}

// with returns the series of these values. Values from the wire that are too many, each by itself or all together, are _other.
func (f *family[T]) with(values ...string) T {
	var k key
	for i, v := range values {
		k[i] = v
		if class := fromWire[f.labels[i]]; class != "" {
			k[i] = f.caps.value(class, v)
		}
	}
	f.mu.RLock()
	s, ok := f.series[k]
	f.mu.RUnlock()
	if ok {
		return s
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.series) >= f.caps.maxSets {
		f.close(&k)
	}
	if s, ok = f.series[k]; !ok {
		s = f.create(k[:len(f.labels)]...)
		f.series[k] = s
	}
	return s
}

// close replaces the values from the wire: what is left is a product of closed enumerations.
func (f *family[T]) close(k *key) {
	for i, label := range f.labels {
		if class := fromWire[label]; class != "" && k[i] != other {
			k[i] = other
			f.caps.overflow.WithLabelValues(class).Inc()
		}
	}
}

// caps lets the first values of each class of labels in, those that the configuration names before any.
type caps struct {
	maxValues, maxSets int
	overflow           *prometheus.CounterVec

	mu   sync.RWMutex
	seen map[string]map[string]struct{}
}

func (c *caps) value(class, v string) string {
	c.mu.RLock()
	_, ok := c.seen[class][v]
	full := len(c.seen[class]) >= c.maxValues
	c.mu.RUnlock()
	if ok || v == "" || v == other {
		return v
	}
	if !full && c.admit(class, v) {
		return v
	}
	c.overflow.WithLabelValues(class).Inc()
	return other
}

func (c *caps) admit(class, v string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[class] == nil {
		c.seen[class] = map[string]struct{}{}
	}
	if _, ok := c.seen[class][v]; !ok && len(c.seen[class]) >= c.maxValues {
		return false
	}
	c.seen[class][v] = struct{}{}
	return true
}

func (m metric) counter(reg prometheus.Registerer, c *caps) *family[prometheus.Counter] {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.name, Help: m.help}, m.labels)
	reg.MustRegister(vec)
	return newFamily(m, c, vec.WithLabelValues)
}

func (m metric) gauge(reg prometheus.Registerer, c *caps) *family[prometheus.Gauge] {
	vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.name, Help: m.help}, m.labels)
	reg.MustRegister(vec)
	return newFamily(m, c, vec.WithLabelValues)
}

// histogram is classic and native at once: which one is scraped is the server's choice.
func (m metric) histogram(reg prometheus.Registerer, c *caps, buckets []float64) *family[prometheus.Observer] {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: m.name, Help: m.help, Buckets: buckets,
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  160,
		NativeHistogramMinResetDuration: time.Hour,
		NativeHistogramMaxExemplars:     10,
	}, m.labels)
	reg.MustRegister(vec)
	return newFamily(m, c, vec.WithLabelValues)
}

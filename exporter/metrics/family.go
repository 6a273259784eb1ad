package metrics

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/collector/event"
)

// metric is one line of the table of names.
type metric struct {
	name   string
	help   string
	labels []string
}

// maxLabels is the most labels that a metric of ours has.
const maxLabels = 4

// key is a label set, in the order of the metric's labels.
type key [maxLabels]string

// family hands out the series of one metric, and no more of them than the bound.
type family[T any] struct {
	metric
	caps   *caps
	capped bool // some of its labels are from the wire
	whole  bool // a new set brings those with it that differ in a label of ours only, at zero
	create func(values ...string) T
	remove func(values ...string) bool // nil where a series stays for good

	mu     sync.RWMutex
	series map[key]T
}

func newFamily[T any](m metric, c *caps, create func(values ...string) T) *family[T] {
	capped := slices.ContainsFunc(m.labels, func(label string) bool { return fromWire[label] != "" })
	return &family[T]{metric: m, caps: c, capped: capped, create: create, series: map[key]T{}}
}

// with returns the series of these values.
func (f *family[T]) with(values ...string) T {
	var k key
	copy(k[:], values)
	return f.at(k)
}

// at returns the series of a label set. Values from the wire that are too many, each by itself or all together, are _other.
func (f *family[T]) at(k key) T {
	if s, ok := f.find(k); ok {
		return s // what has a series was let in
	}
	for i := range f.labels {
		if class := f.class(i, k[i]); class != "" {
			k[i] = f.caps.value(class, printable(k[i]))
		} else {
			// Prometheus panics at what is not UTF-8, as the name of a capture may be.
			k[i] = printable(event.Bounded(k[i], longestValue))
		}
	}
	if s, ok := f.find(k); ok {
		return s
	}
	return f.add(k)
}

// printable returns a value with U+FFFD in the place of control characters, which would act on the terminal that shows a scrape.
func printable(v string) string {
	if len(v) > longestValue || !utf8.ValidString(v) || !strings.ContainsFunc(v, unicode.IsControl) {
		return v
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, v)
}

// class returns the class of caps that binds a value of the i-th label, "" if none does.
func (f *family[T]) class(i int, v string) string {
	label := f.labels[i]
	if slices.Contains(exempt[label], v) {
		return ""
	}
	return fromWire[label]
}

func (f *family[T]) find(k key) (s T, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	s, ok = f.series[k]
	return s, ok
}

// add makes the series of a label set that is new. By itself, so that only new ones take the heap.
func (f *family[T]) add(k key) T {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.series[k]
	if ok {
		return s
	}
	if f.capped {
		f.close(&k)
	}
	if s, ok = f.series[k]; !ok {
		s = f.create(k[:len(f.labels)]...)
		f.series[k] = s
		if f.whole {
			f.complete(k)
		}
	}
	return s
}

// forget ends a series whose labels are all ours.
func (f *family[T]) forget(values ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var k key
	copy(k[:], values)
	delete(f.series, k)
	f.remove(values...)
}

// complete makes what differs from a set in a label of ours only, as far as there is room.
func (f *family[T]) complete(k key) {
	for i, label := range f.labels {
		beside := k
		for _, beside[i] = range f.values(label) {
			if _, ok := f.series[beside]; !ok && len(f.series) < f.caps.roomy() {
				f.series[beside] = f.create(beside[:len(f.labels)]...)
			}
		}
	}
}

// begin makes the series of all values at zero: a rate needs one to rise from. A label that is not given has its own values.
func (f *family[T]) begin(given map[string][]string) {
	sets := [][]string{nil}
	for _, label := range f.labels {
		values, ok := given[label]
		if !ok {
			values = f.values(label)
		}
		var longer [][]string
		for _, set := range sets {
			for _, v := range values {
				longer = append(longer, append(slices.Clip(set), v))
			}
		}
		sets = longer
	}
	for _, set := range sets {
		f.with(set...)
	}
}

// close replaces values of a new label set where there are too many sets: those from the wire when nine tenths are taken, which
// leaves a product of closed enumerations, and all of them before the last.
func (f *family[T]) close(k *key) {
	sets := len(f.series)
	for i := range f.labels {
		class := f.class(i, k[i])
		if sets < f.caps.roomy() || class == "" && sets < f.caps.maxSets-1 || k[i] == other {
			continue
		}
		k[i] = other
		if class != "" {
			f.caps.overflow.WithLabelValues(class).Inc()
		}
	}
}

// caps lets the first values of each class of labels in, and those that the configuration names in any case.
type caps struct {
	maxValues, maxSets int
	overflow           *prometheus.CounterVec

	mu   sync.RWMutex
	seen map[string]map[string]struct{}
}

// roomy is how many sets a metric has before names from the wire get no new ones.
func (c *caps) roomy() int { return c.maxSets * 9 / 10 }

// longestValue is how many bytes a value from the wire may have; as many as a frame would fill the memory in place of the number.
const longestValue = 256

func (c *caps) value(class, v string) string {
	if len(v) > longestValue || !utf8.ValidString(v) {
		c.overflow.WithLabelValues(class).Inc()
		return other
	}
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

// reserve lets a value in that the configuration names, however many there are.
func (c *caps) reserve(class, v string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[class][v] = struct{}{}
}

func (c *caps) admit(class, v string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
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
	f := newFamily(m, c, vec.WithLabelValues)
	f.remove = vec.DeleteLabelValues
	return f
}

func (m metric) histogram(reg prometheus.Registerer, c *caps, buckets []float64) *family[prometheus.Observer] {
	return newFamily(m, c, m.histogramVec(reg, buckets).WithLabelValues)
}

// histogramVec is classic and native at once: which one is scraped is the server's choice.
func (m metric) histogramVec(reg prometheus.Registerer, buckets []float64) *prometheus.HistogramVec {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: m.name, Help: m.help, Buckets: buckets,
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  160,
		NativeHistogramMinResetDuration: time.Hour,
		NativeHistogramMaxExemplars:     10,
	}, m.labels)
	reg.MustRegister(vec)
	return vec
}

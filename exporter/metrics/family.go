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

// metric is the name, HELP text and labels of one metric.
type metric struct {
	name   string
	help   string
	labels []string
}

// maxLabels is the largest number of labels of any metric.
const maxLabels = 4

// key is a label set, in the order of the metric's labels.
type key [maxLabels]string

// family creates and looks up the series of one metric, up to the limit on label sets.
type family[T any] struct {
	metric
	caps   *caps
	capped bool // has labels whose values come from agents
	zeros  bool // a new label set also creates the sets that addZeros describes
	create func(values ...string) T
	remove func(values ...string) bool // nil if series are never removed

	mu     sync.RWMutex
	series map[key]T
}

func newFamily[T any](m metric, c *caps, create func(values ...string) T) *family[T] {
	capped := slices.ContainsFunc(m.labels, func(label string) bool { return fromWire[label] != "" })
	return &family[T]{metric: m, caps: c, capped: capped, create: create, series: map[key]T{}}
}

// with returns the series of the given label values.
func (f *family[T]) with(values ...string) T {
	var k key
	copy(k[:], values)
	return f.at(k)
}

// at returns the series of a label set. Values from agents become _other beyond the limit on values
// or on label sets.
func (f *family[T]) at(k key) T {
	if s, ok := f.find(k); ok {
		return s // its values were admitted when the series was created
	}
	for i := range f.labels {
		if class := f.class(i, k[i]); class != "" {
			k[i] = f.caps.value(class, printable(k[i]))
		} else {
			// Prometheus panics on invalid UTF-8, which the name of a capture file may contain.
			k[i] = printable(event.LimitText(k[i], longestValue))
		}
	}
	if s, ok := f.find(k); ok {
		return s
	}
	return f.add(k)
}

// printable replaces control characters with U+FFFD, as well as those that end a line or change the
// direction of text: they would act on a terminal that shows a scrape.
func printable(v string) string {
	if len(v) > longestValue || !utf8.ValidString(v) || !strings.ContainsFunc(v, actsOnTerminal) {
		return v
	}
	return strings.Map(func(r rune) rune {
		if actsOnTerminal(r) {
			return unicode.ReplacementChar
		}
		return r
	}, v)
}

func actsOnTerminal(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// class returns the class whose cap applies to value v of the i-th label, or "".
func (f *family[T]) class(i int, v string) string {
	label := f.labels[i]
	if v == "" || v == other || slices.Contains(alwaysAdmitted[label], v) {
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

// add creates the series of a new label set. It is a function of its own so that only new label
// sets escape to the heap.
func (f *family[T]) add(k key) T {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.series[k]
	if ok {
		return s
	}
	if f.capped {
		f.limit(&k)
	}
	if s, ok = f.series[k]; !ok {
		s = f.create(k[:len(f.labels)]...)
		f.series[k] = s
		if f.zeros {
			f.addZeros(k)
		}
	}
	return s
}

// forget removes the series of a label set. None of its values may come from agents.
func (f *family[T]) forget(values ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var k key
	copy(k[:], values)
	delete(f.series, k)
	f.remove(values...)
}

// addZeros creates, while there is room, the label sets that differ from k only in a label with a closed
// list of values.
func (f *family[T]) addZeros(k key) {
	for i, label := range f.labels {
		sibling := k
		for _, sibling[i] = range f.values(label) {
			if _, ok := f.series[sibling]; !ok && len(f.series) < f.caps.maxWireSets() {
				f.series[sibling] = f.create(sibling[:len(f.labels)]...)
			}
		}
	}
}

// createZeros creates, at zero, the series of all combinations of label values, so that a rate sees the first
// increase. A label that is not given gets each value of its closed list.
func (f *family[T]) createZeros(given map[string][]string) {
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

// limit replaces values of a new label set with _other if the metric already has many sets. From
// maxWireSets sets on, it replaces the values from agents that the configuration does not name. If the
// set is still new and there is room for lastSets more only, it replaces all values, except the error
// type "" of an operation without an error.
func (f *family[T]) limit(k *key) {
	if len(f.series) < f.caps.maxWireSets() {
		return
	}
	for i := range f.labels {
		class := f.class(i, k[i])
		if class != "" && !f.caps.isReserved(class, k[i]) {
			f.replace(k, i, class)
		}
	}
	if _, ok := f.series[*k]; ok || len(f.series) < f.caps.maxSets-f.lastSets() {
		return
	}
	for i, label := range f.labels {
		if label != "error_type" || k[i] != string(event.NoFailure) {
			f.replace(k, i, f.class(i, k[i]))
		}
	}
}

// lastSets returns how many sets are possible once limit replaces all values: two with an error type.
func (f *family[T]) lastSets() int {
	if slices.Contains(f.labels, "error_type") {
		return 2
	}
	return 1
}

// replace replaces the i-th value with _other and counts that for its class.
func (f *family[T]) replace(k *key, i int, class string) {
	k[i] = other
	if class != "" {
		f.caps.overflow.WithLabelValues(class).Inc()
	}
}

// caps admits the first values of each class of labels, and all values that the configuration names. A class
// is a set of labels that share their values, such as "agent".
type caps struct {
	maxValues, maxSets int
	overflow           *prometheus.CounterVec

	mu       sync.RWMutex
	reserved map[string]map[string]struct{} // the values that the configuration names, by class
	seen     map[string]map[string]struct{} // the other admitted values, by class
}

// newCaps returns caps that have admitted nothing, and registers their metric.
func newCaps(reg prometheus.Registerer, s Settings) *caps {
	c := &caps{maxValues: s.MaxLabelValues, maxSets: s.MaxLabelSets, reserved: map[string]map[string]struct{}{}, seen: map[string]map[string]struct{}{}}
	c.overflow = prometheus.NewCounterVec(prometheus.CounterOpts{Name: labelOverflow.name, Help: labelOverflow.help}, labelOverflow.labels)
	reg.MustRegister(c.overflow)
	for _, class := range labelOverflow.values("label") {
		c.reserved[class], c.seen[class] = map[string]struct{}{}, map[string]struct{}{}
		c.overflow.WithLabelValues(class)
	}
	return c
}

// maxWireSets returns how many label sets of a metric may have values from agents. In later sets these values are _other, so the
// rest of the limit is left for our own values.
func (c *caps) maxWireSets() int { return c.maxSets * 9 / 10 }

// longestValue is the maximum length in bytes of a label value from an agent. Without it, a few
// values as long as a frame would fill the memory.
const longestValue = 256

// value returns v if the class admits it, else _other.
func (c *caps) value(class, v string) string {
	if len(v) > longestValue || !utf8.ValidString(v) {
		c.overflow.WithLabelValues(class).Inc()
		return other
	}
	c.mu.RLock()
	_, isSeen := c.seen[class][v]
	_, isReserved := c.reserved[class][v]
	full := len(c.seen[class]) >= c.maxValues
	c.mu.RUnlock()
	if isSeen || isReserved || !full && c.admit(class, v) {
		return v
	}
	c.overflow.WithLabelValues(class).Inc()
	return other
}

// reserve admits a value that the configuration names, whatever the limit.
func (c *caps) reserve(class, v string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserved[class][v] = struct{}{}
	delete(c.seen[class], v)
}

// isReserved reports whether the configuration names a value.
func (c *caps) isReserved(class, v string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, ok := c.reserved[class][v]
	return ok
}

// admit reports whether the class has room for v, and admits it.
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

// histogramVec returns a histogram that is both classic and native; the scraping server chooses.
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

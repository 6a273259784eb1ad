package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/collector/budget"
)

// ObserveSpans registers the metrics of span delivery. The reasons are those for which spans are
// dropped.
func (m *Metrics) ObserveSpans(stats SpanStats, reasons []string) {
	m.reg.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: spansExported.name, Help: spansExported.help}, func() float64 {
			exported, _, _ := stats()
			return float64(exported)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: spansQueued.name, Help: spansQueued.help}, func() float64 {
			_, queued, _ := stats()
			return float64(queued)
		}))
	for _, reason := range reasons {
		m.reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: spansDropped.name, Help: spansDropped.help, ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 {
			_, _, dropped := stats()
			return float64(dropped[reason])
		}))
	}
}

// ObserveMemory registers the metrics of the memory budget.
func (m *Metrics) ObserveMemory(b *budget.Budget) {
	m.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: memoryBudget.name, Help: memoryBudget.help}, func() float64 {
		return float64(b.Limit())
	}))
	for i, use := range b.Usage() {
		labels := prometheus.Labels{"buffer": use.Name}
		m.reg.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: memoryUsed.name, Help: memoryUsed.help, ConstLabels: labels}, func() float64 {
				return float64(b.Usage()[i].Bytes)
			}),
			prometheus.NewCounterFunc(prometheus.CounterOpts{Name: memoryShed.name, Help: memoryShed.help, ConstLabels: labels}, func() float64 {
				return float64(b.Usage()[i].Shed)
			}))
	}
}

// ObserveLog registers the count of dropped log lines.
func (m *Metrics) ObserveLog(lost func() uint64) {
	m.reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: logDropped.name, Help: logDropped.help}, func() float64 {
		return float64(lost())
	}))
}

package metrics

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	prometheusbridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/conventions"
)

// The metrics of the conventions by their names in a scrape, and their attributes by the labels that these are there: those of every
// table, whichever is in use.
var sent, attributeOf = byScrapedName(conventions.Released(), conventions.Latest())

func byScrapedName(tables ...conventions.Table) (metrics map[string]conventional, attributes map[string]string) {
	metrics, attributes = map[string]conventional{}, map[string]string{}
	for _, table := range tables {
		for _, m := range newGenAI(table).all() {
			metrics[m.name] = m
			for _, key := range m.attributes {
				attributes[label(key)] = string(key)
			}
		}
	}
	return metrics, attributes
}

// unit returns a metric's unit by UCUM, which OpenTelemetry has beside the name.
func unit(name string) string {
	switch base := strings.TrimSuffix(name, "_total"); {
	case sent[name].unit != "":
		return sent[name].unit
	case strings.HasSuffix(base, "_seconds"):
		return "s"
	case strings.HasSuffix(base, "_bytes"):
		return "By"
	case strings.HasSuffix(base, "_ratio"):
		return "1"
	}
	return ""
}

// bridge hands over what a scrape would show, in OpenTelemetry's form.
type bridge struct {
	sdkmetric.Producer
	scope  instrumentation.Scope
	panics *recovery.Recorder
}

func newBridge(g prometheus.Gatherer, s Settings, native bool) bridge {
	return bridge{
		prometheusbridge.NewMetricProducer(prometheusbridge.WithGatherer(prepared{g, native})),
		instrumentation.Scope{Name: "github.com/delegraph/delegraph", Version: s.Version, SchemaURL: s.Names.SchemaURL},
		s.Panics,
	}
}

var errPanic = errors.New("the metrics could not be read")

// Produce reads the registry.
func (b bridge) Produce(ctx context.Context) (scopes []metricdata.ScopeMetrics, err error) {
	defer b.panics.Recover(recovery.Metrics, func() { scopes, err = nil, errPanic })
	scopes, err = b.Producer.Produce(ctx)
	for i := range scopes {
		scopes[i].Scope = b.scope
		for j := range scopes[i].Metrics {
			finish(&scopes[i].Metrics[j])
		}
	}
	return scopes, err
}

// finish sets what the bridge leaves out, and makes bytes of exemplars' ids, which it copies as the text that they are in
// Prometheus: a collector refuses all that comes with one.
func finish(m *metricdata.Metrics) {
	name := m.Name
	m.Unit = unit(name)
	if theirs, ok := sent[name]; ok {
		m.Name = theirs.sent
	}
	histogram, _ := m.Data.(metricdata.Histogram[float64])
	for _, point := range histogram.DataPoints {
		for i := range point.Exemplars {
			e := &point.Exemplars[i]
			e.TraceID, e.SpanID = binary(e.TraceID), binary(e.SpanID)
		}
	}
}

func binary(text []byte) []byte {
	id, err := hex.DecodeString(string(text))
	if err != nil {
		return nil
	}
	return id
}

// prepared is a registry whose labels are named and whose histograms are formed as OpenTelemetry's are to be.
type prepared struct {
	prometheus.Gatherer
	native bool
}

// Gather reads the registry. What it changes is the caller's, except for the labels.
func (p prepared) Gather() ([]*dto.MetricFamily, error) {
	families, err := p.Gatherer.Gather()
	for _, f := range families {
		for _, m := range f.Metric {
			m.Label = attributes(m.Label)
			if h := m.Histogram; h != nil && !p.native {
				// By these the bridge knows a native one.
				h.ZeroThreshold, h.ZeroCount, h.PositiveSpan, h.NegativeSpan = nil, nil, nil, nil
			}
		}
	}
	return families, err
}

// attributes names labels, without those that are empty: to Prometheus, they are not there.
func attributes(labels []*dto.LabelPair) (out []*dto.LabelPair) {
	for _, l := range labels {
		if key, ok := attributeOf[l.GetName()]; ok {
			l = &dto.LabelPair{Name: &key, Value: l.Value}
		}
		if l.GetValue() != "" {
			out = append(out, l)
		}
	}
	return out
}

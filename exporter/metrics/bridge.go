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

// conventionalByName has the metrics of the conventions by their Prometheus names, and attributeOf the attributes by
// their Prometheus labels. Both cover all tables of the conventions, whichever is in use.
var conventionalByName, attributeOf = byScrapedName(conventions.Released(), conventions.Latest())

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

// unit returns the UCUM unit of a metric, which OpenTelemetry keeps apart from the name.
func unit(name string) string {
	switch base := strings.TrimSuffix(name, "_total"); {
	case conventionalByName[name].unit != "":
		return conventionalByName[name].unit
	case strings.HasSuffix(base, "_seconds"):
		return "s"
	case strings.HasSuffix(base, "_bytes"):
		return "By"
	case strings.HasSuffix(base, "_ratio"):
		return "1"
	}
	return ""
}

// bridge produces the metrics of a scrape in OpenTelemetry's form.
type bridge struct {
	sdkmetric.Producer
	scope  instrumentation.Scope
	panics *recovery.Recorder
}

func newBridge(g prometheus.Gatherer, s Settings, native bool) bridge {
	return bridge{
		prometheusbridge.NewMetricProducer(prometheusbridge.WithGatherer(otelGatherer{g, native})),
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

// finish sets the unit, the convention's name and the binary ids of exemplars. The contrib bridge
// sets no unit, and copies ids as hexadecimal text. A collector rejects a whole request with such
// an id.
func finish(m *metricdata.Metrics) {
	name := m.Name
	m.Unit = unit(name)
	if theirs, ok := conventionalByName[name]; ok {
		m.Name = theirs.otlpName
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

// otelGatherer is a registry whose labels are renamed to attributes, and whose histograms are classic
// unless native is set.
type otelGatherer struct {
	prometheus.Gatherer
	native bool
}

// Gather reads the registry. The caller owns the result, except for the labels.
func (p otelGatherer) Gather() ([]*dto.MetricFamily, error) {
	families, err := p.Gatherer.Gather()
	for _, f := range families {
		for _, m := range f.Metric {
			m.Label = attributes(m.Label)
			if h := m.Histogram; h != nil && !p.native {
				// The bridge takes a histogram with these fields for a native one.
				h.ZeroThreshold, h.ZeroCount, h.PositiveSpan, h.NegativeSpan = nil, nil, nil, nil
			}
		}
	}
	return families, err
}

// attributes renames labels to attributes and drops empty ones, which Prometheus treats as absent.
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

package otelcol

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"

	"github.com/delegraph/delegraph/otelcol/internal/metadata"
)

// NewFactory returns the factory of the receiver. It is the function that the Collector's builder calls.
func NewFactory() receiver.Factory {
	shared := &instances{byConfig: map[*Config]*instance{}}
	return receiver.NewFactory(metadata.Type, func() component.Config { return defaultConfig() },
		receiver.WithTraces(shared.createTraces, metadata.TracesStability),
		receiver.WithMetrics(shared.createMetrics, metadata.MetricsStability))
}

// instances holds the receivers, of which there is one for each configuration: the pipelines of both signals share it.
type instances struct {
	mu       sync.Mutex
	byConfig map[*Config]*instance
}

func (i *instances) createTraces(_ context.Context, set receiver.Settings, c component.Config, next consumer.Traces) (receiver.Traces, error) {
	shared, err := i.of(set, c.(*Config))
	if err != nil {
		return nil, err
	}
	shared.pipeline.traces = next
	return shared, nil
}

func (i *instances) createMetrics(_ context.Context, set receiver.Settings, c component.Config, next consumer.Metrics) (receiver.Metrics, error) {
	shared, err := i.of(set, c.(*Config))
	if err != nil {
		return nil, err
	}
	shared.pipeline.metrics = next
	return shared, nil
}

// of returns the receiver of a configuration.
func (i *instances) of(set receiver.Settings, c *Config) (*instance, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if r, ok := i.byConfig[c]; ok {
		return r, nil
	}
	r, err := newInstance(set, c, func() { i.remove(c) })
	if err != nil {
		return nil, err
	}
	i.byConfig[c] = r
	return r, nil
}

func (i *instances) remove(c *Config) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.byConfig, c)
}

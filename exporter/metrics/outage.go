package metrics

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// outages logs the beginning and the end of an outage of the metrics backend, but not each failed
// attempt in between. Its reader makes one attempt at a time: one call of Produce, then one or more
// of Export.
type outages struct {
	sdkmetric.Exporter
	sdkmetric.Producer
	backend string
	logger  *slog.Logger

	active    bool   // an outage is in progress
	delivered bool   // the current attempt delivered a batch
	cause     string // why the current attempt failed, or ""
}

// Produce begins an attempt.
func (o *outages) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	if o.active && o.delivered && o.cause == "" {
		o.active = false
		o.logger.Info("the metrics backend is back", "endpoint", o.backend)
	}
	o.delivered, o.cause = false, ""
	return o.Producer.Produce(ctx)
}

// Export sends a batch. It returns no error, because the reader would log every one.
func (o *outages) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	err := o.Exporter.Export(ctx, data)
	if err == nil || ctx.Err() == context.Canceled { // canceled by our own shutdown, which makes a last attempt
		o.delivered = err == nil
		return nil
	}
	o.cause = otlp.Classify(cmp.Or(ctx.Err(), err)).Cause // the HTTP exporter reports a deadline with a text of its own
	if !o.active {
		o.active = true
		o.logger.Warn("the metrics backend does not accept all metrics; they are sent again at each interval", "endpoint", o.backend, "err", o.cause)
	}
	return nil
}

// lastError returns why the last attempt failed, or nil.
func (o *outages) lastError() error {
	if o.cause == "" {
		return nil
	}
	return fmt.Errorf("send metrics to %s: %s", o.backend, o.cause)
}

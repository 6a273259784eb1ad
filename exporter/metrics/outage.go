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

// outages logs when an outage begins and when it is over, and not each attempt within it. Its reader makes one attempt after the
// other, each of which produces once and exports what that gave, in one batch or more.
type outages struct {
	sdkmetric.Exporter
	sdkmetric.Producer
	backend string
	logger  *slog.Logger

	during bool   // there is an outage
	took   bool   // the attempt brought something
	cause  string // of the attempt's failure
}

// Produce begins an attempt.
func (o *outages) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	if o.during && o.took && o.cause == "" {
		o.during = false
		o.logger.Info("the metrics backend is back", "endpoint", o.backend)
	}
	o.took, o.cause = false, ""
	return o.Producer.Produce(ctx)
}

// Export sends a batch. It returns no error: its reader would only log it, each time.
func (o *outages) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	err := o.Exporter.Export(ctx, data)
	if err == nil || ctx.Err() == context.Canceled { // by our own end, which makes a last attempt
		o.took = err == nil
		return nil
	}
	o.cause = otlp.Judge(cmp.Or(ctx.Err(), err)).Cause // a deadline has words of its own, which HTTP says in the place of the usual
	if !o.during {
		o.during = true
		o.logger.Warn("the metrics backend does not take all metrics; they are sent again at each interval", "endpoint", o.backend, "err", o.cause)
	}
	return nil
}

// last is the failure of the last attempt.
func (o *outages) last() error {
	if o.cause == "" {
		return nil
	}
	return fmt.Errorf("send metrics to %s: %s", o.backend, o.cause)
}

package metrics

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"google.golang.org/grpc"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// Delivery sends, at intervals, the metrics that a scrape would return.
type Delivery struct {
	provider *sdkmetric.MeterProvider
	to       []*outages
}

// ResourceFunc returns the OpenTelemetry resource that describes this process.
type ResourceFunc func(context.Context) (*resource.Resource, error)

// NewDelivery sends metrics to the exporters named by OTEL_METRICS_EXPORTER: OTLP over gRPC or
// HTTP, or the console. Without that variable it sends nothing and reads no other variable. The
// rest of the OTEL_* environment configures the exporters.
func NewDelivery(ctx context.Context, env otlp.Environment, s Settings, g prometheus.Gatherer, describe ResourceFunc, logger *slog.Logger) (*Delivery, error) {
	to, readerOptions, err := receivers(ctx, env, s, g, logger)
	if err != nil || len(to) == 0 {
		return &Delivery{provider: sdkmetric.NewMeterProvider()}, err
	}
	described, err := describe(ctx)
	if err != nil {
		return nil, err
	}
	return deliver(described, readerOptions, to...), nil
}

// receivers returns the configured exporters and the reader options that set the interval.
func receivers(ctx context.Context, env otlp.Environment, s Settings, g prometheus.Gatherer, logger *slog.Logger) (all []*outages, readerOptions []sdkmetric.PeriodicReaderOption, err error) {
	names, err := exporterNames(env)
	if err != nil || len(names) == 0 {
		return nil, nil, err
	}
	if readerOptions, err = schedule(env); err != nil {
		return nil, nil, err
	}
	source := newBridge(g, s, env.Enum(aggregation) == exponential)
	for _, name := range names {
		to := &outages{Producer: source, backend: "standard output", logger: logger}
		if name == "otlp" {
			to.Exporter, to.backend, err = newOTLP(ctx, env, s.OTLPClient)
		} else {
			to.Exporter, err = stdoutmetric.New()
		}
		if err != nil {
			return nil, nil, fmt.Errorf("prepare the metrics exporter: %w", err)
		}
		all = append(all, to)
	}
	return all, readerOptions, nil
}

// batchSize is the number of series sent at once. Servers accept 4 MiB over gRPC by default, and
// with the longest names a series of a histogram takes 2 KiB.
const batchSize = 1000

func deliver(described *resource.Resource, readerOptions []sdkmetric.PeriodicReaderOption, all ...*outages) *Delivery {
	options := []sdkmetric.Option{sdkmetric.WithResource(described)}
	for _, to := range all {
		reader := sdkmetric.NewPeriodicReader(to, append(readerOptions[:len(readerOptions):len(readerOptions)],
			sdkmetric.WithProducer(to), sdkmetric.WithMaxExportBatchSize(batchSize))...)
		options = append(options, sdkmetric.WithReader(reader))
	}
	return &Delivery{sdkmetric.NewMeterProvider(options...), all}
}

// Shutdown sends the metrics a last time, and returns at the latest when the context ends.
func (d *Delivery) Shutdown(ctx context.Context) error {
	if len(d.to) == 0 {
		return nil // there is nothing to send, even if the context has expired
	}
	done := make(chan error, 1)
	go func() {
		err := d.provider.Shutdown(ctx)
		for _, to := range d.to {
			err = cmp.Or(to.lastError(), err)
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done(): // do not wait for an exporter that ignores its context, such as a blocked console
		return ctx.Err()
	}
}

// exporterNames reads OTEL_METRICS_EXPORTER, which may be a list. The value prometheus is accepted
// and adds nothing, because the Prometheus endpoint always exists.
func exporterNames(env otlp.Environment) (names []string, err error) {
	value := env.Enum("OTEL_METRICS_EXPORTER")
	if env.Disabled() || value == "" || value == "none" {
		return nil, nil
	}
	for name := range strings.SplitSeq(value, ",") {
		switch name = strings.TrimSpace(name); name {
		case "otlp", "console":
			names = append(names, name)
		case "prometheus":
		default:
			return nil, fmt.Errorf("OTEL_METRICS_EXPORTER=%s is not supported: use none, or a comma-separated list of otlp, console and prometheus", value)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// schedule reads OTEL_METRIC_EXPORT_*. The SDK would ignore values that it cannot parse.
func schedule(env otlp.Environment) ([]sdkmetric.PeriodicReaderOption, error) {
	const day = int(24 * time.Hour / time.Millisecond)
	interval, err := env.Number("OTEL_METRIC_EXPORT_INTERVAL", "milliseconds", 60_000, 1, day)
	if err != nil {
		return nil, err
	}
	timeout, err := env.Number("OTEL_METRIC_EXPORT_TIMEOUT", "milliseconds", 30_000, 1, day)
	return []sdkmetric.PeriodicReaderOption{
		sdkmetric.WithInterval(time.Duration(interval) * time.Millisecond),
		sdkmetric.WithTimeout(time.Duration(timeout) * time.Millisecond),
	}, err
}

// Environment variables of the OTLP exporter, and their supported values.
const (
	aggregation = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION"
	explicit    = "explicit_bucket_histogram"
	exponential = "base2_exponential_bucket_histogram"
	temporality = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
	cumulative  = "cumulative"
)

// newOTLP returns the OTLP exporter and the name of its backend. It makes one attempt per interval:
// metrics are cumulative, so the next attempt sends everything.
func newOTLP(ctx context.Context, env otlp.Environment, client *http.Client) (exporter sdkmetric.Exporter, backend string, err error) {
	protocol, err := env.Protocol(otlp.Metrics, "grpc", "http/protobuf")
	if err != nil {
		return nil, "", err
	}
	if form := env.Enum(aggregation); form != "" && form != explicit && form != exponential {
		return nil, "", fmt.Errorf("%s=%s is not supported: use %s or %s", aggregation, form, explicit, exponential)
	}
	if wanted := env.Enum(temporality); wanted != "" && wanted != cumulative {
		return nil, "", fmt.Errorf("%s=%s is not supported: use %s, and the cumulativetodelta processor of a collector if the backend needs deltas", temporality, wanted, cumulative)
	}
	switch {
	case client != nil:
		exporter, err = otlpmetrichttp.New(ctx, otlpmetrichttp.WithHTTPClient(client), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}),
			otlpmetrichttp.WithEndpointURL(otlp.InProcess+"/v1/metrics"), otlpmetrichttp.WithCompression(otlpmetrichttp.NoCompression))
	case protocol == "grpc":
		exporter, err = otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{}),
			otlpmetricgrpc.WithDialOption(grpc.WithUnaryInterceptor(otlp.ResetBackoff)))
	default:
		exporter, err = otlpmetrichttp.New(ctx, otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}), otlpmetrichttp.WithProxy(otlp.Proxy))
	}
	return exporter, env.Backend(otlp.Metrics, protocol), err
}

package metrics

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
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

// Delivery sends what a scrape would show, at intervals, besides its being scraped.
type Delivery struct {
	provider *sdkmetric.MeterProvider
	to       []*outages
}

// Describe makes the resource: who sends.
type Describe func(context.Context) (*resource.Resource, error)

// NewDelivery sends to whom OTEL_METRICS_EXPORTER says: OTLP over gRPC or HTTP, the console, or nobody where it says nothing. How
// and whereto is in the rest of the OTEL_* environment, and nothing of it is read where nobody gets anything.
func NewDelivery(ctx context.Context, env otlp.Environment, s Settings, g prometheus.Gatherer, describe Describe, logger *slog.Logger) (*Delivery, error) {
	to, often, err := receivers(ctx, env, s, g, logger)
	if err != nil || len(to) == 0 {
		return &Delivery{provider: sdkmetric.NewMeterProvider()}, err
	}
	described, err := describe(ctx)
	if err != nil {
		return nil, err
	}
	return deliver(described, often, to...), nil
}

// receivers are those who get metrics, and how often.
func receivers(ctx context.Context, env otlp.Environment, s Settings, g prometheus.Gatherer, logger *slog.Logger) (all []*outages, often []sdkmetric.PeriodicReaderOption, err error) {
	names, err := exporterNames(env)
	if err != nil || len(names) == 0 {
		return nil, nil, err
	}
	if often, err = schedule(env); err != nil {
		return nil, nil, err
	}
	source := newBridge(g, s, env.Word(aggregation) == exponential)
	for _, name := range names {
		to := &outages{Producer: source, backend: "standard output", logger: logger}
		if name == "otlp" {
			to.Exporter, to.backend, err = newOTLP(ctx, env)
		} else {
			to.Exporter, err = stdoutmetric.New()
		}
		if err != nil {
			return nil, nil, fmt.Errorf("prepare the metrics exporter: %w", err)
		}
		all = append(all, to)
	}
	return all, often, nil
}

// batchSize is how many series are sent at once. Servers take 4 MiB of gRPC by default, and the longest names make a histogram's
// series 2 KiB.
const batchSize = 1000

func deliver(described *resource.Resource, often []sdkmetric.PeriodicReaderOption, all ...*outages) *Delivery {
	options := []sdkmetric.Option{sdkmetric.WithResource(described)}
	for _, to := range all {
		reader := sdkmetric.NewPeriodicReader(to, append(often[:len(often):len(often)],
			sdkmetric.WithProducer(to), sdkmetric.WithMaxExportBatchSize(batchSize))...)
		options = append(options, sdkmetric.WithReader(reader))
	}
	return &Delivery{sdkmetric.NewMeterProvider(options...), all}
}

// Shutdown sends what there is to say since the last interval, until the context ends.
func (d *Delivery) Shutdown(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		err := d.provider.Shutdown(ctx)
		for _, to := range d.to {
			err = cmp.Or(to.last(), err)
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done(): // an exporter that does not heed its context, such as a console that nobody reads, is left behind
		return ctx.Err()
	}
}

// exporterNames reads OTEL_METRICS_EXPORTER, a list as the specification allows. The word prometheus asks for what is there in
// any case.
func exporterNames(env otlp.Environment) (names []string, err error) {
	said := env.Word("OTEL_METRICS_EXPORTER")
	if env.Disabled() || said == "" || said == "none" {
		return nil, nil
	}
	for name := range strings.SplitSeq(said, ",") {
		switch name = strings.TrimSpace(name); name {
		case "otlp", "console":
			names = append(names, name)
		case "prometheus":
		default:
			return nil, fmt.Errorf("OTEL_METRICS_EXPORTER=%s is not supported: use none, or otlp, console and prometheus, with commas between", said)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// schedule reads OTEL_METRIC_EXPORT_*, of which the SDK passes over what it cannot read.
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

// How metrics are sent, and the values that we know.
const (
	aggregation = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION"
	explicit    = "explicit_bucket_histogram"
	exponential = "base2_exponential_bucket_histogram"
	temporality = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
	cumulative  = "cumulative"
)

// newOTLP makes the exporter and names its backend. It makes one attempt an interval: as after a scrape that failed, the next one
// says all.
func newOTLP(ctx context.Context, env otlp.Environment) (exporter sdkmetric.Exporter, backend string, err error) {
	protocol, err := env.Protocol(otlp.Metrics, "grpc", "http/protobuf")
	if err != nil {
		return nil, "", err
	}
	if form := env.Word(aggregation); form != "" && form != explicit && form != exponential {
		return nil, "", fmt.Errorf("%s=%s is not supported: use %s or %s", aggregation, form, explicit, exponential)
	}
	if wanted := env.Word(temporality); wanted != "" && wanted != cumulative {
		return nil, "", fmt.Errorf("%s=%s is not supported: use %s, and a collector's cumulativetodelta processor before a backend that wants deltas", temporality, wanted, cumulative)
	}
	if protocol == "grpc" {
		exporter, err = otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{}),
			otlpmetricgrpc.WithDialOption(grpc.WithUnaryInterceptor(otlp.DialAgain)))
	} else {
		exporter, err = otlpmetrichttp.New(ctx, otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}))
	}
	return exporter, env.Backend(otlp.Metrics, protocol), err
}

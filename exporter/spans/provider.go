package spans

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"

	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/otlp"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// NewExporter returns the exporter that the environment selects, by default OTLP over gRPC. It does
// not retry, because the Processor does.
func NewExporter(ctx context.Context, env Environment) (sdktrace.SpanExporter, error) {
	switch exporter := env.exporter(); exporter {
	case "", "otlp":
	case "console":
		return stdouttrace.New()
	default:
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER=%s is not supported: use otlp, console or none", exporter)
	}
	protocol, err := env.protocol()
	if err != nil {
		return nil, err
	}
	switch protocol {
	case "http/protobuf":
		return newHTTP(ctx, otlptracehttp.EncodingProtobuf)
	case "http/json":
		return newHTTP(ctx, otlptracehttp.EncodingJSON)
	}
	return otlptracegrpc.New(ctx, otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{}),
		otlptracegrpc.WithDialOption(grpc.WithUnaryInterceptor(otlp.ResetBackoff)))
}

func newHTTP(ctx context.Context, encoding otlptracehttp.Encoding) (sdktrace.SpanExporter, error) {
	return otlptracehttp.New(ctx, otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}), otlptracehttp.WithEncoding(encoding), otlptracehttp.WithProxy(otlp.Proxy))
}

// NewInProcessExporter returns an exporter that sends its OTLP requests through client. The client's
// transport answers them in this process. Like NewExporter, it does not retry.
func NewInProcessExporter(ctx context.Context, client *http.Client) (sdktrace.SpanExporter, error) {
	return otlptracehttp.New(ctx, otlptracehttp.WithHTTPClient(client), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}),
		otlptracehttp.WithEndpointURL(otlp.InProcess+"/v1/traces"), otlptracehttp.WithCompression(otlptracehttp.NoCompression),
		otlptracehttp.WithEncoding(otlptracehttp.EncodingProtobuf))
}

// NewSampler returns the sampler of OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.
func NewSampler(env Environment) (sdktrace.Sampler, error) {
	name, argument := env.Sampler()
	ratio := 1.0
	if strings.HasSuffix(name, "traceidratio") && argument != "" {
		parsed, err := strconv.ParseFloat(argument, 64)
		if err != nil || !(parsed >= 0 && parsed <= 1) {
			return nil, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG=%s is not a ratio: use a number from 0 to 1", argument)
		}
		ratio = parsed
	}
	root, hasParent := strings.CutPrefix(name, "parentbased_")
	var sampler sdktrace.Sampler
	switch root {
	case "always_on":
		sampler = sdktrace.AlwaysSample()
	case "always_off":
		sampler = sdktrace.NeverSample()
	case "traceidratio":
		sampler = sdktrace.TraceIDRatioBased(ratio)
	default:
		return nil, fmt.Errorf("OTEL_TRACES_SAMPLER=%s is not supported: use always_on, always_off, traceidratio, or one of these with parentbased_ before it", name)
	}
	if hasParent {
		return sdktrace.ParentBased(sampler), nil
	}
	return sampler, nil
}

// NewPropagator returns the propagator of OTEL_PROPAGATORS. Baggage needs none: the proxy relays
// that header unchanged and does not read it.
func NewPropagator(env Environment) (propagation.TextMapPropagator, error) {
	names := otlp.Environment(env).Enum("OTEL_PROPAGATORS")
	if names == "" {
		names = "tracecontext,baggage"
	}
	var all []propagation.TextMapPropagator
	for name := range strings.SplitSeq(names, ",") {
		switch strings.TrimSpace(name) {
		case "tracecontext":
			all = append(all, propagation.TraceContext{})
		case "baggage", "none":
		default:
			return nil, fmt.Errorf("OTEL_PROPAGATORS=%s is not supported: use none, or a comma-separated list of tracecontext and baggage", names)
		}
	}
	return propagation.NewCompositeTextMapPropagator(all...), nil
}

// Provider passes spans to a processor. Its TracerProvider passes the spans that it starts; an Observer passes
// those of ended operations.
type Provider struct {
	*sdktrace.TracerProvider
	processor sdktrace.SpanProcessor
	resource  *resource.Resource
	limits    sdktrace.SpanLimits
}

// NewProvider returns a provider. The sampler decides only about the spans that the TracerProvider starts;
// RunSampler decides about operations.
func NewProvider(sampler sdktrace.Sampler, processor sdktrace.SpanProcessor, own *resource.Resource) *Provider {
	sdk := sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sampler),
		sdktrace.WithResource(own), // the SDK merges it with the environment's too, and reports the error that is ignored below
		sdktrace.WithSpanProcessor(processor))
	merged, _ := resource.Merge(resource.Environment(), own)
	return &Provider{sdk, processor, merged, sdktrace.NewSpanLimits()}
}

// RunSampler returns a tracker.Settings.Sample that asks the sampler once per run. If a run has
// a parent span, the sampler was already asked for that one, and its decision applies to the run.
func RunSampler(sampler sdktrace.Sampler, names conventions.Table) func(*tracker.Run) bool {
	return func(r *tracker.Run) bool {
		if r.Parent.IsValid() {
			return r.Parent.Sampled
		}
		a := attributes{names: &names}
		a.operation(r, r.Root)
		result := sampler.ShouldSample(sdktrace.SamplingParameters{
			ParentContext: context.Background(),
			TraceID:       r.Trace,
			Name:          name(r.Root),
			Kind:          kind(r.Root),
			Attributes:    a.list,
		})
		return result.Decision == sdktrace.RecordAndSample
	}
}

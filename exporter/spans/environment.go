package spans

import (
	"cmp"
	"log/slog"
	"strings"
	"time"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// Environment looks up a variable of the OTEL_* environment, as os.Getenv does. It adds the
// variables for traces to otlp.Environment.
type Environment otlp.Environment

// Disabled reports whether OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER=none turns traces off. The Go
// SDK reads neither.
func (env Environment) Disabled() bool {
	return otlp.Environment(env).Disabled() || env.exporter() == "none"
}

// exporter returns the value of OTEL_TRACES_EXPORTER.
func (env Environment) exporter() string { return otlp.Environment(env).Enum("OTEL_TRACES_EXPORTER") }

// protocol returns the OTLP protocol, by default gRPC.
func (env Environment) protocol() (string, error) {
	return otlp.Environment(env).Protocol(otlp.Traces, "grpc", "http/protobuf", "http/json")
}

// Sampler returns the name of the sampler and its argument: OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.
func (env Environment) Sampler() (name, argument string) {
	name = cmp.Or(otlp.Environment(env).Enum("OTEL_TRACES_SAMPLER"), "parentbased_always_on")
	return name, otlp.Environment(env).Text("OTEL_TRACES_SAMPLER_ARG")
}

// KnownMethods returns the HTTP methods in OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS, which replace
// those of the conventions, or nil if it is not set.
func (env Environment) KnownMethods() (methods []string) {
	for name := range strings.SplitSeq(otlp.Environment(env).Text("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			methods = append(methods, name)
		}
	}
	return methods
}

// Limits on the values of OTEL_BSP_*. The limit on the queue is also that of limits.span_queue.
const (
	maxQueue        = 1_000_000 // spans
	maxMilliseconds = int(time.Hour / time.Millisecond)
)

// NewSettings reads OTEL_BSP_*. OTEL_BSP_MAX_QUEUE_SIZE overrides the configured queue size, as the
// environment does for all settings of delivery.
func NewSettings(env Environment, queue, queueBytes int, logger *slog.Logger) (s Settings, err error) {
	read := func(name, unit string, fallback, least, most int) (n int) {
		if err == nil {
			n, err = otlp.Environment(env).Number(name, unit, fallback, least, most)
		}
		return n
	}
	s.QueueSize = read("OTEL_BSP_MAX_QUEUE_SIZE", "spans", queue, 1, maxQueue)
	s.BatchSize = read("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "spans that the queue can hold", min(512, s.QueueSize), 1, s.QueueSize)
	s.Delay = time.Duration(read("OTEL_BSP_SCHEDULE_DELAY", "milliseconds", 1_000, 0, maxMilliseconds)) * time.Millisecond
	s.Timeout = time.Duration(read("OTEL_BSP_EXPORT_TIMEOUT", "milliseconds", 30_000, 0, maxMilliseconds)) * time.Millisecond
	s.QueueBytes, s.Backend, s.Logger = queueBytes, env.Backend(), logger
	return s, err
}

// Backend returns where spans are sent, for the log.
func (env Environment) Backend() string {
	if env.exporter() == "console" {
		return "standard output"
	}
	protocol, _ := env.protocol() // NewExporter reports the error
	return otlp.Environment(env).Backend(otlp.Traces, protocol)
}

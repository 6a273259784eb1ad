package spans

import (
	"log/slog"
	"strings"
	"time"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// Environment looks a variable of the OTEL_* environment up; os.Getenv is one. Unlike otlp.Environment it knows what turns off
// traces alone.
type Environment otlp.Environment

// Disabled says whether OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER=none turns traces off. The Go SDK reads neither.
func (env Environment) Disabled() bool {
	return otlp.Environment(env).Disabled() || env.exporter() == "none"
}

// exporter is who gets spans, as the user says.
func (env Environment) exporter() string { return otlp.Environment(env).Word("OTEL_TRACES_EXPORTER") }

// protocol is how OTLP is spoken: gRPC where nobody says.
func (env Environment) protocol() (string, error) {
	return otlp.Environment(env).Protocol(otlp.Traces, "grpc", "http/protobuf", "http/json")
}

// KnownMethods returns the HTTP methods of OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS, which replace those of the conventions; nil if
// it is not set.
func (env Environment) KnownMethods() (methods []string) {
	for name := range strings.SplitSeq(otlp.Environment(env).Text("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			methods = append(methods, name)
		}
	}
	return methods
}

// The bounds of what OTEL_BSP_* may say; that of the queue is limits.span_queue's too.
const (
	longestQueue = 1_000_000
	longestTime  = int(time.Hour / time.Millisecond)
)

// NewSettings reads OTEL_BSP_*. The queue's size is the configured one where they say nothing of it: the environment outweighs the
// file, as it does for all of the delivery.
func NewSettings(env Environment, queue, size int, logger *slog.Logger) (s Settings, err error) {
	read := func(name, unit string, otherwise, least, most int) (n int) {
		if err == nil {
			n, err = otlp.Environment(env).Number(name, unit, otherwise, least, most)
		}
		return n
	}
	s.Queue = read("OTEL_BSP_MAX_QUEUE_SIZE", "spans", queue, 1, longestQueue)
	s.Batch = read("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "spans that the queue can hold", min(512, s.Queue), 1, s.Queue)
	s.Delay = time.Duration(read("OTEL_BSP_SCHEDULE_DELAY", "milliseconds", 1_000, 0, longestTime)) * time.Millisecond
	s.Timeout = time.Duration(read("OTEL_BSP_EXPORT_TIMEOUT", "milliseconds", 30_000, 0, longestTime)) * time.Millisecond
	s.Size, s.Backend, s.Logger = size, env.backend(), logger
	return s, err
}

// backend is where spans go, for the log.
func (env Environment) backend() string {
	if env.exporter() == "console" {
		return "standard output"
	}
	protocol, _ := env.protocol() // NewExporter tells what is wrong with it
	return otlp.Environment(env).Backend(otlp.Traces, protocol)
}

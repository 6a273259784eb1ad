//go:build versions

package otelcol

// The sidecar's OpenTelemetry SDK is newer than the one of Collector v0.158.0, whose bridge for logs does not compile with it. These
// imports keep versions in go.mod that do, also for a Collector that is built with this module. Nothing compiles them.
import (
	_ "go.opentelemetry.io/contrib/bridges/otelzap"
	_ "go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	_ "go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	_ "go.opentelemetry.io/otel/exporters/stdout/stdoutlog"
	_ "go.opentelemetry.io/otel/sdk/log"
)

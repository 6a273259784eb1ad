// Package otelcol is a receiver of the OpenTelemetry Collector that reads the streams of AI agents as delegraph serve does, and emits their
// spans and metrics to the pipelines.
package otelcol

//go:generate go tool mdatagen metadata.yaml

package spans

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Limits of one line. The JSON of a span is at most about six times as long as the span in memory.
const (
	maxSpansPerLine = 10_000
	maxLineSize     = 64 << 20 // approximate size in memory of the spans after which a line is written
)

// JSONLines is a span processor that writes spans as OTLP/JSON: one line at each flush, or more if
// there are too many or too large spans for a line. It must not be used concurrently.
type JSONLines struct {
	exporter sdktrace.SpanExporter
	spans    []sdktrace.ReadOnlySpan
	size     int   // approximate size of the spans in memory, in bytes
	err      error // of lines written since the last flush
}

// NewJSONLines returns a processor that writes to w.
func NewJSONLines(ctx context.Context, w io.Writer) (*JSONLines, error) {
	// Use the OTLP exporter for its encoding, with a writer in place of the network. The URL is
	// https, because with http the exporter rejects a certificate in the environment. Nothing is encrypted.
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL("https://localhost/v1/traces"),
		otlptracehttp.WithEncoding(otlptracehttp.EncodingJSON),
		otlptracehttp.WithCompression(otlptracehttp.NoCompression),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}),
		otlptracehttp.WithMaxRequestSize(1<<30),
		otlptracehttp.WithHTTPClient(&http.Client{Transport: lineWriter{w}}))
	if err != nil {
		return nil, err
	}
	return &JSONLines{exporter: exporter}, nil
}

// OnStart does nothing.
func (l *JSONLines) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd keeps the span until the next flush, or until there are enough for a line.
func (l *JSONLines) OnEnd(s sdktrace.ReadOnlySpan) {
	l.spans, l.size = append(l.spans, s), l.size+sizeOf(s)
	if len(l.spans) >= maxSpansPerLine || l.size >= maxLineSize {
		l.err = errors.Join(l.err, l.write(context.Background()))
	}
}

// ForceFlush writes the kept spans. It also returns errors of lines written since the last flush.
func (l *JSONLines) ForceFlush(ctx context.Context) error {
	err := errors.Join(l.err, l.write(ctx))
	l.err = nil
	return err
}

func (l *JSONLines) write(ctx context.Context) error {
	err := l.exporter.ExportSpans(ctx, l.spans)
	l.spans, l.size = nil, 0
	return err
}

// Shutdown flushes.
func (l *JSONLines) Shutdown(ctx context.Context) error { return l.ForceFlush(ctx) }

// lineWriter is a RoundTripper that writes each request's body as a line and answers with success.
type lineWriter struct{ w io.Writer }

func (t lineWriter) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	var line bytes.Buffer
	if _, err := line.ReadFrom(r.Body); err != nil {
		return nil, err
	}
	line.WriteByte('\n')
	if _, err := t.w.Write(line.Bytes()); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader([]byte("{}"))),
	}, nil
}

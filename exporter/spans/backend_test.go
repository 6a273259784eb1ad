package spans

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// backend is a scripted exporter that records what it accepted.
type backend struct {
	answer func(ctx context.Context, attempt int, batch []sdktrace.ReadOnlySpan) error // nil accepts everything

	mu       sync.Mutex
	attempts []time.Time
	batches  [][]string // the span names of each accepted batch
	closed   int
}

func (b *backend) ExportSpans(ctx context.Context, batch []sdktrace.ReadOnlySpan) error {
	b.mu.Lock()
	attempt := len(b.attempts)
	b.attempts = append(b.attempts, time.Now())
	b.mu.Unlock()
	if b.answer != nil {
		if err := b.answer(ctx, attempt, batch); err != nil {
			return err
		}
	}
	names := make([]string, len(batch))
	for i, span := range batch {
		names[i] = span.Name()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.batches = append(b.batches, names)
	return nil
}

func (b *backend) Shutdown(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed++
	return nil
}

func (b *backend) taken() (names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, batch := range b.batches {
		names = append(names, batch...)
	}
	return names
}

func (b *backend) tried() []time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attempts
}

// The usual settings of the tests.
const (
	batchSize  = 512
	batchDelay = time.Second
)

// settings returns the usual settings with a queue of the given length. The log is discarded.
func settings(t *testing.T, queue int) Settings {
	t.Helper()
	s, err := NewSettings(of(), queue, 1<<30, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The ways in which a backend fails.
var (
	errDown   = &url.Error{Op: "Post", URL: "http://collector/v1/traces", Err: errors.New("connection refused")}
	errRefuse = status.Error(codes.PermissionDenied, "no")
	errBig    = status.Error(codes.ResourceExhausted, "received message larger than max")
	errOdd    = errors.New("odd")
)

// inTurn answers with one error after another, then accepts everything.
func inTurn(errs ...error) func(context.Context, int, []sdktrace.ReadOnlySpan) error {
	return func(_ context.Context, attempt int, _ []sdktrace.ReadOnlySpan) error {
		if attempt < len(errs) {
			return errs[attempt]
		}
		return nil
	}
}

// hang blocks until its context ends.
func hang(ctx context.Context, _ int, _ []sdktrace.ReadOnlySpan) error {
	<-ctx.Done()
	return ctx.Err()
}

// span returns a sampled span that has ended.
func span(name string) sdktrace.ReadOnlySpan {
	return tracetest.SpanStub{Name: name, SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled,
	})}.Snapshot()
}

// hand gives the processor spans whose names are numbers.
func hand(p *Processor, from, to int) {
	for i := from; i < to; i++ {
		p.OnEnd(span(strconv.Itoa(i)))
	}
}

// check compares the processor's statistics with the expected ones. The numbers of dropped spans are in the order of
// DropReasons.
func check(t *testing.T, p *Processor, exported uint64, queued int, dropped ...uint64) {
	t.Helper()
	s := p.Stats()
	if s.Exported != exported || s.Queued != queued {
		t.Errorf("%d exported and %d queued; want %d and %d", s.Exported, s.Queued, exported, queued)
	}
	for i, reason := range DropReasons()[:len(dropped)] {
		if s.Dropped[reason] != dropped[i] {
			t.Errorf("%d dropped as %s; want %d", s.Dropped[reason], reason, dropped[i])
		}
	}
}

// checkTaken checks that the backend accepted the spans from..to, each once and in order.
func checkTaken(t *testing.T, b *backend, from, to int) {
	t.Helper()
	names := b.taken()
	if len(names) != to-from {
		t.Errorf("the backend accepted %d spans, want %d", len(names), to-from)
	}
	for i, name := range names {
		if name != strconv.Itoa(from+i) {
			t.Fatalf("the backend's span %d is %s; want %d", i, name, from+i)
		}
	}
}

// shut shuts the processor down, which must succeed within d.
func shut(t *testing.T, p *Processor, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := p.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

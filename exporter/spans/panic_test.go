package spans

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector/recovery"
)

// TestExporterPanics checks that a batch with which the exporter panics is dropped, and that the
// next ones are delivered.
func TestExporterPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: func(_ context.Context, attempt int, _ []sdktrace.ReadOnlySpan) error {
			if attempt == 0 {
				panic("c4n4ry")
			}
			return nil
		}}
		var log bytes.Buffer
		counted := 0
		s := settings(t, 100)
		s.Panics = recovery.New(slog.New(slog.NewTextHandler(&log, nil)), func(recovery.Component) { counted++ })
		p := NewProcessor(b, s)
		hand(p, 0, 5)
		time.Sleep(time.Minute)
		hand(p, 5, 8)
		time.Sleep(time.Minute)
		if stats := p.Stats(); stats.Exported != 3 || stats.Dropped[DroppedRejected] != 5 || counted != 1 {
			t.Errorf("the statistics are %+v with %d counted panics", stats, counted)
		}
		if line := log.String(); strings.Count(line, "\n") != 1 || !strings.Contains(line, "component=spans") || !strings.Contains(line, "panic_test.go") || strings.Contains(line, "c4n4ry") {
			t.Errorf("the log is %s", line)
		}
		shut(t, p, time.Second)
	})
}

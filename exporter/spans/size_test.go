package spans

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/delegraph/delegraph/collector/budget"
)

// TestQueueBytes takes the backend away while large spans end. The queue must stay within its memory limit, further
// spans must be counted as dropped, and the queued spans must be delivered later.
func TestQueueBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, large, count = 8 << 20, 100 << 10, 300
		back := make(chan struct{})
		b := &backend{answer: func(context.Context, int, []sdktrace.ReadOnlySpan) error { <-back; return nil }}
		s := settings(t, 10_000)
		s.QueueBytes = limit
		p := NewProcessor(b, s)
		tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(p)).Tracer("")
		end := func() {
			text := strings.Repeat("x", large/4)
			_, span := tracer.Start(t.Context(), "s", trace.WithAttributes(attribute.String("a", text), attribute.StringSlice("b", []string{strings.Clone(text)})))
			span.AddEvent(strings.Clone(text), trace.WithAttributes(attribute.String("c", strings.Clone(text))))
			span.End()
		}
		before := heap()
		for range count {
			end()
		}
		if taken := int(heap() - before); taken < limit/2 || taken > limit+limit/4 {
			t.Errorf("the queued spans take %d bytes, want at most %d", taken, limit)
		}
		close(back)
		time.Sleep(time.Minute)
		synctest.Wait()
		kept := uint64(limit / (large + spanSize + 500))
		check(t, p, kept, 0, 0, 0, 0, count-kept)
		end() // there is room again
		shut(t, p, time.Second)
		check(t, p, kept+1, 0, 0, 0, 0, count-kept)
	})
}

// TestLargeSpansAreNotAwaited ends spans that fill the bytes of the queue before they fill a batch. A backend that accepts them
// gets them at once.
func TestLargeSpansAreNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const large, count = 100 << 10, 300
		s := settings(t, 10_000)
		s.QueueBytes, s.BatchSize, s.Delay = 8<<20, 1000, time.Hour
		p := NewProcessor(&backend{}, s)
		tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(p)).Tracer("")
		for range count {
			_, span := tracer.Start(t.Context(), "s", trace.WithAttributes(attribute.String("a", strings.Repeat("x", large))))
			span.End()
			synctest.Wait()
		}
		check(t, p, p.Stats().Exported, p.Stats().Queued, 0, 0, 0, 0)
		if s := p.Stats(); s.Exported < count/2 {
			t.Errorf("%d of %d spans were exported at once", s.Exported, count)
		}
		shut(t, p, time.Second)
	})
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // a pool frees its memory only with the second collection
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestQueueSharesMemory checks that spans beyond the memory budget are dropped, and that memory is
// released.
func TestQueueSharesMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := budget.New(100*1100).Account("spans", 1, 1)
		b := &backend{answer: hang}
		s := settings(t, 10_000)
		s.Memory = memory
		p := NewProcessor(b, s)
		hand(p, 0, 150)
		kept := uint64(p.Stats().Queued)
		if kept < 90 || kept > 110 {
			t.Errorf("%d spans are queued", kept)
		}
		check(t, p, 0, int(kept), 0, 0, 0, 0, 150-kept)
		b.mu.Lock()
		b.answer = nil
		b.mu.Unlock()
		time.Sleep(time.Minute)
		check(t, p, kept, 0, 0, 0, 0, 0, 150-kept)
		if left := memory.Remaining(); left != 100*1100 {
			t.Errorf("%d bytes are left of the budget", left)
		}
		shut(t, p, time.Second)
	})
}

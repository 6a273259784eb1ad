package spans

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// TestEverySpanIsCounted drives processors at random against backends that fail in every way. At any time each span is either
// exported, queued or dropped, and the exported ones are those that the backend accepted, in order.
func TestEverySpanIsCounted(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { driveAtRandom(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func driveAtRandom(t *testing.T, random *rand.Rand) {
	var accepted atomic.Uint64
	b := &backend{}
	moods := rand.New(rand.NewPCG(random.Uint64(), 0))
	b.answer = func(ctx context.Context, _ int, batch []sdktrace.ReadOnlySpan) error {
		took, err := answerAtRandom(ctx, moods, len(batch))
		accepted.Add(uint64(took))
		return err
	}
	p := NewProcessor(b, settings(t, 1+random.IntN(2000)))
	handed := 0
	look := func() {
		synctest.Wait()
		s := p.Stats()
		if counted := sum(s); counted != uint64(handed) {
			t.Fatalf("of %d spans, %d are counted: %+v", handed, counted, s)
		}
		if took := accepted.Load(); s.Exported != took {
			t.Fatalf("%d spans are counted as exported, and the backend accepted %d", s.Exported, took)
		}
	}
	for range 20 {
		n := random.IntN(700)
		hand(p, handed, handed+n)
		handed += n
		look()
		time.Sleep(time.Duration(random.Int64N(int64(20 * time.Second))))
		look()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(20*time.Second))))
	defer cancel()
	err := p.Shutdown(ctx)
	look()
	s := p.Stats()
	last := -1
	for _, name := range b.taken() {
		n, _ := strconv.Atoi(name)
		if n <= last {
			t.Fatalf("span %d came after span %d", n, last)
		}
		last = n
	}
	if left := s.Dropped[DroppedShutdown] > 0; s.Queued != 0 || left != (err != nil) {
		t.Errorf("after a shutdown with the error %v: %+v", err, s)
	}
}

// answerAtRandom answers an attempt at random and returns the number of accepted spans.
func answerAtRandom(ctx context.Context, random *rand.Rand, batch int) (took int, err error) {
	switch random.IntN(10) {
	case 0:
		return 0, errDown
	case 1:
		return 0, errRefuse
	case 2:
		return 0, errBig
	case 3:
		return 0, errOdd
	case 4:
		return 0, hang(ctx, 0, nil)
	case 5:
		rejected := random.IntN(batch + 1)
		return batch - rejected, fmt.Errorf("traces export: OTLP partial success: no (%d spans rejected)", rejected)
	case 6:
		select {
		case <-time.After(time.Duration(random.Int64N(int64(time.Minute)))):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return batch, nil
}

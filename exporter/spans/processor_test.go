package spans

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// TestBatches checks that full batches are sent at once and others after the delay.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		p := NewProcessor(b, settings(t, 10_000))
		began := time.Now()
		hand(p, 0, 1300)
		synctest.Wait()
		check(t, p, 1024, 276, 0, 0, 0)
		time.Sleep(batchDelay)
		synctest.Wait()
		check(t, p, 1300, 0, 0, 0, 0)
		var sizes []int
		for _, batch := range b.batches {
			sizes = append(sizes, len(batch))
		}
		if diff := cmp.Diff([]int{512, 512, 276}, sizes); diff != "" {
			t.Errorf("sizes of batches (-want +got):\n%s", diff)
		}
		for i, want := range []time.Duration{0, 0, batchDelay} {
			if waited := b.tried()[i].Sub(began); waited != want {
				t.Errorf("batch %d is sent after %s", i, waited)
			}
		}
		shut(t, p, time.Second)
		checkTaken(t, b, 0, 1300)
	})
}

// TestSettingsAreHeeded checks delays and timeouts, including zero.
func TestSettingsAreHeeded(t *testing.T) {
	for _, c := range []struct{ delay, timeout time.Duration }{{0, 0}, {5 * time.Second, time.Second / 10}, {time.Hour, time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			b := &backend{answer: func(ctx context.Context, attempt int, _ []sdktrace.ReadOnlySpan) error {
				switch deadline, ends := ctx.Deadline(); {
				case ends != (c.timeout > 0), ends && time.Until(deadline) != c.timeout:
					t.Errorf("with the timeout %s, the attempt has a deadline: %t, in %s", c.timeout, ends, time.Until(deadline))
				}
				return []error{errDown, nil}[attempt]
			}}
			s := settings(t, 10)
			s.Delay, s.Timeout = c.delay, c.timeout
			p := NewProcessor(b, s)
			began := time.Now()
			hand(p, 0, 5)
			time.Sleep(c.delay)
			synctest.Wait()
			check(t, p, 0, 5, 0, 0, 0)
			time.Sleep(longestPause)
			synctest.Wait()
			check(t, p, 5, 0, 0, 0, 0)
			tried, most := b.tried(), min(max(c.delay, shortestPause), longestPause)
			if waited, pause := tried[0].Sub(began), tried[1].Sub(tried[0]); waited != c.delay || pause < most/2 || pause > most {
				t.Errorf("with the delay %s, the first attempt is after %s, and the second %s later", c.delay, waited, pause)
			}
			shut(t, p, time.Second)
		})
	}
}

func TestUnsampledSpansAreNotQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		p := NewProcessor(b, settings(t, 10))
		p.OnEnd(tracetest.SpanStub{Name: "unsampled"}.Snapshot())
		shut(t, p, time.Second)
		check(t, p, 0, 0, 0, 0, 0)
		checkTaken(t, b, 0, 0)
	})
}

// TestOutage keeps a backend away for ten attempts. No span may be lost or sent twice. The pauses must grow to their
// limit, and each must be between half of its maximum and the maximum.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errs := make([]error, 10)
		for i := range errs {
			errs[i] = errDown
		}
		b := &backend{answer: inTurn(errs...)}
		p := NewProcessor(b, settings(t, 10_000))
		hand(p, 0, 600)
		time.Sleep(10 * time.Second)
		hand(p, 600, 700)
		time.Sleep(time.Hour)
		check(t, p, 700, 0, 0, 0, 0)
		checkTaken(t, b, 0, 700)
		tried := b.tried()
		for i, most := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 30, 30, 30} {
			most *= time.Second
			if pause := tried[i+1].Sub(tried[i]); pause < most/2 || pause > most {
				t.Errorf("pause %d is %s; want half to all of %s", i, pause, most)
			}
		}
		shut(t, p, time.Second)
	})
}

// TestPauseThatIsAskedFor checks that the next attempt waits as long as the backend asks, within a limit, and that a shutdown does not.
func TestPauseThatIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := func(delay time.Duration) error {
			later, err := status.New(codes.Unavailable, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(delay)})
			if err != nil {
				t.Fatal(err)
			}
			return later.Err()
		}
		b := &backend{answer: inTurn(asks(time.Minute), asks(time.Hour), errDown, asks(time.Hour), nil)}
		p := NewProcessor(b, settings(t, 10))
		hand(p, 0, 5)
		time.Sleep(time.Hour / 2)
		tried := b.tried()
		for i, least := range []time.Duration{time.Minute, maxRetryAfter, 0, maxRetryAfter} {
			if pause := tried[i+1].Sub(tried[i]); pause < least || pause > least+longestPause {
				t.Errorf("pause %d is %s; want %s and up to %s more", i, pause, least, longestPause)
			}
		}
		check(t, p, 5, 0, 0, 0, 0)
		b.answer = inTurn(slices.Repeat([]error{asks(time.Hour)}, 7)...)
		hand(p, 5, 6)
		shut(t, p, time.Second)
		check(t, p, 6, 0, 0, 0, 0)
	})
}

// TestPausesBeginAnew checks that the pauses of an outage start again at the shortest one.
func TestPausesBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(errDown, errDown, errDown, nil, errDown, nil)}
		p := NewProcessor(b, settings(t, 10_000))
		hand(p, 0, 2*batchSize)
		time.Sleep(time.Minute)
		tried := b.tried()
		if pause := tried[5].Sub(tried[4]); pause > batchDelay {
			t.Errorf("the first pause of the second outage is %s", pause)
		}
		shut(t, p, time.Second)
		checkTaken(t, b, 0, 2*batchSize)
	})
}

// TestRefused checks that a rejected batch is dropped and the next one is sent at once.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(errRefuse)}
		p := NewProcessor(b, settings(t, 10_000))
		hand(p, 0, 600)
		time.Sleep(batchDelay)
		synctest.Wait()
		check(t, p, 88, 0, 0, 512, 0)
		checkTaken(t, b, 512, 600)
		shut(t, p, time.Second)
	})
}

// TestTooLarge checks that spans that are too large are found by halving the batch, and that only they are dropped.
func TestTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: func(_ context.Context, _ int, batch []sdktrace.ReadOnlySpan) error {
			for _, s := range batch {
				if s.Name() == "100" || len(batch) > 300 {
					return errBig
				}
			}
			return nil
		}}
		p := NewProcessor(b, settings(t, 10_000))
		hand(p, 0, 5000)
		time.Sleep(batchDelay)
		synctest.Wait()
		check(t, p, 4999, 0, 0, 1, 0)
		if names := b.taken(); len(names) != 4999 || names[99] != "99" || names[100] != "101" || names[4998] != "4999" {
			t.Errorf("the backend accepted %d spans", len(names))
		}
		if n := len(b.tried()); n > 60 {
			t.Errorf("the processor made %d attempts", n)
		}
		shut(t, p, time.Second)
	})
}

// TestObscure checks that a batch whose failure is unclassified is dropped after a few attempts.
func TestObscure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: func(_ context.Context, _ int, batch []sdktrace.ReadOnlySpan) error {
			if batch[0].Name() == "0" {
				return errOdd
			}
			return nil
		}}
		p := NewProcessor(b, settings(t, 10_000))
		hand(p, 0, 600)
		time.Sleep(time.Minute)
		check(t, p, 88, 0, 0, 512, 0)
		if n := len(b.tried()); n != maxUnclassified+1 {
			t.Errorf("the processor made %d attempts", n)
		}
		shut(t, p, time.Second)
	})
}

// TestObscureIsForgotten checks that an outage in between does not use up the attempts for an unclassified failure, and that an
// accepted batch resets them.
func TestObscureIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(errOdd, errDown, errOdd, errDown, errOdd, errOdd, nil, errOdd, errOdd, errOdd, errOdd)}
		p := NewProcessor(b, settings(t, 10_000))
		hand(p, 0, batchSize+1)
		time.Sleep(time.Hour)
		check(t, p, batchSize+1, 0, 0, 0, 0)
		shut(t, p, time.Second)
	})
}

// TestPartialSuccess checks that a partly accepted batch is counted and not sent again.
func TestPartialSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(
			errors.New("traces export: OTLP partial success: two of them\nare bad (2 spans rejected)"),
			errors.New("traces export: OTLP partial success: a warning (0 spans rejected)"),
			errors.New("traces export: OTLP partial success: nonsense (99999999999999999999 spans rejected)"),
			errors.New("traces export: OTLP partial success: nonsense (-3 spans rejected)"))}
		p := NewProcessor(b, settings(t, 10_000))
		for _, want := range []struct{ exported, rejected uint64 }{{8, 2}, {18, 2}, {18, 12}, {28, 12}} {
			hand(p, 0, 10)
			time.Sleep(5 * batchDelay / 2) // between two checks of the queue
			check(t, p, want.exported, 0, 0, want.rejected, 0)
		}
		shut(t, p, time.Second)
		if n := len(b.tried()); n != 4 {
			t.Errorf("the processor made %d attempts", n)
		}
	})
}

// TestQueueFull checks that the newest spans are dropped, without blocking, while a backend hangs.
func TestQueueFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: hang}
		p := NewProcessor(b, settings(t, 100))
		hand(p, 0, 50)
		time.Sleep(batchDelay)
		synctest.Wait() // until the attempt hangs
		began := time.Now()
		hand(p, 50, 150)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("OnEnd blocks for %s", waited)
		}
		check(t, p, 0, 100, 50, 0, 0)
		b.mu.Lock()
		b.answer = nil
		b.mu.Unlock()
		time.Sleep(time.Minute)
		check(t, p, 100, 0, 50, 0, 0)
		checkTaken(t, b, 0, 100)
		shut(t, p, time.Second)
	})
}

// TestConcurrent checks concurrent use.
func TestConcurrent(t *testing.T) {
	b := &backend{answer: inTurn(errBig, nil, errRefuse)}
	p := NewProcessor(b, settings(t, 5000))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { hand(p, 0, 1000) })
		all.Go(func() {
			for range 100 {
				p.Stats()
			}
		})
	}
	for range 3 {
		all.Go(func() {
			if err := p.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := p.Stats()
	if sum := sum(s); sum != 8000 {
		t.Errorf("of 8000 spans, %d are counted: %+v", sum, s)
	}
	if n := uint64(len(b.taken())); n != s.Exported {
		t.Errorf("the backend accepted %d spans, and %d are counted", n, s.Exported)
	}
}

func sum(s Stats) uint64 {
	n := s.Exported + uint64(s.Queued)
	for _, dropped := range s.Dropped {
		n += dropped
	}
	return n
}

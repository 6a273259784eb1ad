package spans

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		p := NewProcessor(b, 10_000)
		began := time.Now()
		hand(p, 0, 1300)
		check(t, p, 0, 1300, 0, 0, 0)
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
		if waited := b.tried()[0].Sub(began); waited != batchDelay {
			t.Errorf("the first batch went after %s", waited)
		}
		shut(t, p, time.Second)
		checkTaken(t, b, 0, 1300)
	})
}

func TestUnsampledSpansAreNotQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		p := NewProcessor(b, 10)
		p.OnEnd(tracetest.SpanStub{Name: "unsampled"}.Snapshot())
		shut(t, p, time.Second)
		check(t, p, 0, 0, 0, 0, 0)
		checkTaken(t, b, 0, 0)
	})
}

// TestOutage lets a backend be away for ten attempts: nothing is lost or doubled, and the pauses grow to their limit, each
// somewhere in its upper half.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errs := make([]error, 10)
		for i := range errs {
			errs[i] = errDown
		}
		b := &backend{answer: inTurn(errs...)}
		p := NewProcessor(b, 10_000)
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

// TestPausesBeginAnew shows that an outage does not inherit the pauses of the one before.
func TestPausesBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(errDown, errDown, errDown, nil, errDown, nil)}
		p := NewProcessor(b, 10_000)
		hand(p, 0, 2*batchSize)
		time.Sleep(time.Minute)
		tried := b.tried()
		if pause := tried[5].Sub(tried[4]); pause > firstPause {
			t.Errorf("the first pause of the second outage is %s", pause)
		}
		shut(t, p, time.Second)
		checkTaken(t, b, 0, 2*batchSize)
	})
}

// TestRefused drops a batch that the backend refuses for good, and goes on at once with the next.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(errRefuse)}
		p := NewProcessor(b, 10_000)
		hand(p, 0, 600)
		time.Sleep(batchDelay)
		synctest.Wait()
		check(t, p, 88, 0, 0, 512, 0)
		checkTaken(t, b, 512, 600)
		shut(t, p, time.Second)
	})
}

// TestTooLarge finds the spans that are too large by halves, drops those alone, and comes back to whole batches.
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
		p := NewProcessor(b, 10_000)
		hand(p, 0, 5000)
		time.Sleep(batchDelay)
		synctest.Wait()
		check(t, p, 4999, 0, 0, 1, 0)
		if names := b.taken(); len(names) != 4999 || names[99] != "99" || names[100] != "101" || names[4998] != "4999" {
			t.Errorf("the backend took %d spans", len(names))
		}
		if n := len(b.tried()); n > 60 {
			t.Errorf("%d attempts", n)
		}
		shut(t, p, time.Second)
	})
}

// TestObscure tries a batch whose failure says nothing a few times, and then lets it go: it would hold up all others for ever.
func TestObscure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: func(_ context.Context, _ int, batch []sdktrace.ReadOnlySpan) error {
			if batch[0].Name() == "0" {
				return errOdd
			}
			return nil
		}}
		p := NewProcessor(b, 10_000)
		hand(p, 0, 600)
		time.Sleep(time.Minute)
		check(t, p, 88, 0, 0, 512, 0)
		if n := len(b.tried()); n != guesses+1 {
			t.Errorf("%d attempts", n)
		}
		shut(t, p, time.Second)
	})
}

// TestObscureIsForgotten shows that an outage between does not use up the guesses, and a batch taken gives them back.
func TestObscureIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(errOdd, errDown, errOdd, errDown, errOdd, errOdd, nil, errOdd, errOdd, errOdd, errOdd)}
		p := NewProcessor(b, 10_000)
		hand(p, 0, batchSize+1)
		time.Sleep(time.Hour)
		check(t, p, batchSize+1, 0, 0, 0, 0)
		shut(t, p, time.Second)
	})
}

// TestPartialSuccess counts what a backend took of a batch, and never sends it again.
func TestPartialSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(
			errors.New("traces export: OTLP partial success: two of them\nare bad (2 spans rejected)"),
			errors.New("traces export: OTLP partial success: a warning (0 spans rejected)"),
			errors.New("traces export: OTLP partial success: nonsense (99999999999999999999 spans rejected)"),
			errors.New("traces export: OTLP partial success: nonsense (-3 spans rejected)"))}
		p := NewProcessor(b, 10_000)
		for _, want := range []struct{ exported, rejected uint64 }{{8, 2}, {18, 2}, {18, 12}, {28, 12}} {
			hand(p, 0, 10)
			time.Sleep(5 * batchDelay / 2) // between two looks at the queue
			check(t, p, want.exported, 0, 0, want.rejected, 0)
		}
		shut(t, p, time.Second)
		if n := len(b.tried()); n != 4 {
			t.Errorf("%d attempts", n)
		}
	})
}

// TestQueueFull lets the newest go while a backend hangs, which holds up nobody.
func TestQueueFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: hang}
		p := NewProcessor(b, 100)
		hand(p, 0, 50)
		time.Sleep(batchDelay)
		synctest.Wait() // the attempt hangs
		began := time.Now()
		hand(p, 50, 150)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the spans waited for %s", waited)
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

// TestShutdown delivers what waits for company, closes the exporter once, and counts what comes after.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		p := NewProcessor(b, 10_000)
		hand(p, 0, 600)
		shut(t, p, time.Second)
		check(t, p, 600, 0, 0, 0, 0)
		checkTaken(t, b, 0, 600)
		hand(p, 600, 603)
		check(t, p, 600, 0, 0, 0, 3)
		shut(t, p, time.Second)
		if b.closed != 1 {
			t.Errorf("the exporter was closed %d times", b.closed)
		}
	})
}

// TestShutdownRetries uses the grace period.
func TestShutdownRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(errDown, errDown, errDown)}
		p := NewProcessor(b, 10)
		hand(p, 0, 5)
		shut(t, p, time.Second)
		check(t, p, 5, 0, 0, 0, 0)
		checkTaken(t, b, 0, 5)
	})
}

// TestShutdownDoesNotDouble begins while an attempt is on its way that will succeed.
func TestShutdownDoesNotDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: func(ctx context.Context, _ int, _ []sdktrace.ReadOnlySpan) error {
			select {
			case <-time.After(5 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err() // but the backend has them
			}
		}}
		p := NewProcessor(b, 10)
		hand(p, 0, 5)
		time.Sleep(2 * batchDelay)
		shut(t, p, 10*time.Second)
		if n := len(b.tried()); n != 1 {
			t.Errorf("%d attempts", n)
		}
		check(t, p, 5, 0, 0, 0, 0)
	})
}

// TestShutdownEnds has backends that never answer, with and without regard for a context: a shutdown ends with its own.
func TestShutdownEnds(t *testing.T) {
	for name, during := range map[string]time.Duration{"before the first attempt": 0, "while an attempt hangs": 2 * batchDelay} {
		for heed, heeds := range map[string]bool{"heeding": true, "heedless": false} {
			t.Run(heed+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					release := make(chan struct{})
					b := &backend{answer: func(ctx context.Context, attempt int, batch []sdktrace.ReadOnlySpan) error {
						if heeds {
							return hang(ctx, attempt, batch)
						}
						<-release
						return nil
					}}
					p := NewProcessor(b, 10)
					hand(p, 0, 12)
					time.Sleep(during)
					synctest.Wait()
					ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
					defer cancel()
					began := time.Now()
					err := p.Shutdown(ctx)
					if took := time.Since(began); took != 3*time.Second {
						t.Errorf("it took %s", took)
					}
					if err == nil || !strings.HasPrefix(err.Error(), "10 spans were not delivered before the end of the grace period") {
						t.Errorf("error %v", err)
					}
					check(t, p, 0, 0, 2, 0, 10)
					close(release)
					synctest.Wait()
					check(t, p, 0, 0, 2, 0, 10) // what is taken too late stays counted as dropped
				})
			})
		}
	}
}

// TestShutdownSaysWhy has the last failure in its error.
func TestShutdownSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: func(context.Context, int, []sdktrace.ReadOnlySpan) error { return errDown }}
		p := NewProcessor(b, 10)
		hand(p, 0, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); !errors.Is(err, errDown) {
			t.Errorf("error %v", err)
		}
	})
}

// TestConcurrent hands in, reads and ends from all sides.
func TestConcurrent(t *testing.T) {
	b := &backend{answer: inTurn(errBig, nil, errRefuse)}
	p := NewProcessor(b, 5000)
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
		t.Errorf("the backend took %d spans, and %d are counted", n, s.Exported)
	}
}

func sum(s Stats) uint64 {
	n := s.Exported + uint64(s.Queued)
	for _, dropped := range s.Dropped {
		n += dropped
	}
	return n
}

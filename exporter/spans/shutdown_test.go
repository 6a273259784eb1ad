package spans

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestShutdown checks that queued spans are delivered, the exporter is closed once, and later spans
// are counted.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		p := NewProcessor(b, settings(t, 10_000))
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

// TestShutdownRetries checks that a shutdown retries during the grace period.
func TestShutdownRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(errDown, errDown, errDown)}
		p := NewProcessor(b, settings(t, 10))
		hand(p, 0, 5)
		shut(t, p, time.Second)
		check(t, p, 5, 0, 0, 0, 0)
		checkTaken(t, b, 0, 5)
	})
}

// TestShutdownDoesNotDouble checks that a shutdown waits for a running attempt.
func TestShutdownDoesNotDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: func(ctx context.Context, _ int, _ []sdktrace.ReadOnlySpan) error {
			select {
			case <-time.After(5 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err() // although the backend has the spans
			}
		}}
		p := NewProcessor(b, settings(t, 10))
		hand(p, 0, 5)
		time.Sleep(2 * batchDelay)
		shut(t, p, 10*time.Second)
		if n := len(b.tried()); n != 1 {
			t.Errorf("the processor made %d attempts", n)
		}
		check(t, p, 5, 0, 0, 0, 0)
	})
}

// TestShutdownEnds checks that a shutdown ends with its context, even if the exporter ignores the context.
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
					p := NewProcessor(b, settings(t, 10))
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
					if err == nil || err.Error() != "10 spans were not delivered to localhost:4317: no answer within the grace period" {
						t.Errorf("error %v", err)
					}
					check(t, p, 0, 0, 2, 0, 10)
					close(release)
					synctest.Wait()
					check(t, p, 0, 0, 2, 0, 10) // spans accepted too late stay counted as dropped
				})
			})
		}
	}
}

// TestShutdownGivesUp checks that a shutdown waits for a backend that may still recover, but not for one that refuses
// connections.
func TestShutdownGivesUp(t *testing.T) {
	const grace = 99 * time.Second / 10
	noDial := status.Error(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:4317: connect: connection refused"`)
	noName := status.Error(codes.Unavailable, "name resolver error: produced zero addresses")
	noPath := status.Error(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial tcp 10.0.0.1:4317: i/o timeout"`)
	busy := status.Error(codes.Unavailable, "connection refused, says my own backend")
	always := func(err error) func(time.Duration) error { return func(time.Duration) error { return err } }
	until := func(end time.Duration, first, then error) func(time.Duration) error {
		return func(at time.Duration) error {
			if at < end {
				return first
			}
			return then
		}
	}
	for name, c := range map[string]struct {
		answer   func(at time.Duration) error // the time since the shutdown began
		took     time.Duration
		exported uint64
		says     string
	}{
		"nobody":                {always(errDown), absentWait, 0, "connection refused"},
		"nobody, over gRPC":     {always(noDial), absentWait, 0, "connection refused"},
		"no such host":          {always(noName), absentWait, 0, "no such host"},
		"busy":                  {always(busy), grace, 0, "gRPC status Unavailable"},
		"no way there":          {always(noPath), grace, 0, "timeout"},
		"back in time":          {until(absentWait-shortestPause, errDown, nil), absentWait - shortestPause, 600, ""},
		"busy after a restart":  {until(absentWait-shortestPause, errDown, busy), grace, 0, "gRPC status Unavailable"},
		"gone at last":          {until(5*time.Second, busy, errDown), 5*time.Second + absentWait, 0, "connection refused"},
		"gone and busy in turn": {func(at time.Duration) error { return []error{noDial, busy}[at/shortestPause%2] }, grace, 0, "gRPC status Unavailable"},
	} {
		for before, away := range map[string]time.Duration{"": 0, " after an hour's outage": time.Hour} {
			t.Run(name+before, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var stopped time.Time
					b := &backend{answer: func(context.Context, int, []sdktrace.ReadOnlySpan) error {
						if stopped.IsZero() {
							return errDown
						}
						return c.answer(time.Since(stopped))
					}}
					p := NewProcessor(b, settings(t, 1000))
					if away == 0 {
						stopped = time.Now()
					}
					hand(p, 0, 600)
					time.Sleep(away)
					synctest.Wait()
					stopped = time.Now()
					ctx, cancel := context.WithTimeout(t.Context(), grace)
					defer cancel()
					err := p.Shutdown(ctx)
					if took := time.Since(stopped); took != c.took {
						t.Errorf("the shutdown took %s, want %s", took, c.took)
					}
					check(t, p, c.exported, 0, 0, 0, 600-c.exported)
					if want := "600 spans were not delivered to localhost:4317: " + c.says; c.says != "" && (err == nil || err.Error() != want) || c.says == "" && err != nil {
						t.Errorf("error %v", err)
					}
				})
			})
		}
	}
}

// TestShutdownWaits checks that a shutdown waits for a slow backend.
func TestShutdownWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: func(context.Context, int, []sdktrace.ReadOnlySpan) error {
			time.Sleep(4 * time.Second)
			return nil
		}}
		p := NewProcessor(b, settings(t, 1000))
		hand(p, 0, 600)
		began := time.Now()
		shut(t, p, 10*time.Second)
		if took := time.Since(began); took != 8*time.Second {
			t.Errorf("it took %s", took)
		}
		check(t, p, 600, 0, 0, 0, 0)
	})
}

// TestAbsenceBeginsAnew checks that an accepted batch restarts absentWait.
func TestAbsenceBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := slices.Repeat([]error{errDown}, int(absentWait/shortestPause)) // attempts within absentWait
		p := NewProcessor(&backend{answer: inTurn(slices.Concat(most, []error{nil}, most)...)}, settings(t, 1000))
		hand(p, 0, 600)
		shut(t, p, time.Minute)
		check(t, p, 600, 0, 0, 0, 0)
	})
}

// TestShutdownForgets checks that the error does not name the cause of an earlier outage that has ended.
func TestShutdownForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewProcessor(&backend{answer: func(ctx context.Context, attempt int, _ []sdktrace.ReadOnlySpan) error {
			switch attempt {
			case 0:
				return errDown
			case 1:
				return nil
			}
			return hang(ctx, attempt, nil)
		}}, settings(t, 10))
		hand(p, 0, 1)
		time.Sleep(time.Minute)
		hand(p, 1, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		const want = "1 spans were not delivered to localhost:4317: no answer within the grace period"
		if err := p.Shutdown(ctx); err == nil || err.Error() != want {
			t.Errorf("error %v", err)
		}
	})
}

// TestShutdownSaysNoSecret checks that the error does not quote the endpoint or the backend's
// response.
func TestShutdownSaysNoSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewProcessor(httpExporter(t, handlerTransport(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "hunter2", http.StatusServiceUnavailable)
		})), settings(t, 10))
		hand(p, 0, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		const want = "1 spans were not delivered to localhost:4317: HTTP status 429, 502, 503 or 504"
		if err := p.Shutdown(ctx); err == nil || err.Error() != want {
			t.Errorf("error %v", err)
		}
	})
}

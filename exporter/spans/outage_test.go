package spans

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// journal is a log whose lines a test can wait for.
type journal chan string

func (j journal) Write(line []byte) (int, error) {
	j <- strings.TrimSpace(string(line))
	return len(line), nil
}

// logged returns settings with a log that the test reads.
func logged(t *testing.T, queue int) (Settings, journal) {
	t.Helper()
	j := make(journal, 100)
	s := settings(t, queue)
	s.Logger = slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	return s, j
}

// all returns the log lines that were not read yet.
func (j journal) all() (lines []string) {
	for {
		select {
		case line := <-j:
			lines = append(lines, line)
		default:
			return lines
		}
	}
}

// await reads the next line, which must have this prefix.
func (j journal) await(t *testing.T, begins string) {
	t.Helper()
	select {
	case line := <-j:
		if !strings.HasPrefix(line, begins) {
			t.Errorf("the log has the line %q, want one that begins with %q", line, begins)
		}
	case <-time.After(time.Minute):
		t.Fatalf("the log has no line that begins with %q", begins)
	}
}

const (
	downLine   = `level=WARN msg="the trace backend accepts no spans; they are queued, and new spans are dropped when the queue is full" endpoint=localhost:4317 `
	backLine   = `level=INFO msg="the trace backend is back" endpoint=localhost:4317 `
	rejectLine = `level=WARN msg="the trace backend rejects spans; they are dropped and counted" endpoint=localhost:4317 `
)

// TestOutageIsTold checks that an outage is logged once at its beginning and once at its end.
func TestOutageIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: inTurn(slices.Repeat([]error{errDown}, 10)...)}
		s, j := logged(t, 650)
		p := NewProcessor(b, s)
		hand(p, 0, 600)
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff([]string{downLine + `err="connection refused" queue=650`}, j.all()); diff != "" {
			t.Errorf("log at the beginning of the outage (-want +got):\n%s", diff)
		}
		hand(p, 600, 700)
		check(t, p, 0, 650, 50, 0, 0)
		time.Sleep(time.Hour)
		tried := b.tried()
		after := tried[11].Sub(tried[0]).Round(time.Millisecond)
		if diff := cmp.Diff([]string{backLine + fmt.Sprintf("after=%s waited=650 dropped=50", after)}, j.all()); diff != "" {
			t.Errorf("log at the end of the outage (-want +got):\n%s", diff)
		}
		hand(p, 0, 600)
		shut(t, p, time.Second)
		if lines := j.all(); lines != nil {
			t.Errorf("log after the outage: %q, want nothing", lines)
		}
	})
}

// TestDropsOfTheFirstAttempt checks that spans dropped during the first failed attempt count for
// the outage.
func TestDropsOfTheFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: func(ctx context.Context, attempt int, _ []sdktrace.ReadOnlySpan) error {
			if attempt == 1 {
				return hang(ctx, 0, nil)
			}
			return nil
		}}
		s, j := logged(t, 5)
		s.BatchSize = 10 // so that no batch is full
		p := NewProcessor(b, s)
		hand(p, 0, 7)
		time.Sleep(5 * batchDelay / 2)
		hand(p, 7, 11)
		time.Sleep(5 * batchDelay / 2)
		hand(p, 11, 15)
		time.Sleep(time.Minute)
		want := []string{downLine + "err=timeout queue=5", backLine + "after=" + b.tried()[2].Sub(b.tried()[1]).Round(time.Millisecond).String() + " waited=5 dropped=3"}
		if diff := cmp.Diff(want, j.all()); diff != "" {
			t.Errorf("the log (-want +got):\n%s", diff)
		}
		check(t, p, 10, 0, 5, 0, 0)
		shut(t, p, time.Second)
	})
}

// TestThrottled checks that a backend that accepts only some batches causes one outage, which ends
// when the queue is empty.
func TestThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var throttled atomic.Bool
		throttled.Store(true)
		b := &backend{answer: func(_ context.Context, attempt int, _ []sdktrace.ReadOnlySpan) error {
			if throttled.Load() && attempt%2 == 0 {
				return status.Error(codes.Unavailable, "hunter2 is busy")
			}
			return nil
		}}
		s, j := logged(t, 100_000)
		p := NewProcessor(b, s)
		for range 100 {
			hand(p, 0, 2*batchSize)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		throttled.Store(false)
		time.Sleep(time.Minute)
		lines := j.all()
		if len(lines) != 2 || !strings.HasPrefix(lines[0], downLine+`err="gRPC status Unavailable"`) || !strings.HasPrefix(lines[1], backLine) {
			t.Errorf("the log: %q", lines)
		}
		shut(t, p, time.Second)
		check(t, p, 200*batchSize, 0, 0, 0, 0)
	})
}

// TestOutageEndsWithASuccess checks that a backend that returns and rejects all spans ends no outage before it accepts some.
func TestOutageEndsWithASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := status.Error(codes.Unauthenticated, "hunter2 is not your token")
		b := &backend{answer: inTurn(errDown, refused, refused, errDown)}
		s, j := logged(t, 100)
		p := NewProcessor(b, s)
		for range 4 {
			hand(p, 0, 5)
			time.Sleep(time.Minute)
		}
		tried := b.tried()
		want := []string{
			downLine + `err="connection refused" queue=100`, rejectLine + `err="gRPC status Unauthenticated" dropped=5`,
			backLine + fmt.Sprintf("after=%s waited=5 dropped=10", tried[4].Sub(tried[0]).Round(time.Millisecond)),
		}
		if diff := cmp.Diff(want, j.all()); diff != "" {
			t.Errorf("the log (-want +got):\n%s", diff)
		}
		check(t, p, 10, 0, 0, 10, 0)
		shut(t, p, time.Second)
	})
}

// TestRejectionIsTold checks that a rejection is logged once per quietPeriod.
func TestRejectionIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{answer: func(_ context.Context, attempt int, _ []sdktrace.ReadOnlySpan) error {
			if attempt%3 == 0 {
				return status.Error(codes.Unauthenticated, "hunter2 is not your token")
			}
			return nil
		}}
		s, j := logged(t, 1000)
		p := NewProcessor(b, s)
		for range 300 {
			hand(p, 0, 5)
			time.Sleep(5 * time.Second)
		}
		want := []string{rejectLine + `err="gRPC status Unauthenticated" dropped=5`}
		if diff := cmp.Diff(want, j.all()); diff != "" {
			t.Errorf("within quietPeriod (-want +got):\n%s", diff)
		}
		time.Sleep(quietPeriod)
		hand(p, 0, 5)
		time.Sleep(5 * time.Second)
		if diff := cmp.Diff(want, j.all()); diff != "" {
			t.Errorf("after quietPeriod (-want +got):\n%s", diff)
		}
		check(t, p, 1000, 0, 0, 505, 0)
		shut(t, p, time.Second)
	})
}

// TestObscureIsNoOutage checks that an unclassified failure is in the end a rejection and not an
// outage.
func TestObscureIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := logged(t, 10)
		p := NewProcessor(&backend{answer: inTurn(slices.Repeat([]error{errOdd}, maxUnclassified)...)}, s)
		hand(p, 0, 5)
		time.Sleep(time.Minute)
		hand(p, 5, 10)
		shut(t, p, time.Second)
		if diff := cmp.Diff([]string{rejectLine + `err="unknown error" dropped=5`}, j.all()); diff != "" {
			t.Errorf("the log (-want +got):\n%s", diff)
		}
		check(t, p, 5, 0, 0, 5, 0)
	})
}

// TestStopTellsNothingMore checks that an attempt that the end of the grace period cancels is not
// logged as an outage.
func TestStopTellsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := logged(t, 10)
		p := NewProcessor(&backend{answer: hang}, s)
		hand(p, 0, 5)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if p.Shutdown(ctx) == nil {
			t.Error("no error")
		}
		synctest.Wait()
		if lines := j.all(); lines != nil {
			t.Errorf("the log: %q", lines)
		}
	})
}

// TestTwoMinutesAway takes a backend away during two minutes of traffic, with the SDK's own exporters and an in-memory
// network. The spans that never arrived must be counted as dropped.
func TestTwoMinutesAway(t *testing.T) {
	for name, connect := range map[string]func(*testing.T, *receiver) (e sdktrace.SpanExporter, kill, start func()){
		"grpc": inMemoryGRPC, "http/protobuf": inMemoryHTTP,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &receiver{spans: map[string]bool{}}
				exporter, kill, start := connect(t, r)
				s, j := logged(t, 1000)
				p := NewProcessor(exporter, s)
				sent := 0
				traffic := func(d time.Duration) {
					for end := time.Now().Add(d); time.Now().Before(end); sent += 3 {
						hand(p, sent, sent+3)
						time.Sleep(97 * time.Millisecond)
					}
				}
				traffic(time.Minute)
				synctest.Wait()
				kill()
				synctest.Wait()
				traffic(2 * time.Minute)
				if during := p.Stats(); during.Queued != 1000 || sum(during) != uint64(sent) || during.Dropped[DroppedQueueFull] < 2000 {
					t.Errorf("after two minutes of the outage: %+v", during)
				}
				start()
				back := time.Now()
				traffic(longestPause + 2*distance)
				synctest.Wait()
				if !r.heardSince(back) {
					t.Errorf("%s after it was back, the backend has received nothing", time.Since(back))
				}
				traffic(time.Minute)
				shut(t, p, 10*time.Second)
				r.account(t, p, sent)

				lines, end := j.all(), fmt.Sprintf(" waited=1000 dropped=%d", p.Stats().Dropped[DroppedQueueFull])
				if len(lines) != 2 || !strings.HasPrefix(lines[0], downLine+`err="connection refused" queue=1000`) || !strings.HasPrefix(lines[1], backLine) || !strings.HasSuffix(lines[1], end) {
					t.Errorf("the log, apart from %q: %q", end, lines)
				}
			})
		})
	}
}

package spans

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var errMalformed = status.Error(codes.InvalidArgument, "malformed")

// strict is a receiver that refuses a whole request because of one bad span.
type strict struct{ *receiver }

func (s strict) Export(ctx context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	if strings.Contains(request.String(), "poison") {
		return nil, errMalformed
	}
	return s.receiver.Export(ctx, request)
}

func (s strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.serveHTTP(w, r, s.Export)
}

// TestBadSpansCostNoOther sends some spans that a real receiver refuses or that cannot be encoded. All other spans must
// arrive, over both protocols.
func TestBadSpansCostNoOther(t *testing.T) {
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		for _, bad := range []string{"poison", "not UTF-8: \xff"} {
			t.Run(fmt.Sprintf("%s/%.6s", protocol, bad), func(t *testing.T) {
				r := &receiver{spans: map[string]bool{}}
				address := freeAddress(t)
				t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+address)
				exporter, err := NewExporter(t.Context(), os.Getenv)
				if err != nil {
					t.Fatal(err)
				}
				defer serve(t, protocol, address, strict{r})()
				p := NewProcessor(exporter, settings(t, 10_000))
				sent := 0
				for _, at := range []int{0, 1, 100, 511, 512, 700, 701, 1200} {
					hand(p, sent, at)
					p.OnEnd(span(bad))
					sent = at
				}
				hand(p, 1200, 1500)
				shut(t, p, time.Minute)
				check(t, p, 1500, 0, 0, 8, 0)
				if len(r.spans) != 1500 {
					t.Errorf("the receiver has %d spans", len(r.spans))
				}
			})
		}
	}
}

// TestAllSpansRefused uses a backend that refuses everything as malformed, and later all but one span of each batch.
// The number of attempts must be bounded, every span must be counted, and accepted spans must be delivered.
func TestAllSpansRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := true
		b := &backend{answer: func(_ context.Context, _ int, batch []sdktrace.ReadOnlySpan) error {
			for _, s := range batch {
				if all || strings.HasSuffix(s.Name(), "500") {
					return errMalformed
				}
			}
			return nil
		}}
		p := NewProcessor(b, settings(t, 10_000))
		send := func(from, to int) (attempts int) {
			before := len(b.tried())
			hand(p, from, to)
			time.Sleep(2 * batchDelay)
			synctest.Wait()
			return len(b.tried()) - before
		}
		if n, most := send(0, 512), maxMalformed*attemptsPerSpan(512)+1; n > most {
			t.Errorf("%d attempts at a batch, at most %d are allowed", n, most)
		}
		if n, most := send(512, 2048), 3*(attemptsPerSpan(512)+1); n > most {
			t.Errorf("%d attempts at three more batches, at most %d are allowed", n, most)
		}
		check(t, p, 0, 0, 0, 2048, 0)
		all = false
		send(2048, 4096)
		check(t, p, 2046, 0, 0, 2050, 0) // without 2500 and 3500
		shut(t, p, time.Second)
	})
}

// TestRefusedBatchBefore checks that well-formed spans arrive although all spans of the batch before were malformed.
func TestRefusedBatchBefore(t *testing.T) {
	for _, c := range []struct{ before, from, to int }{{0, 1100, 1102}, {1, 1000, 1000 + maxMalformed}, {2, 1100, 1102}, {3, 1010, 1010 + maxMalformed}} {
		synctest.Test(t, func(t *testing.T) {
			b := &backend{answer: func(_ context.Context, _ int, batch []sdktrace.ReadOnlySpan) error {
				for _, s := range batch {
					if n, err := strconv.Atoi(s.Name()); err != nil || n < 1000 || n >= c.from && n < c.to {
						return errMalformed
					}
				}
				return nil
			}}
			p := NewProcessor(b, settings(t, 10_000))
			hand(p, 0, c.before)
			time.Sleep(2 * batchDelay)
			synctest.Wait()
			hand(p, 1000, 1512)
			time.Sleep(2 * batchDelay)
			synctest.Wait()
			bad := c.to - c.from
			check(t, p, uint64(512-bad), 0, 0, uint64(c.before+bad), 0)
			shut(t, p, time.Second)
		})
	}
}

// TestLaterSpansAreTriedAsOften checks that spans are not dropped for failures that could not be classified of earlier spans.
func TestLaterSpansAreTriedAsOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *Processor
		b := &backend{answer: func(_ context.Context, n int, batch []sdktrace.ReadOnlySpan) error {
			if n == 1 {
				hand(p, 1000, 1400)
			}
			if n < maxUnclassified {
				return errors.New("strange")
			}
			return nil
		}}
		p = NewProcessor(b, settings(t, 10_000))
		hand(p, 0, 3)
		time.Sleep(time.Minute)
		synctest.Wait()
		check(t, p, 400, 0, 0, 3, 0)
		shut(t, p, time.Second)
	})
}

// TestSizeLimit checks that a backend with a limit between two sizes seldom refuses a batch.
func TestSizeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		b := &backend{answer: func(_ context.Context, _ int, batch []sdktrace.ReadOnlySpan) error {
			if len(batch) > 300 {
				refused++
				return status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)")
			}
			return nil
		}}
		p := NewProcessor(b, settings(t, 10_000))
		hand(p, 0, 10_000)
		time.Sleep(2 * batchDelay)
		synctest.Wait()
		check(t, p, 10_000, 0, 0, 0, 0)
		if most := 1 + 10_000/256/growAfter; refused > most || refused < 2 {
			t.Errorf("%d batches were refused, at most %d should be", refused, most)
		}
		shut(t, p, time.Second)
	})
}

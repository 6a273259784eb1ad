package spans

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// receiver receives spans over any protocol and identifies them by name. A span that arrives twice, for example if an
// answer is lost, counts once.
type receiver struct {
	collector.UnimplementedTraceServiceServer
	mu    sync.Mutex
	spans map[string]bool
	heard time.Time // when the last spans came
}

func (r *receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = time.Now()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				r.spans[s.Name] = true
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) { r.serveHTTP(w, q, r.Export) }

func (r *receiver) serveHTTP(w http.ResponseWriter, q *http.Request, export func(context.Context, *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error)) {
	body, err := io.ReadAll(q.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if _, err := export(q.Context(), &request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (r *receiver) heardSince(when time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heard.After(when)
}

// account compares the spans that were handed in with the received and the counted ones.
func (r *receiver) account(t *testing.T, p *Processor, sent int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	s, names := p.Stats(), map[string]bool{}
	for i := range sent {
		names[strconv.Itoa(i)] = true
	}
	for name := range r.spans {
		if !names[name] {
			t.Errorf("the receiver has the span %s, which was not sent", name)
		}
	}
	dropped := s.Dropped[DroppedQueueFull]
	if len(r.spans)+int(dropped) != sent || s.Exported != uint64(len(r.spans)) || s.Queued != 0 || sum(s) != uint64(sent) {
		t.Errorf("of %d spans, the receiver has %d; counted are %+v", sent, len(r.spans), s)
	}
	if dropped == 0 {
		t.Error("the queue was never full")
	}
}

var errNobody = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}

func inMemoryHTTP(t *testing.T, r *receiver) (e sdktrace.SpanExporter, kill, start func()) {
	t.Helper()
	var down atomic.Bool
	served := handlerTransport(r.ServeHTTP)
	network := transport(func(q *http.Request) (*http.Response, error) {
		if down.Load() {
			return nil, errNobody
		}
		return served.RoundTrip(q)
	})
	return httpExporter(t, network), func() { down.Store(true) }, func() { down.Store(false) }
}

// distance is how long it takes to connect to the backend. An attempt waits for the connection.
const distance = time.Second / 8

func inMemoryGRPC(t *testing.T, r *receiver) (e sdktrace.SpanExporter, kill, start func()) {
	t.Helper()
	var listener atomic.Pointer[bufconn.Listener] // nil while the backend is down
	var server *grpc.Server
	served := make(chan error, 1)
	kill = func() {
		listener.Store(nil)
		server.Stop()
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	}
	start = func() {
		opened := bufconn.Listen(1 << 20)
		server = grpc.NewServer()
		collector.RegisterTraceServiceServer(server, r)
		go func() { served <- server.Serve(opened) }()
		listener.Store(opened)
	}
	start()
	t.Cleanup(func() { kill() })
	e, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{}), otlptracegrpc.WithInsecure(),
		otlptracegrpc.WithEndpoint("passthrough:///collector:4317"), otlptracegrpc.WithDialOption(
			grpc.WithUnaryInterceptor(otlp.ResetBackoff),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
				time.Sleep(distance)
				if l := listener.Load(); l != nil {
					return l.DialContext(ctx)
				}
				return nil, errNobody
			})))
	if err != nil {
		t.Fatal(err)
	}
	return e, kill, start
}

// TestDialAgain checks that the first attempt reaches a backend that is back, long before gRPC
// would reconnect.
func TestDialAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exporter, kill, start := inMemoryGRPC(t, &receiver{spans: map[string]bool{}})
		kill()
		if v := otlp.Classify(exporter.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span("s")})); v.Outcome != otlp.NoConnection {
			t.Errorf("while the backend is away: %+v", v)
		}
		time.Sleep(20 * time.Minute) // after thirty minutes without a call gRPC would become idle
		start()
		if err := exporter.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span("s")}); err != nil {
			t.Errorf("when the backend is back: %v", err)
		}
		if err := exporter.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestReceiverAway checks a receiver that starts after the first spans ended, is killed, and starts again. It uses gRPC
// and HTTP. Over HTTP, the SDK itself gives up at once if the connection is refused.
func TestReceiverAway(t *testing.T) {
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			r := &receiver{spans: map[string]bool{}}
			address := freeAddress(t)
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+address)
			exporter, err := NewExporter(t.Context(), os.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			s, j := logged(t, 200)
			s.BatchSize, s.Delay = 50, time.Millisecond
			p := NewProcessor(exporter, s)
			hand(p, 0, 300)
			j.await(t, downLine+`err="connection refused" queue=200`)
			stop := r.serve(t, protocol, address)
			j.await(t, backLine)
			hand(p, 300, 350)
			stop()
			hand(p, 350, 900)
			j.await(t, downLine)
			stop = r.serve(t, protocol, address)
			defer stop()
			j.await(t, backLine)
			hand(p, 900, 950)
			shut(t, p, time.Minute)
			r.account(t, p, 950)
			if lines := j.all(); lines != nil {
				t.Errorf("the log has unexpected lines: %q", lines)
			}
		})
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (r *receiver) serve(t *testing.T, protocol, address string) (stop func()) {
	return serve(t, protocol, address, r)
}

// serve receives spans at the address until stop, which closes its connections.
func serve(t *testing.T, protocol, address string, r interface {
	http.Handler
	collector.TraceServiceServer
}) (stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: r}
	serve, end := web.Serve, func() { _ = web.Close() }
	if protocol == "grpc" {
		server := grpc.NewServer()
		collector.RegisterTraceServiceServer(server, r)
		serve, end = server.Serve, server.Stop
	}
	served := make(chan error, 1)
	go func() { served <- serve(l) }()
	return sync.OnceFunc(func() {
		end()
		if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
}
